// pipeline_time: closed forms where, and only where, they equal the simulation to the last tick; the bound; the
// cache.
#include <doctest/doctest.h>

#include <string>

#include "engine/pipeline/one_f_one_b_run.h"
#include "tests/engine/pipeline/pipeline_fixture.h"

using namespace roofscape::engine;
using namespace roofscape::engine::test;
using Kind = ScheduleKind;

namespace {

// Simulates `cases` random cases that have a closed form and compares.
void check_closed_form(Kind kind, bool transfers, int cases, bool even = true) {
  Random random(static_cast<std::uint64_t>(kind) + 100 + (transfers ? 50 : 0));
  int compared = 0;
  for (int i = 0; i < cases * 60 && compared < cases; ++i) {
    const ScheduleShape shape = random_shape(random, kind, 12, 60);
    PipelineTimes times = random_times(random, shape, even, transfers);
    if (i % 4 == 0) times.transfer *= 20;
    if (i % 3 !=
        0) {  // many ranges hold for weight gradients below forwards below input gradients, or for equal ones
      const Tick w = random_int(random, 1, 20), f = w + random_int(random, 0, 2) * 3,
                 b = f + random_int(random, 0, 2) * 4;
      times.forward.assign(times.forward.size(), f);
      times.backward_input.assign(times.forward.size(), b);
      times.backward_weight.assign(times.forward.size(), w);
    }
    const std::optional<Tick> closed = closed_form_time(shape, times);
    if (!closed) continue;
    ++compared;
    CAPTURE(shape.stages);
    CAPTURE(shape.microbatches);
    CAPTURE(shape.virtual_stages);
    CAPTURE(times.forward[0]);
    CAPTURE(times.backward_input[0]);
    CAPTURE(times.backward_weight[0]);
    CAPTURE(times.transfer);
    CAPTURE((times.overlapped.empty() ? 0 : times.overlapped[0]));
    CHECK(*closed == run_step(shape, times).timeline.makespan);
  }
  CHECK(compared == cases);
}

}  // namespace

TEST_CASE("closed form equals simulation: GPipe, any stage times and transfers") {
  check_closed_form(Kind::gpipe, false, 2000, false);
  check_closed_form(Kind::gpipe, true, 2000, false);
}
TEST_CASE("closed form equals simulation: 1F1B") {
  check_closed_form(Kind::one_f_one_b, false, 2000);
  check_closed_form(Kind::one_f_one_b, true, 2000);
}
TEST_CASE("closed form equals simulation: eager 1F1B") {
  check_closed_form(Kind::eager_1f1b, false, 2000);
  check_closed_form(Kind::eager_1f1b, true, 2000);
}
TEST_CASE("closed form equals simulation: interleaved 1F1B") {
  check_closed_form(Kind::interleaved_1f1b, false, 2000);
  check_closed_form(Kind::interleaved_1f1b, true, 2000);
}
TEST_CASE("closed form equals simulation: looped breadth first") {
  check_closed_form(Kind::looped_bfs, false, 2000);
  check_closed_form(Kind::looped_bfs, true, 2000);
}
TEST_CASE("closed form equals simulation: ZB-H1") { check_closed_form(Kind::zb_h1, false, 2000); }
TEST_CASE("closed form equals simulation: ZB-H2") { check_closed_form(Kind::zb_h2, false, 2000); }
TEST_CASE("closed form equals simulation: ZB-V") { check_closed_form(Kind::zb_v, false, 2000); }
TEST_CASE("closed form equals simulation: DualPipe") { check_closed_form(Kind::dualpipe, false, 2000); }
TEST_CASE("closed form equals simulation: DualPipeV") { check_closed_form(Kind::dualpipe_v, false, 2000); }

TEST_CASE("uneven stages have no closed form except for GPipe") {
  for (const Kind kind : kSchedules) {
    const ScheduleShape shape = shape_of(kind, 4, 16);
    PipelineTimes times = even_times(shape, 20, 20, 20);
    times.forward.back() = 31;  // logits
    CHECK(closed_form_time(shape, times).has_value() == (kind == Kind::gpipe));
  }
}

TEST_CASE("blocking sends have no closed form") {
  const ScheduleShape shape = shape_of(Kind::gpipe, 4, 8);
  PipelineTimes times = even_times(shape, 20, 20, 20, 3);
  times.blocking_send = true;
  CHECK_FALSE(closed_form_time(shape, times).has_value());
}

