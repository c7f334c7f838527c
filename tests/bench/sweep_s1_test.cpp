// The benchmark of the pricing, sweep S1: what it prices is what the engine says of the plan.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/evaluate/evaluate.h"
#include "engine/search/pricing.h"
#include "tests/bench/sweep_s1.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;
using bench::s1_scenario;
using bench::S1Point;
using bench::S1Result;
using bench::sweep_s1;

TEST_CASE("sweep S1 answers 9,960 points, and its 20 best are those of simulating every plan that fits") {
  const Scenario s1 = s1_scenario(*tests::library().find_model("gpt3-175b"), *tests::library().find_chip("a100-80g"));
  S1Result result;
  sweep_s1(s1, 20, result);
  CHECK(result.points.size() == 9960);
  REQUIRE(result.best.size() == 20);
  CHECK(result.simulated == 20);  // bounds are as good as the simulation here
  Pricer pricer(s1);
  std::vector<std::pair<double, std::size_t>> all;
  for (std::size_t i = 0; i < result.points.size(); ++i) {
    const S1Point& point = result.points[i];
    if (!point.fits || !point.legal) continue;
    // The slower half cannot come into the first 20; simulating it would only take time.
    if (point.step_time_s > 1.5 * result.points[result.best.back()].step_time_s) continue;
    all.emplace_back(pricer.price(result.plan(point), true).step_time_s, i);
  }
  std::sort(all.begin(), all.end());
  REQUIRE(all.size() >= 20);
  for (std::size_t i = 0; i < 20; ++i) CHECK(all[i].second == result.best[i]);
}

TEST_CASE("sweep S1 prices a point as its evaluation does to the last bit, in every mode and on every link") {
  EvaluationScratch scratch;
  Report report;
  for (const Mode mode : {Mode::ideal, Mode::calibrated, Mode::custom})
    for (const std::string chip : {"a100-80g", "h100-sxm", "tpu-v5p"}) {
      CAPTURE(chip);
      CAPTURE(static_cast<int>(mode));
      Scenario s1 = s1_scenario(*tests::library().find_model("gpt3-175b"), *tests::library().find_chip(chip));
      s1.cluster.slice = {16, 16, 16};
      s1.assumptions.mode = Mode::calibrated;
      if (mode == Mode::custom) s1.assumptions.custom = applied_calibration(s1);
      s1.assumptions.mode = mode;
      S1Result result;
      sweep_s1(s1, 20, result);
      Pricer pricer(s1);
      std::mt19937 rng(3);
      tests::Dice dice(rng);
      int looked_at = 0, exact = 0;
      while (looked_at < 2000) {
        const auto i = static_cast<std::size_t>(dice.pick(0, static_cast<int>(result.points.size()) - 1));
        const S1Point& point = result.points[i];
        const Plan plan = result.plan(point);
        const int microbatches = microbatches_of(plan, s1.workload.global_batch_sequences);
        // Longer steps take time to write down and show no more.
        if (!point.legal || microbatches * plan.pipeline * plan.virtual_stages > 4096) continue;
        ++looked_at;
        CAPTURE(i);
        Scenario s = s1;
        apply(s, plan);
        evaluate(s, scratch, report);
        const auto step = report.quantities[Q::step_time], memory = report.quantities[Q::memory_total],
                   capacity = report.quantities[Q::hbm_capacity];
        REQUIRE(step);
        REQUIRE(point.memory_bytes == *memory);
        REQUIRE(point.fits == (*memory <= *capacity));
        if (!point.exact) REQUIRE(point.step_time_s == pricer.price(plan, false).step_time_s);
        REQUIRE((point.exact ? point.step_time_s == *step : point.step_time_s <= *step));
        exact += point.exact;
      }
      CHECK(exact > 50);
    }
}

TEST_CASE("the answer of sweep S1 as JSON counts 9,960 points and names the best first") {
  S1Result result;
  sweep_s1(s1_scenario(*tests::library().find_model("gpt3-175b"), *tests::library().find_chip("a100-80g")), 2,
           result);
  const auto json = nlohmann::json::parse(bench::s1_json(result, 0.5));
  CHECK(json.at("points") == 9960);
  CHECK(json.at("points_per_s") == 19920);
  REQUIRE(json.at("top").size() == 2);
  CHECK(json.at("best") == json.at("top").at(0));
  CHECK(json.at("best").at("step_s") == result.points[result.best[0]].step_time_s);
}
