// The simulator against check values. "Published" values are those of the schedules' papers; all others were
// simulated independently, with a slow program that shares no code with this one.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <string>

#include "engine/pipeline/order_csv.h"
#include "tests/engine/pipeline/pipeline_fixture.h"

using namespace roofscape::engine;
using namespace roofscape::engine::test;
using Kind = ScheduleKind;

namespace {

struct Row {
  Kind kind;
  int p, m, v;
  double f, b, w;
  double makespan, bubble, idle_fraction, span;
  std::vector<double> until_weight, until_input;
};

bool near(double a, double b, double tolerance = 1e-9) { return std::abs(a - b) <= tolerance; }

void check_list(const std::vector<double>& actual, const std::vector<double>& expected) {
  REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    CAPTURE(i);
    CHECK(near(actual[i], expected[i], 5e-4));  // thirds were noted with three digits
  }
}

void check_row(const Row& row) {
  const ScheduleShape shape = shape_of(row.kind, row.p, row.m, row.v);
  const Step step = run_step(shape, unit_times(shape, row.f, row.b, row.w));
  REQUIRE(step.status.finished());
  const Bubbles bubble = step.bubble();
  const double unit = static_cast<double>(kUnit);
  CHECK(step.makespan() == row.makespan);
  CHECK(near(bubble.bubble_time / unit, row.bubble));
  CHECK(near(bubble.idle_fraction, row.idle_fraction, 5e-6));
  CHECK(near(bubble.ratio_to_work, row.bubble / (row.m * (row.f + row.b + row.w))));
  CHECK(static_cast<double>(bubble.span_bubble) / unit == row.span);
  check_list(step.peaks(KeptUntil::weight_gradient), row.until_weight);
  check_list(step.peaks(KeptUntil::input_gradient), row.until_input);
}

struct DualRow {
  Kind kind;
  int p, m;
  double f, b, w, overlapped, makespan;
  std::vector<double> idle;
  double peak;
};

void check_dual(const DualRow& row) {
  const ScheduleShape shape = shape_of(row.kind, row.p, row.m);
  const Step step = run_step(shape, unit_times(shape, row.f, row.b, row.w, 0, row.overlapped));
  REQUIRE(step.status.finished());
  CHECK(step.makespan() == row.makespan);
  std::vector<double> idle;
  for (const Tick t : step.idle()) idle.push_back(static_cast<double>(t) / static_cast<double>(kUnit));
  check_list(idle, row.idle);
  check_list(step.peaks(KeptUntil::weight_gradient), std::vector<double>(static_cast<std::size_t>(row.p), row.peak));
}

// p = 4, m = 12, 2:2:2, for transfers of 0, 0.25, 1 and 2.
void check_transfers(Kind kind, const std::vector<double>& makespans) {
  const double transfers[] = {0, 0.25, 1, 2};
  const ScheduleShape shape = shape_of(kind, 4, 12);
  for (std::size_t i = 0; i < 4; ++i) {
    CAPTURE(transfers[i]);
    CHECK(run_step(shape, unit_times(shape, 2, 2, 2, transfers[i])).makespan() == makespans[i]);
  }
}

// p = 4, m = 12, 2:2:2, every operation of the last device 1.5 times as long.
void check_uneven(Kind kind, double makespan, double slowest_idle) {
  const ScheduleShape shape = shape_of(kind, 4, 12);
  PipelineTimes times = unit_times(shape, 2, 2, 2);
  Orders orders;
  make_orders(shape, orders);
  for (std::size_t s = 0; s < orders.device_of.size(); ++s)
    if (orders.device_of[s] == 3)
      for (auto* list : {&times.forward, &times.backward_input, &times.backward_weight})
        (*list)[s] = (*list)[s] * 3 / 2;
  const Step step = run_step(shape, times);
  CHECK(step.makespan() == makespan);
  CHECK(static_cast<double>(step.idle()[3]) / static_cast<double>(kUnit) == slowest_idle);
}

std::string starts(const Step& step, std::uint32_t device, bool stages) {
  static const char* const names[] = {"F", "BW", "B", "W"};
  std::string out;
  for (std::uint32_t i = step.orders.first[device]; i < step.orders.first[device + 1]; ++i) {
    const Op op = step.orders.ops[i];
    out +=
        (out.empty() ? "" : " ") + std::string(names[static_cast<int>(op.kind())]) + std::to_string(op.microbatch());
    if (stages) out += "." + std::to_string(op.stage());
    out += "@" + std::to_string(step.timeline.start[i] / kUnit);
  }
  return out;
}

