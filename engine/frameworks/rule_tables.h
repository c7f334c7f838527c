// For the rules_*.cpp files: the tables they define, and tests that several frameworks share.
#pragma once

#include "engine/frameworks/rules.h"
#include "engine/scenario/mesh_size.h"

namespace roofscape::engine::rules {

std::span<const Rule> megatron();
std::span<const Rule> megatron_bridge();
std::span<const Rule> torchtitan();
std::span<const Rule> deepspeed();
std::span<const Rule> maxtext();
std::span<const Rule> jax();
std::span<const Rule> vllm();
std::span<const Rule> sglang();
std::span<const Rule> trtllm();

inline bool divides(std::int64_t part, std::int64_t whole) { return part > 0 && whole % part == 0; }

inline bool on_torus(const Scenario& s) { return s.cluster.chip.interconnect == Interconnect::torus; }

// What the words of a rule call the framework. Megatron-LM and Megatron Bridge have the rules of their core, and say so.
constexpr std::string_view name_in_rules(Framework framework) {
  return framework == Framework::megatron ? std::string_view("Megatron Core") : framework_name(framework);
}

// Rows that every framework of a kind has.
template <Framework framework>
constexpr Rule trains() {
  return {.id = "trains",
          .path = "workload.kind",
          .reads = RuleReads::scenario,
          .broken = [](const Scenario& s) { return s.serves(); },
          .words = [](const Scenario&) { return say("framework.rule.trains", name_in_rules(framework)); },
          .source = {}};
}
template <Framework framework>
constexpr Rule needs_gpus() {
  return {
      .id = "gpus",
      .path = "cluster.chip",
      .reads = RuleReads::scenario,
      .broken = on_torus,
      .words =
          [](const Scenario& s) { return say("framework.rule.gpus", name_in_rules(framework), s.cluster.chip.name); },
      .source = {}};
}
// As many processes on every node, one for each chip.
template <Framework framework>
constexpr Rule even_nodes() {
  return {.id = "nodes",
          .path = "cluster.nodes",
          .reads = RuleReads::mesh,
          .broken = [](const Scenario& s) { return job_size(s).nodes == 0; },
          .words =
              [](const Scenario& s) {
                return say("framework.rule.nodes", static_cast<long long>(mesh_chips(s.parallelism)), s.cluster.nodes,
                           s.cluster.node_size);
              },
          .source = {}};
}
// `source`: where the launcher trains all weights.
template <Framework framework>
constexpr Rule trains_all_weights(std::string_view source) {
  return {.id = "adapters",
          .path = "adapter.rank",
          .reads = RuleReads::scenario,
          .broken = [](const Scenario& s) { return s.adapter.rank > 0; },
          .words = [](const Scenario&) { return say("framework.rule.adapters", framework_name(framework)); },
          .source = source,
          .mend = [](Scenario& s) { s.adapter.rank = 0; }};
}
// `source`: where its optimizers are made.
template <Framework framework>
constexpr Rule wide_moments(std::string_view source) {
  return {.id = "adam_8bit",
          .path = "precision.optimizer",
          .reads = RuleReads::scenario,
          .broken = [](const Scenario& s) { return s.precision.optimizer == OptimizerKind::adam_8bit; },
          .words = [](const Scenario&) { return say("framework.rule.adam_8bit", framework_name(framework)); },
          .source = source,
          .mend = [](Scenario& s) { s.precision.optimizer = OptimizerKind::adam_fp32; }};
}
// `source`: where the optimizer's state is put on the host.
template <Framework framework>
constexpr Rule whole_optimizer(std::string_view source) {
  return {
      .id = "optimizer_fraction",
      .path = "offload.optimizer_fraction",
      .reads = RuleReads::plan,
      .broken = [](const Scenario& s) { return s.offload.optimizer && s.offload.optimizer_fraction < 1; },
      .words = [](const Scenario&) { return say("framework.rule.optimizer_fraction", framework_name(framework)); },
      .source = source,
      .mend = [](Scenario& s) { s.offload.optimizer_fraction = 1; }};
}
// One order of ranks alone, not `other`. `source`: where the launcher lays them out.
template <Framework framework, RankOrder other>
constexpr Rule own_rank_order(std::string_view source) {
  return {.id = "rank_order",
          .path = "placement.order",
          .reads = RuleReads::mesh,
          .broken =
              [](const Scenario& s) {
                return s.placement.order == other && rank_order_matters(s.cluster, s.parallelism);
              },
          .words =
              [](const Scenario&) {
                if (other == RankOrder::data_last) return say("framework.rule.rank_order", framework_name(framework));
                return say("framework.rule.replica_order", framework_name(framework));
              },
          .source = source,
          .mend = [](Scenario& s) { s.placement.order = RankOrder::automatic; }};
}
// An order of operations of one's own, which only torch's pipelines can be given.
template <Framework framework>
constexpr Rule own_order() {
  return {.id = "order",
          .path = "pipeline.order",
          .reads = RuleReads::plan,
          .broken = [](const Scenario& s) { return s.parallelism.pipeline > 1 && s.pipeline.order; },
          .words = [](const Scenario&) { return say("framework.rule.order", name_in_rules(framework)); },
          .source = {},
          .mend = [](Scenario& s) { s.pipeline.order = {}; }};
}

// Rows that several have. `source`: where they split attention.
constexpr Rule even_heads(std::string_view source) {
  return {
      .id = "heads",
      .path = "parallelism.tensor",
      .reads = RuleReads::mesh,
      .broken = [](const Scenario& s) { return !divides(s.parallelism.tensor, s.model.n_heads); },
      .words = [](const Scenario& s) { return say("framework.rule.heads", s.parallelism.tensor, s.model.n_heads); },
      .source = source};
}
constexpr Rule even_kv_heads(std::string_view source) {
  return {.id = "kv_heads",
          .path = "parallelism.tensor",
          .reads = RuleReads::mesh,
          .broken =
              [](const Scenario& s) {
                return !s.model.is_mla() && !divides(s.parallelism.tensor, s.model.n_kv_heads) &&
                       !divides(s.model.n_kv_heads, s.parallelism.tensor);
              },
          .words =
              [](const Scenario& s) {
                return say("framework.rule.kv_heads_either", s.parallelism.tensor, s.model.n_kv_heads);
              },
          .source = source};
}

// Rows that every server has.
inline std::int64_t replicas(const Scenario& s) { return data_ranks(s.parallelism); }
inline int kv_heads(const Scenario& s) { return s.model.is_mla() ? 1 : s.model.n_kv_heads; }
inline bool spare_ranks(const Scenario& s) { return s.parallelism.tensor > kv_heads(s); }

template <Framework framework>
constexpr Rule serves() {
  return {.id = "serves",
          .path = "workload.kind",
          .reads = RuleReads::scenario,
          .broken = [](const Scenario& s) { return !s.serves(); },
          .words = [](const Scenario&) { return say("framework.rule.serves", framework_name(framework)); },
          .source = {}};
}
template <Framework framework>
constexpr Rule served_model(std::string_view source) {
  return {.id = "model",
          .path = "model",
          .reads = RuleReads::scenario,
          .broken = [](const Scenario& s) { return s.model.rel_pos_projection; },
          .words =
              [](const Scenario&) {
                return say("framework.rule.model", framework_name(framework), say("framework.part.rel_pos"));
              },
          .source = source};
}
template <Framework framework>
constexpr Rule served_compute(std::string_view source) {
  return {.id = "compute",
          .path = "precision.compute",
          .reads = RuleReads::scenario,
          .broken = [](const Scenario& s) { return s.precision.compute == Dtype::int4; },
          .words = [](const Scenario&) { return say("framework.rule.compute", framework_name(framework)); },
          .source = source,
          .mend = [](Scenario& s) { s.precision.compute = Dtype::bf16; }};
}
constexpr Rule whole_weights(std::string_view source) {
  return {.id = "sharding",
          .path = "parallelism.fsdp",
          .reads = RuleReads::mesh,
          .broken = [](const Scenario& s) { return s.parallelism.fsdp > 1; },
          .words = [](const Scenario&) { return say("framework.rule.server.sharding"); },
          .source = source,
          .mend =
              [](Scenario& s) {
                s.parallelism.data *= s.parallelism.fsdp;
                s.parallelism.fsdp = 1;
              }};
}
constexpr Rule no_context(std::string_view source) {
  return {.id = "context",
          .path = "parallelism.context",
          .reads = RuleReads::mesh,
          .broken = [](const Scenario& s) { return s.parallelism.context > 1; },
          .words = [](const Scenario&) { return say("framework.rule.server.context"); },
          .source = source};
}

// Of servers that copy a KV head to the tensor ranks which are more than there are heads.
constexpr Rule copied_kv_heads(std::string_view source) {
  return {
      .id = "kv_split",
      .path = "serving.kv_split",
      .reads = RuleReads::mesh,
      .broken = [](const Scenario& s) { return spare_ranks(s) && s.serving.kv_split != KvSplit::heads; },
      .words = [](const Scenario& s) { return say("framework.rule.kv_copies", s.parallelism.tensor, kv_heads(s)); },
      .source = source,
      .mend = [](Scenario& s) { s.serving.kv_split = KvSplit::heads; }};
}

constexpr Rule no_draft_with_stages(std::string_view source) {
  return {.id = "draft",
          .path = "serving.draft_tokens",
          .reads = RuleReads::mesh,
          .broken = [](const Scenario& s) { return s.serving.draft_tokens > 0 && s.parallelism.pipeline > 1; },
          .words = [](const Scenario&) { return say("framework.rule.no_draft"); },
          .source = source,
          .mend = [](Scenario& s) { s.serving.draft_tokens = 0; }};
}

// Whole experts over so many ranks, if they can be dealt out evenly; else the tensor ranks split each of them.
inline void deal_experts(Scenario& s, std::int64_t ranks) {
  const bool deals = s.model.is_moe() && ranks > 1 && divides(ranks, s.model.moe.n_routed_experts);
  s.parallelism.expert = deals ? static_cast<int>(ranks) : 1;
  s.parallelism.expert_tensor = deals ? 1 : 0;
}

}  // namespace roofscape::engine::rules
