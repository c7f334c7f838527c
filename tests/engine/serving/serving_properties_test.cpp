// What holds for every valid serving scenario, checked together on each of many random ones (serving_fixture.h).
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/explain.h"
#include "engine/evaluate/serving_evaluation.h"
#include "engine/serving/decode_cost.h"
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

TEST_CASE("no pass of prefill takes more tokens than a chunk, however many prompts go together") {
  std::mt19937 rng(20261201);
  int together = 0;
  for (int i = 0; i < tests::cases_to_try(600); ++i) {
    const Scenario s = tests::random_serving_scenario(rng);
    const int chunk = s.serving.prefill_chunk_tokens;
    const Report r = evaluate(s);
    if (chunk == 0 || r.has_errors()) continue;
    CAPTURE(i);
    const int context = s.serving.disaggregated ? s.serving.prefill.context : s.parallelism.context;
    const double tokens = s.serving.prefill_prompts * value_or_nan(r, Q::fresh_tokens);
    const double passes = value_or_nan(r, Q::prefill_chunks_q);
    CHECK(passes == std::max(1.0, std::ceil(tokens / chunk)));
    CHECK(value_or_nan(r, Q::prefill_pass_tokens) == doctest::Approx(tokens / passes / context).epsilon(1e-12));
    together += s.serving.prefill_prompts > 1;
  }
  CHECK(together > tests::cases_to_try(600) / 40);
}

TEST_CASE("a pass of prefill is no shorter than the starts of its kernels, which layers with experts wait for") {
  std::mt19937 rng(20261128);
  int paced = 0, experts = 0;
  for (int i = 0; i < tests::cases_to_try(600); ++i) {
    Scenario s = tests::random_serving_scenario(rng);
    s.assumptions.mode = Mode::custom;
    s.assumptions.custom[Calibrated::issue] = 0;
    s.assumptions.custom[Calibrated::eager_kernel] = 0;
    const Report free = evaluate(s);
    s.assumptions.custom[Calibrated::eager_kernel] = 1e-4;
    const Report started = evaluate(s);
    if (free.has_errors() || started.has_errors()) continue;
    CAPTURE(i);
    const int stages = s.serving.disaggregated ? s.serving.prefill.pipeline : s.parallelism.pipeline;
    const double passes = value_or_nan(free, Q::prefill_chunks_q) / stages;
    const double dense = kPassKernels + (s.model.is_mla() ? kLatentKernels : 0);
    const double sparse = dense + kExpertKernels + (s.model.moe.n_shared_experts > 0 ? kSharedKernels : 0);
    const double with_experts = s.model.n_moe_layers();
    const double starts = passes * with_experts * sparse * 1e-4;
    const double pace = starts + passes * (s.model.n_layers - with_experts) * dense * 1e-4;
    const double host = s.assumptions.custom[Calibrated::step_host];
    const double before = value_or_nan(free, Q::prefill_stage_time);
    CHECK(value_or_nan(started, Q::prefill_stage_time) ==
          doctest::Approx(std::max(before + starts, pace + host)).epsilon(1e-9));
    paced += pace + host > before + starts;
    experts += with_experts > 0;
  }
  CHECK(paced > tests::cases_to_try(600) / 20);
  CHECK(experts > tests::cases_to_try(600) / 100);
}
