// What holds for every valid scenario, checked together on each of many random ones (fixtures.h): all shipped models,
// tori and switches, every schedule, policy, precision and convention.
#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "engine/evaluate/evaluate.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr int kTrainingCases = 5000;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr int kTrainingCases = 5000;
#else
constexpr int kTrainingCases = 100000;
#endif
#else
constexpr int kTrainingCases = 100000;
#endif

// The first property that a report breaks, in words; empty if all hold. One string instead of an assertion each keeps
// a case in microseconds.
std::string training_fault(const Scenario& s, const Report& r) {
  const auto q = [&r](Q id) { return r.quantities.value_or(id, std::nan("")); };
  const auto sum_of = [&q](const auto& parts) {
    double sum = q(parts[0]);
    for (std::size_t i = 1; i < parts.size(); ++i) sum += q(parts[i]);
    return sum;
  };
  if (sum_of(kStepParts) != q(Q::step_time)) return "step parts do not add up";
  if (sum_of(kMemoryParts) != q(Q::memory_total)) return "memory parts do not add up";
  for (std::size_t i = 0; i < kReportQuantityCount; ++i) {
    const auto id = static_cast<Q>(i);
    const auto value = r.quantities[id];
    if (!value) {
      const bool unpublished = id == Q::price || id == Q::run_cost || id == Q::board_power || id == Q::run_energy ||
                               id == Q::pcie_bandwidth;
      if (!unpublished && r.quantities.absence(id) == Absence::unknown_input)
        return "unknown: " + std::string(quantity(id).id);
      continue;
    }
    if (!std::isfinite(*value)) return "not finite: " + std::string(quantity(id).id);
    if (id != Q::memory_free && !(*value >= 0)) return "negative: " + std::string(quantity(id).id);
  }
  if (!(q(Q::hfu) >= q(Q::mfu))) return "HFU below MFU";
  if (!(q(Q::hfu) <= 1 + 1e-9)) return "HFU above 1";
  for (const OperationRow& op : r.operations) {
    if (op.achieved_flop_per_s > q(Q::peak_flops)) return "above the peak";
    if (op.achieved_flop_per_s > op.intensity_flop_per_byte * q(Q::hbm_bandwidth) * (1 + 1e-12))
      return "above the HBM roof";
    if (!(op.flops >= 0 && op.hbm_bytes >= 0 && op.time_s >= 0)) return "negative operation";
  }
  for (const CollectiveRow& row : r.collectives)
    if (!(row.bytes >= 0 && row.time_s >= 0 && row.calls_per_step >= 0 && row.bandwidth_bytes_per_s > 0))
      return "a collective without bandwidth, or negative";
  int layers = 0;
  const StageRow& fullest = r.stages[static_cast<std::size_t>(r.fullest_stage)];
  for (const StageRow& stage : r.stages) {
    layers += stage.layers;
    if (stage.memory_total_bytes > fullest.memory_total_bytes) return "the fullest stage is not";
    for (const double part : stage.memory_bytes)
      if (!(part >= 0 && std::isfinite(part))) return "negative memory of a stage";
    if (!(stage.forward_s > 0 && stage.backward_s > 0)) return "a stage that takes no time";
  }
  // DualPipe's second direction holds the layers again; rows count those of the first.
  if (layers != s.model.n_layers) return "stages do not hold the layers";
  if (fullest.memory_total_bytes != q(Q::memory_total)) return "the fullest stage is not the chip memory";
  for (const Diagnostic& d : r.diagnostics)
    if (d.severity == Severity::error) return "diagnosed as an error: " + std::string(d.code);
  return {};
}

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
    const std::string problem = training_fault(s, report);
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
