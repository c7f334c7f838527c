// order_span: a step timed by its repetitions is the simulated step to the last tick, for any times, with when each of
// its operations starts; and the lists of the schedules do repeat themselves as it takes for granted.
#include <doctest/doctest.h>

#include "engine/pipeline/order_span.h"

#include "tests/engine/pipeline/pipeline_fixture.h"

using namespace roofscape::engine;
using namespace roofscape::engine::test;
using Kind = ScheduleKind;

namespace {

// Layers alike with an embedding on the first stage and a head on the last, in ticks of a real step; or small numbers
// without any rule; or even stages.
PipelineTimes any_times(Random& random, const ScheduleShape& shape) {
  const int sort = random_int(random, 0, 3);
  PipelineTimes times = random_times(random, shape, sort == 0, random_int(random, 0, 3) > 0);
  if (sort >= 2) {
    const auto stages = static_cast<std::size_t>(virtual_stage_count(shape));
    times = even_times(shape, random_int(random, 1'000'000, 900'000'000), random_int(random, 1'000'000, 900'000'000),
                       random_int(random, 1'000'000, 900'000'000), random_int(random, 0, 100'000'000));
    times.forward[0] += random_int(random, 0, 10'000'000);
    times.forward[stages - 1] += random_int(random, 0, 90'000'000);
    times.backward_input[stages - 1] += random_int(random, 0, 90'000'000);
    times.backward_weight[stages - 1] += random_int(random, 0, 90'000'000);
  }
  times.blocking_send = random_int(random, 0, 3) == 0;
  return times;
}

void check_spans(Kind kind, int cases, int most_microbatches = 250) {
  Random random(static_cast<std::uint64_t>(kind) + 900);
  OrderSpans spans, timelines;
  SimulationScratch scratch;
  Orders orders;
  Timeline timeline;
  std::size_t all = 0;
  int filled = 0;
  for (int i = 0; i < cases; ++i) {
    const ScheduleShape shape = random_shape(random, kind, 5, most_microbatches);
    const PipelineTimes times = any_times(random, shape);
    make_orders(shape, orders);
    REQUIRE(simulate(orders, times, scratch, timeline).finished());
    all += orders.ops.size();
    const StepSpan span = spans.span(shape, times);
    CAPTURE(shape.stages);
    CAPTURE(shape.microbatches);
    CAPTURE(shape.virtual_stages);
    CAPTURE(times.transfer);
    CAPTURE(times.blocking_send);
    REQUIRE(span.makespan == timeline.makespan);
    REQUIRE(span.in_transfer == timeline.in_transfer);
    Timeline whole, totals;
    const bool fills = timelines.fill_timeline(shape, times, whole);
    REQUIRE(timelines.fill_totals(shape, times, totals) == fills);
    if (!fills) continue;
    ++filled;
    REQUIRE(whole.start == timeline.start);
    for (const Timeline* found : {&whole, &totals}) {
      REQUIRE(found->makespan == timeline.makespan);
      REQUIRE(found->in_transfer == timeline.in_transfer);
      REQUIRE(found->busy == timeline.busy);
      REQUIRE(found->busy_until == timeline.busy_until);
    }
  }
  const ScheduleShape few = shape_of(kind, 2, 40);
  CHECK((filled > cases / 50) == (repeated_middle(few).has_value() || runs_breadth_first(few)));
  // Steps that do not settle are run more often than once; those that do make up for them.
  CHECK(spans.operations_run() <= all);
}

}  // namespace

TEST_CASE("the span by repetitions is that of the simulation: GPipe") { check_spans(Kind::gpipe, 2000); }
TEST_CASE("the span by repetitions is that of the simulation: 1F1B") { check_spans(Kind::one_f_one_b, 6000); }
TEST_CASE("the span by repetitions is that of the simulation: eager 1F1B") { check_spans(Kind::eager_1f1b, 6000); }
TEST_CASE("the span by repetitions is that of the simulation: interleaved 1F1B") {
  check_spans(Kind::interleaved_1f1b, 1500, 600);
}
TEST_CASE("the span by repetitions is that of the simulation: overlapped 1F1B") {
  check_spans(Kind::overlapped_1f1b, 1500, 600);
}
TEST_CASE("the span by repetitions is that of the simulation: looped breadth first") {
  check_spans(Kind::looped_bfs, 2000);
}
TEST_CASE("the span by repetitions is that of the simulation: ZB-H1") { check_spans(Kind::zb_h1, 6000); }
TEST_CASE("the span by repetitions is that of the simulation: ZB-H2") { check_spans(Kind::zb_h2, 6000); }
TEST_CASE("the span by repetitions is that of the simulation: ZB-V") { check_spans(Kind::zb_v, 6000); }
TEST_CASE("the span by repetitions is that of the simulation: DualPipe") { check_spans(Kind::dualpipe, 6000); }
TEST_CASE("the span by repetitions is that of the simulation: DualPipeV") { check_spans(Kind::dualpipe_v, 6000); }

