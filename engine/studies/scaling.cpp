#include "engine/studies/scaling.h"

#include <algorithm>

#include "engine/evaluate/evaluate.h"
#include "engine/model/split_heads.h"
#include "engine/pipeline/schedule.h"
#include "engine/scenario/mesh_size.h"
#include "engine/training/stage_time.h"

namespace roofscape::engine {
namespace {

constexpr int kOctaves = 5;           // at most, to either side
constexpr double kMostOps = 1 << 16;  // of a pipeline: a study is made while a slider moves
constexpr std::int64_t kMostChips = 1 << 20;

Axis axis_of(const Parallelism& plan) { return plan.fsdp > 1 || plan.data == 1 ? Axis::fsdp : Axis::data; }
int& degree_of(Parallelism& plan) { return axis_of(plan) == Axis::fsdp ? plan.fsdp : plan.data; }

// Whether the batch has whole microbatches for all ranks, and the schedule enough of them.
bool has_sequences(const Scenario& s) {
  if (s.workload.global_batch_sequences % batch_granule(s) != 0) return false;
  return s.parallelism.pipeline == 1 || check_schedule(stage_key(s).shape).legal();
}
bool splits_sequence(const Scenario& s) {
  const Parallelism& plan = s.parallelism;
  return s.workload.sequence_length % plan.context == 0 &&
         (plan.context_method != ContextMethod::ulysses || plan.context <= most_ulysses_ranks(s.model, plan.tensor));
}
bool splits_heads(const Scenario& s) { return s.model.n_heads % s.parallelism.tensor == 0; }

// The axis that doubles next at a fixed batch.
Axis next_axis(const Scenario& s) {
  const Axis own = axis_of(s.parallelism);
  const auto fits = [&s](int Parallelism::*degree, bool (*legal)(const Scenario&)) {
    Scenario twice = s;
    twice.parallelism.*degree *= 2;
    return legal(twice);
  };
  if (!has_sequences(s)) return own;  // nothing to save
  if (fits(own == Axis::fsdp ? &Parallelism::fsdp : &Parallelism::data, has_sequences)) return own;
  if (fits(&Parallelism::context, splits_sequence)) return Axis::context;
  if (fits(&Parallelism::tensor, splits_heads)) return Axis::tensor;
  return own;
}

void double_cluster(Cluster& c) {
  if (c.chip.interconnect == Interconnect::torus)
    *std::min_element(c.slice.begin(), c.slice.end() - (c.slice[2] == 1)) *= 2;
  else
    c.nodes *= 2;
}

}  // namespace

Scenario scaled(const Scenario& s, ScalingMode mode, int octaves) {
  Scenario out = s;
  // Decided by the plan, not by what halving leaves of it.
  int& degree = degree_of(out.parallelism);
  for (; octaves > 0; --octaves) {
    switch (mode == ScalingMode::strong ? next_axis(out) : axis_of(out.parallelism)) {
      case Axis::context:
        out.parallelism.context *= 2;
        break;
      case Axis::tensor:
        out.parallelism.tensor *= 2;
        break;
      default:
        degree *= 2;
    }
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
  OrderSpans spans;
  const auto price = [&](const Scenario& edited) {
    evaluate_without_timeline(edited, scratch, spans, report);
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
    p.grown = k > 0 && mode == ScalingMode::strong ? next_axis(scaled(s, mode, k - 1)) : out.axis;
    p.ideal_tokens_per_s = plan.chips > 0 ? plan.tokens_per_s * p.chips / plan.chips : 0;
    out.points.push_back(p);
    failed = k > 0 && !p.runs() ? failed + 1 : 0;
    if (failed == 2) break;
  }
  return out;
}

const ScalingPoint* ScalingStudy::without_sequences() const {
  const auto found =
      std::find_if(points.begin(), points.end(), [this](const ScalingPoint& p) { return p.grown != axis; });
  return found == points.end() ? nullptr : &*found;
}

}  // namespace roofscape::engine
