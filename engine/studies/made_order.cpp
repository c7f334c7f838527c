#include "engine/studies/made_order.h"

#include <algorithm>
#include <utility>

#include "engine/evaluate/evaluate.h"
#include "engine/pipeline/given_order.h"
#include "engine/pipeline/greedy_order.h"
#include "engine/pipeline/v_order.h"

namespace roofscape::engine {
namespace {

// The plan as it is before its order is made.
Scenario before_order(Scenario s, OrderRecipe recipe) {
  s.pipeline.order = {};
  s.pipeline.schedule = schedule_of(recipe);
  s.pipeline.virtual_stages = default_virtual_stages(s.pipeline.schedule);
  return s;
}

// Of what a microbatch keeps until its input gradient, how much it keeps from there to its weight gradient, on the
// device where that is most.
double postponed_share(const Report& plan) {
  double share = 1;
  for (const StageRow& stage : plan.stages)
    if (stage.kept_bytes > 0) share = std::max(share, stage.postponed_bytes / stage.kept_bytes);
  return share;
}

GivenOrder order_within(const Report& plan, const GreedyLimit& limit) {
  const ScheduleShape& shape = plan.pipeline.shape;
  const GreedyStages stages{shape.stages, shape.kind == ScheduleKind::zb_v};
  const auto orders = greedy_order(stages, shape.microbatches, plan.pipeline.times, limit);
  return orders ? read_listed_order(order_csv(*orders), shape.kind).order : GivenOrder();
}

// Of several limits the one whose step is shortest where it fits. Up to four times the stages, of microbatches before
// and after their input gradients: beyond that there is nothing left to wait for.
GivenOrder order_that_fits(Scenario s, const Report& plan, double postponed) {
  GivenOrder best;
  double best_time = 0;
  const auto try_units_of = [&](double each) {
    for (int quarters = 1; quarters <= 16; ++quarters) {
      const double most = plan.pipeline.shape.stages * quarters / 4.0 * each + postponed - 1;
      const GivenOrder order = order_within(plan, {most, postponed});
      if (!order || order == best) continue;
      take_order(s, order);
      const Report report = evaluate(s);
      const double time = report.quantities.value_or(Q::step_time, 0);
      if (!(time > 0) || report.quantities.value_or(Q::memory_free, -1) < 0) continue;
      if (!best || time < best_time) best = order, best_time = time;
    }
  };
  try_units_of(1);
  if (postponed > 1) try_units_of(postponed);
  return best;
}

}  // namespace

ScheduleKind schedule_of(OrderRecipe recipe) {
  switch (recipe) {
    case OrderRecipe::zb_1p:
    case OrderRecipe::zb_2p:
    case OrderRecipe::zb_fit:
      return ScheduleKind::zb_h1;
    case OrderRecipe::zb_v_fit:
    case OrderRecipe::v_half:
    case OrderRecipe::v_min:
      break;
  }
  return ScheduleKind::zb_v;
}

std::optional<double> most_microbatches_of(OrderRecipe recipe, int stages) {
  if (recipe == OrderRecipe::zb_1p) return stages;
  if (recipe == OrderRecipe::zb_2p) return 2.0 * stages;
  return std::nullopt;
}

std::optional<VMemory> v_memory_of(OrderRecipe recipe) {
  if (recipe == OrderRecipe::v_half) return VMemory::half;
  if (recipe == OrderRecipe::v_min) return VMemory::least;
  return std::nullopt;
}

MadeOrder make_order(const Scenario& scenario, OrderRecipe recipe) {
  MadeOrder out;
  if (scenario.serves()) return out.reason = NoOrder::serves, out;
  if (scenario.parallelism.pipeline < 2) return out.reason = NoOrder::no_pipeline, out;
  const Scenario s = before_order(scenario, recipe);
  const Report plan = evaluate(s);
  if (plan.has_errors() || !plan.quantities[Q::step_time]) return out.reason = NoOrder::cannot_run, out;
  const ScheduleShape& shape = plan.pipeline.shape;
  if (3 * std::int64_t{shape.stages} * shape.virtual_stages * shape.microbatches > kMostGreedyOps)
    return out.reason = NoOrder::too_long, out;

  const double postponed = postponed_share(plan);
  if (const auto memory = v_memory_of(recipe)) {
    Orders orders;
    make_v_order(shape.stages, shape.microbatches, *memory, orders);
    out.order = read_listed_order(order_csv(orders), shape.kind).order;
  } else if (const auto most = most_microbatches_of(recipe, shape.stages)) {
    out.order = order_within(plan, {*most + postponed - 1, postponed});
    if (!out.order) return out.reason = NoOrder::cannot_run, out;
  } else {
    out.order = order_that_fits(s, plan, postponed);
    if (!out.order) return out.reason = NoOrder::does_not_fit, out;
  }
  for (const HeldMoments& moments : out.order->moments)
    out.most_microbatches = std::max(out.most_microbatches, moments.front().all);
  return out;
}

}  // namespace roofscape::engine