TEST_CASE("a long step of a schedule with a middle is timed by running few of its operations") {
  for (const Kind kind : {Kind::one_f_one_b, Kind::eager_1f1b, Kind::interleaved_1f1b, Kind::overlapped_1f1b,
                          Kind::zb_h1, Kind::zb_h2, Kind::zb_v, Kind::dualpipe, Kind::dualpipe_v}) {
    const ScheduleShape shape = shape_of(kind, 8, 32768);
    PipelineTimes times = even_times(shape, 500'000'000, 600'000'000, 400'000'000, 1'000'000);
    times.forward.back() += 30'000'000;
    OrderSpans spans;
    const StepSpan span = spans.span(shape, times);
    const Step step = run_step(shape, times);
    CHECK(span.makespan == step.timeline.makespan);
    CHECK(span.in_transfer == step.timeline.in_transfer);
    CHECK(spans.operations_run() < step.orders.ops.size() / 10);
  }
}

TEST_CASE("what was asked before is not run again") {
  const ScheduleShape shape = shape_of(Kind::zb_v, 4, 40);
  PipelineTimes times = even_times(shape, 20, 24, 16, 2);
  OrderSpans spans;
  const StepSpan first = spans.span(shape, times);
  const std::size_t run = spans.operations_run();
  CHECK(spans.span(shape, times).makespan == first.makespan);
  CHECK(spans.operations_run() == run);
  times.transfer = 3;
  (void)spans.span(shape, times);
  CHECK(spans.operations_run() > run);
}

namespace {

// A step of one repetition more has it in the middle of every list, and else the same operations.
void check_middle(ScheduleShape shape, int repetitions) {
  const RepeatedMiddle middle = repeated_middle(shape).value();
  shape.microbatches = middle.first_microbatches + repetitions * middle.microbatches_each;
  ScheduleShape longer = shape;
  longer.microbatches += middle.microbatches_each;
  CAPTURE(schedule_id(shape.kind));
  CAPTURE(shape.stages);
  CAPTURE(shape.virtual_stages);
  CAPTURE(shape.group_size);
  CAPTURE(shape.microbatches);
  REQUIRE(check_schedule(shape).legal());
  Orders a, b;
  make_orders(shape, a);
  make_orders(longer, b);
  const std::uint32_t of_a_way = directions(shape.kind) == 2 ? 2 : 1,
                      each = static_cast<std::uint32_t>(middle.microbatches_each) / of_a_way;
  // The second direction of DualPipe counts on from the first.
  const auto counted = [](const Orders& orders, std::uint32_t i) {
    const Op op = orders.ops[i];
    return op.microbatch() - (op.stage() >= orders.route_length ? orders.microbatches / 2 : 0);
  };
  std::uint32_t wrong = 0;
  for (std::uint32_t r = 0; r < a.devices(); ++r) {
    const auto length = static_cast<std::uint32_t>(middle.length);
    const std::uint32_t before = static_cast<std::uint32_t>(middle.before(shape, static_cast<int>(r))),
                        drain = before + length * static_cast<std::uint32_t>(repetitions);
    const std::uint32_t size = a.first[r + 1] - a.first[r];
    REQUIRE(drain <= size);
    REQUIRE(b.first[r + 1] - b.first[r] == size + length);
    const auto same = [&](std::uint32_t i, std::uint32_t j, std::uint32_t later) {  // of b and a
      const Op mine = b.ops[b.first[r] + i], theirs = a.ops[a.first[r] + j];
      return mine.stage_and_kind() == theirs.stage_and_kind() &&
             mine.joined_with_next() == theirs.joined_with_next() &&
             counted(b, b.first[r] + i) == counted(a, a.first[r] + j) + later;
    };
    for (std::uint32_t i = 0; i < size; ++i) {
      if (i < drain) wrong += same(i, i, 0) ? 0 : 1;
      if (i >= before) wrong += same(i + length, i, each) ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE(
    "a step of more microbatches has one more repetition in the middle of every list, and else the same operations") {
  for (const Kind kind : kSchedules)
    for (int p = 2; p <= 9; ++p) {
      const ScheduleShape shape = shape_of(kind, p, 1);
      if (facts_of(kind).takes_groups || !repeated_middle(shape) || (kind == Kind::dualpipe && p % 2 == 1)) continue;
      for (const int repetitions : {1, 2, 5}) check_middle(shape, repetitions);
    }
}

TEST_CASE("a step of one group more has one more repetition, whatever chunks, groups and the last group are") {
  for (const Kind kind : {Kind::interleaved_1f1b, Kind::overlapped_1f1b})
    for (int p = 2; p <= 9; ++p)
      for (int chunks = kind == Kind::overlapped_1f1b ? 2 : 1; chunks <= 4; ++chunks)
        for (const int group : {p, p + 1, 2 * p + 1})
          for (const int last : {0, p, group - 1}) {  // microbatches of a last group that is not full
            ScheduleShape shape = shape_of(kind, p, 8 * group + (last >= p ? last : 0), chunks);
            shape.group_size = group;
            for (const int repetitions : {1, 2, 5}) check_middle(shape, repetitions);
          }
}
