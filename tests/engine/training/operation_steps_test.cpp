// Operations of the report are those of the mode: on the matrix units they add up to the step's own parts, and none
// is faster than the roofs allow.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/step_shares.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;

namespace {

bool near(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b)); }

std::string broken(const Report& r, Mode mode, double peak_16) {
  const auto q = [&r](Q id) { return r.quantities.value_or(id, 0); };
  const double step = q(Q::step_time), peak = q(Q::peak_flops), bandwidth = q(Q::hbm_bandwidth);
  double matrix = 0;
  for (const OperationRow& row : r.operations) {
    const std::string name(kOperationIds[row.kind]);
    if (!near(row.share_of_step, row.time_s / step)) return "share of " + name;
    if (row.flops > 0 && !near(row.achieved_flop_per_s, row.flops / row.time_s)) return "rate of " + name;
    // Attention, the logits and Muon's products run in 16 bits, whose peak may be the higher one (v6e: 920 TFLOP/s beside
    // 918 of int8).
    const bool wide = row.kind == OperationKind::attention || row.kind == OperationKind::logits ||
                      row.kind == OperationKind::optimizer;
    const double roof = std::min(wide && mode != Mode::ideal ? std::max(peak, peak_16) : peak,
                                 row.intensity_flop_per_byte * bandwidth);
    if (row.achieved_flop_per_s > roof * (1 + 1e-9))
      return name + " above the roof by " + std::to_string(row.achieved_flop_per_s / roof);
    if (!is_vector_operation(row.kind) && row.kind != OperationKind::embedding) matrix += row.time_s;
    if (mode != Mode::ideal && row.kind == OperationKind::optimizer && !near(row.time_s, q(Q::step_optimizer)))
      return "optimizer";
  }
  const double parts = q(Q::step_matmul) + q(Q::step_attention) + q(Q::step_recompute);
  if (mode != Mode::ideal && !near(matrix, parts))
    return "operations take " + std::to_string(matrix) + " s, parts " + std::to_string(parts);
  return {};
}

}  // namespace

TEST_CASE("operations of a step are at the speed of the mode") {
  std::mt19937 rng(31);
  EvaluationScratch scratch;
  Report report;
  int failures = 0;
  for (int i = 0; i < 3000 && failures < 25; ++i) {
    Scenario s = tests::random_scenario(rng);
    for (const Mode mode : {Mode::ideal, Mode::calibrated, Mode::custom}) {
      s.assumptions.mode = mode;
      evaluate(s, scratch, report);
      if (report.has_errors() || !report.quantities[Q::step_time]) continue;
      const std::string problem =
          broken(report, mode, s.cluster.chip[ChipField::peak_bf16_dense_flops_per_s].value.value_or(0));
      if (problem.empty()) continue;
      ++failures;
      INFO(s.model.id << " on " << s.cluster.chip.id << ", mode " << static_cast<int>(mode) << ", case " << i);
      CHECK(problem == "");
    }
  }
}

TEST_CASE("groups of a step add up to it, the largest first, and the bound is busy as long as any part of it") {
  std::mt19937 rng(32);
  EvaluationScratch scratch;
  Report report;
  for (int i = 0; i < 2000; ++i) {
    Scenario s = tests::random_scenario(rng);
    s.assumptions.mode = i % 2 == 0 ? Mode::ideal : Mode::calibrated;
    evaluate(s, scratch, report);
    const StepShares groups = step_shares(report);
    REQUIRE_FALSE(groups.empty());
    double sum = 0;
    for (std::size_t k = 0; k < groups.size(); ++k) {
      sum += groups[k].share;
      if (k > 0) CHECK(groups[k].seconds <= groups[k - 1].seconds);
    }
    CHECK(sum == doctest::Approx(1).epsilon(1e-9));
    const StepShare& largest = groups[0];
    CAPTURE(report.bound.id());
    // Arithmetic, bubble, host and offload are all of what they are busy: the largest of them is the bound unless HBM
    // or the network is busy longer, under it. What devices idle for transfers counts to the bubble there.
    const double waits =
        report.quantities.value_or(Q::step_bubble, 0) + report.quantities.value_or(Q::step_pipeline_transfer, 0);
    if (largest.kind == BoundKind::bubble || largest.kind == BoundKind::host || largest.kind == BoundKind::offload)
      CHECK((report.bound.kind == largest.kind || report.bound.kind == BoundKind::hbm ||
             report.bound.kind == BoundKind::mesh_axis ||
             (report.bound.kind == BoundKind::bubble && waits >= largest.seconds)));
    if (report.bound.kind == BoundKind::compute)
      CHECK((largest.kind == BoundKind::compute || largest.kind == BoundKind::hbm ||
             largest.kind == BoundKind::mesh_axis));
  }
}
