// Pricing and search of plans.
#include <benchmark/benchmark.h>

#include <thread>

#include "engine/io/scenario/scenario_json.h"
#include "engine/search/search.h"
#include "tests/bench/sweep_s1.h"

using namespace roofscape;

namespace {

void sweep_s1(benchmark::State& state) {
  const io::PresetLibrary library;
  const engine::Scenario s1 = bench::s1_scenario(*library.find_model("gpt3-175b"), *library.find_chip("a100-80g"));
  bench::S1Result result;
  for (auto _ : state) bench::sweep_s1(s1, static_cast<std::size_t>(state.range(0)), result);
  state.counters["points/s"] =
      benchmark::Counter(double(result.points.size()) * double(state.iterations()), benchmark::Counter::kIsRate);
  state.counters["simulated"] = double(result.simulated);
  state.counters["fit"] = double(result.fit);
}

// The whole space of a preset, on two threads.
void whole_space(benchmark::State& state, const char* id) {
  const io::PresetLibrary library;
  const engine::Scenario scenario = io::load_scenario(id, library).value();
  engine::SearchRequest request;
  request.space = engine::space_of(scenario);
  engine::SearchResult result;
  double simulated = 0;
  for (auto _ : state) {
    engine::SearchProgress progress;
    result = engine::search(scenario, request, &progress, 2, [](const std::function<void(std::size_t)>& work) {
      std::jthread other(work, 1);
      work(0);
    });
    simulated = double(progress.simulated);
  }
  state.counters["plans"] = result.plans;
  state.counters["fit"] = result.fit;
  state.counters["simulated"] = simulated;
}

}  // namespace

BENCHMARK_CAPTURE(whole_space, llama3_405b_16k_h100, "llama3-405b-16k-h100-8k")
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime();
BENCHMARK(sweep_s1)->Arg(0)->Arg(20)->Unit(benchmark::kMillisecond);
BENCHMARK_MAIN();
