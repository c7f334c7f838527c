#include "engine/serving/capacity.h"

#include <cmath>

namespace roofscape::engine {

double next_power_of_two(double chips) {
  if (!std::isfinite(chips)) return chips;
  double size = 1;
  while (size < chips) size *= 2;
  return size;
}

double next_slice(double chips, std::span<const double> sizes) {
  if (!std::isfinite(chips)) return chips;
  for (const double size : sizes)
    if (size >= chips) return size;
  return next_power_of_two(chips);
}

}  // namespace roofscape::engine