Step plain_step(Kind kind, int p, int m) {
  const ScheduleShape shape = shape_of(kind, p, m);
  return run_step(shape, unit_times(shape, 2, 2, 2));
}

}  // namespace

TEST_CASE("1F1B, 4 stages") {
  check_row({Kind::one_f_one_b, 4, 12, 1, 2, 2, 2, 90, 18, 0.2, 18, {4, 3, 2, 1}, {4, 3, 2, 1}});
}
TEST_CASE("1F1B, 6 stages, 4:5:3") {
  check_row({Kind::one_f_one_b, 6, 24, 1, 4, 5, 3, 348, 60, 0.17241, 60, {6, 5, 4, 3, 2, 1}, {6, 5, 4, 3, 2, 1}});
}
TEST_CASE("eager 1F1B, 4 stages") {
  check_row({Kind::eager_1f1b, 4, 12, 1, 2, 2, 2, 90, 18, 0.2, 18, {7, 5, 3, 1}, {7, 5, 3, 1}});
}
TEST_CASE("GPipe, 4 stages: the bubble of 1F1B, the memory of all microbatches") {
  check_row({Kind::gpipe, 4, 12, 1, 2, 2, 2, 90, 18, 0.2, 18, {12, 12, 12, 12}, {12, 12, 12, 12}});
}
TEST_CASE("interleaved 1F1B, 2 chunks") {
  check_row(
      {Kind::interleaved_1f1b, 4, 12, 2, 2, 2, 2, 81, 9, 0.11111, 9, {5.5, 4.5, 3.5, 2.5}, {5.5, 4.5, 3.5, 2.5}});
}
TEST_CASE("interleaved 1F1B, 3 chunks, 4:5:3") {
  check_row(
      {Kind::interleaved_1f1b, 4, 12, 3, 4, 5, 3, 156, 12, 0.07692, 12, {5, 4.333, 3.667, 3}, {5, 4.333, 3.667, 3}});
}
TEST_CASE("overlapped 1F1B joins each forward with the backward of the microbatch before") {
  const ScheduleShape shape = shape_of(Kind::overlapped_1f1b, 2, 3, 1);
  const Step step = run_step(shape, unit_times(shape, 1, 1, 1, 0, 2));
  REQUIRE(step.status.finished());
  CHECK(starts(step, 0, false) == "F0@0 F1@1 F2@2 BW0@4 BW1@6 BW2@8");
  CHECK(starts(step, 1, false) == "F0@1 F1@2 BW0@2 F2@4 BW1@4 BW2@6");
  CHECK(step.makespan() == 10);  // 1F1B: 12
  check_list(step.peaks(KeptUntil::weight_gradient), {3, 2});
}
TEST_CASE("overlapped 1F1B, 2 chunks, has Megatron-LM's order with one more forward ahead") {
  Orders orders;
  make_orders(shape_of(Kind::overlapped_1f1b, 2, 4, 2), orders);
  CHECK(order_csv(orders) ==
        "0F0,0F1,2F0,2F1,0F2,(0F3;2B0)OVERLAP_F_B,(2F2;2B1)OVERLAP_F_B,(2F3;0B0)OVERLAP_F_B,0B1,2B2,2B3,0B2,0B3\n"
        "1F0,1F1,3F0,(3F1;3B0)OVERLAP_F_B,(1F2;3B1)OVERLAP_F_B,(1F3;1B0)OVERLAP_F_B,(3F2;1B1)OVERLAP_F_B,"
        "(3F3;3B2)OVERLAP_F_B,3B3,1B2,1B3\n");
}
TEST_CASE("looped breadth first, 2 chunks") {
  check_row({Kind::looped_bfs, 4, 12, 2, 2, 2, 2, 81, 9, 0.11111, 9, {12, 12, 12, 12}, {12, 12, 12, 12}});
}
TEST_CASE("ZB-H1, even thirds") {
  check_row({Kind::zb_h1, 4, 12, 1, 2, 2, 2, 78, 6, 0.07692, 6, {4, 4, 4, 4}, {4, 3, 2, 1}});
}
TEST_CASE("ZB-H1, 4:5:3") {
  check_row({Kind::zb_h1, 4, 12, 1, 4, 5, 3, 162, 18, 0.11111, 18, {4, 4, 4, 4}, {4, 3, 2, 1}});
}
TEST_CASE("ZB-H1, 2 chunks, 4:5:3") {
  check_row({Kind::zb_h1, 4, 12, 2, 4, 5, 3, 153, 9, 0.05882, 9, {4, 4, 4, 4}, {4, 3.5, 3, 2.5}});
}
TEST_CASE("ZB-H2, even thirds: no span bubble") {
  check_row({Kind::zb_h2, 4, 12, 1, 2, 2, 2, 78, 6, 0.07692, 0, {7, 7, 7, 7}, {7, 5, 3, 1}});
}
TEST_CASE("ZB-H2, 4:5:3") {
  check_row({Kind::zb_h2, 4, 12, 1, 4, 5, 3, 156, 12, 0.07692, 9, {7, 7, 7, 7}, {7, 5, 3, 1}});
}
TEST_CASE("ZB-V, even thirds: no span bubble") {
  check_row({Kind::zb_v, 4, 12, 2, 2, 2, 2, 75, 3, 0.04, 0, {4, 4, 4, 4}, {4, 4, 4, 4}});
}
TEST_CASE("ZB-V, 4:5:3") {
  check_row({Kind::zb_v, 4, 12, 2, 4, 5, 3, 151.5, 7.5, 0.04950, 6, {4, 4, 4, 4}, {4, 4, 4, 4}});
}

