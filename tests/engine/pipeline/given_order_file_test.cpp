// Orders that are given: what they are taken for, what devices hold under them, and how long they take.
#include "engine/pipeline/given_order.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/pipeline/order_span.h"
#include "engine/pipeline/pipeline_time.h"
#include "engine/pipeline/timeline_analysis.h"
#include "tests/engine/pipeline/pipeline_fixture.h"

namespace roofscape::engine {
namespace {

using test::words_of;

GivenOrder given(const Orders& orders, std::optional<ScheduleKind> wanted = {}) {
  ListedOrderResult read = read_listed_order(order_csv(orders), wanted);
  CAPTURE((read.fault ? words_of(*read.fault) : std::string()));
  REQUIRE_FALSE(read.fault);
  return read.order;
}

PipelineTimes times_of(const ScheduleShape& shape) {
  return even_times(shape, 800, 1000, 600, 20, overlaps_forward_backward(shape.kind) ? 2000 : 0);
}

// What a device holds at its peak where a put-off weight gradient takes `more` beyond what was kept before.
double fullest(const HeldMoments& moments, double more) {
  double most = 0;
  for (const HeldMicrobatches& held : moments) most = std::max(most, held.all + more * held.postponed);
  return most;
}

// Every legal shape of some sizes.
template <class Visit>
void each_shape(const Visit& visit) {
  for (const ScheduleKind kind : kSchedules)
    for (const int p : {2, 3, 4, 6})
      for (const int v : {1, 2, 3})
        for (const int m : {1, 2, 3, 4, 7, 8, 12, 18}) {
          const ScheduleShape shape{kind, p, m, v, 0};
          if (check_schedule(shape).legal()) visit(shape);
        }
}

// Neighbours of a device's list exchanged at random, as long as the result still runs and is an order of the same kind.
GivenOrder shuffled(const ScheduleShape& shape, std::mt19937& rng) {
  Orders orders;
  make_orders(shape, orders);
  GivenOrder last = given(orders, shape.kind);
  for (int tries = 0; tries < 40; ++tries) {
    Orders changed = last->orders;
    const std::size_t i = rng() % (changed.ops.size() - 1);
    const bool pair = changed.ops[i].joined_with_next() || changed.ops[i + 1].joined_with_next() ||
                      joined_with_previous(changed, static_cast<std::uint32_t>(i));
    if (pair || std::find(changed.first.begin(), changed.first.end(), i + 1) != changed.first.end()) continue;
    std::swap(changed.ops[i], changed.ops[i + 1]);
    const ListedOrderResult read = read_listed_order(order_csv(changed), shape.kind);
    if (!read.fault) last = read.order;
  }
  return last;
}

}  // namespace

TEST_CASE("a schedule's own order, given, stands for it, holds as much, and takes as long, to the tick") {
  int shapes = 0;
  each_shape([&shapes](const ScheduleShape& shape) {
    ++shapes;
    CAPTURE(schedule_id(shape.kind));
    CAPTURE(shape.stages);
    CAPTURE(shape.microbatches);
    CAPTURE(shape.virtual_stages);
    Orders orders;
    make_orders(shape, orders);
    ScheduleShape listed = shape;
    listed.order = order_of(given(orders, shape.kind), shape);
    REQUIRE(listed.order);
    for (int device = 0; device < shape.stages; ++device) {
      CHECK(peak_in_flight(listed, device) == peak_in_flight(shape, device));
      for (const double more : {0.0, 0.3, 1.0, 7.0})
        CHECK(fullest(held_moments(listed, device), more) ==
              doctest::Approx(fullest(held_moments(shape, device), more)));
    }
    std::vector<std::int64_t> pairs(static_cast<std::size_t>(pair_partners(shape))), listed_pairs = pairs;
    for (int stage = 0; stage < virtual_stage_count(shape); ++stage) {
      overlapped_pairs(shape, stage, pairs);
      overlapped_pairs(listed, stage, listed_pairs);
      CHECK(listed_pairs == pairs);
    }
    const PipelineTimes times = times_of(shape);
    OrderSpans spans;
    const PipelineTimeResult own = pipeline_time(shape, times, spans),
                             from_list = pipeline_time(listed, times, spans);
    REQUIRE(own.ok());
    REQUIRE(from_list.ok());
    CHECK(from_list.step.makespan == own.step.makespan);
    CHECK(pipeline_lower_bound(listed, times) <= own.step.makespan);
    Orders again;
    make_orders(listed, again);
    CHECK(order_csv(again) == order_csv(orders));
  });
  CHECK(shapes > 200);
}

TEST_CASE("of any order that runs, what is held is what its operations hold, and no bound lies above its time") {
  std::mt19937 rng(71);
  SimulationScratch scratch;
  Timeline timeline;
  std::vector<MemoryPoint> trace;
  int other = 0;
  each_shape([&](const ScheduleShape& shape) {
    if (shape.microbatches > 8) return;
    ScheduleShape listed = shape;
    listed.order = shuffled(shape, rng);
    CAPTURE(listed.order->csv);
    REQUIRE(order_of(listed.order, shape));
    Orders own;
    make_orders(shape, own);
    other += listed.order->csv != order_csv(own);
    const PipelineTimes times = times_of(shape);
    const Orders& orders = listed.order->orders;
    REQUIRE(simulate(orders, times, scratch, timeline).finished());
    CHECK(pipeline_lower_bound(listed, times) <= timeline.makespan);
    OrderSpans spans;
    CHECK(pipeline_time(listed, times, spans).step.makespan == timeline.makespan);
    const auto stages = orders.device_of.size();
    for (const double more : {0.0, 0.4, 1.0, 9.0}) {
      ActivationSizes sizes;
      sizes.freed_after_input.assign(stages, -more);
      sizes.freed_after_weight.assign(stages, 1 + more);
      for (int device = 0; device < shape.stages; ++device) {
        memory_trace(orders, times, timeline, sizes, static_cast<std::uint32_t>(device), trace);
        double there = 0;
        for (const MemoryPoint& point : trace) there = std::max(there, point.amount);
        const double here = fullest(held_moments(listed, device), more) * passes_per_device(shape);
        // With more corners than there is room for it may be more, never less.
        CHECK(here >= there - 1e-9);
        if (held_moments(listed, device).size() < HeldMoments::capacity()) CHECK(here == doctest::Approx(there));
      }
    }
  });
  CHECK(other > 100);
}

TEST_CASE("an order is of one shape, and no other") {
  Orders orders;
  const ScheduleShape shape{ScheduleKind::interleaved_1f1b, 4, 8, 2, 0};
  make_orders(shape, orders);
  const GivenOrder order = given(orders);
  CHECK(order->kind == ScheduleKind::interleaved_1f1b);
  CHECK(order_of(order, shape));
  for (const ScheduleShape& other : {ScheduleShape{ScheduleKind::interleaved_1f1b, 8, 8, 2, 0},
                                     {ScheduleKind::interleaved_1f1b, 4, 16, 2, 0},
                                     {ScheduleKind::interleaved_1f1b, 4, 8, 4, 0},
                                     {ScheduleKind::looped_bfs, 4, 8, 2, 0}})
    CHECK_FALSE(order_of(order, other));
  CHECK_FALSE(order_of({}, shape));
}

TEST_CASE("orders are the same when their operations and what they stand for are") {
  const char* csv = "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n";
  const GivenOrder a = read_listed_order(csv).order;
  CHECK(a == read_listed_order(csv).order);
  CHECK(a == GivenOrder(a));
  CHECK_FALSE(a == read_listed_order(csv, ScheduleKind::eager_1f1b).order);
  CHECK_FALSE(a == read_listed_order("0F0,0F1,0B0,0B1\n1F0,1F1,1B0,1B1\n").order);
  CHECK_FALSE(a == GivenOrder());
  CHECK(GivenOrder() == GivenOrder());
}

TEST_CASE("without a wish an order stands for the plainest schedule that places its stages so") {
  for (const auto& [made, taken] : {std::pair{ScheduleKind::gpipe, ScheduleKind::one_f_one_b},
                                    {ScheduleKind::eager_1f1b, ScheduleKind::one_f_one_b},
                                    {ScheduleKind::looped_bfs, ScheduleKind::interleaved_1f1b},
                                    {ScheduleKind::zb_h2, ScheduleKind::zb_h1},
                                    {ScheduleKind::zb_v, ScheduleKind::zb_v},
                                    {ScheduleKind::dualpipe, ScheduleKind::dualpipe},
                                    {ScheduleKind::dualpipe_v, ScheduleKind::dualpipe_v},
                                    {ScheduleKind::overlapped_1f1b, ScheduleKind::overlapped_1f1b}}) {
    Orders orders;
    make_orders({made, 4, 12, default_virtual_stages(made), 0}, orders);
    CHECK(given(orders)->kind == taken);
    CHECK(given(orders, made)->kind == made);
  }
}

TEST_CASE("orders that no schedule's stages stand for are refused with row and column") {
  const auto fault = [](const char* csv) {
    const ListedOrderResult read = read_listed_order(csv);
    REQUIRE(read.fault);
    CHECK_FALSE(read.order);
    return words_of(*read.fault);
  };
  CHECK(fault("1F0,1B0\n0F0,0B0\n") ==
        "row 1, column 1: the stages are placed neither in turn, nor as a V, nor from both ends");
  CHECK(fault("0F0,3F0,3B0,(0F1;0B0)OVERLAP_F_B,3F1,3B1,0B1\n1F0,2F0,2B0,1B0,1F1,2F1,2B1,1B1\n") ==
        "row 1, column 4: a pair is of two stages of one device; of DualPipe and DualPipeV, of the device's two");
  CHECK(fault("0F0\n") == "row 1, column 1: 0F0 stands here, and 0B0 is missing");
}

}  // namespace roofscape::engine
