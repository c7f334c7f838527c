// Orders made for given times: the paper's bubble table, the limit of memory, and what is refused.
#include <doctest/doctest.h>

#include "engine/pipeline/greedy_order.h"
#include "engine/pipeline/in_flight.h"
#include "engine/pipeline/order_csv.h"
#include "engine/pipeline/run_plan.h"

#include <algorithm>
#include <cmath>
#include <random>

using namespace roofscape::engine;

namespace {

struct Run {
  Orders orders;
  Timeline timeline;
};

std::optional<Run> run(const GreedyStages& stages, int microbatches, const PipelineTimes& times,
                       const GreedyLimit& limit) {
  auto orders = greedy_order(stages, microbatches, times, limit);
  if (!orders) return std::nullopt;
  Run out{*std::move(orders), {}};
  SimulationScratch scratch;
  REQUIRE(simulate(out.orders, times, scratch, out.timeline).finished());
  return out;
}
std::optional<Run> run(int stages, int microbatches, const PipelineTimes& times, const GreedyLimit& limit) {
  return run(GreedyStages{stages}, microbatches, times, limit);
}

// Of the device that takes longest from its first operation to its last.
Tick span_of(const Orders& orders, const Timeline& timeline) {
  Tick longest = 0;
  for (std::size_t d = 0; d < orders.devices(); ++d)
    longest = std::max(longest, timeline.busy_until[d] - timeline.start[orders.first[d]]);
  return longest;
}

// The most that a device holds, operation by operation.
double most_held(const Orders& orders, double postponed) {
  double most = 0;
  for (std::size_t d = 0; d < orders.devices(); ++d) {
    double held = 0;
    for (std::uint32_t i = orders.first[d]; i < orders.first[d + 1]; ++i) {
      const OpKind kind = orders.ops[i].kind();
      const double change = kind == OpKind::forward ? 1 : kind == OpKind::backward_input ? postponed - 1 : -postponed;
      held += change / orders.passes_per_device;
      most = std::max(most, held);
    }
  }
  return most;
}

PipelineTimes even(int stages, Tick forward, Tick input, Tick weight, Tick transfer) {
  return even_times({ScheduleKind::zb_h1, stages, 1, 1, 0}, forward, input, weight, transfer);
}

}  // namespace

// Qi et al. 2023, "Zero Bubble Pipeline Parallelism", the table of bubble rates with its profiled milliseconds. Of a
// microbatch's activations, s b h (34 + 5 a s / h), its weight gradients keep 32 s b h (the paper's section 2).
TEST_CASE("orders with the memory of 1F1B and with twice that have the paper's bubble rates") {
  struct Row {
    int stages, microbatches;
    double forward, input, weight, transfer, hidden, heads, once, twice;
  };
  for (const Row& row : {Row{8, 24, 18.522, 18.086, 9.337, 0.601, 2304, 24, 0.1585, 0.0433},
                         Row{8, 32, 18.513, 18.086, 9.331, 0.626, 2304, 24, 0.1242, 0.0039},
                         Row{8, 64, 18.546, 18.097, 9.321, 0.762, 2304, 24, 0.0674, 0.0026},
                         Row{16, 48, 11.347, 11.248, 8.132, 0.377, 5120, 40, 0.1397, 0.0066},
                         Row{16, 64, 11.307, 11.254, 8.101, 0.379, 5120, 40, 0.1088, 0.0054},
                         Row{16, 128, 11.325, 11.308, 8.109, 0.378, 5120, 40, 0.0576, 0.0028}}) {
    CAPTURE(row.stages);
    CAPTURE(row.microbatches);
    const auto ticks = [](double milliseconds) { return static_cast<Tick>(std::llround(milliseconds * 1e6)); };
    const PipelineTimes times =
        even(row.stages, ticks(row.forward), ticks(row.input), ticks(row.weight), ticks(row.transfer));
    const double late = 32 / (34 + 5 * row.heads * 1024 / row.hidden);
    const double work = row.microbatches * double(ticks(row.forward) + ticks(row.input) + ticks(row.weight));
    const auto rate = [&](double times_the_memory) {
      const auto made = run(row.stages, row.microbatches, times, {times_the_memory * row.stages, late});
      REQUIRE(made);
      CHECK(most_held(made->orders, late) <= times_the_memory * row.stages + 1e-6);
      const auto span = static_cast<double>(span_of(made->orders, made->timeline));
      return (span - work) / span;
    };
    CHECK(std::abs(rate(1) - row.once) <= 5e-5);
    CHECK(std::abs(rate(2) - row.twice) <= 0.0015);
  }
}

