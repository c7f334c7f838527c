// The study behind the network figure against the book's numbers and the report's own.
#include "engine/studies/network.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;
using namespace roofscape::tests;

namespace {

const NetworkLine* line_of(const NetworkStudy& study, NetworkStrategy kind, int axes = -1) {
  for (const NetworkLine& line : study.lines)
    if (line.strategy == kind && (axes < 0 || line.axes == axes)) return &line;
  return nullptr;
}

constexpr NetworkQuestion kBook{LayerCount::mlp, Pass::forward};

}  // namespace

// Scaling book, chapter 5: D = 8192, F = 32768 on 16 x 16 x 16 v5p crosses at 1.6 M tokens (2025 edition, transfers one
// after the other) and at 4e5 (2026, at the same time).
TEST_CASE("on 16x16x16 v5p FSDP with tensor becomes compute-bound at the book's batch") {
  const Scenario s = with(preset("llama3-70b-v5p-pod"), {"cluster.slice=16x16x16", "model.d_ff=32768"});
  const NetworkStudy study = network_study(s, kBook);
  CHECK(*line_of(study, NetworkStrategy::mixed_sum)->hidden_from * 4096 == doctest::Approx(1625625));
  CHECK(*line_of(study, NetworkStrategy::mixed_max)->hidden_from * 4096 == doctest::Approx(1625625 / 4.0));
}

// Chapter 5: FSDP on one, two and three axes of v5p needs 2550, 1275 and 850 tokens a chip, whatever the model.
TEST_CASE("FSDP needs 2550 tokens a chip over the axes it spans") {
  for (const NetworkQuestion& q : {kBook, NetworkQuestion{LayerCount::whole, Pass::forward}, NetworkQuestion{LayerCount::whole, Pass::backward}}) {
    const NetworkStudy study = network_study(preset("llama3-70b-v5p-pod"), q);
    for (int axes = 1; axes <= 3; ++axes) {
      CAPTURE(axes);
      CHECK(*line_of(study, NetworkStrategy::fsdp, axes)->hidden_from == doctest::Approx(2550.0 / axes));
    }
  }
}

// Chapter 5, the ratio chart of 4 x 4 x 4 with F = 30000: tensor over all chips has M F / (alpha Y) at any batch.
TEST_CASE("tensor parallelism over a cube of 64 has the same ratio at any batch") {
  const Scenario s = with(preset("llama3-70b-v5p-pod"), {"cluster.slice=4x4x4", "model.d_ff=30000"});
  const NetworkStudy study = network_study(s, kBook);
  const NetworkLine* tensor = line_of(study, NetworkStrategy::tensor);
  REQUIRE(tensor);
  CHECK(tensor->degree == 64);
  for (const std::size_t i : {std::size_t{0}, study.tokens.size() - 1})
    CHECK(study.compute[i] / tensor->seconds[i] == doctest::Approx(3 * 30000 / (2550.0 * 64)));
  CHECK_FALSE(tensor->hidden_from);
}

TEST_CASE("crossings of the book's block are the report's bounds") {
  const Scenario s = preset("llama3-70b-v5p-pod");
  const Report report = evaluate(s);
  const NetworkStudy study = network_study(s, kBook);
  CHECK(*line_of(study, NetworkStrategy::mixed_sum)->hidden_from == doctest::Approx(*report.quantities[Q::bound_mixed_sum]));
  CHECK(*line_of(study, NetworkStrategy::mixed_max)->hidden_from == doctest::Approx(*report.quantities[Q::bound_mixed_max]));
  CHECK(study.tokens_now == *report.quantities[Q::bound_cluster_tokens]);
  CHECK(line_of(study, NetworkStrategy::mixed_sum)->ratio_now == doctest::Approx(*report.quantities[Q::bound_ratio_sum]));
}

// Chapter 12: 2475 tokens a GPU beyond the node, for two bytes a weight.
TEST_CASE("FSDP over many H100 nodes needs 2475 tokens a GPU, less what a node has itself") {
  const NetworkStudy study = network_study(preset("llama3-405b-16k-h100"), kBook);
  CHECK(*line_of(study, NetworkStrategy::fsdp)->hidden_from == doctest::Approx(2475).epsilon(0.002));
}

TEST_CASE("at the present batch the plan's line is the layer of the report") {
  for (const char* id : {"llama3-70b-v5p-pod", "llama3-8b-8-h100"}) {
    CAPTURE(id);
    const Scenario s = with(preset(id), {"assumptions.axes_overlap=sum"});
    const Report report = evaluate(s);
    const auto q = [&](Q x) { return *report.quantities[x]; };
    const double microbatches = q(Q::microbatches), used = q(Q::chips_used) / q(Q::cluster_chips);
    const NetworkStudy forward = network_study(s, {LayerCount::whole, Pass::forward}), backward = network_study(s, {LayerCount::whole, Pass::backward});
    const auto plan_now = [&](const NetworkStudy& study) {
      const NetworkLine* plan = line_of(study, NetworkStrategy::plan);
      REQUIRE(plan);
      // Ratio at the present batch times communication is arithmetic: of all microbatches of a step.
      return plan->ratio_now;
    };
    const double compute = q(Q::layer_flops_forward) / q(Q::peak_flops) * microbatches * used;
    CHECK(plan_now(forward) * q(Q::layer_network_forward) * microbatches * used == doctest::Approx(compute));
    CHECK(plan_now(backward) * q(Q::layer_network_backward) * microbatches * used == doctest::Approx(2 * compute));
  }
}

TEST_CASE("a line is over the arithmetic before its crossing and under it after") {
  std::mt19937 rng(5);
  for (int i = 0; i < 60; ++i) {
    const Scenario s = random_scenario(rng);
    for (const LayerCount count : {LayerCount::whole, LayerCount::mlp})
      for (const Pass pass : {Pass::forward, Pass::backward}) {
        const NetworkStudy study = network_study(s, {count, pass});
        for (const NetworkLine& line : study.lines)
          for (std::size_t k = 0; k < study.tokens.size(); ++k) {
            REQUIRE(std::isfinite(line.seconds[k]));
            if (!line.hidden_from || std::abs(study.tokens[k] / std::max(1e-9, *line.hidden_from) - 1) < 1e-6) continue;
            CHECK((study.compute[k] >= line.seconds[k]) == (study.tokens[k] > *line.hidden_from));
          }
      }
  }
}
