// Low-rank adapters: what is trained, what a step computes and sends, what is kept.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/evaluation.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::near;
using tests::preset;
using tests::value_of;
using tests::with;

namespace {

// LLaMA-3 8B with adapters of rank 16 on attention and MLP, as PEFT counts them: "trainable params: 41,943,040".
constexpr double kTrained = 41943040;
Scenario adapted(std::initializer_list<std::string_view> more = {}) {
  return with(with(preset("llama3-8b-8-h100"), {"adapter.rank=16"}), more);
}

}  // namespace

TEST_CASE("adapters of rank 16 on all linear layers of LLaMA-3 8B are 41,943,040 parameters") {
  CHECK(value_of(adapted(), Q::params_trained) == kTrained);
  // Queries and values alone, rank 8, as in Hu et al. 2021: 8 (4096 + 4096) + 8 (4096 + 1024) a layer.
  CHECK(value_of(adapted({"adapter.rank=8", "adapter.targets=query_value"}), Q::params_trained) ==
        32 * 8 * (8192 + 5120.0));
  CHECK(value_of(adapted({"adapter.targets=attention"}), Q::params_trained) +
            value_of(adapted({"adapter.targets=mlp"}), Q::params_trained) ==
        kTrained);
  // GPT-3 175B, rank 8 on queries and values (Hu et al. 2021, table 4: 37.7 M with r_q = r_v = 8).
  Scenario gpt3 = adapted({"adapter.rank=8", "adapter.targets=query_value"});
  gpt3.model = *tests::library().find_model("gpt3-175b");
  CHECK(value_of(gpt3, Q::params_trained) == doctest::Approx(37.7e6).epsilon(0.002));
}

TEST_CASE("frozen weights take 4 FLOP a parameter and token, adapters 6") {
  const Scenario s = adapted({"assumptions.flops=6p"});
  CHECK(value_of(s, Q::flops_per_token) == near(4 * value_of(s, Q::params_active) + 6 * kTrained));
  const Scenario exact = with(s, {"assumptions.flops=exact"}), all = with(exact, {"adapter.rank=0"});
  CHECK(value_of(exact, Q::flops_per_token) ==
        near(value_of(all, Q::flops_per_token) - 2 * value_of(all, Q::params_matmul) + 6 * kTrained));
  // The step's products follow.
  const Report r = evaluate(with(exact, {"checkpointing.policy=none"}));
  CHECK(value_of(r, Q::step_matmul) + value_of(r, Q::step_attention) ==
        near(value_of(r, Q::flops_model_per_step) / (value_of(r, Q::chips_used) * value_of(r, Q::peak_flops))));
}

TEST_CASE("only adapters have gradients, moments and a place in the update") {
  const Scenario s = adapted({"parallelism.zero_stage=3", "precision.gradients=fp32"});
  const double shards = value_of(s, Q::state_shards), params = value_of(s, Q::params_total);
  CHECK(value_of(s, Q::memory_weights) ==
        near((value_of(s, Q::weight_width_bytes) * params + 2 * kTrained) / shards));
  CHECK(value_of(s, Q::memory_gradients) == near(4 * kTrained / shards));
  CHECK(value_of(s, Q::memory_optimizer) == near(value_of(s, Q::optimizer_width_bytes) * kTrained / shards));
  PipelineReport pipeline;
  const Evaluation<double> e = run_evaluation<double>(s, nullptr, pipeline);
  CHECK(e.plan.updated_params == near(kTrained / shards));
  // Quantized, the frozen weights alone shrink (QLoRA, Dettmers et al. 2023).
  const Scenario quantized = with(s, {"precision.weights=int4"});
  CHECK(value_of(quantized, Q::memory_weights) == near((0.5 * params + 2 * kTrained) / shards));
  CHECK(value_of(quantized, Q::memory_optimizer) == value_of(s, Q::memory_optimizer));
}

TEST_CASE(
    "ZeRO-3 gathers frozen weights forth and back and reduces adapters, below it nothing but adapters is sent") {
  const auto traffic = [](const Scenario& s) {
    PipelineReport pipeline;
    const Evaluation<double> e = run_evaluation<double>(s, nullptr, pipeline);
    return std::pair{e.stage.weight_bytes, e.stage.gradient_bytes};
  };
  const Scenario s = adapted({"parallelism.zero_stage=3", "precision.gradients=bf16"});
  const double layer = value_of(s, Q::params_layer), adapters = kTrained / 32,
               width = value_of(s, Q::weight_width_bytes);
  CHECK(traffic(s).first == near(width * layer + 2 * adapters));
  CHECK(traffic(s).second == near(2 * adapters));
  CHECK(traffic(with(s, {"parallelism.zero_stage=1"})).first == near(2 * adapters));
}

TEST_CASE("inputs of frozen matrices are kept where an adapter needs them") {
  const auto kept = [](std::string_view targets) {
    Scenario s = adapted({"checkpointing.policy=none"});
    io::set_field(s, "adapter.targets=" + std::string(targets), tests::library());
    return value_of(s, Q::layer_checkpoint_bytes);
  };
  const Scenario s = adapted({"checkpointing.policy=none"});
  const double t = value_of(s, Q::microbatch_tokens), stream = 2 * t * 4096, ff = 2 * t * 14336, rank = 2 * t * 16;
  const double all = value_of(with(s, {"adapter.rank=0"}), Q::layer_checkpoint_bytes);
  CHECK(kept("linear") == near(all + 7 * rank));
  CHECK(kept("attention") == near(all - stream - ff + 4 * rank));
  CHECK(kept("mlp") == near(all - stream + 3 * rank));
}

TEST_CASE("a weight gradient that is put off is an adapter's") {
  Scenario s = with(preset("gpt3-175b-1024-a100"), {"pipeline.schedule=zb-h1", "pipeline.virtual_stages=1"});
  const auto weight = [](const Scenario& plan) {
    PipelineReport pipeline;
    (void)run_evaluation<double>(plan, nullptr, pipeline);
    return double(pipeline.times.backward_weight[1]);
  };
  const Scenario adapters = with(s, {"adapter.rank=16"});
  CHECK(weight(adapters) < 0.02 * weight(s));
  CHECK(weight(adapters) > 0);
}

TEST_CASE("a step with adapters takes less than one of all weights, calibrated too") {
  for (const std::string_view mode : {"assumptions.mode=ideal", "assumptions.mode=calibrated"}) {
    const Scenario s = adapted({mode});
    const double lora = value_of(s, Q::step_time), full = value_of(with(s, {"adapter.rank=0"}), Q::step_time);
    CHECK(lora < full);
    CHECK(lora > 0.6 * full);
  }
}
