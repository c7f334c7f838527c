// What holds for every valid scenario, checked together on each of many random ones (fixtures.h): all shipped models,
// tori and switches, every schedule, policy, precision and convention.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/evaluation.h"
#include "engine/pipeline/order_span.h"
#include "engine/scenario/mesh_size.h"
#include "tests/cases_to_try.h"
#include "tests/engine/edited_scenario.h"
#include "tests/engine/fixtures.h"
#include "tests/engine/invariants.h"

using namespace roofscape;
using namespace roofscape::engine;

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr int kTrainingCases = 2500;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr int kTrainingCases = 2500;
#else
constexpr int kTrainingCases = 100000;
#endif
#else
constexpr int kTrainingCases = 100000;
#endif

}  // namespace

TEST_CASE("what holds for every valid scenario") {
  std::mt19937 rng(20250801);
  EvaluationScratch scratch;
  Report report;
  int broken_cases = 0;
  std::array<int, kScheduleKinds> schedules{};
  std::array<int, 8> policies{};
  int switched = 0, experts = 0, latent = 0, offloaded = 0, carved = 0;
  for (int i = 0; i < kTrainingCases; ++i) {
    const Scenario s = tests::random_scenario(rng);
    evaluate(s, scratch, report);
    if (s.parallelism.pipeline > 1) ++schedules[static_cast<std::size_t>(s.pipeline.schedule)];
    ++policies[static_cast<std::size_t>(s.checkpointing.policy)];
    switched += s.cluster.chip.interconnect == Interconnect::switched;
    experts += s.parallelism.expert > 1;
    carved += s.parallelism.experts_tensor() < s.parallelism.tensor;
    latent += s.model.is_mla();
    offloaded += s.offload.activations || s.offload.optimizer;
    const std::string problem = tests::training_fault(s, report);
    if (problem.empty()) continue;
    ++broken_cases;
    INFO("case " << i << ": " << problem << "; " << s.model.id << " on " << s.cluster.chip.id);
    CHECK(problem.empty());
    if (broken_cases > 10) break;
  }
  CHECK(broken_cases == 0);
  // The generator reaches everything it is meant to reach.
  for (const int n : schedules) CHECK(n > kTrainingCases / 100);
  for (const int n : policies) CHECK(n > kTrainingCases / 20);
  CHECK(switched > kTrainingCases / 4);
  CHECK(switched < kTrainingCases);
  CHECK(experts > kTrainingCases / 100);
  CHECK(carved > kTrainingCases / 500);
  CHECK(latent > kTrainingCases / 100);
  CHECK(offloaded > kTrainingCases / 4);
}

TEST_CASE("nodes and slices that no axis of the mesh is on change no time and no memory of a calibrated plan") {
  std::mt19937 rng(64);
  const tests::Choose choose = [&rng](std::uint32_t below) { return static_cast<std::uint32_t>(rng() % below); };
  int compared = 0, serving = 0, timed_host = 0, on_fabric = 0, on_torus = 0, in_one_slice = 0;
  for (int i = 0; i < 4000; ++i) {
    const Scenario any =
        i % 2 == 0 ? tests::random_scenario(rng) : tests::edited_scenario(tests::library(), 1 + i % 3, choose);
    const Scenario s = tests::with(any, {"assumptions.mode=calibrated"});
    const bool torus = s.cluster.chip.interconnect == Interconnect::torus;
    // Of a mesh that is too large there are no idle slices, and more of them are more room.
    if (torus && mesh_chips(s.parallelism) > static_cast<double>(chip_count(s.cluster))) continue;
    Scenario larger = s;
    (torus ? larger.cluster.slices : larger.cluster.nodes) *= 3;
    const Report now = evaluate(s), then = evaluate(larger);
    if (!now.quantities[s.serves() ? Q::time_per_output_token : Q::step_time]) continue;
    CAPTURE(i);
    for (const Q q : {Q::step_time, Q::memory_total, Q::time_per_output_token, Q::decode_network})
      REQUIRE(then.quantities[q] == now.quantities[q]);
    ++compared, serving += s.serves(), timed_host += now.quantities.value_or(Q::step_host, 0) > 0;
    on_fabric += !s.cluster.fabric.empty();
    on_torus += torus, in_one_slice += torus && s.cluster.slices == 1 && s.parallelism.data > 1;
  }
  CHECK(compared > 500);
  CHECK(serving > 200);
  CHECK(on_torus > 100);
  CHECK(in_one_slice > 50);
  CHECK(on_fabric > 20);
  CHECK(timed_host > 200);
}

