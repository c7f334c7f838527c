// The order of backwards that all wait for the last forward: a choice of GPipe and of breadth-first.
#include <doctest/doctest.h>

#include <random>

#include "engine/pipeline/simulate.h"
#include "engine/pipeline/timeline_analysis.h"
#include "engine/scenario/scenario.h"

using namespace roofscape::engine;

namespace {

Op first_backward(const Orders& orders, std::size_t device) {
  for (std::uint32_t i = orders.first[device]; i < orders.first[device + 1]; ++i)
    if (orders.ops[i].kind() == OpKind::backward) return orders.ops[i];
  return {};
}

}  // namespace

TEST_CASE("backwards begin with the microbatch that came first or last, take as long and hold as much") {
  std::mt19937 rng(11);
  const auto pick = [&rng](int low, int high) { return std::uniform_int_distribution<int>(low, high)(rng); };
  for (int i = 0; i < 200; ++i) {
    const ScheduleKind kind = i % 2 == 0 ? ScheduleKind::gpipe : ScheduleKind::looped_bfs;
    ScheduleShape shape{kind, pick(1, 6), pick(1, 12), kind == ScheduleKind::gpipe ? 1 : pick(1, 4), 0};
    PipelineTimes times;
    for (int s = 0; s < virtual_stage_count(shape); ++s) {
      times.forward.push_back(pick(1, 50));
      times.backward_input.push_back(pick(0, 50));
      times.backward_weight.push_back(pick(0, 50));
    }
    times.transfer = pick(0, 9);
    Tick makespan[2];
    std::vector<double> peaks[2];
    for (const BackwardOrder order : {BackwardOrder::first_in, BackwardOrder::last_in}) {
      shape.backward_order = order;
      Orders orders;
      make_orders(shape, orders);
      const auto n = static_cast<std::size_t>(order);
      for (std::size_t d = 0; d < orders.devices(); ++d)
        CHECK(first_backward(orders, d).microbatch() ==
              (order == BackwardOrder::first_in ? 0u : orders.microbatches - 1));
      SimulationScratch scratch;
      Timeline timeline;
      REQUIRE(simulate(orders, times, scratch, timeline).finished());
      makespan[n] = timeline.makespan;
      peak_microbatches(orders, KeptUntil::weight_gradient, peaks[n]);
    }
    CHECK(makespan[0] == makespan[1]);
    CHECK(peaks[0] == peaks[1]);
  }
}

TEST_CASE("a plan's order of backwards reaches the schedules that have the choice, and no others") {
  PipelinePlan plan;
  plan.backward_order = BackwardOrder::last_in;
  for (const ScheduleKind kind : kSchedules) {
    const ScheduleShape shape = schedule_shape(plan, kind, 4, 16, default_virtual_stages(kind));
    const bool has_choice = kind == ScheduleKind::gpipe || kind == ScheduleKind::looped_bfs;
    CHECK(shape.backward_order == (has_choice ? BackwardOrder::last_in : BackwardOrder::first_in));
  }
  CHECK(schedule_shape(plan, ScheduleKind::gpipe, 1, 16, 1).backward_order == BackwardOrder::first_in);
}