// Makespan and idle time of the run without an order against the simulation of the order, to the last tick.
enum class Sends { none, overlapped, blocking };
static void check_run_without_order(Kind kind, Sends sends, int cases) {
  const bool transfers = sends != Sends::none;
  Random random(static_cast<std::uint64_t>(kind) + 800 + 100 * static_cast<std::uint64_t>(sends));
  OneFOneBScratch scratch;
  int compared = 0;
  for (int i = 0; i < 12 * cases && compared < cases; ++i) {
    const ScheduleShape shape = random_shape(random, kind, 17, 60);
    PipelineTimes times = random_times(random, shape, i % 8 == 0, transfers);
    if (i % 4 == 0) times.transfer *= 50;
    times.blocking_send = sends == Sends::blocking;
    if (!runs_without_order(shape)) continue;
    ++compared;
    CAPTURE(shape.stages);
    CAPTURE(shape.microbatches);
    CAPTURE(shape.virtual_stages);
    const Step step = run_step(shape, times);
    const StepSpan span = one_f_one_b_span(shape, times, scratch);
    CHECK(span.makespan == step.timeline.makespan);
    CHECK(span.in_transfer == step.timeline.in_transfer);
  }
  CHECK(compared == cases);
}
TEST_CASE("1F1B run without an order takes as long as its order, any stage times and transfers") {
  check_run_without_order(Kind::one_f_one_b, Sends::none, 2000);
  check_run_without_order(Kind::one_f_one_b, Sends::overlapped, 3000);
  check_run_without_order(Kind::one_f_one_b, Sends::blocking, 3000);
}
TEST_CASE("interleaved 1F1B run without an order takes as long as its order, any stage times and transfers") {
  check_run_without_order(Kind::interleaved_1f1b, Sends::none, 2000);
  check_run_without_order(Kind::interleaved_1f1b, Sends::overlapped, 3000);
  check_run_without_order(Kind::interleaved_1f1b, Sends::blocking, 3000);
}
TEST_CASE("interleaved 1F1B of even chunks but for some stages takes as long as its order") {
  Random random(870);
  OneFOneBScratch scratch;
  int blocking = 0, in_nodes = 0;
  for (int i = 0; i < 2500; ++i) {
    const int stages = random_int(random, 2, 12);
    ScheduleShape shape = shape_of(Kind::interleaved_1f1b, stages, stages * random_int(random, 1, 8));
    shape.virtual_stages = random_int(random, 1, 10);
    PipelineTimes times;
    const auto fill = [&](std::vector<Tick>& of) {
      of.assign(static_cast<std::size_t>(virtual_stage_count(shape)), random_int(random, 20, 40));
      of.front() += random_int(random, 0, 20), of.back() += random_int(random, 0, 60);
      for (int others = random_int(random, -3, 3); others > 0; --others)
        of[static_cast<std::size_t>(random_int(random, 0, static_cast<int>(of.size()) - 1))] =
            random_int(random, 0, 60);
    };
    fill(times.forward), fill(times.backward_input), fill(times.backward_weight);
    times.transfer = random_int(random, 0, i % 3 == 0 ? 200 : 8);
    times.blocking_send = i % 2 == 0;
    if (i % 5 == 0) times.node_devices = 2, times.transfer_in_node = random_int(random, 0, 4);
    CAPTURE(i);
    const Step step = run_step(shape, times);
    const StepSpan span = one_f_one_b_span(shape, times, scratch);
    REQUIRE(span.makespan == step.timeline.makespan);
    REQUIRE(span.in_transfer == step.timeline.in_transfer);
    REQUIRE(pipeline_lower_bound(shape, times) <= span.makespan);
    blocking += times.blocking_send && times.transfer > 0, in_nodes += times.node_devices > 1;
  }
  CHECK(blocking > 1000);
  CHECK(in_nodes > 400);
}
TEST_CASE("what needs its order: other schedules, other groups, a single stage") {
  const auto runs = [](const ScheduleShape& shape) { return runs_without_order(shape); };
  CHECK(runs(shape_of(Kind::one_f_one_b, 4, 8)));
  CHECK(runs({Kind::interleaved_1f1b, 4, 8, 2, 4}));
  CHECK_FALSE(runs({Kind::interleaved_1f1b, 4, 8, 2, 8}));
  CHECK_FALSE(runs({Kind::interleaved_1f1b, 4, 10, 2, 0}));
  CHECK_FALSE(runs(shape_of(Kind::one_f_one_b, 1, 8)));
  for (const Kind kind : kSchedules)
    if (kind != Kind::one_f_one_b && kind != Kind::interleaved_1f1b) CHECK_FALSE(runs(shape_of(kind, 4, 16)));
}