TEST_CASE("without its timeline a report runs, fits, lasts and is bound as with it") {
  std::mt19937 rng(20251126);
  const tests::Choose choose = [&rng](std::uint32_t below) { return static_cast<std::uint32_t>(rng() % below); };
  EvaluationScratch scratch, other_scratch;
  OrderSpans spans;
  Report report, other;
  int pipelined = 0, impossible = 0;
  for (int i = 0; i < tests::cases_to_try(4000); ++i) {
    CAPTURE(i);
    const Scenario s = i % 2 == 0 ? tests::random_scenario(rng)
                                  : tests::edited_scenario(tests::library(), 1 + static_cast<int>(choose(3)), choose);
    evaluate(s, scratch, report);
    evaluate_without_timeline(s, other_scratch, spans, other);
    pipelined += report.pipeline.orders.ops.empty() ? 0 : 1;
    impossible += report.has_errors() ? 1 : 0;
    REQUIRE(other.has_errors() == report.has_errors());
    REQUIRE(other.fits() == report.fits());
    REQUIRE(other.bound.id() == report.bound.id());
    for (const Q q : {Q::step_time, Q::memory_total, Q::mfu, Q::time_per_output_token})
      REQUIRE(other.quantities[q] == report.quantities[q]);
    REQUIRE(other.pipeline.timeline.start.empty());
  }
  CHECK(pipelined > tests::cases_to_try(4000) / 8);
  CHECK(impossible > tests::cases_to_try(4000) / 16);
}

TEST_CASE("beside a report the traced run takes what running the pipeline found, and nothing of it differs") {
  std::mt19937 rng(20251127);
  EvaluationScratch scratch;
  Report report;
  int taken = 0;
  for (int i = 0; i < tests::cases_to_try(400); ++i) {
    CAPTURE(i);
    const Scenario s = tests::random_scenario(rng);
    evaluate(s, scratch, report);
    if (!report.pipeline.simulated) continue;
    ++taken;
    Trace run_trace, beside_trace;
    PipelineReport run_pipeline, beside_pipeline;
    const Evaluation<Traced> run = run_evaluation<Traced>(s, &run_trace, run_pipeline);
    const Evaluation<Traced> beside =
        run_evaluation<Traced>(s, &beside_trace, beside_pipeline, {.found = &*report.pipeline.simulated});
    CHECK(beside_pipeline.orders.ops.empty());
    std::vector<std::pair<Q, double>> values;
    for_each_quantity(run, [&](Q q, const Traced& value) { values.emplace_back(q, value_of(value)); });
    std::size_t at = 0;
    for_each_quantity(beside, [&](Q q, const Traced& value) {
      REQUIRE(at < values.size());
      CHECK(q == values[at].first);
      const double was = values[at++].second, is = value_of(value);
      CHECK((is == was || (std::isnan(is) && std::isnan(was))));
    });
    CHECK(at == values.size());
  }
  CHECK(taken > tests::cases_to_try(400) / 8);
}

// bench_properties checks the same, and more, over as many as it is asked for.
TEST_CASE("a preset with any fields edited, most of which cannot run, has a report without a number that is none") {
  std::mt19937 rng(20251124);
  const tests::Choose choose = [&rng](std::uint32_t below) { return static_cast<std::uint32_t>(rng() % below); };
  EvaluationScratch scratch;
  Report report;
  int runs = 0, serves = 0;
  for (int i = 0; i < 2000; ++i) {
    const Scenario s = tests::edited_scenario(tests::library(), 1 + static_cast<int>(choose(8)), choose);
    evaluate(s, scratch, report);
    CAPTURE(i);
    REQUIRE(tests::report_fault(report) == "");
    if (i % 10 == 0) {
      REQUIRE(tests::traced_fault(s, report) == "");
      REQUIRE(tests::price_fault(s, report) == "");
      REQUIRE(tests::round_trip_fault(s, tests::library()) == "");
    }
    runs += !report.has_errors(), serves += s.serves();
  }
  CHECK(runs > 200);
  CHECK(serves > 200);
}
