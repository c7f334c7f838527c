// A model whose first layers are dense and whose others have experts: in a pipeline each stage has the parameters,
// activations and times of the layers it holds, and together they are the model's.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/explain.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;
using namespace roofscape::tests;

namespace {

Scenario deepseek() { return preset("deepseek-v3-2048-h800"); }

// Plans of DeepSeek-V3's shape with any number of dense layers at its beginning.
Scenario random_plan(std::mt19937& rng) {
  Dice dice(rng);
  Scenario s = random_scenario(rng);
  s.model = deepseek().model;
  s.model.n_layers = dice.pick(16, 64);
  s.model.moe.n_dense_layers = dice.pick(1, 8);
  s.parallelism = {};
  s.parallelism.zero_stage = dice.pick(0, 3);
  s.parallelism.fsdp = dice.power(3);
  s.parallelism.expert = s.parallelism.fsdp;
  s.parallelism.pipeline = dice.pick(2, 8);
  s.pipeline = {};
  s.pipeline.schedule = dice.one_in(2) ? ScheduleKind::one_f_one_b : ScheduleKind::zb_v;
  s.pipeline.virtual_stages = default_virtual_stages(s.pipeline.schedule);
  s.workload.global_batch_sequences = 64 * s.parallelism.fsdp;
  return s;
}

double sum_of(const Report& r, double StageRow::*member) {
  return std::accumulate(r.stages.begin(), r.stages.end(), 0.0,
                         [member](double sum, const StageRow& row) { return sum + row.*member; });
}

}  // namespace

TEST_CASE("DeepSeek-V3's three dense layers are on the stages that hold its first layers") {
  const Report r = evaluate(deepseek());
  int dense = 0, layers = 0;
  for (const StageRow& row : r.stages) {
    dense += row.dense_layers, layers += row.layers;
    if (row.first_layer >= 3) CHECK(row.dense_layers <= 0);
  }
  CHECK(layers == 61);
  CHECK(dense == 3);
}

TEST_CASE("a stage has the parameters of its layers, to the last one") {
  Scenario s = deepseek();
  s.pipeline.schedule = ScheduleKind::one_f_one_b;  // devices hold one stage, in order
  Scenario dense = s, experts = s;
  dense.model.moe = {};
  experts.model.moe.n_dense_layers = 0;
  const double of_dense = value_of(dense, Q::params_layer), of_experts = value_of(experts, Q::params_layer);
  REQUIRE(of_dense < of_experts / 10);
  const Report r = evaluate(s);
  REQUIRE(r.stages.front().dense_layers == 3);
  for (std::size_t i = 0; i < r.stages.size(); ++i) {
    const StageRow& row = r.stages[i];
    CAPTURE(i);
    double expected = row.dense_layers * of_dense + (row.layers - row.dense_layers) * of_experts;
    if (row.has_embedding) expected += value_of(s, Q::params_embedding);
    if (row.has_head) expected += value_of(s, Q::params_head);
    CHECK(row.params == expected);
  }
  CHECK(sum_of(r, &StageRow::params) == value_of(s, Q::params_total));
}

TEST_CASE("the passes of all stages add up to the model's, wherever its dense layers are") {
  std::mt19937 rng(83);
  for (int i = 0; i < 200; ++i) {
    Scenario first = random_plan(rng), spread = first;
    spread.model.moe.dense_layers_spread = true;
    const Report a = evaluate(first), b = evaluate(spread);
    if (a.has_errors()) continue;
    CAPTURE(i);
    CHECK(sum_of(a, &StageRow::forward_s) == near(sum_of(b, &StageRow::forward_s)));
    CHECK(sum_of(a, &StageRow::backward_s) == near(sum_of(b, &StageRow::backward_s)));
    CHECK(sum_of(a, &StageRow::kept_bytes) == near(sum_of(b, &StageRow::kept_bytes)));
    CHECK(sum_of(a, &StageRow::params) == near(sum_of(b, &StageRow::params)));
  }
}

TEST_CASE("a stage of layers with experts alone is as long as in a model without dense layers, in every mode") {
  for (const Mode mode : {Mode::ideal, Mode::calibrated}) {
    Scenario s = deepseek();
    s.assumptions.mode = mode;
    s.pipeline.schedule = ScheduleKind::one_f_one_b;
    Scenario experts = s;
    experts.model.moe.n_dense_layers = 0;
    const Report mixed = evaluate(s), alike = evaluate(experts);
    REQUIRE(mixed.stages[5].layers == alike.stages[5].layers);
    CHECK(mixed.stages[5].forward_s == near(alike.stages[5].forward_s));
    CHECK(mixed.stages[5].backward_s == near(alike.stages[5].backward_s));
    CHECK(mixed.stages[5].kept_bytes == near(alike.stages[5].kept_bytes));
    CHECK(mixed.stages[5].params == alike.stages[5].params);
    CHECK(mixed.stages[0].forward_s < mixed.stages[5].forward_s);
  }
}

TEST_CASE("dense layers that alternate with the others are on no stage in particular") {
  Scenario s = deepseek();
  s.model.moe.dense_layers_spread = true;
  const Report r = evaluate(s);
  for (const StageRow& row : r.stages) CHECK(row.dense_layers == 0);
}

TEST_CASE(
    "the derivation of a stage's time tells layers of either kind apart, and the model's own are not among them") {
  const Scenario s = deepseek();
  const std::vector<std::string> ids = explainable(s);
  const auto has = [&ids](std::string_view id) { return std::find(ids.begin(), ids.end(), id) != ids.end(); };
  CHECK(has("layer.forward_s[dense]"));
  CHECK(has("layer.forward_s[experts]"));
  CHECK(has("layer.forward_s"));
  CHECK_FALSE(has("params.total[dense]"));
  const auto derivation = explain(s, "stage.forward_s[0]");
  REQUIRE(derivation);
  CHECK(derivation->find("layer.forward_s[dense]") != nullptr);
  CHECK(derivation->find("layer.forward_s[experts]") != nullptr);
  CHECK(derivation->find("stage.dense_layers[0]")->value == 3);
}
