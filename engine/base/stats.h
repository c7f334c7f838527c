#pragma once

// Quantiles, each definition under its name. Which one is used is part of what a number means:
// - quantile: between the two nearest values in a straight line (Hyndman and Fan 1996, definition 7; what NumPy and R
//   compute unless told otherwise). For errors of predictions, and whatever else has no convention of its own.
// - outer_quantile: the value at or beyond it. For the ends of a band, which few values must not make narrower than
//   what was measured.
// - nearest_rank: the least value that at least a share q does not exceed (their definition 1). For percentiles of
//   latencies, as services state them: each is the latency of a request that there was.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace roofscape::engine {

// 0 of nothing.
inline double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  const double at = q * static_cast<double>(values.size() - 1);
  const auto below = values.begin() + static_cast<std::ptrdiff_t>(std::floor(at));
  std::nth_element(values.begin(), below, values.end());
  const auto above = std::min_element(below + 1, values.end());
  return above == values.end() ? *below : *below + (at - std::floor(at)) * (*above - *below);
}
inline double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

// Of at least one value; reorders them.
inline double outer_quantile(std::span<double> values, double q) {
  const double at = q * static_cast<double>(values.size() - 1);
  const auto outer = values.begin() + static_cast<std::ptrdiff_t>(q < 0.5 ? std::floor(at) : std::ceil(at));
  std::nth_element(values.begin(), outer, values.end());
  return *outer;
}

// Of at least one value; reorders them.
inline double nearest_rank(std::span<double> values, double q) {
  const auto n = static_cast<double>(values.size());
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::clamp(std::ceil(q * n) - 1, 0.0, n - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace roofscape::engine
