#include "engine/studies/checkpointing_study.h"

#include <algorithm>
#include <cmath>

#include "engine/evaluate/evaluate.h"
#include "engine/scenario/checkpoint_policies.h"

namespace roofscape::engine {
namespace {

// A scheme that computes more than this is of no use to anyone. The curve of minimal memory ends there with fewer
// segments than the root of the layers, but for the plan's own.
constexpr double kMostArithmetic = 3;

}  // namespace

CheckpointingStudy checkpointing_study(const Scenario& s) {
  CheckpointingStudy out;
  out.layers = s.model.n_layers;
  out.root = std::max(1, static_cast<int>(std::lround(std::sqrt(static_cast<double>(s.model.n_layers)))));
  Scenario edited = s;
  Report report;
  EvaluationScratch scratch;
  OrderSpans spans;
  const auto price = [&](const Checkpointing& c) {
    edited.checkpointing = c;
    evaluate_without_timeline(edited, scratch, spans, report);
    const auto value = [&report](Q q) { return report.quantities.value_or(q, 0); };
    out.capacity_bytes = value(Q::hbm_capacity);
    CheckpointingPoint p;
    p.checkpointing = c;
    p.memory_bytes = value(Q::memory_total);
    p.work_s = value(Q::step_matmul) + value(Q::step_attention);
    p.recompute_s = value(Q::step_recompute);
    p.step_s = value(Q::step_time);
    p.fits = report.fits();
    p.own = c.policy == s.checkpointing.policy;
    return p;
  };
  // Those that compute everything again come last.
  for (const bool everything : {false, true})
    for (const CheckpointFacts& facts : kCheckpointFacts) {
      if (facts.count == CheckpointCount::segments || (facts.repeats == Repeats::forward_pass) != everything)
        continue;
      Checkpointing c = s.checkpointing;
      c.policy = facts.policy;
      // All blocks or none would be the policies beside it.
      if (facts.count == CheckpointCount::blocks && s.checkpointing.policy != facts.policy)
        c.blocks = std::max(1, s.model.n_layers / 2);
      out.policies.push_back(price(c));
    }
  std::vector<int> counts{out.root};
  for (int n = 1; n <= s.model.n_layers; n *= 2) counts.push_back(n);
  counts.push_back(s.model.n_layers);
  if (s.checkpointing.segments > 0) counts.push_back(std::min(s.checkpointing.segments, s.model.n_layers));
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  const int own = s.checkpointing.segments > 0 ? s.checkpointing.segments : out.root;
  for (const CheckpointPolicy policy : {CheckpointPolicy::segments, CheckpointPolicy::segments_minimal})
    for (const int count : counts) {
      Checkpointing c = s.checkpointing;
      c.policy = policy;
      c.segments = count;
      CheckpointingPoint p = price(c);
      p.own = p.own && count == own;
      if (policy == CheckpointPolicy::segments)
        out.segments.push_back(p);
      else if (p.own || count >= out.root || p.arithmetic() <= kMostArithmetic)
        out.segments_minimal.push_back(p);
    }
  return out;
}

}  // namespace roofscape::engine
