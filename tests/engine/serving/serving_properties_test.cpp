// What holds for every valid serving scenario, checked together on each of many random ones (serving_fixture.h).
#include <doctest/doctest.h>

#include <cmath>

#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/explain.h"
#include "engine/evaluate/serving_evaluation.h"
#include "tests/engine/serving_fixture.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::value_or_nan;

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

// The first property that a report breaks, in words; empty if all hold.
std::string serving_fault(const Scenario& s, const Report& r) {
  const auto q = [&r](Q id) { return value_or_nan(r, id); };
  const auto sum_of = [&q](const auto& parts) {
    double sum = q(parts[0]);
    for (std::size_t i = 1; i < parts.size(); ++i) sum += q(parts[i]);
    return sum;
  };
  if (sum_of(kDecodeParts) != q(Q::decode_step)) return "parts of the step do not add up";
  if (sum_of(kPrefillParts) != q(Q::prefill_time)) return "parts of prefill do not add up";
  if (sum_of(kServingMemoryParts) != q(Q::memory_total)) return "parts of memory do not add up";
  for (std::size_t i = 0; i < kReportQuantityCount; ++i) {
    const auto id = static_cast<Q>(i);
    const auto v = r.quantities[id];
    if (!v) {
      const bool unpublished = id == Q::price || id == Q::serving_cost || id == Q::sustained_cost;
      if (!unpublished && r.quantities.absence(id) == Absence::unknown_input)
        return "unknown: " + std::string(quantity(id).id);
      continue;
    }
    if (!std::isfinite(*v)) return "not finite: " + std::string(quantity(id).id);
    const bool signed_value = id == Q::memory_free;
    if (!signed_value && !(*v >= 0)) return "negative: " + std::string(quantity(id).id);
  }
  if (q(Q::decode_step) < q(Q::decode_weight_read)) return "faster than reading the weights";
  if (q(Q::decode_step) < q(Q::decode_kv_read)) return "faster than reading the cache";
  if (q(Q::ttft) < q(Q::prefill_time)) return "a first token before prefill is done";
  if (q(Q::sustained_tokens) > q(Q::serving_tokens_per_s) * (1 + 1e-12)) return "prefill speeds decoding up";
  if (q(Q::kv_copies) < 1 - 1e-12) return "less than one copy of the cache";
  const bool fits = q(Q::memory_free) >= 0, within = s.workload.batch <= q(Q::max_batch);
  const bool close = std::abs(q(Q::memory_free)) < 1e-6 * q(Q::hbm_capacity);
  if (fits != within && !close) return "the largest batch is not where memory ends";
  for (const CollectiveRow& row : r.collectives)
    if (!(row.bytes >= 0 && row.time_s > 0 && row.calls_per_step > 0 && row.bandwidth_bytes_per_s > 0))
      return "a collective without bandwidth or time";
  for (const Diagnostic& d : r.diagnostics)
    if (d.severity == Severity::error) return "diagnosed as an error: " + std::string(d.code);
  return {};
}

// More of one thing never helps where it must not.
std::string not_monotone(const Scenario& s, const Report& r) {
  const auto changed = [&s](auto&& edit) {
    Scenario other = s;
    edit(other);
    Report report;
    EvaluationScratch scratch;
    evaluate(other, scratch, report);
    return report;
  };
  const double batch = s.workload.batch;
  const Report more = changed([&](Scenario& o) { o.workload.batch = static_cast<int>(2 * batch); });
  if (value_or_nan(more, Q::decode_step) < value_or_nan(r, Q::decode_step) * (1 - 1e-12))
    return "a larger batch has a faster step";
  if (value_or_nan(more, Q::memory_total) < value_or_nan(r, Q::memory_total))
    return "a larger batch needs less memory";
  const Report longer = changed([](Scenario& o) {
    o.workload.prompt_tokens *= 2;
    for (LengthBin& bin : o.workload.lengths) bin.prompt_tokens *= 2;
  });
  if (value_or_nan(longer, Q::decode_step) < value_or_nan(r, Q::decode_step) * (1 - 1e-12))
    return "a longer prompt has a faster step";
  if (value_or_nan(longer, Q::prefill_time) < value_or_nan(r, Q::prefill_time) * (1 - 1e-12))
    return "a longer prompt is prefilled faster";
  if (value_or_nan(longer, Q::max_batch) > value_or_nan(r, Q::max_batch)) return "longer sequences let more fit";
  if (s.precision.weights == Dtype::bf16) {
    const Report narrow = changed([](Scenario& o) { o.precision.weights = Dtype::int8; });
    if (value_or_nan(narrow, Q::decode_step) > value_or_nan(r, Q::decode_step) * (1 + 1e-12) &&
        s.parallelism.fsdp == 1)
      return "smaller weights slow the step down";
    if (value_or_nan(narrow, Q::max_batch) < value_or_nan(r, Q::max_batch)) return "smaller weights leave less room";
  }
  return {};
}

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
    std::string problem = serving_fault(s, report);
    if (problem.empty() && i % 10 == 0) problem = not_monotone(s, report);
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
  for (int i = 0; i < 150; ++i) {
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
