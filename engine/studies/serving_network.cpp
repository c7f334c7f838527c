#include "engine/studies/serving_network.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "engine/evaluate/evaluate.h"

namespace roofscape::engine {

namespace {

constexpr int kMostPoints = 24;
constexpr int kBeyondMemory = 1;  // doublings past the last batch that fits

// Between two points, of lines that are straight in the logarithms.
double crossing(const ServingNetworkPoint& a, const ServingNetworkPoint& b) {
  const double before = std::log(a.network_s / a.work_s), after = std::log(b.network_s / b.work_s);
  return a.batch * std::pow(b.batch / a.batch, before / (before - after));
}

}  // namespace

ServingNetwork serving_network(const Scenario& scenario) {
  ServingNetwork out;
  if (!scenario.serves()) return out;
  Scenario s = scenario;
  EvaluationScratch scratch;
  Report report;
  const Parallelism& p = scenario.parallelism;
  const double ranks = static_cast<double>(p.data) * p.fsdp * p.pipeline;
  out.own = scenario.workload.batch;
  std::vector<double> batches{out.own};
  for (int i = 0; i < kMostPoints; ++i) batches.push_back(ranks * static_cast<double>(std::int64_t{1} << i));
  std::sort(batches.begin(), batches.end());
  batches.erase(std::unique(batches.begin(), batches.end()), batches.end());
  int beyond = 0;
  for (const double batch : batches) {
    if (batch > (1 << 24) || (beyond > kBeyondMemory && batch > out.own)) break;
    s.workload.batch = static_cast<int>(batch);
    evaluate(s, scratch, report);
    const auto q = [&report](Q id) { return report.quantities.value_or(id, 0); };
    if (report.has_errors() || !(q(Q::decode_work) > 0)) continue;
    beyond += report.fits() ? 0 : 1;
    out.points.push_back({batch, q(Q::decode_work), q(Q::decode_network), q(Q::decode_exposed), report.fits()});
  }
  if (std::none_of(out.points.begin(), out.points.end(), [](const auto& point) { return point.network_s > 0; })) {
    out.points.clear();
    return out;
  }
  for (std::size_t i = 1; i < out.points.size(); ++i)
    if (out.points[i - 1].hides() != out.points[i].hides())
      out.crossings.push_back(crossing(out.points[i - 1], out.points[i]));
  return out;
}

}  // namespace roofscape::engine
