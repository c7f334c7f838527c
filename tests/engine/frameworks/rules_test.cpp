// Which plans launchers and servers run: each rule on a plan that breaks it alone, and what holds of all of them.
#include "engine/frameworks/rules.h"

#include <doctest/doctest.h>

#include <initializer_list>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "engine/search/plan_space.h"
#include "engine/studies/nearest_plan.h"
#include "tests/capture_binding.h"
#include "tests/engine/fixtures.h"
#include "tests/engine/serving_fixture.h"
#include "tests/english.h"

namespace roofscape::engine {
namespace {

using test::english;
using tests::preset;
using tests::with;

std::string first_broken(Framework framework, const Scenario& s) {
  const Rule* rule = broken_rule(framework, s);
  return rule != nullptr ? std::string(rule->id) : "";
}

Scenario random_plan(std::mt19937& rng) {
  return rng() % 4 == 0 ? tests::random_serving_scenario(rng) : tests::random_scenario(rng);
}

// 8 nodes of 8 H100, dense and with experts: every framework of GPUs that trains runs the first.
Scenario dense() {
  return with(preset("llama3-8b-8-h100"),
              {"cluster.nodes=8", "parallelism.data=1", "parallelism.fsdp=16", "parallelism.tensor=2",
               "parallelism.context=1", "parallelism.pipeline=2", "parallelism.sequence_parallel=true",
               "parallelism.zero_stage=1", "pipeline.schedule=1f1b", "pipeline.virtual_stages=1",
               "pipeline.microbatch_sequences=1", "workload.global_batch_sequences=256", "checkpointing.policy=block",
               "workload.sequence_length=8192", "precision.weights=bf16", "precision.compute=bf16"});
}
Scenario sparse() {
  return with(dense(), {"model=mixtral-8x7b", "parallelism.expert=8", "parallelism.expert_tensor=1"});
}
Scenario served() {
  return with(preset("llama3-70b-serving-8-h100"),
              {"parallelism.data=1", "parallelism.fsdp=1", "parallelism.tensor=8", "parallelism.pipeline=1"});
}

TEST_CASE("a plain plan runs where it should") {
  CHECK(first_broken(Framework::megatron, dense()) == "");
  CHECK(first_broken(Framework::megatron_bridge, dense()) == "");
  CHECK(first_broken(Framework::megatron, sparse()) == "");
  CHECK(first_broken(Framework::torchtitan, with(dense(), {"parallelism.zero_stage=3"})) == "");
  CHECK(first_broken(Framework::deepspeed, with(dense(), {"parallelism.sequence_parallel=false"})) == "");
  CHECK(first_broken(Framework::jax, dense()) == "");
  CHECK(first_broken(Framework::maxtext, with(dense(), {"parallelism.zero_stage=3", "pipeline.schedule=gpipe"})) ==
        "");
  CHECK(first_broken(Framework::maxtext, with(preset("llama3-70b-v5p-pod"), {"checkpointing.policy=block"})) == "");
  CHECK(first_broken(Framework::vllm, served()) == "");
  CHECK(first_broken(Framework::sglang, served()) == "");
  CHECK(first_broken(Framework::trtllm, served()) == "");
}

TEST_CASE("adapters are trained by Megatron Bridge and not by Megatron-LM, which is all that tells the two apart") {
  const Scenario tuned = with(dense(), {"adapter.rank=16"});
  CHECK(first_broken(Framework::megatron, tuned) == "adapters");
  CHECK(first_broken(Framework::megatron_bridge, tuned) == "");
  const auto bridge = engine::rules_of(Framework::megatron_bridge), lm = engine::rules_of(Framework::megatron);
  REQUIRE(bridge.size() + 1 == lm.size());
  CHECK(lm.back().id == "adapters");
  for (std::size_t i = 0; i < bridge.size(); ++i) CHECK(bridge[i].id == lm[i].id);
}

struct Broken {
  Framework framework;
  Scenario s;
  std::string_view rule;
};

TEST_CASE("a plan that breaks one rule is told which") {
  using enum Framework;
  const Scenario zero3 = with(dense(), {"parallelism.zero_stage=3"});
  const Scenario whole = with(dense(), {"parallelism.sequence_parallel=false"});
  const Scenario gpipe = with(zero3, {"pipeline.schedule=gpipe"});
  const Scenario flat = with(zero3, {"parallelism.pipeline=1", "parallelism.fsdp=32"});
  const std::vector<Broken> cases{
      {megatron, served(), "trains"},
      {megatron, preset("llama3-70b-v5p-pod"), "gpus"},
      {megatron, with(dense(), {"model.norms_per_layer=4"}), "model"},
      {megatron, with(dense(), {"model.mlp_bias=true"}), "model"},
      {megatron, with(dense(), {"precision.weights=fp32"}), "weights"},
      {megatron, with(dense(), {"model.n_heads=48", "model.n_kv_heads=6", "parallelism.tensor=4"}), "kv_heads"},
      {megatron, with(dense(), {"parallelism.context=2", "workload.sequence_length=8190"}), "context"},
      {megatron, with(sparse(), {"parallelism.expert=3"}), "experts"},
      {megatron, with(sparse(), {"parallelism.sequence_parallel=false"}), "sequence_parallel"},
      {megatron, with(dense(), {"workload.sequence_length=8191"}), "sequence"},
      {megatron, with(dense(), {"pipeline.schedule=zb-h1"}), "schedule"},
      {megatron,
       with(dense(), {"pipeline.schedule=interleaved-1f1b", "pipeline.virtual_stages=2",
                      "workload.global_batch_sequences=16"}),
       "interleaving"},
      {megatron,
       with(dense(), {"pipeline.schedule=interleaved-1f1b", "pipeline.virtual_stages=2", "pipeline.sends=blocking"}),
       "blocking_send"},
      {megatron, with(sparse(), {"pipeline.schedule=overlapped-1f1b", "pipeline.virtual_stages=2"}), "overlap"},
      {megatron, with(dense(), {"checkpointing.policy=big_matmuls"}), "recomputation"},
      {megatron, with(dense(), {"checkpointing.policy=segments", "checkpointing.segments=5"}), "recomputation"},
      {megatron, with(dense(), {"parallelism.zero_stage=2", "offload.optimizer=true"}), "optimizer_offload"},
      {megatron, with(dense(), {"parallelism.zero_stage=2", "precision.optimizer=muon_fp32"}), "muon"},
      {torchtitan, with(zero3, {"precision.optimizer=muon_fp32"}), "muon"},
      {megatron, with(dense(), {"adapter.rank=16"}), "adapters"},
      {torchtitan, with(zero3, {"adapter.rank=16"}), "adapters"},
      {megatron, with(dense(), {"offload.activations=true"}), "activation_offload"},
      {megatron, with(flat, {"parallelism.keep_gathered=step"}), "gathered"},
      {torchtitan, with(zero3, {"precision.compute=fp16"}), "compute"},
      {torchtitan, with(zero3, {"model=gpt3-175b"}), "model"},
      {torchtitan, with(zero3, {"parallelism.tensor=16"}), "kv_heads"},
      {torchtitan, with(zero3, {"parallelism.context=2", "workload.sequence_length=8194"}), "sequence"},
      {torchtitan, with(sparse(), {"parallelism.data=2", "parallelism.fsdp=4", "parallelism.expert=16"}), "experts"},
      {torchtitan, with(sparse(), {"parallelism.tensor=4", "parallelism.expert_tensor=2", "parallelism.fsdp=8"}),
       "expert_tensor"},
      {torchtitan, whole, "sequence_parallel"},
      {torchtitan, dense(), "sharding"},
      {torchtitan, with(zero3, {"parallelism.keep_gathered=chunk"}), "gathered"},
      {torchtitan, with(zero3, {"parallelism.context=2", "parallelism.context_method=ulysses"}), "context_method"},
      {torchtitan, with(zero3, {"pipeline.schedule=zb-h2"}), "schedule"},
      {torchtitan, with(gpipe, {"pipeline.backward_order=last-in"}), "backwards"},
      {torchtitan, with(zero3, {"checkpointing.policy=attention"}), "recomputation"},
      {torchtitan, with(zero3, {"checkpointing.policy=some_blocks", "checkpointing.blocks=20"}), "recomputation"},
      {torchtitan, with(zero3, {"offload.activations=true"}), "activation_offload"},
      {torchtitan, with(zero3, {"offload.optimizer=true", "offload.optimizer_fraction=0.5"}), "optimizer_fraction"},
      {deepspeed, with(whole, {"precision.compute=fp8"}), "compute"},
      {deepspeed, with(whole, {"parallelism.tensor=16"}), "heads"},
      {deepspeed, with(whole, {"parallelism.zero_stage=3"}), "zero_pipeline"},
      {deepspeed, with(whole, {"offload.optimizer=true", "offload.optimizer_fraction=0.5"}), "optimizer_fraction"},
      {deepspeed, with(whole, {"parallelism.data=2", "parallelism.fsdp=8"}), "zero_group"},
      {deepspeed, with(flat, {"parallelism.sequence_parallel=true"}), "sequence_parallel"},
      {deepspeed, with(whole, {"parallelism.context=2"}), "context_method"},
      {deepspeed, with(whole, {"pipeline.schedule=interleaved-1f1b", "pipeline.virtual_stages=2"}), "schedule"},
      {jax, with(dense(), {"parallelism.tensor=16"}), "tensor"},
      {jax, with(dense(), {"parallelism.fsdp=24"}), "shards"},
      {jax, sparse(), "expert_tensor"},
      {jax, with(dense(), {"model.n_layers=31"}), "layers"},
      {maxtext, with(gpipe, {"model.embedding_norm=1"}), "model"},
      {maxtext, with(sparse(), {"parallelism.fsdp=4"}), "experts"},
      {maxtext, with(gpipe, {"parallelism.zero_stage=2"}), "sharding"},
      {maxtext, zero3, "schedule"},
      {maxtext, with(gpipe, {"workload.global_batch_sequences=48"}), "microbatches"},
      {maxtext, with(gpipe, {"checkpointing.policy=attention"}), "recomputation"},
      {maxtext,
       with(preset("llama3-70b-v5p-pod"),
            {"parallelism.context=4", "parallelism.context_method=ring", "workload.sequence_length=4104"}),
       "ring"},
      {maxtext, with(gpipe, {"parallelism.context=2", "parallelism.context_method=ulysses"}), "ulysses"},
      {vllm, dense(), "serves"},
      {vllm, with(served(), {"parallelism.fsdp=2"}), "sharding"},
      {vllm, with(served(), {"parallelism.context=2"}), "context"},
      {vllm, with(served(), {"parallelism.tensor=16"}), "kv_split"},
      {vllm, with(served(), {"precision.kv_cache=int8"}), "kv_cache"},
      {vllm, with(served(), {"parallelism.pipeline=2", "serving.draft_tokens=3"}), "draft"},
      {vllm, with(served(), {"model=mixtral-8x7b", "parallelism.expert=4", "parallelism.expert_tensor=1"}),
       "experts"},
      {vllm, with(served(), {"serving.page_tokens=0"}), "pages"},
      {sglang, dense(), "serves"},
      {sglang, with(served(), {"precision.kv_cache=int8"}), "kv_cache"},
      {sglang, with(served(), {"precision.kv_cache=nvfp4"}), "kv_cache"},
      {sglang, with(served(), {"precision.kv_cache=int8", "precision.compute=int8"}), "kv_cache"},
      {sglang, with(served(), {"precision.kv_cache=fp16", "precision.compute=bf16"}), "kv_cache"},
      {sglang, with(served(), {"cluster.nodes=2", "parallelism.data=2"}), "replicas"},
      {sglang, with(served(), {"model=mixtral-8x7b", "parallelism.expert=2", "parallelism.expert_tensor=2"}),
       "experts"},
      {sglang, with(served(), {"cluster.nodes=2", "parallelism.tensor=16", "serving.kv_split=sequence"}), "kv_split"},
      {sglang, with(served(), {"parallelism.pipeline=2", "parallelism.tensor=4", "serving.draft_tokens=3"}), "draft"},
      {sglang, with(served(), {"serving.page_tokens=0"}), "pages"},
      {sglang, with(served(), {"serving.page_tokens=64", "serving.prefill_chunk_tokens=2000"}), "pages"},
  };
  for (const Broken& one : cases) {
    CAPTURE(kFrameworkIds[one.framework]);
    CAPTURE(one.rule);
    CHECK(first_broken(one.framework, one.s) == one.rule);
  }
}

TEST_CASE("a server's expert ranks are all of data and tensor, or none") {
  const Scenario s = with(served(), {"model=mixtral-8x7b", "parallelism.tensor=4", "parallelism.data=2"});
  CHECK(first_broken(Framework::vllm, with(s, {"parallelism.expert=8", "parallelism.expert_tensor=1"})) == "");
  CHECK(first_broken(Framework::vllm, with(s, {"parallelism.expert=2", "parallelism.expert_tensor=0"})) == "experts");
}

TEST_CASE("SGLang's expert ranks are those of a replica, or all of those that share attention out") {
  const Scenario s = with(served(), {"model=mixtral-8x7b", "parallelism.tensor=4", "parallelism.data=2"});
  const auto plan = [&s](const char* expert, const char* expert_tensor, const char* nodes) {
    return with(
        s, {std::string("parallelism.expert=") + expert, std::string("parallelism.expert_tensor=") + expert_tensor,
            std::string("cluster.nodes=") + nodes});
  };
  for (const auto& [expert, expert_tensor, shared] : {std::tuple{"8", "1", true},
                                                      {"4", "2", true},
                                                      {"2", "4", true},
                                                      {"4", "1", false},
                                                      {"2", "2", false},
                                                      {"1", "4", false}}) {
    CAPTURE_BINDING(expert);
    CAPTURE_BINDING(expert_tensor);
    CHECK(first_broken(Framework::sglang, plan(expert, expert_tensor, "1")) == "");
    CHECK(shares_attention(plan(expert, expert_tensor, "1")) == shared);
  }
  CHECK(first_broken(Framework::sglang, plan("2", "1", "1")) == "experts");
  CHECK_FALSE(
      shares_attention(with(s, {"parallelism.data=1", "parallelism.expert=4", "parallelism.expert_tensor=1"})));
  // Chips of two nodes, of 4 each.
  const Scenario over = with(plan("4", "1", "2"), {"cluster.node_size=4"});
  CHECK(first_broken(Framework::sglang, over) == "replicas");
  CHECK(first_broken(Framework::sglang, with(over, {"parallelism.expert=8"})) == "");
}

TEST_CASE("what a rule says has its numbers, and where the framework states it") {
  const Scenario s = with(dense(), {"model.n_heads=48", "model.n_kv_heads=6", "parallelism.tensor=4"});
  const Rule* rule = broken_rule(Framework::megatron, s);
  REQUIRE(rule != nullptr);
  CHECK(english().write(rule->words(s)) == "of tensor 4 and 6 KV heads, neither divides the other");
  CHECK(rule->source == "Megatron-LM, megatron/core/transformer/transformer_config.py");
}

TEST_CASE("every rule has an id of its own, and all but the kind of work and chip have a source") {
  for (std::size_t i = 0; i < kFrameworks; ++i) {
    std::set<std::string_view> ids;
    for (const Rule& rule : rules_of(static_cast<Framework>(i))) {
      CAPTURE(rule.id);
      CHECK(ids.insert(rule.id).second);
      const bool obvious =
          rule.id == "trains" || rule.id == "serves" || rule.id == "gpus" || rule.id == "order" || rule.id == "nodes";
      CHECK(rule.source.empty() == obvious);
    }
  }
}

TEST_CASE("a broken rule's words have no place left open") {
  std::mt19937 rng(11);
  for (int n = 0; n < 2000; ++n) {
    const Scenario s = random_plan(rng);
    for (std::size_t i = 0; i < kFrameworks; ++i)
      for (const Rule& rule : rules_of(static_cast<Framework>(i)))
        if (rule.broken(s)) {
          const std::string words = english().write(rule.words(s));
          CAPTURE(rule.id);
          CHECK(words.find('{') == std::string::npos);
          CHECK(!words.starts_with("framework."));
        }
  }
}

TEST_CASE("what mends a rule keeps it") {
  std::mt19937 rng(12);
  int mended = 0;
  for (int n = 0; n < 3000; ++n) {
    const Scenario s = random_plan(rng);
    for (std::size_t i = 0; i < kFrameworks; ++i)
      for (const Rule& rule : rules_of(static_cast<Framework>(i))) {
        if (!rule.broken(s) || rule.mend == nullptr) continue;
        Scenario other = s;
        rule.mend(other);
        CAPTURE(kFrameworkIds.ids()[i]);
        CAPTURE(rule.id);
        // Where the mesh stands against it as well, another mesh is needed.
        const bool of_mesh = rule.path == "parallelism.expert" || rule.path == "parallelism.pipeline";
        if (!of_mesh) CHECK(!rule.broken(other));
        ++mended;
      }
  }
  CHECK(mended > 3000);
}

TEST_CASE("a rule reads no more than it says") {
  std::mt19937 rng(13);
  for (int n = 0; n < 3000; ++n) {
    const Scenario s = tests::random_scenario(rng);
    const Plan other = plan_of(tests::random_scenario(rng));
    Scenario knobs = s, all = s;
    apply(all, other);
    Plan same_mesh = other;
    const Plan own = plan_of(s);
    same_mesh.data = own.data, same_mesh.fsdp = own.fsdp, same_mesh.tensor = own.tensor;
    same_mesh.context = own.context, same_mesh.pipeline = own.pipeline, same_mesh.expert = own.expert;
    apply(knobs, same_mesh);
    // A search has its own scenario for each combination of settings.
    all = with_settings_of(all, own), knobs = with_settings_of(knobs, own);
    for (std::size_t i = 0; i < kFrameworks; ++i)
      for (const Rule& rule : rules_of(static_cast<Framework>(i))) {
        CAPTURE(rule.id);
        if (rule.reads == RuleReads::scenario) CHECK(rule.broken(s) == rule.broken(all));
        if (rule.reads != RuleReads::plan) CHECK(rule.broken(s) == rule.broken(knobs));
      }
  }
}

TEST_CASE("the nearest plan of a framework keeps its rules, runs, and is the plan itself where that does") {
  std::mt19937 rng(14);
  int found = 0;
  for (int n = 0; n < 150; ++n) {
    const Scenario s = random_plan(rng);
    for (std::size_t i = 0; i < kFrameworks; ++i) {
      const auto framework = static_cast<Framework>(i);
      CAPTURE(kFrameworkIds[framework]);
      const NearestPlan near = nearest_plan_on(framework, s);
      if (broken_rule(framework, s) == nullptr) CHECK(near.scenario == s);
      if (!near.runs) continue;
      ++found;
      CHECK(broken_rule(framework, near.scenario) == nullptr);
      CHECK(PlanCheck().runs(near.scenario));
      CHECK(near.scenario.model == s.model);
      CHECK(near.scenario.cluster == s.cluster);
      CHECK(near.scenario.workload == s.workload);
    }
  }
  CHECK(found > 300);
}

TEST_CASE("the nearest plan changes a knob before the mesh") {
  const Scenario s = with(dense(), {"parallelism.zero_stage=3"});
  const NearestPlan near = nearest_plan_on(Framework::deepspeed, s);
  REQUIRE(near.runs);
  CHECK(near.scenario == with(s, {"parallelism.zero_stage=1", "parallelism.sequence_parallel=false"}));
}

}  // namespace
}  // namespace roofscape::engine
