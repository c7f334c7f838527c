// critical_chain: what decided one step is as long as that step, and no step of the shape is shorter, whatever its
// times; of a step timed by its repetitions, too.
#include <doctest/doctest.h>

#include "engine/pipeline/critical_chain.h"
#include "engine/pipeline/order_span.h"

#include "tests/engine/pipeline/pipeline_fixture.h"

using namespace roofscape::engine;
using namespace roofscape::engine::test;
using Kind = ScheduleKind;

namespace {

PipelineTimes times_of_chain(Random& random, const ScheduleShape& shape) {
  const bool even = random_int(random, 0, 2) == 0;
  PipelineTimes times = random_times(random, shape, even, random_int(random, 0, 3) > 0);
  times.blocking_send = random_int(random, 0, 3) == 0;
  return times;
}

// As another plan has them: all stages somewhat slower or faster.
PipelineTimes changed(Random& random, PipelineTimes times) {
  const int per_mille = random_int(random, 5, 50);
  const auto change = [&](Tick& t) { t = t * random_int(random, 1000 - per_mille, 1000 + per_mille) / 1000; };
  for (auto* of : {&times.forward, &times.backward_input, &times.backward_weight, &times.overlapped})
    for (Tick& t : *of) change(t);
  change(times.transfer), change(times.transfer_in_node);
  return times;
}

// A shape's plan, run with one set of times after the other.
struct ChainRun {
  SimulationScratch scratch;
  RunPlan plan;
  Orders orders;
  Timeline timeline;
  std::vector<CriticalStep> path;

  void take(const ScheduleShape& shape) {
    make_orders(shape, orders);
    REQUIRE(make_run_plan(orders, scratch.planning, plan).finished());
  }
  Tick makespan(const PipelineTimes& times) {
    REQUIRE(simulate(plan, times, scratch, timeline).finished());
    return timeline.makespan;
  }
  // Of the step that was run last.
  ChainCounts chain(const PipelineTimes& times) {
    critical_path(orders, times, timeline, path);
    REQUIRE_FALSE(path.empty());
    return ChainCounts(orders, times, path);
  }
};

}  // namespace

TEST_CASE("the chain that decided a step is as long as the step") {
  Random random(71);
  ChainRun run;
  int blocked = 0, paired = 0;
  for (int i = 0; i < 11000; ++i) {
    const ScheduleShape shape = random_shape(random, schedule_in_turn(i));
    const PipelineTimes times = times_of_chain(random, shape);
    CAPTURE(i);
    run.take(shape);
    const Tick makespan = run.makespan(times);
    REQUIRE(run.chain(times).length(times) == makespan);
    blocked += times.blocking_send, paired += !run.plan.first_halves.empty();
  }
  CHECK(blocked > 1000);
  CHECK(paired > 1000);
}

TEST_CASE("no step is shorter than a chain of its shape") {
  Random random(72);
  ChainRun run;
  int near = 0, all = 0;
  for (int i = 0; i < 3300; ++i) {
    const ScheduleShape shape = random_shape(random, schedule_in_turn(i));
    const PipelineTimes first = times_of_chain(random, shape);
    CAPTURE(i);
    run.take(shape);
    run.makespan(first);
    const ChainCounts chain = run.chain(first);
    for (int k = 0; k < 8; ++k) {
      const PipelineTimes times = k < 4 ? changed(random, first) : times_of_chain(random, shape);
      const Tick makespan = run.makespan(times);
      REQUIRE(chain.length(times) <= makespan);
      if (k >= 4) continue;
      ++all, near += double(chain.length(times)) > 0.98 * double(makespan);
    }
  }
  CHECK(near > all * 9 / 10);
}

TEST_CASE(
    "a chain without blocking sends says nothing false of steps that block, and one with them nothing of others") {
  const ScheduleShape shape = shape_of(Kind::one_f_one_b, 4, 8);
  PipelineTimes times = unit_times(shape, 1, 1, 1, 0.5);
  ChainRun run;
  run.take(shape);
  const auto chain_of = [&](bool blocking) {
    times.blocking_send = blocking;
    run.makespan(times);
    return run.chain(times);
  };
  const ChainCounts free = chain_of(false);
  const ChainCounts blocked = chain_of(true);
  CHECK(free.length(times) <= run.timeline.makespan);
  times.blocking_send = false;
  CHECK(blocked.length(times) == 0);
}

TEST_CASE("what a search has learnt of a shape is never above its step, long steps by their repetitions among them") {
  Random random(73);
  OrderSpans learnt, fresh;
  Timeline totals;
  int known = 0, exact = 0, repeated = 0, decided = 0;
  for (int i = 0; i < 1100; ++i) {
    const ScheduleShape shape = random_shape(random, schedule_in_turn(i), 4, i % 3 == 0 ? 400 : 40);
    PipelineTimes times = times_of_chain(random, shape);
    for (int k = 0; k < 6; ++k) {
      const Tick least = learnt.least_makespan(shape, times);
      REQUIRE((least > 0) <= learnt.knows(shape));
      const Tick makespan = fresh.span(shape, times).makespan;
      CAPTURE(i);
      CAPTURE(shape.microbatches);
      REQUIRE(least <= makespan);
      REQUIRE(learnt.span(shape, times).makespan == makespan);
      const bool was_repeated = fresh.fill_totals(shape, times, totals);
      if (learnt.knows(shape)) {
        const Tick own = learnt.least_makespan(shape, times);
        REQUIRE(own <= makespan);
        if (!was_repeated) REQUIRE(own == makespan);
        repeated += was_repeated, decided += was_repeated && own == makespan;
      }
      known += least > 0, exact += least == makespan;
      times = changed(random, times);
    }
  }
  CHECK(known > 2000);
  CHECK(exact > 500);
  CHECK(repeated > 300);
  CHECK(decided > repeated * 3 / 4);
}

TEST_CASE("what one search has learnt another takes over, but for shapes of which it knows itself") {
  const ScheduleShape both = shape_of(Kind::zb_h1, 4, 12), of_one = shape_of(Kind::zb_v, 4, 12);
  const PipelineTimes times = unit_times(both, 2, 3, 1, 0.5), folded = unit_times(of_one, 2, 3, 1, 0.5);
  PipelineTimes others = times;
  others.forward.back() += 100;
  OrderSpans one, other;
  const Tick makespan = one.span(both, times).makespan, of_folded = one.span(of_one, folded).makespan;
  other.span(both, others);
  const Tick own = other.least_makespan(both, times);
  REQUIRE(own < makespan);
  other.learn(one);
  CHECK(other.least_makespan(of_one, folded) == of_folded);
  CHECK(other.least_makespan(both, times) == own);
}
