// How fast orders are made and simulated. Budgets (items_per_second): 150 M operations of an order per second, 450 M of
// one that is kept ready to run, and 64 stages x 1024 microbatches x 4 chunks with its orders inside 6 ms. Steps of
// many more microbatches than stages, which repeat themselves, cost a few times less (orders_and_timeline).
#include <benchmark/benchmark.h>

#include "engine/pipeline/order_span.h"
#include "engine/pipeline/pipeline_time.h"
#include "engine/pipeline/timeline_detail.h"

namespace {

using namespace roofscape::engine;

ScheduleShape large(ScheduleKind kind) {
  const bool chunks = kind == ScheduleKind::interleaved_1f1b || kind == ScheduleKind::looped_bfs;
  return {kind, 64, 1024, chunks ? 4 : default_virtual_stages(kind), 0};
}

PipelineTimes uneven(const ScheduleShape& shape) {
  PipelineTimes times = even_times(shape, 4'000'000'000, 5'000'000'000, 3'000'000'000, 20'000'000);
  times.forward.back() += 700'000'000;  // logits
  return times;
}

void count_ops(benchmark::State& state, const Orders& orders) {
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(orders.ops.size()));
}

void make_orders_of(benchmark::State& state, ScheduleKind kind) {
  Orders orders;
  for (auto _ : state) {
    make_orders(large(kind), orders);
    benchmark::DoNotOptimize(orders.ops.data());
  }
  count_ops(state, orders);
}

void simulate_order(benchmark::State& state, const ScheduleShape& shape) {
  Orders orders;
  make_orders(shape, orders);
  const PipelineTimes times = uneven(shape);
  SimulationScratch scratch;
  Timeline timeline;
  for (auto _ : state) {
    simulate(orders, times, scratch, timeline);
    benchmark::DoNotOptimize(timeline.makespan);
  }
  count_ops(state, orders);
}

void simulate_large(benchmark::State& state, ScheduleKind kind) { simulate_order(state, large(kind)); }

void simulate_small(benchmark::State& state) {  // a step as it stands in a report: 8 stages, 32 microbatches, 512 ops
  simulate_order(state, {ScheduleKind::one_f_one_b, 8, 32, 1, 0});
}

// An order that is kept, ready to run with other times.
struct KeptOrder {
  explicit KeptOrder(const ScheduleShape& shape) : times(uneven(shape)) {
    make_orders(shape, orders);
    make_run_plan(orders, scratch.planning, plan);
    order_by_level(plan, scratch.planning, levels);
  }
  Orders orders;
  PipelineTimes times;
  SimulationScratch scratch;
  RunPlan plan;
  StepsByLevel levels;
};

void simulate_plan(benchmark::State& state, const ScheduleShape& shape) {
  KeptOrder kept(shape);
  Timeline timeline;
  for (auto _ : state) {
    simulate(kept.plan, kept.times, kept.scratch, timeline);
    benchmark::DoNotOptimize(timeline.makespan);
  }
  count_ops(state, kept.orders);
}
// And with two sets of times at once, as a report does whose even stages have no closed form.
void simulate_plan_twice(benchmark::State& state, const ScheduleShape& shape) {
  KeptOrder kept(shape);
  Timeline timeline, other;
  for (auto _ : state) {
    simulate_both(kept.plan, kept.levels, kept.times, kept.times, kept.scratch, timeline, other);
    benchmark::DoNotOptimize(timeline.makespan);
  }
  count_ops(state, kept.orders);
}
void simulate_plan_large(benchmark::State& state, ScheduleKind kind) { simulate_plan(state, large(kind)); }

void orders_and_simulation(benchmark::State& state) {  // the 6 ms budget
  const ScheduleShape shape = large(ScheduleKind::interleaved_1f1b);
  const PipelineTimes times = uneven(shape);
  Orders orders;
  SimulationScratch scratch;
  Timeline timeline;
  for (auto _ : state) {
    make_orders(shape, orders);
    simulate(orders, times, scratch, timeline);
    benchmark::DoNotOptimize(timeline.makespan);
  }
  count_ops(state, orders);
}

// What a report does where the shape of a long step is new: an order, and a timeline without running all of it.
void orders_and_timeline(benchmark::State& state, ScheduleKind kind) {
  const ScheduleShape shape{kind, 16, 8192, default_virtual_stages(kind), 0};
  const PipelineTimes times = uneven(shape);
  Orders orders;
  Timeline timeline;
  for (auto _ : state) {
    OrderSpans spans;  // knows no shape yet
    make_orders(shape, orders);
    if (!spans.fill_timeline(shape, times, timeline)) state.SkipWithError("the step has to be run as a whole");
    benchmark::DoNotOptimize(timeline.makespan);
  }
  count_ops(state, orders);
}

void lower_bound(benchmark::State& state) {
  const ScheduleShape shape{ScheduleKind::interleaved_1f1b, 8, 64, 2, 0};
  const PipelineTimes times = uneven(shape);
  for (auto _ : state) benchmark::DoNotOptimize(pipeline_lower_bound(shape, times));
}

void timeline_detail(benchmark::State& state) {  // blocks at every level over half a million operations
  const ScheduleShape shape = large(ScheduleKind::interleaved_1f1b);
  const PipelineTimes times = uneven(shape);
  Orders orders;
  SimulationScratch scratch;
  Timeline timeline;
  TimelineDetail detail;
  make_orders(shape, orders);
  simulate(orders, times, scratch, timeline);
  for (auto _ : state) {
    make_detail(orders, times, timeline, detail);
    benchmark::DoNotOptimize(detail.levels.data());
  }
  count_ops(state, orders);
}

void critical_path_large(benchmark::State& state) {
  const ScheduleShape shape = large(ScheduleKind::interleaved_1f1b);
  const PipelineTimes times = uneven(shape);
  Orders orders;
  SimulationScratch scratch;
  Timeline timeline;
  std::vector<CriticalStep> path;
  make_orders(shape, orders);
  simulate(orders, times, scratch, timeline);
  for (auto _ : state) {
    critical_path(orders, times, timeline, path);
    benchmark::DoNotOptimize(path.data());
  }
}

constexpr auto kInterleaved = ScheduleKind::interleaved_1f1b;
BENCHMARK_CAPTURE(make_orders_of, interleaved, kInterleaved)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(make_orders_of, zb_h1, ScheduleKind::zb_h1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(make_orders_of, zb_v, ScheduleKind::zb_v)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(make_orders_of, dualpipe, ScheduleKind::dualpipe)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulate_large, one_f_one_b, ScheduleKind::one_f_one_b)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulate_large, interleaved, kInterleaved)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulate_large, looped_bfs, ScheduleKind::looped_bfs)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulate_large, zb_h1, ScheduleKind::zb_h1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulate_large, zb_v, ScheduleKind::zb_v)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulate_large, dualpipe, ScheduleKind::dualpipe)->Unit(benchmark::kMillisecond);
BENCHMARK(simulate_small);
BENCHMARK_CAPTURE(simulate_plan_large, interleaved, kInterleaved)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulate_plan_large, zb_v, ScheduleKind::zb_v)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulate_plan_large, dualpipe, ScheduleKind::dualpipe)->Unit(benchmark::kMillisecond);
// The pipelines of the presets gpt3-175b-1024-a100 and deepseek-v3-2048-h800.
BENCHMARK_CAPTURE(simulate_plan, gpt3, ScheduleShape{kInterleaved, 16, 96, 2, 0});
BENCHMARK_CAPTURE(simulate_plan, deepseek, ScheduleShape{ScheduleKind::dualpipe, 16, 120, 1, 0});
BENCHMARK_CAPTURE(simulate_plan_twice, deepseek, ScheduleShape{ScheduleKind::dualpipe, 16, 120, 1, 0});
BENCHMARK(orders_and_simulation)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(orders_and_timeline, one_f_one_b, ScheduleKind::one_f_one_b)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(orders_and_timeline, interleaved, kInterleaved)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(orders_and_timeline, overlapped, ScheduleKind::overlapped_1f1b)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(orders_and_timeline, looped_bfs, ScheduleKind::looped_bfs)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(orders_and_timeline, zb_h1, ScheduleKind::zb_h1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(orders_and_timeline, zb_v, ScheduleKind::zb_v)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(orders_and_timeline, dualpipe, ScheduleKind::dualpipe)->Unit(benchmark::kMillisecond);
BENCHMARK(lower_bound);
BENCHMARK(timeline_detail)->Unit(benchmark::kMillisecond);
BENCHMARK(critical_path_large)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
