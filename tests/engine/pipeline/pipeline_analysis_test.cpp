// Broken orders and times are reported; single operations say what they waited for.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "tests/engine/pipeline/pipeline_fixture.h"

using namespace roofscape::engine;
using namespace roofscape::engine::test;
using Kind = ScheduleKind;

namespace {

struct Bench {
  Orders orders;
  PipelineTimes times;
  SimulationScratch scratch;
  Timeline timeline;
  explicit Bench(const ScheduleShape& shape) : times(even_times(shape, 4, 4, 4)) { make_orders(shape, orders); }
  SimulationStatus run() { return simulate(orders, times, scratch, timeline); }
};

}  // namespace

TEST_CASE("a backward before its own forward is a deadlock that names the forward") {
  Bench bench(shape_of(Kind::one_f_one_b, 2, 3));
  const std::uint32_t first = bench.orders.first[1];
  std::swap(bench.orders.ops[first], bench.orders.ops[first + 1]);  // last device: BW0 F0
  const SimulationStatus status = bench.run();
  CHECK(status.outcome == SimulationOutcome::deadlock);
  // Device 0 waits too, but for this device.
  CHECK(status.device == 1);
  CHECK(bench.orders.ops[status.op] == Op(OpKind::backward, 1, 0));
  CHECK(status.missing == Op(OpKind::forward, 1, 0));
}

TEST_CASE("devices that wait in a circle are a deadlock of one of them") {
  Bench bench(shape_of(Kind::one_f_one_b, 2, 2));
  // Device 0 wants BW0 before it hands over F1, device 1 wants F1 before it runs BW0.
  bench.orders.ops = {{OpKind::forward, 0, 0},  {OpKind::backward, 0, 0}, {OpKind::forward, 0, 1},
                      {OpKind::backward, 0, 1}, {OpKind::forward, 1, 0},  {OpKind::forward, 1, 1},
                      {OpKind::backward, 1, 0}, {OpKind::backward, 1, 1}};
  const SimulationStatus status = bench.run();
  CHECK(status.outcome == SimulationOutcome::deadlock);
  const Op op = bench.orders.ops[status.op];
  CHECK((op == Op(OpKind::backward, 0, 0) || op == Op(OpKind::forward, 1, 1)));
  CHECK(status.missing == (status.device == 0 ? Op(OpKind::backward, 1, 0) : Op(OpKind::forward, 0, 1)));
}

TEST_CASE("a backward waits for as much as the stage before it does at once, where it splits only some") {
  Bench bench(shape_of(Kind::one_f_one_b, 2, 3));
  bench.orders.ops = {{OpKind::forward, 0, 0},        {OpKind::forward, 0, 1},  {OpKind::forward, 0, 2},
                      {OpKind::backward, 0, 0},       {OpKind::backward, 0, 1}, {OpKind::backward, 0, 2},
                      {OpKind::forward, 1, 0},        {OpKind::backward, 1, 0}, {OpKind::forward, 1, 1},
                      {OpKind::backward, 1, 1},       {OpKind::forward, 1, 2},  {OpKind::backward_input, 1, 2},
                      {OpKind::backward_weight, 1, 2}};
  bench.orders.first = {0, 6, 13};
  bench.times.forward = {2, 2};
  bench.times.backward_input = {1, 2};
  bench.times.backward_weight = {1, 6};
  REQUIRE(bench.run().finished());
  // Two gradients come after backwards of 8, the last after an input gradient of 2.
  CHECK(bench.timeline.start == std::vector<Tick>{0, 2, 4, 12, 22, 26, 2, 4, 12, 14, 22, 24, 26});
  CHECK(bench.timeline.makespan == 32);
}

TEST_CASE("on one device the deadlock is the missing forward itself") {
  Bench bench(shape_of(Kind::one_f_one_b, 1, 2));
  std::swap(bench.orders.ops[0], bench.orders.ops[1]);
  const SimulationStatus status = bench.run();
  CHECK(status.outcome == SimulationOutcome::deadlock);
  CHECK(status.op == 0);
  CHECK(status.missing == Op(OpKind::forward, 0, 0));
}

