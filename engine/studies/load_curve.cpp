#include "engine/studies/load_curve.h"

#include <algorithm>
#include <array>

#include "engine/evaluate/evaluate.h"

namespace roofscape::engine {

namespace {

// Closer together where waiting grows without bound.
constexpr auto kShares = [] {
  constexpr std::size_t kEven = 16, kSteep = 24;
  constexpr double kFrom = 0.05, kStep = 0.05, kMostLoad = 0.98;
  std::array<double, kEven + kSteep> out{};
  for (std::size_t i = 0; i < kEven; ++i) out[i] = kFrom + kStep * static_cast<double>(i);
  double rest = 1 - out[kEven - 1];  // of what the plan keeps up with, less by the same factor from point to point
  double factor = 1;
  for (double low = 0.5, high = 1; high - low > 1e-12;) {
    factor = (low + high) / 2;
    double left = rest;
    for (std::size_t i = 0; i < kSteep; ++i) left *= factor;
    (left < 1 - kMostLoad ? low : high) = factor;
  }
  for (std::size_t i = kEven; i < out.size(); ++i) out[i] = 1 - (rest *= factor);
  return out;
}();

}  // namespace

LoadCurve load_curve(const Scenario& s, const SimulationLength& length) {
  LoadCurve out;
  if (!s.serves()) return out;
  const Report report = evaluate(s);
  out.most_per_s = report.quantities.value_or(Q::capacity_requests, 0);
  if (report.has_errors() || !(out.most_per_s > 0)) return out;
  const auto add = [&](double arrivals, bool own) {
    const BatchingModel model = batching_model(s, report, arrivals);
    if (model.classes.empty()) return;
    out.points.push_back({arrivals, arrivals / out.most_per_s, own, simulate_batching(model, length)});
  };
  for (const double share : kShares) add(share * out.most_per_s, false);
  if (s.workload.arrivals_per_s > 0) add(s.workload.arrivals_per_s, true);
  std::stable_sort(out.points.begin(), out.points.end(),
                   [](const LoadPoint& a, const LoadPoint& b) { return a.arrivals_per_s < b.arrivals_per_s; });
  return out;
}

}  // namespace roofscape::engine
