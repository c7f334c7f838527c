// Pricing and search of plans.
#include <benchmark/benchmark.h>

#include <functional>
#include <thread>
#include <vector>

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

// The whole space of a preset as the command searches it, with nothing known before: on so many threads, in ideal or
// calibrated mode.
void whole_space(benchmark::State& state, const char* id) {
  const io::PresetLibrary library;
  engine::Scenario scenario = io::load_scenario(id, library).value();
  const auto workers = static_cast<std::size_t>(state.range(0));
  scenario.assumptions.mode = state.range(1) != 0 ? engine::Mode::calibrated : engine::Mode::ideal;
  engine::SearchRequest request;
  request.space = engine::space_of(scenario);
  request.merge_alike = true;
  engine::SearchResult result;
  double simulated = 0;
  for (auto _ : state) {
    engine::SearchProgress progress;
    result = engine::search(scenario, request, &progress, workers, [&](const std::function<void(std::size_t)>& work) {
      std::vector<std::jthread> others;
      for (std::size_t i = 1; i < workers; ++i) others.emplace_back(work, i);
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
    ->ArgNames({"workers", "calibrated"})
    ->ArgsProduct({{1, 2}, {0, 1}})
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime();
BENCHMARK(sweep_s1)->Arg(0)->Arg(20)->Unit(benchmark::kMillisecond);
BENCHMARK_MAIN();
