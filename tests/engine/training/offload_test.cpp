// What lives on the host is not free: gradients, weights and checkpoints cross PCIe and the host's memory updates.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/evaluation.h"
#include "engine/inputs/inputs.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::preset;
using tests::value_of;
using tests::with;

namespace {

double in_bytes(const Evaluation<double>& e) { return e.in.reduced_gradient_bytes; }

}  // namespace

TEST_CASE("an optimizer on the host updates after the last gradients, at the speed of the host's memory") {
  const Scenario s = with(preset("llama3-8b-8-h100"), {"offload.optimizer=true"});
  const Report r = evaluate(s);
  CHECK(value_of(r, Q::memory_optimizer) == 0);
  CHECK(value_of(r, Q::step_optimizer) == 0);  // not on the chip
  const double params = 8030261248.0 / 8, pcie = value_of(r, Q::pcie_bandwidth), host = 51.2e9, layers = 32;
  const double gradients = value_of(r, Q::gradient_width_bytes) * params / pcie;
  const double weights = value_of(r, Q::weight_width_bytes) * params / pcie;
  // Weight and state are read and written, the gradient is read.
  const double update = (2 * (value_of(r, Q::weight_width_bytes) + value_of(r, Q::optimizer_width_bytes)) +
                         value_of(r, Q::gradient_width_bytes)) *
                        params / host;
  const double late = std::max(gradients / layers, gradients - (layers - 1) * value_of(r, Q::layer_time_backward));
  CHECK(value_of(r, Q::step_offload) ==
        doctest::Approx(late + std::max(update, weights) + std::min(update, weights) / layers).epsilon(1e-12));
  // A faster host helps, to the time of the links.
  const Report fast = evaluate(with(s, {"assumptions.host_memory_bytes_per_s=1e12"}));
  CHECK(value_of(fast, Q::step_offload) < value_of(r, Q::step_offload));
  CHECK(value_of(fast, Q::step_offload) > weights);
}

TEST_CASE("the host updates its share of the parameters while the chip updates the others") {
  const Scenario s = with(preset("llama3-8b-8-h100"), {"offload.optimizer=true"});
  const Report whole = evaluate(with(s, {"offload.optimizer=false"})), none = evaluate(s);
  for (const double fraction : {0.05, 0.4, 0.9}) {
    CAPTURE(fraction);
    Scenario split = s;
    split.offload.optimizer_fraction = fraction;
    const Report r = evaluate(split);
    CHECK(value_of(r, Q::memory_optimizer) ==
          doctest::Approx((1 - fraction) * value_of(whole, Q::memory_optimizer)).epsilon(1e-12));
    CHECK(value_of(r, Q::step_optimizer) ==
          doctest::Approx((1 - fraction) * value_of(whole, Q::step_optimizer)).epsilon(1e-12));
    // Here the backward of the other layers covers their gradients, and all that is left is in proportion.
    const double host = fraction * value_of(none, Q::step_offload);
    CHECK(value_of(r, Q::step_offload) ==
          doctest::Approx(std::max(host - value_of(r, Q::step_optimizer), 0.0)).epsilon(1e-9));
  }
  // A small share is updated by the time the chip has updated the rest.
  CHECK(value_of(evaluate(with(s, {"offload.optimizer_fraction=0.01"})), Q::step_offload) == 0);
}

TEST_CASE("an optimizer of which no share is offloaded takes the memory and the time of one on the chip") {
  std::mt19937 rng(1411);
  for (int i = 0; i < 300; ++i) {
    Scenario s = tests::random_scenario(rng);
    if (!s.cluster.chip[ChipField::host_pcie_bytes_per_s_per_chip].value) continue;
    s.offload.optimizer = false;
    const Report chip = evaluate(s);
    s.offload.optimizer = true, s.offload.optimizer_fraction = 0;
    const Report none = evaluate(s);
    INFO("case " << i);
    REQUIRE(none.quantities.value_or(Q::step_time, -1) == chip.quantities.value_or(Q::step_time, -1));
    REQUIRE(value_of(none, Q::memory_total) == value_of(chip, Q::memory_total));
  }
}