TEST_CASE("a weight gradient before its input gradient is a deadlock") {
  Bench bench(shape_of(Kind::zb_h1, 1, 1));
  std::swap(bench.orders.ops[1], bench.orders.ops[2]);
  const SimulationStatus status = bench.run();
  CHECK(status.outcome == SimulationOutcome::deadlock);
  CHECK(bench.orders.ops[status.op] == Op(OpKind::backward_weight, 0, 0));
  CHECK(status.missing == Op(OpKind::backward_input, 0, 0));
}

TEST_CASE("an operation that is in no list is a deadlock of the one that needs it") {
  Bench bench(shape_of(Kind::gpipe, 2, 2));
  bench.orders.ops[0] = bench.orders.ops[1];  // F0 of device 0 is gone
  const SimulationStatus status = bench.run();
  CHECK(status.outcome == SimulationOutcome::deadlock);
  CHECK(status.device == 0);
  Bench single(shape_of(Kind::gpipe, 2, 1));
  single.orders.first = {0, 1, 3};  // device 0 runs F0 only
  single.orders.ops.erase(single.orders.ops.begin() + 1);
  CHECK(single.run().finished());  // nobody needs its backward
}

TEST_CASE("the missing half of an overlapped pair is named") {
  Bench bench(shape_of(Kind::dualpipe, 2, 4));
  // Device 0: F0.0 F2.3 F1.0 BW2.3 F3.3&BW0.0 ...; without device 1's forward of microbatch 0 the pair's BW0 never
  // can.
  for (Op& op : bench.orders.ops)
    if (op == Op(OpKind::forward, 1, 0)) op = Op(OpKind::forward, 1, 1, op.joined_with_next());
  const SimulationStatus status = bench.run();
  CHECK(status.outcome == SimulationOutcome::deadlock);
  CHECK(bench.orders.ops[status.op].kind() == OpKind::backward);
}

TEST_CASE("an operation of another device's stage is malformed") {
  Bench bench(shape_of(Kind::gpipe, 2, 2));
  bench.orders.ops[0] = Op(OpKind::forward, 1, 0);
  const SimulationStatus status = bench.run();
  CHECK(status.outcome == SimulationOutcome::malformed_order);
  CHECK(status.device == 0);
  CHECK(status.op == 0);
}

TEST_CASE("a stage or microbatch that does not exist is malformed") {
  Bench bench(shape_of(Kind::gpipe, 2, 2));
  bench.orders.ops[1] = Op(OpKind::forward, 7, 0);
  CHECK(bench.run().outcome == SimulationOutcome::malformed_order);
  bench.orders.ops[1] = Op(OpKind::forward, 0, 2);
  CHECK(bench.run().outcome == SimulationOutcome::malformed_order);
}

TEST_CASE("two operations that cannot be joined are malformed") {
  Bench bench(shape_of(Kind::gpipe, 2, 2));
  bench.orders.ops[0] = Op(OpKind::forward, 0, 0, true);  // with F1
  CHECK(bench.run().outcome == SimulationOutcome::malformed_order);
}

TEST_CASE("an order without devices is malformed") {
  Orders orders;
  SimulationScratch scratch;
  Timeline timeline;
  CHECK(simulate(orders, {}, scratch, timeline).outcome == SimulationOutcome::malformed_order);
}

TEST_CASE("negative times are bad times") {
  Bench bench(shape_of(Kind::gpipe, 2, 2));
  bench.times.backward_weight[1] = -1;
  CHECK(bench.run().outcome == SimulationOutcome::bad_times);
  bench.times.backward_weight[1] = 1;
  bench.times.transfer = -1;
  CHECK(bench.run().outcome == SimulationOutcome::bad_times);
}

TEST_CASE("a step too long to count is an overflow, not a negative time") {
  Bench bench(shape_of(Kind::gpipe, 2, 2));
  bench.times.forward[0] = std::numeric_limits<Tick>::max();
  CHECK(bench.run().outcome == SimulationOutcome::overflow);
  bench.times.forward[0] = 1;
  bench.times.transfer = std::numeric_limits<Tick>::max() / 2;
  CHECK(bench.run().outcome == SimulationOutcome::overflow);
}