TEST_CASE("any order that is made runs every operation once, within the limit, and no longer than ZB-H1 or ZB-H2") {
  std::mt19937 rng(7);
  const auto pick = [&rng](int low, int high) { return std::uniform_int_distribution<int>(low, high)(rng); };
  int made_count = 0, against_rules = 0;
  for (int i = 0; i < 400; ++i) {
    const int stages = pick(1, 9), microbatches = pick(1, 24);
    PipelineTimes times;
    for (int s = 0; s < stages; ++s) {
      times.forward.push_back(pick(0, 40));
      times.backward_input.push_back(pick(0, 40));
      times.backward_weight.push_back(pick(0, 40));
    }
    times.transfer = pick(0, 10);
    times.blocking_send = pick(0, 3) == 0;
    const GreedyLimit limit{pick(4, 4 + 8 * stages) / 4.0, pick(0, 8) / 4.0};
    CAPTURE(i);
    const auto made = run(stages, microbatches, times, limit);
    if (!made) {
      CHECK(limit.postponed > limit.microbatches);  // a weight gradient that can never be put off
      continue;
    }
    ++made_count;
    CHECK(most_held(made->orders, limit.postponed) <= limit.microbatches + 1e-6);
    OrderFromCsv read;
    CHECK_FALSE(read_order_csv(order_csv(made->orders), static_cast<std::uint32_t>(microbatches), read));
    for (const ScheduleKind kind : {ScheduleKind::zb_h1, ScheduleKind::zb_h2}) {
      const ScheduleShape shape{kind, stages, microbatches, 1, 0};
      if (!check_schedule(shape).legal()) continue;
      Orders orders;
      make_orders(shape, orders);
      if (most_held(orders, limit.postponed) > limit.microbatches + 1e-9) continue;
      SimulationScratch scratch;
      Timeline timeline;
      REQUIRE(simulate(orders, times, scratch, timeline).finished());
      CHECK(span_of(made->orders, made->timeline) <= span_of(orders, timeline));
      ++against_rules;
    }
  }
  CHECK(made_count > 350);
  CHECK(against_rules > 100);
}

TEST_CASE("on a V any order that is made runs every operation once, within the limit, and no longer than ZB-V") {
  std::mt19937 rng(8);
  const auto pick = [&rng](int low, int high) { return std::uniform_int_distribution<int>(low, high)(rng); };
  int made_count = 0, shorter = 0, against_rule = 0;
  for (int i = 0; i < 200; ++i) {
    const int devices = pick(1, 7), microbatches = pick(1, 20);
    PipelineTimes times;
    for (int s = 0; s < 2 * devices; ++s) {
      times.forward.push_back(pick(0, 40));
      times.backward_input.push_back(pick(0, 40));
      times.backward_weight.push_back(pick(0, 40));
    }
    times.transfer = pick(0, 10);
    times.blocking_send = pick(0, 3) == 0;
    const GreedyLimit limit{pick(4, 4 + 8 * devices) / 4.0, pick(0, 8) / 4.0};
    CAPTURE(i);
    const auto made = run({devices, true}, microbatches, times, limit);
    if (!made) {
      CHECK(1 + (limit.postponed - 1) / 2 > limit.microbatches);
      continue;
    }
    ++made_count;
    CHECK(most_held(made->orders, limit.postponed) <= limit.microbatches + 1e-6);
    OrderFromCsv read;
    CHECK_FALSE(read_order_csv(order_csv(made->orders), static_cast<std::uint32_t>(microbatches), read));
    CHECK(read.orders.device_of == made->orders.device_of);
    Orders orders;
    make_orders({ScheduleKind::zb_v, devices, microbatches, 2, 0}, orders);
    if (most_held(orders, limit.postponed) > limit.microbatches + 1e-9) continue;
    SimulationScratch scratch;
    Timeline timeline;
    REQUIRE(simulate(orders, times, scratch, timeline).finished());
    CHECK(span_of(made->orders, made->timeline) <= span_of(orders, timeline));
    shorter += span_of(made->orders, made->timeline) < span_of(orders, timeline);
    ++against_rule;
  }
  CHECK(made_count > 150);
  CHECK(against_rule > 50);
  CHECK(shorter > 10);
}

TEST_CASE("no order is made within less than a microbatch, of none, or of more operations than are tried") {
  const PipelineTimes times = even(4, 20, 20, 20, 1);
  CHECK(greedy_order({4}, 8, times, {1, 1}));
  CHECK_FALSE(greedy_order({4}, 8, times, {0.5, 1}));
  CHECK_FALSE(greedy_order({4}, 0, times, {4, 1}));
  CHECK_FALSE(greedy_order({3}, 8, times, {4, 1}));  // times of other stages
  CHECK_FALSE(greedy_order({4}, static_cast<int>(kMostGreedyOps), times, {4, 1}));
}
