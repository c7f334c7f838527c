#include "engine/pipeline/steps_by_level.h"

#include <algorithm>
#include <utility>

#include "engine/base/kept_memory.h"

namespace roofscape::engine {
namespace {

// Calls for each operation in running order: with its step, and whether it is the first of its device.
template <class Visit>
void visit_steps(const RunPlan& plan, Visit&& visit) {
  const RunPlan::Step* step = plan.steps.data();
  for (const RunPlan::Turn& turn : plan.turns)
    for (std::uint32_t i = 0; i < turn.count; ++i) visit(turn.first + i, *step++, turn.first_of_device && i == 0);
}

}  // namespace

void order_by_level(const RunPlan& plan, RunPlanScratch& scratch, StepsByLevel& out) {
  StepsByLevel::Step* const steps = room_for(out.steps, plan.ops);
  std::uint32_t* const start_of = room_for(out.start_of, plan.ops);
  std::uint32_t* const level_of = start_of;  // until the places are known
  auto& places = scratch.places;             // by level: how many steps it has, then the place of its next one
  places.assign(1, 1);                       // the one before all
  visit_steps(plan, [&](std::uint32_t op, const RunPlan::Step& step, bool is_first) {
    const std::uint32_t before = is_first ? 0 : level_of[op - 1];
    const std::uint32_t level = 1 + (step.producer == op ? before : std::max(before, level_of[step.producer]));
    level_of[op] = level;
    if (level == places.size()) places.push_back(0);
    ++places[level];
  });
  std::uint32_t lower = 0;
  for (std::uint32_t& place : places) lower += std::exchange(place, lower);
  visit_steps(plan, [&](std::uint32_t op, const RunPlan::Step& step, bool is_first) {
    const std::uint32_t place = places[level_of[op]]++;
    steps[place - 1] = {is_first ? 0 : start_of[op - 1], step.producer == op ? 0 : start_of[step.producer],
                        step.kind * StepsByLevel::kDelayTicks};
    start_of[op] = place * StepsByLevel::kStartTicks;
  });
  for (const std::uint32_t op : plan.first_halves) start_of[op] = start_of[op + 1];
}

}  // namespace roofscape::engine
