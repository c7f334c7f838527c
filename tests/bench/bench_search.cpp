// Pricing and search of plans.
#include <benchmark/benchmark.h>

#include "engine/io/scenario_json.h"
#include "engine/search/sweep_s1.h"

using namespace roofscape;

namespace {

void sweep_s1(benchmark::State& state) {
  const io::PresetLibrary library;
  const engine::Scenario s1 = engine::s1_scenario(*library.find_model("gpt3-175b"), *library.find_chip("a100-80g"));
  engine::S1Result result;
  for (auto _ : state) engine::sweep_s1(s1, static_cast<std::size_t>(state.range(0)), result);
  state.counters["points/s"] =
      benchmark::Counter(double(result.points.size()) * double(state.iterations()), benchmark::Counter::kIsRate);
  state.counters["simulated"] = double(result.simulated);
  state.counters["fit"] = double(result.fit);
}

}  // namespace

BENCHMARK(sweep_s1)->Arg(0)->Arg(20)->Unit(benchmark::kMillisecond);
BENCHMARK_MAIN();