TEST_CASE("DualPipe, 4 stages, overlapping saves nothing") {
  check_dual({Kind::dualpipe, 4, 12, 2, 2, 2, 6, 76, {4, 4, 4, 4}, 5});
}
TEST_CASE("DualPipe, 4 stages, overlapped pairs of 5 instead of 6") {
  check_dual({Kind::dualpipe, 4, 12, 2, 2, 2, 5, 68, {3, 3, 3, 3}, 5});
}
TEST_CASE("DualPipe, 6 stages, 4:5:3: the outer devices idle less") {
  check_dual({Kind::dualpipe, 6, 18, 4, 5, 3, 10, 210, {14, 16, 16, 16, 16, 14}, 7});
}
TEST_CASE("DualPipeV, 3 stages") { check_dual({Kind::dualpipe_v, 3, 9, 2, 2, 2, 5, 51.5, {2.5, 3, 3}, 3.5}); }
TEST_CASE("DualPipeV, 4 stages, 4:5:3") {
  check_dual({Kind::dualpipe_v, 4, 12, 4, 5, 3, 10, 141, {10, 11, 12, 12}, 4.5});
}

TEST_CASE("transfers, GPipe") { check_transfers(Kind::gpipe, {90, 91.5, 96, 102}); }
TEST_CASE("transfers, eager 1F1B") { check_transfers(Kind::eager_1f1b, {90, 91.5, 96, 102}); }
TEST_CASE("transfers, 1F1B pays on every microbatch") { check_transfers(Kind::one_f_one_b, {90, 95.5, 112, 134}); }
TEST_CASE("transfers, interleaved 1F1B") { check_transfers(Kind::interleaved_1f1b, {81, 84.5, 95, 121}); }
TEST_CASE("transfers, looped breadth first") { check_transfers(Kind::looped_bfs, {81, 82.5, 87, 93}); }
TEST_CASE("transfers, ZB-H1") { check_transfers(Kind::zb_h1, {78, 81, 90, 112}); }
TEST_CASE("transfers, ZB-V") { check_transfers(Kind::zb_v, {75, 78.25, 89, 107}); }

TEST_CASE("a slower last device, 1F1B") { check_uneven(Kind::one_f_one_b, 126, 18); }
TEST_CASE("a slower last device, interleaved 1F1B") { check_uneven(Kind::interleaved_1f1b, 117, 9); }
TEST_CASE("a slower last device, ZB-H1") { check_uneven(Kind::zb_h1, 114, 6); }
TEST_CASE("a slower last device, ZB-V") { check_uneven(Kind::zb_v, 111, 3); }

