// The rules of Megatron Core, as of August 2026, and of its launchers: what Megatron-LM and Megatron Bridge can run.
#include "engine/frameworks/megatron_terms.h"
#include "engine/frameworks/rule_tables.h"
#include "engine/pipeline/layer_split.h"

namespace roofscape::engine {

Sentence foreign_to_megatron(const TransformerShape& m) {
  if (m.norms_per_layer != 2) return say("framework.part.norms", m.norms_per_layer);
  if (m.rel_pos_projection) return say("framework.part.rel_pos");
  if (m.embedding_norm > 0) return say("framework.part.embedding_norm");
  if (m.qk_norm_all_heads) return say("framework.part.qk_norm_all_heads");
  if (m.unembedding_bias) return say("framework.part.unembedding_bias");
  // One switch gives every linear layer its bias; another gives the projections to queries, keys and values theirs.
  if (m.o_bias != m.mlp_bias || (m.mlp_bias && !m.qkv_bias)) return say("framework.part.some_biases");
  return {};
}

int megatron_segment_layers(const Scenario& s) {
  const int layers = s.model.n_layers, segments = s.checkpointing.segments;
  if (segments <= 0 || layers % segments != 0) return 0;
  const int each = layers / segments;
  for (const int held : split_layers(layer_split(s), s.pipeline.schedule, virtual_stages_of(s)))
    if (held % each != 0) return 0;
  return each;
}

int megatron_blocks_per_stage(const Scenario& s) {
  const int blocks = s.checkpointing.blocks, stages = s.parallelism.pipeline;
  const bool one_chunk = stages == 1 || s.pipeline.virtual_stages == 1;
  return one_chunk && blocks % stages == 0 && blocks <= s.model.n_layers ? blocks / stages : 0;
}

namespace rules {
namespace {

constexpr std::string_view kArguments = "Megatron-LM, megatron/training/arguments.py";
constexpr std::string_view kTransformer = "Megatron-LM, megatron/core/transformer/transformer_config.py";
constexpr std::string_view kGroups = "Megatron-LM, megatron/core/parallel_state.py";
constexpr std::string_view kSchedules = "Megatron-LM, megatron/core/pipeline_parallel/schedules.py";

bool repeats_whole_layers(const Scenario& s) { return facts_of(s.checkpointing.policy).repeats_layers(); }

bool known_schedule(ScheduleKind kind) {
  return kind == ScheduleKind::one_f_one_b || kind == ScheduleKind::interleaved_1f1b ||
         kind == ScheduleKind::overlapped_1f1b;
}

bool recomputable(const Scenario& s) {
  switch (s.checkpointing.policy) {
    case CheckpointPolicy::none:
    case CheckpointPolicy::attention:
    case CheckpointPolicy::block:
      return true;
    case CheckpointPolicy::segments:
      return megatron_segment_layers(s) > 0;
    case CheckpointPolicy::some_blocks:
      return megatron_blocks_per_stage(s) > 0;
    case CheckpointPolicy::big_matmuls:
    case CheckpointPolicy::k_per_layer:
    case CheckpointPolicy::segments_minimal:
      return false;
  }
  return false;
}

Dtype stored_weights(const Scenario& s) {
  return s.precision.compute == Dtype::fp8 || s.precision.compute == Dtype::nvfp4 ? Dtype::bf16 : s.precision.compute;
}

constexpr Rule kMegatronRules[] = {
    trains<Framework::megatron>(),
    needs_gpus<Framework::megatron>(),
    {.id = "model",
     .path = "model",
     .reads = RuleReads::scenario,
     .broken = [](const Scenario& s) { return !foreign_to_megatron(s.model).empty(); },
     .words =
         [](const Scenario& s) {
           return say("framework.rule.model", name_in_rules(Framework::megatron), foreign_to_megatron(s.model));
         },
     .source = kTransformer},
    {.id = "compute",
     .path = "precision.compute",
     .reads = RuleReads::scenario,
     .broken =
         [](const Scenario& s) {
           return s.precision.compute == Dtype::int8 || s.precision.compute == Dtype::int4 ||
                  s.precision.compute == Dtype::mxfp4;
         },
     .words = [](const Scenario&) { return say("framework.rule.compute", name_in_rules(Framework::megatron)); },
     .source = kArguments,
     .mend = [](Scenario& s) { s.precision.compute = Dtype::bf16; }},
    {.id = "weights",
     .path = "precision.weights",
     .reads = RuleReads::scenario,
     .broken =
         [](const Scenario& s) {
           return s.precision.weights != stored_weights(s) &&
                  !(s.precision.weights == Dtype::fp8 && s.precision.compute == Dtype::fp8);
         },
     .words = [](const Scenario&) { return say("framework.rule.megatron.weights"); },
     .source = kArguments,
     .mend = [](Scenario& s) { s.precision.weights = stored_weights(s); }},
    even_heads(kTransformer),
    even_kv_heads(kTransformer),
    {.id = "context",
     .path = "parallelism.context",
     .reads = RuleReads::mesh,
     .broken =
         [](const Scenario& s) {
           return s.parallelism.context > 1 && !divides(2LL * s.parallelism.context, s.workload.sequence_length);
         },
     .words =
         [](const Scenario& s) {
           return say("framework.rule.megatron.context", s.workload.sequence_length, 2 * s.parallelism.context);
         },
     .source = kArguments},
    {.id = "experts",
     .path = "parallelism.expert",
     .reads = RuleReads::mesh,
     .broken =
         [](const Scenario& s) {
           return s.model.is_moe() && (!divides(s.parallelism.expert, s.model.moe.n_routed_experts) ||
                                       !divides(s.parallelism.experts_tensor(), s.parallelism.tensor) ||
                                       !divides(s.parallelism.expert, expert_ranks(s.parallelism)));
         },
     .words =
         [](const Scenario& s) {
           return say("framework.rule.megatron.experts", s.parallelism.expert, s.model.moe.n_routed_experts,
                      static_cast<long long>(expert_ranks(s.parallelism)));
         },
     .source = kGroups},
    {.id = "instances",
     .path = "parallelism.data",
     .reads = RuleReads::plan,
     .broken =
         [](const Scenario& s) {
           return s.model.is_moe() && sharded_stage(s) > 0 &&
                  !divides(s.parallelism.data, expert_ranks(s.parallelism) / std::max(1, s.parallelism.expert));
         },
     .words = [](const Scenario& s) { return say("framework.rule.megatron.instances", s.parallelism.data); },
     .source = kGroups,
     .mend =
         [](Scenario& s) {
           s.parallelism.fsdp *= s.parallelism.data;
           s.parallelism.data = 1;
         }},
    {.id = "gathered",
     .path = "parallelism.keep_gathered",
     .reads = RuleReads::plan,
     .broken =
         [](const Scenario& s) {
           return sharded_stage(s) == 3 && s.parallelism.keep_gathered != KeepGathered::microbatch;
         },
     .words = [](const Scenario&) { return say("framework.rule.megatron.gathered"); },
     .source = "Megatron-LM, docs/user-guide/features/megatron_fsdp.md",
     .mend = [](Scenario& s) { s.parallelism.keep_gathered = KeepGathered::microbatch; }},
    {.id = "sequence_parallel",
     .path = "parallelism.sequence_parallel",
     .reads = RuleReads::plan,
     .broken =
         [](const Scenario& s) {
           return s.model.is_moe() && s.parallelism.tensor > 1 && !s.parallelism.sequence_parallel;
         },
     .words = [](const Scenario&) { return say("framework.rule.megatron.sequence_parallel"); },
     .source = "Megatron-LM, megatron/core/transformer/moe/moe_layer.py",
     .mend = [](Scenario& s) { s.parallelism.sequence_parallel = true; }},
    {.id = "sequence",
     .path = "parallelism.sequence_parallel",
     .reads = RuleReads::plan,
     .broken =
         [](const Scenario& s) {
           const Parallelism& p = s.parallelism;
           return p.tensor > 1 && p.sequence_parallel &&
                  !divides(std::int64_t{p.tensor} * p.context, s.workload.sequence_length);
         },
     .words =
         [](const Scenario& s) {
           return say("framework.rule.megatron.sequence", s.workload.sequence_length,
                      s.parallelism.tensor * s.parallelism.context);
         },
     .source = "Megatron-LM, megatron/core/tensor_parallel/mappings.py"},
    {.id = "schedule",
     .path = "pipeline.schedule",
     .reads = RuleReads::plan,
     .broken = [](const Scenario& s) { return s.parallelism.pipeline > 1 && !known_schedule(s.pipeline.schedule); },
     .words =
         [](const Scenario& s) {
           return say("framework.rule.schedule", name_in_rules(Framework::megatron), schedule_id(s.pipeline.schedule),
                      std::string("1f1b, interleaved-1f1b, overlapped-1f1b"));
         },
     .source = kSchedules,
     .mend =
         [](Scenario& s) {
           s.pipeline.schedule =
               s.pipeline.virtual_stages > 1 ? ScheduleKind::interleaved_1f1b : ScheduleKind::one_f_one_b;
         }},
    // Attention and experts are to share the batch over as many ranks where these are not laid out before the stages.
    {.id = "rank_order",
     .path = "placement.order",
     .reads = RuleReads::mesh,
     .broken =
         [](const Scenario& s) {
           const Parallelism& p = s.parallelism;
           return s.placement.order == RankOrder::data_last && rank_order_matters(s.cluster, p) && s.model.is_moe() &&
                  std::int64_t{p.expert} * p.experts_tensor() != std::int64_t{p.tensor} * p.context;
         },
     .words =
         [](const Scenario& s) {
           const Parallelism& p = s.parallelism;
           return say("framework.rule.megatron.rank_order", p.expert * p.experts_tensor(), p.tensor * p.context);
         },
     .source = kGroups,
     .mend = [](Scenario& s) { s.placement.order = RankOrder::automatic; }},
    own_order<Framework::megatron>(),
    {.id = "interleaving",
     .path = "pipeline.virtual_stages",
     .reads = RuleReads::plan,
     .broken =
         [](const Scenario& s) {
           return s.parallelism.pipeline > 1 && s.pipeline.schedule != ScheduleKind::one_f_one_b &&
                  s.pipeline.virtual_stages > 1 && microbatch_count(s) < s.parallelism.pipeline;
         },
     .words =
         [](const Scenario& s) {
           return say("framework.rule.megatron.interleaving", microbatch_count(s), s.parallelism.pipeline);
         },
     .source = kSchedules,
     .mend =
         [](Scenario& s) {
           s.pipeline.schedule = ScheduleKind::one_f_one_b;
           s.pipeline.virtual_stages = 1;
           s.pipeline.layers_per_stage.clear();
         }},
    {.id = "blocking_send",
     .path = "pipeline.sends",
     .reads = RuleReads::plan,
     .broken =
         [](const Scenario& s) {
           return blocks_sends(s.pipeline.sends, s.pipeline.schedule) && s.parallelism.pipeline == 2 &&
                  s.pipeline.virtual_stages > 1 && s.pipeline.schedule != ScheduleKind::one_f_one_b;
         },
     .words = [](const Scenario&) { return say("framework.rule.megatron.blocking_send"); },
     .source = kArguments,
     .mend = [](Scenario& s) { s.pipeline.sends = StageSends::overlapped; }},
    {.id = "overlap",
     .path = "pipeline.schedule",
     .reads = RuleReads::plan,
     .broken =
         [](const Scenario& s) {
           return s.parallelism.pipeline > 1 && s.pipeline.schedule == ScheduleKind::overlapped_1f1b &&
                  (s.parallelism.expert < 2 || s.pipeline.virtual_stages < 2 || repeats_whole_layers(s) ||
                   s.precision.compute == Dtype::fp32);
         },
     .words = [](const Scenario&) { return say("framework.rule.megatron.overlap"); },
     .source = kTransformer,
     .mend =
         [](Scenario& s) {
           s.pipeline.schedule =
               s.pipeline.virtual_stages > 1 ? ScheduleKind::interleaved_1f1b : ScheduleKind::one_f_one_b;
         }},
    {.id = "recomputation",
     .path = "checkpointing.policy",
     .reads = RuleReads::plan,
     .broken = [](const Scenario& s) { return !recomputable(s); },
     .words =
         [](const Scenario& s) {
           return say("framework.rule.megatron.recomputation", policy_id(s.checkpointing.policy));
         },
     .source = kTransformer,
     .mend =
         [](Scenario& s) {
           s.checkpointing.policy = s.checkpointing.policy == CheckpointPolicy::big_matmuls
                                        ? CheckpointPolicy::attention
                                        : CheckpointPolicy::block;
         }},
    {.id = "muon",
     .path = "precision.optimizer",
     .reads = RuleReads::plan,
     .broken =
         [](const Scenario& s) {
           const int stage = sharded_stage(s);
           return is_muon(s.precision.optimizer) &&
                  (s.precision.compute == Dtype::fp16 || stage > 1 || (stage == 1 && s.parallelism.data > 1));
         },
     .words = [](const Scenario&) { return say("framework.rule.megatron.muon"); },
     .source = "Megatron-LM, megatron/core/optimizer/muon.py",
     .mend = [](Scenario& s) { s.precision.optimizer = OptimizerKind::adam_fp32; }},
    {.id = "optimizer_offload",
     .path = "offload.optimizer",
     .reads = RuleReads::plan,
     .broken = [](const Scenario& s) { return s.offload.optimizer && sharded_stage(s) != 1; },
     .words = [](const Scenario&) { return say("framework.rule.megatron.optimizer_offload"); },
     .source = "Megatron-LM, megatron/core/optimizer/__init__.py",
     .mend = [](Scenario& s) { s.offload.optimizer = false; }},
    {.id = "activation_offload",
     .path = "offload.activations",
     .reads = RuleReads::plan,
     .broken =
         [](const Scenario& s) {
           return s.offload.activations &&
                  (s.parallelism.pipeline > 1 || s.checkpointing.policy != CheckpointPolicy::none);
         },
     .words = [](const Scenario&) { return say("framework.rule.megatron.activation_offload"); },
     .source = kTransformer,
     .mend = [](Scenario& s) { s.offload.activations = false; }},
    even_nodes<Framework::megatron>(),
    // Of Megatron-LM's launcher alone: Megatron Bridge trains adapters.
    trains_all_weights<Framework::megatron>("Megatron-LM, pretrain_gpt.py: trains all weights"),
};

}  // namespace

std::span<const Rule> megatron() { return kMegatronRules; }
std::span<const Rule> megatron_bridge() { return std::span(kMegatronRules).first(std::size(kMegatronRules) - 1); }

}  // namespace rules
}  // namespace roofscape::engine
