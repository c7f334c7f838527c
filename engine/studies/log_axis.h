// The samples of a logarithmic axis: of a size that lines of studies run over.
#pragma once

#include <cmath>
#include <vector>

namespace roofscape::engine {

// From `low` to `high`, both above 0 and both included, by one factor.
inline std::vector<double> log_axis(double low, double high) {
  constexpr int kSamples = 97;
  std::vector<double> out;
  out.reserve(kSamples);
  for (int i = 0; i < kSamples; ++i)
    out.push_back(low * std::pow(high / low, static_cast<double>(i) / (kSamples - 1)));
  return out;
}

}  // namespace roofscape::engine
