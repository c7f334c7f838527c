// What holds for every valid serving scenario, checked together on each of many random ones (serving_fixture.h).
#include <doctest/doctest.h>

#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/explain.h"
#include "engine/evaluate/serving_evaluation.h"
#include "tests/cases_to_try.h"
#include "tests/engine/invariants.h"
#include "tests/engine/serving_fixture.h"

using namespace roofscape;
using namespace roofscape::engine;

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr int kServingCases = 3000;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr int kServingCases = 3000;
#else
constexpr int kServingCases = 50000;
#endif
#else
constexpr int kServingCases = 50000;
#endif

}  // namespace

TEST_CASE("what holds for every valid serving scenario") {
  std::mt19937 rng(20251121);
  Report report;
  EvaluationScratch scratch;
  int broken_cases = 0, disaggregated = 0, latent = 0, experts = 0, drafts = 0, histograms = 0, bound_by_network = 0;
  for (int i = 0; i < kServingCases && broken_cases <= 10; ++i) {
    const Scenario s = tests::random_serving_scenario(rng);
    evaluate(s, scratch, report);
    disaggregated += s.serving.disaggregated, latent += s.model.is_mla(), experts += s.parallelism.expert > 1;
    drafts += s.serving.draft_tokens > 0, histograms += s.workload.has_lengths();
    bound_by_network += report.bound.kind == BoundKind::mesh_axis || report.bound.kind == BoundKind::latency;
    std::string problem = tests::serving_fault(s, report);
    if (problem.empty() && i % 10 == 0) problem = tests::serving_not_monotone(s, report);
    if (problem.empty()) continue;
    ++broken_cases;
    INFO("case " << i << ": " << problem << "; " << s.model.id << " on " << s.cluster.chip.id);
    CHECK(problem.empty());
  }
  CHECK(broken_cases == 0);
  for (const int n : {disaggregated, drafts, histograms}) CHECK(n > kServingCases / 5);
  for (const int n : {latent, experts, bound_by_network}) CHECK(n > kServingCases / 100);
}
TEST_CASE("traced serving equals plain serving to the last bit, without mistakes of dimension") {
  std::mt19937 rng(31);
  for (int i = 0; i < tests::cases_to_try(160); ++i) {
    const Scenario s = tests::random_serving_scenario(rng);
    Trace trace;
    (void)run_serving<Traced>(s, &trace);
    for (const std::string& problem : trace.problems()) FAIL_CHECK(problem);
    const Report r = evaluate(s);
    const Recording recording(s);
    for (std::size_t q = 0; q < kReportQuantityCount; ++q) {
      const auto v = r.quantities[static_cast<Q>(q)];
      if (!v) continue;
      CAPTURE(std::string(kQuantities[q].id));
      const auto derivation = recording.explain(kQuantities[q].id);
      REQUIRE(derivation.has_value());
      REQUIRE(derivation->lines[0].value == *v);
    }
  }
}