TEST_CASE("every start of 1F1B, 3 stages, 4 microbatches") {
  const Step step = plain_step(Kind::one_f_one_b, 3, 4);
  CHECK(step.makespan() == 36);
  CHECK(starts(step, 0, false) == "F0@0 F1@2 F2@4 BW0@14 F3@18 BW1@20 BW2@26 BW3@32");
  CHECK(starts(step, 1, false) == "F0@2 F1@4 BW0@10 F2@14 BW1@16 F3@20 BW2@22 BW3@28");
  CHECK(starts(step, 2, false) == "F0@4 BW0@6 F1@10 BW1@12 F2@16 BW2@18 F3@22 BW3@24");
}
TEST_CASE("every start of interleaved 1F1B, 2 stages, 2 microbatches, 2 chunks") {
  const Step step = plain_step(Kind::interleaved_1f1b, 2, 2);
  CHECK(step.makespan() == 15);
  CHECK(starts(step, 0, true) == "F0.0@0 F1.0@1 F0.2@2 F1.2@3 BW0.2@6 BW1.2@9 BW0.0@11 BW1.0@13");
  CHECK(starts(step, 1, true) == "F0.1@1 F1.1@2 F0.3@3 BW0.3@4 F1.3@6 BW1.3@7 BW0.1@9 BW1.1@11");
}
TEST_CASE("every start of ZB-H1, 2 stages, 3 microbatches") {
  const Step step = plain_step(Kind::zb_h1, 2, 3);
  CHECK(step.makespan() == 20);
  CHECK(starts(step, 0, false) == "F0@0 F1@2 B0@6 W0@8 F2@10 B1@12 W1@14 B2@16 W2@18");
  CHECK(starts(step, 1, false) == "F0@2 B0@4 F1@6 B1@8 W0@10 F2@12 B2@14 W1@16 W2@18");
}

// Published: Stanford CS231n, lecture on large-scale distributed training.
TEST_CASE("8 stages and one microbatch use an eighth of the devices") {
  CHECK(1 - plain_step(Kind::gpipe, 8, 1).bubble().idle_fraction == 0.125);
}
TEST_CASE("4 stages and 4 microbatches use 57.1 % of the devices") {
  CHECK(near(1 - plain_step(Kind::gpipe, 4, 4).bubble().idle_fraction, 4.0 / 7.0, 1e-12));
}

TEST_CASE("a blocking send keeps the sender busy") {
  // By hand: F0 computes 0-4 and sends 4-5, so F1 starts at 5; device 1 sends BW0 18-19 before BW1.
  const ScheduleShape shape = shape_of(Kind::gpipe, 2, 2);
  PipelineTimes times = even_times(shape, 4, 2, 2, 1);
  times.blocking_send = true;
  const Step step = run_step(shape, times);
  CHECK(step.timeline.start == std::vector<Tick>{0, 5, 19, 24, 5, 10, 14, 19});
}

TEST_CASE("blocking sends never shorten a step") {
  Random random(11);
  for (int i = 0; i < 1000; ++i) {
    const ScheduleShape shape = random_shape(random, schedule_in_turn(i));
    PipelineTimes times = random_times(random, shape, i % 3 == 0, true);
    const Tick free = run_step(shape, times).timeline.makespan;
    times.blocking_send = true;
    const Step blocking = run_step(shape, times);
    CHECK(blocking.status.finished());
    CHECK(blocking.timeline.makespan >= free);
  }
}

// By hand, with F = 2, B = 4 (input and weight), transfer 1: device 1 waits 1 for its only forward, device 0 waits 1
// for its gradient after device 1 has worked for 6.
TEST_CASE("two stages and one microbatch: each device waits for one transfer") {
  const ScheduleShape shape = shape_of(ScheduleKind::one_f_one_b, 2, 1);
  const Step step = run_step(shape, even_times(shape, 2, 3, 1, 1));
  REQUIRE(step.status);
  CHECK(step.timeline.makespan == 14);
  CHECK(step.timeline.in_transfer == 2);
}

TEST_CASE("two stages and one microbatch: a blocking send is time in transfer, too") {
  const ScheduleShape shape = shape_of(ScheduleKind::one_f_one_b, 2, 1);
  PipelineTimes times = even_times(shape, 2, 3, 1, 1);
  times.blocking_send = true;
  // Device 0 sends for 1 and then waits for 6 of work and a transfer of 1; device 1 waits 1 and sends for 1.
  const Step step = run_step(shape, times);
  REQUIRE(step.status);
  CHECK(step.timeline.in_transfer == 4);
}
