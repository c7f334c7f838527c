// Orders on the V placement with less memory than 1F1B's: how much, how long, and that they run.
#include <doctest/doctest.h>

#include "engine/pipeline/order_csv.h"
#include "engine/pipeline/simulate.h"
#include "engine/pipeline/v_order.h"

#include <algorithm>

using namespace roofscape::engine;

namespace {

double most_held(const Orders& orders) {
  double most = 0;
  for (std::size_t d = 0; d < orders.devices(); ++d) {
    double held = 0;
    for (std::uint32_t i = orders.first[d]; i < orders.first[d + 1]; ++i) {
      held += orders.ops[i].kind() == OpKind::forward           ? 0.5
              : orders.ops[i].kind() == OpKind::backward_weight ? -0.5
                                                                : 0;
      most = std::max(most, held);
    }
  }
  return most;
}

Tick makespan(const Orders& orders, const PipelineTimes& times) {
  SimulationScratch scratch;
  Timeline timeline;
  REQUIRE(simulate(orders, times, scratch, timeline).finished());
  return timeline.makespan;
}

}  // namespace

TEST_CASE("V-Half and V-Min run every operation once on any number of devices and microbatches") {
  for (int stages = 1; stages <= 17; ++stages)
    for (const int microbatches : {1, 2, 3, stages, 4 * stages + 1})
      for (const VMemory memory : {VMemory::half, VMemory::least}) {
        CAPTURE(stages);
        CAPTURE(microbatches);
        Orders orders;
        make_v_order(stages, microbatches, memory, orders);
        OrderFromCsv read;
        CHECK_FALSE(read_order_csv(order_csv(orders), static_cast<std::uint32_t>(microbatches), read));
        CHECK(read.orders.ops == orders.ops);
        CHECK(read.orders.device_of == orders.device_of);
      }
}

// Qi et al. 2024, table 1: activations of V-Half and V-Min are p / 2 and p / 3 of a microbatch's, and a little.
TEST_CASE("V-Half holds half and V-Min a third of what 1F1B does, but for two microbatches") {
  for (int stages = 2; stages <= 48; ++stages) {
    CAPTURE(stages);
    Orders orders;
    make_v_order(stages, 6 * stages, VMemory::half, orders);
    CHECK(most_held(orders) <= stages / 2.0 + 1.5);
    make_v_order(stages, 6 * stages, VMemory::least, orders);
    CHECK(most_held(orders) <= stages / 3.0 + 4.0 / 3);
  }
}

TEST_CASE("with passes that last equally long V-Half and V-Min idle less than 1F1B") {
  constexpr Tick kPass = 200;
  for (int stages = 2; stages <= 24; ++stages) {
    CAPTURE(stages);
    const int microbatches = 4 * stages;
    const auto even = [&](ScheduleKind kind, int chunks) {
      return even_times({kind, stages, microbatches, chunks, 0}, kPass, kPass, kPass);
    };
    Orders orders;
    make_orders({ScheduleKind::one_f_one_b, stages, microbatches, 1, 0}, orders);
    const Tick work = 3 * kPass * microbatches, plain = makespan(orders, even(ScheduleKind::one_f_one_b, 1)) - work;
    make_v_order(stages, microbatches, VMemory::half, orders);
    const Tick half = makespan(orders, even(ScheduleKind::zb_v, 2)) - work;
    make_v_order(stages, microbatches, VMemory::least, orders);
    const Tick least = makespan(orders, even(ScheduleKind::zb_v, 2)) - work;
    CHECK(half < plain);
    CHECK(least < plain);
  }
}