TEST_CASE("pipeline_time is the makespan of the simulation") {
  Random random(40);
  OrderSpans spans;
  for (int i = 0; i < 4000; ++i) {
    const ScheduleShape shape = random_shape(random, schedule_in_turn(i));
    const PipelineTimes times = random_times(random, shape, i % 2 == 0, i % 4 < 2);
    const PipelineTimeResult result = pipeline_time(shape, times, spans);
    REQUIRE(result.ok());
    CHECK(result.step.makespan == run_step(shape, times).timeline.makespan);
  }
}

TEST_CASE("pipeline_time of an illegal shape says which rule is broken") {
  OrderSpans spans;
  const ScheduleShape shape = shape_of(Kind::zb_h1, 16, 18, 2);
  const PipelineTimeResult result = pipeline_time(shape, even_times(shape, 1, 1, 1), spans);
  CHECK_FALSE(result.ok());
  CHECK(result.schedule.rule == ScheduleRule::microbatches_fill_stages);
}

TEST_CASE("pipeline_time of times that do not fit the stages says so") {
  OrderSpans spans;
  const PipelineTimeResult result =
      pipeline_time(shape_of(Kind::one_f_one_b, 4, 8), even_times(shape_of(Kind::one_f_one_b, 3, 8), 1, 1, 1), spans);
  CHECK(result.times == SimulationOutcome::bad_times);
}

TEST_CASE("the cache gives an order back without making it again") {
  PipelineCache cache;
  const ScheduleShape shape = shape_of(Kind::one_f_one_b, 8, 64);
  const RunPlan::Step* const first = cache.plan(shape).steps.data();
  cache.plan(shape_of(Kind::one_f_one_b, 8, 65));
  CHECK(cache.plan(shape).steps.data() == first);
}

TEST_CASE("the cache keeps orders right when it throws others away") {
  PipelineCache cache;
  Orders orders;
  RunPlanScratch scratch;
  RunPlan expected;
  for (int round = 0; round < 2; ++round)
    for (int m = 1; m < 150; ++m) {
      const ScheduleShape shape = shape_of(Kind::gpipe, 3, m * 400);
      make_orders(shape, orders);
      REQUIRE(make_run_plan(orders, scratch, expected));
      REQUIRE(cache.plan(shape).steps == expected.steps);
    }
}

TEST_CASE("the lower bound is close for uneven 1F1B and interleaved steps without transfers") {
  Random random(41);
  double gap = 0;
  for (int i = 0; i < 1000; ++i) {
    const ScheduleShape shape = random_shape(random, i % 2 == 0 ? Kind::one_f_one_b : Kind::interleaved_1f1b);
    PipelineTimes times = even_times(shape, 2000, 2000, 2000);
    times.forward.back() += random_int(random, 0, 600);
    times.forward.front() += random_int(random, 0, 200);
    const double simulated = static_cast<double>(run_step(shape, times).timeline.makespan);
    gap += (simulated - static_cast<double>(pipeline_lower_bound(shape, times))) / simulated;
  }
  CHECK(gap / 1000 < 0.03);
}

TEST_CASE("the lower bound of even interleaved steps is the step, hops included") {
  Random random(44);
  for (int i = 0; i < 500; ++i) {
    const int stages = random_int(random, 2, 16);
    ScheduleShape shape = shape_of(Kind::interleaved_1f1b, stages, stages * random_int(random, 2, 8));
    shape.virtual_stages = random_int(random, 1, 8);
    const int chunks = shape.virtual_stages;
    const PipelineTimes times = even_times(shape, 20 * chunks, 20 * chunks, 20 * chunks, random_int(random, 0, 20));
    CHECK(pipeline_lower_bound(shape, times) == run_step(shape, times).timeline.makespan);
  }
}

TEST_CASE("the lower bound of an illegal shape is zero") {
  CHECK(pipeline_lower_bound(shape_of(Kind::dualpipe, 3, 8), {}) == 0);
}
