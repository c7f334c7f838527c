#include "engine/studies/scaling.h"

#include <algorithm>

#include "engine/evaluate.h"
#include "engine/pipeline/schedule.h"
#include "engine/training/stage_cost.h"

namespace roofscape::engine {
namespace {

constexpr int kOctaves = 5;                   // at most, to either side
constexpr double kMostOps = 1 << 16;          // of a pipeline: a study is made while a slider moves
constexpr std::int64_t kMostChips = 1 << 20;

Axis axis_of(const Parallelism& plan) { return plan.fsdp > 1 || plan.data == 1 ? Axis::fsdp : Axis::data; }
int& degree_of(Parallelism& plan) { return axis_of(plan) == Axis::fsdp ? plan.fsdp : plan.data; }

void double_cluster(Cluster& c) {
  if (c.chip.interconnect == Interconnect::torus)
    *std::min_element(c.slice.begin(), c.slice.end() - (c.slice[2] == 1)) *= 2;
  else c.nodes *= 2;
}

}  // namespace

Scenario scaled(const Scenario& s, ScalingMode mode, int octaves) {
  Scenario out = s;
  // Decided by the plan, not by what halving leaves of it.
  int& degree = degree_of(out.parallelism);
  for (; octaves > 0; --octaves) {
    degree *= 2;
    double_cluster(out.cluster);
    if (mode == ScalingMode::weak) out.workload.global_batch_sequences *= 2;
  }
  for (; octaves < 0; ++octaves) {
    const bool halves =
        degree % 2 == 0 && (mode == ScalingMode::strong || out.workload.global_batch_sequences % 2 == 0);
    if (!halves) return s;
    degree /= 2;
    if (mode == ScalingMode::weak) out.workload.global_batch_sequences /= 2;
  }
  return out;
}

ScalingStudy scaling_study(const Scenario& s, ScalingMode mode) {
  ScalingStudy out;
  out.axis = axis_of(s.parallelism);
  Report report;
  EvaluationScratch scratch;
  const auto price = [&](const Scenario& edited) {
    evaluate(edited, scratch, report);
    const auto value = [&report](Q q) { return report.quantities.value_or(q, 0); };
    ScalingPoint p;
    p.chips = value(Q::chips_used);
    p.tokens_per_s = value(Q::tokens_per_s);
    p.mfu = value(Q::mfu);
    p.bound = report.bound;
    p.fits = report.fits();
    for (const Diagnostic& d : report.diagnostics)
      if (d.severity == Severity::error && p.problem.empty()) p.problem = d.code;
    return p;
  };
  const ScalingPoint plan = price(s);
  int failed = 0;  // in a row, with more chips than the plan has: two say that there is no way on
  for (int k = -kOctaves; k <= kOctaves; ++k) {
    const Scenario edited = scaled(s, mode, k);
    if (k != 0 && edited == s) continue;
    const double ops = 3.0 * microbatch_count(edited) * s.parallelism.pipeline * s.pipeline.virtual_stages;
    if (k < 0 && s.parallelism.pipeline > 1 && ops > kMostOps) continue;
    if (chip_count(edited.cluster) > kMostChips) break;
    ScalingPoint p = k == 0 ? plan : price(edited);
    p.own = k == 0;
    p.ideal_tokens_per_s = plan.chips > 0 ? plan.tokens_per_s * p.chips / plan.chips : 0;
    out.points.push_back(p);
    failed = k > 0 && !p.runs() ? failed + 1 : 0;
    if (failed == 2) break;
  }
  return out;
}

}  // namespace roofscape::engine