TEST_CASE("the first forward of a later stage waits for the transfer from the stage before") {
  Bench bench(shape_of(Kind::one_f_one_b, 3, 4));
  bench.times.transfer = 1;
  REQUIRE(bench.run().finished());
  const std::uint32_t op = bench.orders.first[1];
  const WaitedFor waited = waited_for(bench.orders, bench.times, bench.timeline, op);
  CHECK(waited.kind == WaitKind::transfer);
  CHECK(bench.orders.ops[waited.op] == Op(OpKind::forward, 0, 0));
}

TEST_CASE("an operation behind another on its device waits for that one") {
  Bench bench(shape_of(Kind::gpipe, 2, 3));
  REQUIRE(bench.run().finished());
  const WaitedFor waited = waited_for(bench.orders, bench.times, bench.timeline, 1);
  CHECK(waited.kind == WaitKind::device_order);
  CHECK(waited.op == 0);
}

TEST_CASE("behind a blocking send an operation waits for the sending") {
  Bench bench(shape_of(Kind::gpipe, 2, 3));
  bench.times.transfer = 1;
  bench.times.blocking_send = true;
  REQUIRE(bench.run().finished());
  CHECK(waited_for(bench.orders, bench.times, bench.timeline, 1).kind == WaitKind::sending);
}

TEST_CASE("the first operation of a step waits for nothing") {
  Bench bench(shape_of(Kind::gpipe, 2, 3));
  REQUIRE(bench.run().finished());
  CHECK(waited_for(bench.orders, bench.times, bench.timeline, 0).kind == WaitKind::nothing);
}

TEST_CASE("the critical path of GPipe goes down with the first microbatch and back with the last") {
  Bench bench(shape_of(Kind::gpipe, 2, 2));
  REQUIRE(bench.run().finished());
  std::vector<CriticalStep> path;
  critical_path(bench.orders, bench.times, bench.timeline, path);
  std::vector<Op> ops;
  for (const CriticalStep& step : path) ops.push_back(bench.orders.ops[step.op]);
  const bool by_device_1 =
      ops == std::vector<Op>{{OpKind::forward, 0, 0},  {OpKind::forward, 1, 0},  {OpKind::forward, 1, 1},
                             {OpKind::backward, 1, 0}, {OpKind::backward, 0, 0}, {OpKind::backward, 0, 1}};
  const bool by_first_device =
      ops == std::vector<Op>{{OpKind::forward, 0, 0},  {OpKind::forward, 0, 1},  {OpKind::forward, 1, 1},
                             {OpKind::backward, 1, 0}, {OpKind::backward, 0, 0}, {OpKind::backward, 0, 1}};
  CHECK((by_device_1 || by_first_device));
}

TEST_CASE("an operation is found by kind, stage and microbatch") {
  Bench bench(shape_of(Kind::zb_h1, 2, 3));
  const std::uint32_t op = find_op(bench.orders, OpKind::backward, 1, 2);  // it is split here
  REQUIRE(op != kNoOp);
  CHECK(bench.orders.ops[op] == Op(OpKind::backward_input, 1, 2));
  CHECK(find_op(bench.orders, OpKind::forward, 1, 3) == kNoOp);
  CHECK(find_op(bench.orders, OpKind::forward, 9, 0) == kNoOp);
}

TEST_CASE("memory over time steps up at a forward and down at the end of its backward") {
  Bench bench(shape_of(Kind::one_f_one_b, 1, 1));
  REQUIRE(bench.run().finished());
  std::vector<MemoryPoint> trace;
  memory_trace(bench.orders, bench.times, bench.timeline, {{30}, {12}}, 0, trace);
  REQUIRE(trace.size() == 2);
  CHECK(trace[0].amount == 42);
  CHECK(trace[1].time == 12);
  CHECK(trace[1].amount == 0);
}

TEST_CASE("a split backward frees in two steps") {
  Bench bench(shape_of(Kind::zb_h1, 1, 1));
  REQUIRE(bench.run().finished());
  std::vector<MemoryPoint> trace;
  memory_trace(bench.orders, bench.times, bench.timeline, {{30}, {12}}, 0, trace);
  REQUIRE(trace.size() == 3);
  CHECK(trace[1].time == 8);
  CHECK(trace[1].amount == 12);
  CHECK(trace[2].time == 12);
  CHECK(trace[2].amount == 0);
}
