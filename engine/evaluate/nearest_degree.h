// A degree of a mesh in the place of one that cannot be: the nearest that can.
#pragma once

#include <algorithm>

namespace roofscape::engine {

// Nearest in ratio, of those from 1 to `most` that are allowed, the smaller of two as near; 1 where none is.
template <class Allowed>
int nearest_degree(int wanted, int most, const Allowed& allowed) {
  int nearest = 1;
  const auto apart = [wanted](int degree) {
    return static_cast<double>(std::max(degree, wanted)) / std::min(degree, wanted);
  };
  for (int degree = 2; degree <= most; ++degree)
    if (apart(degree) < apart(nearest) && allowed(degree)) nearest = degree;
  return nearest;
}

}  // namespace roofscape::engine
