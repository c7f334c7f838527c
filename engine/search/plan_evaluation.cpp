#include "engine/search/plan_evaluation.h"

#include <limits>

namespace roofscape::engine {

RankedPlan ranked(const Plan& plan, const Report& report) {
  RankedPlan out;
  out.plan = plan;
  const QuantityValues& q = report.quantities;
  out.step_time_s = q.value_or(Q::step_time, 0);
  out.memory_bytes = q.value_or(Q::memory_total, 0);
  out.mfu = q.value_or(Q::mfu, 0);
  out.tokens_per_s_per_chip = q.value_or(Q::tokens_per_s_per_chip, 0);
  out.cost_usd = q.value_or(Q::run_cost, std::numeric_limits<double>::quiet_NaN());
  if (plan.pipeline > 1) out.bubble_fraction = q.value_or(Q::pipeline_bubble_fraction, 0);
  for (std::size_t i = 0; i < kStepParts.size(); ++i) out.step_parts[i] = q.value_or(kStepParts[i], 0);
  return out;
}

Shortage shortage_of(const Report& report, double min_free) {
  Shortage out;
  const QuantityValues& q = report.quantities;
  const double missing = q.value_or(Q::memory_total, 0) - q.value_or(Q::hbm_capacity, 0) * (1 - min_free);
  if (missing <= 0) return out;
  out.missing_bytes = missing;
  out.device = report.fullest_stage;
  for (const Q part : kMemoryParts)
    if (q.value_or(part, 0) > q.value_or(out.part, 0)) out.part = part;
  return out;
}

RankedPlan with_alike(RankedPlan one, const Alike& alike) {
  one.alike = alike.count - 1;
  one.least_alike = alike.smallest;
  one.least_alike_bytes = alike.least_bytes;
  return one;
}

}  // namespace roofscape::engine