TEST_CASE("the larger the offloaded share, the less memory the optimizer takes of the chip") {
  for (const char* id : {"llama3-8b-8-h100", "gpt3-175b-1024-a100", "deepseek-v3-2048-h800", "llama3-70b-v5p-pod"}) {
    Scenario s = with(preset(id), {"offload.optimizer=true"});
    double before = std::numeric_limits<double>::infinity();
    for (const double fraction : {0.0, 0.25, 0.5, 1.0}) {
      CAPTURE(id);
      CAPTURE(fraction);
      s.offload.optimizer_fraction = fraction;
      const double now = value_of(evaluate(s), Q::memory_optimizer);
      CHECK(now < before);
      before = now;
    }
    CHECK(before == 0);
  }
}

TEST_CASE("calibrated, copies reach of the link to the host what they were measured to") {
  const Scenario s = with(preset("llama3-8b-8-h100"), {"offload.optimizer=true", "assumptions.mode=calibrated"});
  const Report r = evaluate(s);
  CHECK(make_inputs<double>(s, nullptr).achieved.pcie == doctest::Approx(0.867 * value_of(r, Q::pcie_bandwidth)));
  Scenario bare = s;
  for (CalibrationValues& values : bare.cluster.chip.calibration.stacks) values[Calibrated::host_link] = 1;
  CHECK(value_of(evaluate(bare), Q::step_offload) < value_of(r, Q::step_offload));
  CHECK(value_of(evaluate(with(s, {"assumptions.mode=ideal"})), Q::step_offload) <= value_of(r, Q::step_offload));
}

TEST_CASE("what a pipeline reduces after its last backward goes to the host after it too") {
  const Scenario s = with(preset("gpt3-175b-1024-a100"), {"offload.optimizer=true"});
  REQUIRE(s.parallelism.pipeline > 1);
  REQUIRE((s.parallelism.data > 1 || s.parallelism.zero_stage < 3));
  const Report r = evaluate(s);
  PipelineReport pipeline;
  const Evaluation<double> e = run_evaluation<double>(s, nullptr, pipeline);
  CHECK(e.plan.step_parts[12] == value_of(r, Q::step_offload));
  const double params = e.plan.updated_params, host = 51.2e9, pcie = value_of(r, Q::pcie_bandwidth);
  CHECK(value_of(r, Q::step_offload) > in_bytes(e) * params / pcie + e.plan.optimizer_bytes_each * params / host);
}

TEST_CASE("offload never makes a step shorter but for the pass over HBM it saves, and takes what crosses PCIe") {
  std::mt19937 rng(1122);
  int offloaded = 0;
  for (int i = 0; i < 500; ++i) {
    Scenario s = tests::random_scenario(rng);
    if (!s.cluster.chip[ChipField::host_pcie_bytes_per_s_per_chip].value) continue;
    if (s.precision.optimizer == OptimizerKind::none) continue;
    s.offload = {};
    const Report without = evaluate(s);
    s.offload.optimizer = true;
    const Report host = evaluate(s);
    s.offload.activations = true;
    const Report both = evaluate(s);
    ++offloaded;
    INFO("case " << i);
    REQUIRE(value_of(host, Q::step_time) >=
            (value_of(without, Q::step_time) - value_of(without, Q::step_optimizer)) * (1 - 1e-12));
    REQUIRE(value_of(both, Q::step_time) >= value_of(host, Q::step_time) * (1 - 1e-12));
    PipelineReport pipeline;
    const Evaluation<double> e = run_evaluation<double>(s, nullptr, pipeline);
    const double params = e.plan.updated_params, pcie = value_of(host, Q::pcie_bandwidth);
    REQUIRE(value_of(host, Q::step_offload) >= e.plan.optimizer_bytes_each * params / 51.2e9 * (1 - 1e-12));
    const double checkpoints = e.layer.activations.checkpoint_bytes * e.stage.layer_passes / pcie;
    REQUIRE(e.stage.makespan + value_of(both, Q::step_offload) >= checkpoints * (1 - 1e-12));
  }
  CHECK(offloaded > 100);
}
