// The rules of torchtitan, as of its version 0.2.2 (the last that is configured by TOML), and of DeepSpeed, as of August
// 2026.
#include <algorithm>

#include "engine/frameworks/rule_tables.h"
#include "engine/frameworks/torch_terms.h"

namespace roofscape::engine {

int torch_group_size(int stages, int microbatches) {
  const int rounds = std::max(1, microbatches / std::max(1, stages));
  return microbatches % rounds == 0 ? microbatches / rounds : 0;
}

int every_nth_layer(const Scenario& s) {
  const int layers = s.model.n_layers, blocks = s.checkpointing.blocks;
  if (blocks < 1 || blocks > layers) return 0;
  const int nth = layers / blocks;
  return nth >= 2 && layers / nth == blocks ? nth : 0;
}

namespace rules {
namespace {

constexpr std::string_view kDims = "torchtitan 0.2.2, torchtitan/distributed/parallel_dims.py";
constexpr std::string_view kParallelize = "torchtitan 0.2.2, torchtitan/models/llama3/infra/parallelize.py";
constexpr std::string_view kConfig = "torchtitan 0.2.2, torchtitan/config/job_config.py";
constexpr std::string_view kCheckpoint = "torchtitan 0.2.2, torchtitan/distributed/activation_checkpoint.py";

// A part that none of torchtitan's models has; empty: there is none.
Sentence foreign_to_torchtitan(const TransformerShape& m) {
  if (m.norms_per_layer != 2) return say("framework.part.norms", m.norms_per_layer);
  if (m.rel_pos_projection) return say("framework.part.rel_pos");
  if (m.embedding_norm > 0) return say("framework.part.embedding_norm");
  if (m.qk_norm_all_heads) return say("framework.part.qk_norm_all_heads");
  if (m.unembedding_bias) return say("framework.part.unembedding_bias");
  if (m.layernorm_bias) return say("framework.part.layernorm");
  if (m.learned_positions > 0) return say("framework.part.learned_positions");
  if (!m.gated_mlp) return say("framework.part.plain_mlp");
  // gpt-oss is the one model with biases, and the one with local layers.
  if ((m.qkv_bias || m.o_bias || m.mlp_bias) && !m.attn_sinks) return say("framework.part.biases");
  if (m.has_local_layers() && !m.attn_sinks) return say("framework.part.local_layers");
  return {};
}

constexpr Rule kTorchtitan[] = {
    trains<Framework::torchtitan>(),
    needs_gpus<Framework::torchtitan>(),
    {.id = "model",
     .path = "model",
     .reads = RuleReads::scenario,
     .broken = [](const Scenario& s) { return !foreign_to_torchtitan(s.model).empty(); },
     .words =
         [](const Scenario& s) {
           return say("framework.rule.model", framework_name(Framework::torchtitan), foreign_to_torchtitan(s.model));
         },
     .source = "torchtitan 0.2.2, torchtitan/models"},
    {.id = "compute",
     .path = "precision.compute",
     .reads = RuleReads::scenario,
     .broken =
         [](const Scenario& s) {
           const Dtype compute = s.precision.compute;
           return compute != Dtype::bf16 && compute != Dtype::fp32 && compute != Dtype::fp8;
         },
     .words = [](const Scenario&) { return say("framework.rule.torchtitan.compute"); },
     .source = kConfig,
     .mend = [](Scenario& s) { s.precision.compute = Dtype::bf16; }},
    even_heads(kParallelize),
    {.id = "kv_heads",
     .path = "parallelism.tensor",
     .reads = RuleReads::mesh,
     .broken =
         [](const Scenario& s) { return !s.model.is_mla() && !divides(s.parallelism.tensor, s.model.n_kv_heads); },
     .words =
         [](const Scenario& s) { return say("framework.rule.kv_heads", s.parallelism.tensor, s.model.n_kv_heads); },
     .source = kParallelize},
    {.id = "sequence",
     .path = "workload.sequence_length",
     .reads = RuleReads::mesh,
     .broken =
         [](const Scenario& s) {
           const Parallelism& p = s.parallelism;
           return !divides(std::int64_t{p.tensor} * (p.context > 1 ? 2 * p.context : 1), s.workload.sequence_length);
         },
     .words =
         [](const Scenario& s) {
           return say("framework.rule.torchtitan.sequence", s.workload.sequence_length, s.parallelism.tensor,
                      s.parallelism.context > 1 ? 2 * s.parallelism.context : 1);
         },
     .source = kDims},
    {.id = "experts",
     .path = "parallelism.expert",
     .reads = RuleReads::mesh,
     .broken =
         [](const Scenario& s) {
           const Parallelism& p = s.parallelism;
           return s.model.is_moe() && p.expert > 1 && !divides(p.expert, expert_ranks(s.parallelism) / p.data);
         },
     .words =
         [](const Scenario& s) {
           return say("framework.rule.torchtitan.experts", s.parallelism.expert,
                      static_cast<long long>(expert_ranks(s.parallelism) / s.parallelism.data));
         },
     .source = kDims},
    {.id = "expert_tensor",
     .path = "parallelism.expert_tensor",
     .reads = RuleReads::mesh,
     .broken =
         [](const Scenario& s) {
           const Parallelism& p = s.parallelism;
           return s.model.is_moe() && p.expert > 1 && p.experts_tensor() != 1 && p.experts_tensor() != p.tensor;
         },
     .words =
         [](const Scenario& s) {
           return say("framework.rule.torchtitan.expert_tensor", s.parallelism.expert_tensor, s.parallelism.tensor);
         },
     .source = kDims,
     .mend = [](Scenario& s) { s.parallelism.expert_tensor = 0; }},
    {.id = "sequence_parallel",
     .path = "parallelism.sequence_parallel",
     .reads = RuleReads::plan,
     .broken = [](const Scenario& s) { return s.parallelism.tensor > 1 && !s.parallelism.sequence_parallel; },
     .words = [](const Scenario&) { return say("framework.rule.torchtitan.sequence_parallel"); },
     .source = kParallelize,
     .mend = [](Scenario& s) { s.parallelism.sequence_parallel = true; }},
    {.id = "sharding",
     .path = "parallelism.zero_stage",
     .reads = RuleReads::plan,
     .broken =
         [](const Scenario& s) {
           return s.parallelism.fsdp * s.parallelism.context > 1 && s.parallelism.zero_stage < 2;
         },
     .words = [](const Scenario& s) { return say("framework.rule.torchtitan.sharding", s.parallelism.zero_stage); },
     .source = kParallelize,
     .mend = [](Scenario& s) { s.parallelism.zero_stage = s.parallelism.pipeline > 1 ? 2 : 3; }},
    {.id = "gathered",
     .path = "parallelism.keep_gathered",
     .reads = RuleReads::plan,
     .broken =
         [](const Scenario& s) {
           return sharded_stage(s) == 3 && s.parallelism.keep_gathered == KeepGathered::chunk;
         },
     .words = [](const Scenario&) { return say("framework.rule.torchtitan.gathered"); },
     .source = kConfig,
     .mend = [](Scenario& s) { s.parallelism.keep_gathered = KeepGathered::step; }},
    own_rank_order<Framework::torchtitan, RankOrder::data_last>(kDims),
    {.id = "context_method",
     .path = "parallelism.context_method",
     .reads = RuleReads::plan,
     .broken =
         [](const Scenario& s) {
           return s.parallelism.context > 1 && s.parallelism.context_method == ContextMethod::ulysses;
         },
     .words = [](const Scenario&) { return say("framework.rule.torchtitan.context_method"); },
     .source = kConfig,
     .mend = [](Scenario& s) { s.parallelism.context_method = ContextMethod::ring; }},
    {.id = "schedule",
     .path = "pipeline.schedule",
     .reads = RuleReads::plan,
     .broken =
         [](const Scenario& s) { return s.parallelism.pipeline > 1 && facts_of(s.pipeline.schedule).torch.empty(); },
     .words =
         [](const Scenario& s) {
           return say("framework.rule.schedule", framework_name(Framework::torchtitan),
                      schedule_id(s.pipeline.schedule),
                      std::string("gpipe, 1f1b, interleaved-1f1b, looped-bfs, zb-h1, zb-v, dualpipev"));
         },
     .source = "PyTorch 2.10, torch/distributed/pipelining/schedules.py",
     .mend =
         [](Scenario& s) {
           s.pipeline.schedule =
               s.pipeline.virtual_stages > 1 ? ScheduleKind::interleaved_1f1b : ScheduleKind::one_f_one_b;
         }},
    {.id = "rounds",
     .path = "pipeline.group_size",
     .reads = RuleReads::plan,
     .broken =
         [](const Scenario& s) {
           if (s.parallelism.pipeline == 1 || s.pipeline.schedule != ScheduleKind::interleaved_1f1b) return false;
           const int microbatches = microbatch_count(s), stages = s.parallelism.pipeline;
           const ScheduleShape shape =
               schedule_shape(s.pipeline, s.pipeline.schedule, stages, microbatches, s.pipeline.virtual_stages);
           return torch_group_size(stages, microbatches) != group_size_of(shape);
         },
     .words =
         [](const Scenario& s) {
           return say("framework.rule.torchtitan.rounds", microbatch_count(s), s.parallelism.pipeline);
         },
     .source = "PyTorch 2.10, torch/distributed/pipelining/schedules.py",
     .mend =
         [](Scenario& s) {
           s.pipeline.group_size = torch_group_size(s.parallelism.pipeline, microbatch_count(s));
           if (s.pipeline.group_size == 0) {
             s.pipeline.schedule = ScheduleKind::one_f_one_b;
             s.pipeline.virtual_stages = 1;
             s.pipeline.layers_per_stage.clear();
           }
         }},
    {.id = "backwards",
     .path = "pipeline.backward_order",
     .reads = RuleReads::plan,
     .broken =
         [](const Scenario& s) {
           return s.parallelism.pipeline > 1 && facts_of(s.pipeline.schedule).orders_backwards &&
                  s.pipeline.backward_order != BackwardOrder::first_in;
         },
     .words = [](const Scenario&) { return say("framework.rule.torchtitan.backwards"); },
     .source = "PyTorch 2.10, torch/distributed/pipelining/schedules.py",
     .mend = [](Scenario& s) { s.pipeline.backward_order = BackwardOrder::first_in; }},
    {.id = "recomputation",
     .path = "checkpointing.policy",
     .reads = RuleReads::plan,
     .broken =
         [](const Scenario& s) {
           switch (s.checkpointing.policy) {
             case CheckpointPolicy::none:
             case CheckpointPolicy::big_matmuls:
             case CheckpointPolicy::block:
               return false;
             case CheckpointPolicy::some_blocks:
               return every_nth_layer(s) == 0;
             default:
               return true;
           }
         },
     .words =
         [](const Scenario& s) {
           return say("framework.rule.torchtitan.recomputation", policy_id(s.checkpointing.policy));
         },
     .source = kCheckpoint,
     .mend =
         [](Scenario& s) {
           s.checkpointing.policy = s.checkpointing.policy == CheckpointPolicy::attention
                                        ? CheckpointPolicy::big_matmuls
                                        : CheckpointPolicy::block;
         }},
    trains_all_weights<Framework::torchtitan>("torchtitan, torchtitan/train.py: trains all weights"),
    {.id = "muon",
     .path = "precision.optimizer",
     .reads = RuleReads::scenario,
     .broken = [](const Scenario& s) { return is_muon(s.precision.optimizer); },
     .words = [](const Scenario&) { return say("framework.rule.torchtitan.muon"); },
     .source = "torchtitan, torchtitan/components/optimizer.py: Adam and AdamW",
     .mend = [](Scenario& s) { s.precision.optimizer = OptimizerKind::adam_fp32; }},
    wide_moments<Framework::torchtitan>("torchtitan, torchtitan/components/optimizer.py"),
    {.id = "optimizer_offload",
     .path = "offload.optimizer",
     .reads = RuleReads::plan,
     .broken = [](const Scenario& s) { return s.offload.optimizer && sharded_stage(s) < 2; },
     .words = [](const Scenario&) { return say("framework.rule.torchtitan.optimizer_offload"); },
     .source = kParallelize,
     .mend = [](Scenario& s) { s.offload.optimizer = false; }},
    whole_optimizer<Framework::torchtitan>(kParallelize),
    {.id = "activation_offload",
     .path = "offload.activations",
     .reads = RuleReads::plan,
     .broken = [](const Scenario& s) { return s.offload.activations; },
     .words =
         [](const Scenario&) {
           return say("framework.rule.activation_offload", framework_name(Framework::torchtitan));
         },
     .source = kConfig,
     .mend = [](Scenario& s) { s.offload.activations = false; }},
    even_nodes<Framework::torchtitan>(),
};

constexpr std::string_view kDsPipe = "DeepSpeed, deepspeed/runtime/pipe/engine.py";
constexpr std::string_view kDsZero = "DeepSpeed, deepspeed/runtime/zero/config.py";
constexpr std::string_view kDsSequence = "DeepSpeed, deepspeed/sequence/layer.py";

constexpr Rule kDeepspeed[] = {
    trains<Framework::deepspeed>(),
    needs_gpus<Framework::deepspeed>(),
    {.id = "compute",
     .path = "precision.compute",
     .reads = RuleReads::scenario,
     .broken =
         [](const Scenario& s) {
           const Dtype compute = s.precision.compute;
           return compute != Dtype::bf16 && compute != Dtype::fp16 && compute != Dtype::fp32;
         },
     .words = [](const Scenario&) { return say("framework.rule.deepspeed.compute"); },
     .source = "DeepSpeed, deepspeed/runtime/config.py",
     .mend = [](Scenario& s) { s.precision.compute = Dtype::bf16; }},
    {.id = "heads",
     .path = "parallelism.tensor",
     .reads = RuleReads::mesh,
     .broken =
         [](const Scenario& s) {
           return !divides(s.parallelism.tensor, s.model.n_heads) ||
                  (!s.model.is_mla() && s.parallelism.tensor > s.model.n_kv_heads);
         },
     .words =
         [](const Scenario& s) {
           return say("framework.rule.deepspeed.heads", s.parallelism.tensor, s.model.n_heads, s.model.n_kv_heads);
         },
     .source = "DeepSpeed, deepspeed/runtime/engine.py"},
    {.id = "zero_pipeline",
     .path = "parallelism.zero_stage",
     .reads = RuleReads::plan,
     .broken = [](const Scenario& s) { return s.parallelism.pipeline > 1 && sharded_stage(s) >= 2; },
     .words =
         [](const Scenario& s) { return say("framework.rule.deepspeed.zero_pipeline", s.parallelism.zero_stage); },
     .source = kDsPipe,
     .mend = [](Scenario& s) { s.parallelism.zero_stage = 1; }},
    {.id = "zero_group",
     .path = "parallelism.data",
     .reads = RuleReads::plan,
     .broken =
         [](const Scenario& s) {
           const int stage = sharded_stage(s);
           return s.parallelism.data > 1 && (stage == 1 || stage == 2 || (stage == 3 && s.parallelism.context > 1));
         },
     .words = [](const Scenario& s) { return say("framework.rule.deepspeed.zero_group", s.parallelism.data); },
     .source = "DeepSpeed, deepspeed/runtime/zero/mics.py",
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
     .words = [](const Scenario&) { return say("framework.rule.deepspeed.gathered"); },
     .source = kDsZero,
     .mend = [](Scenario& s) { s.parallelism.keep_gathered = KeepGathered::microbatch; }},
    {.id = "zero_experts",
     .path = "parallelism.zero_stage",
     .reads = RuleReads::plan,
     .broken =
         [](const Scenario& s) { return s.model.is_moe() && s.parallelism.expert > 1 && sharded_stage(s) == 3; },
     .words = [](const Scenario&) { return say("framework.rule.deepspeed.zero_experts"); },
     .source = "DeepSpeed, deepspeed/runtime/engine.py",
     .mend = [](Scenario& s) { s.parallelism.zero_stage = s.parallelism.pipeline > 1 ? 1 : 2; }},
    {.id = "sequence_parallel",
     .path = "parallelism.sequence_parallel",
     .reads = RuleReads::plan,
     .broken = [](const Scenario& s) { return s.parallelism.tensor > 1 && s.parallelism.sequence_parallel; },
     .words = [](const Scenario&) { return say("framework.rule.deepspeed.sequence_parallel"); },
     .source = "DeepSpeed, deepspeed/module_inject/auto_tp.py",
     .mend = [](Scenario& s) { s.parallelism.sequence_parallel = false; }},
    {.id = "context_method",
     .path = "parallelism.context_method",
     .reads = RuleReads::plan,
     .broken =
         [](const Scenario& s) {
           return s.parallelism.context > 1 && s.parallelism.context_method != ContextMethod::ulysses;
         },
     .words = [](const Scenario&) { return say("framework.rule.deepspeed.context_method"); },
     .source = kDsSequence,
     .mend = [](Scenario& s) { s.parallelism.context_method = ContextMethod::ulysses; }},
    {.id = "schedule",
     .path = "pipeline.schedule",
     .reads = RuleReads::plan,
     .broken =
         [](const Scenario& s) {
           return s.parallelism.pipeline > 1 &&
                  (s.pipeline.schedule != ScheduleKind::one_f_one_b || s.pipeline.virtual_stages != 1);
         },
     .words =
         [](const Scenario& s) {
           return say("framework.rule.schedule", framework_name(Framework::deepspeed),
                      schedule_id(s.pipeline.schedule), std::string("1f1b"));
         },
     .source = "DeepSpeed, deepspeed/runtime/pipe/schedule.py",
     .mend =
         [](Scenario& s) {
           s.pipeline.schedule = ScheduleKind::one_f_one_b;
           s.pipeline.virtual_stages = 1;
           s.pipeline.layers_per_stage.clear();
         }},
    own_order<Framework::deepspeed>(),
    own_rank_order<Framework::deepspeed, RankOrder::data_last>("DeepSpeed, deepspeed/runtime/pipe/topology.py"),
    {.id = "optimizer_offload",
     .path = "offload.optimizer",
     .reads = RuleReads::plan,
     .broken = [](const Scenario& s) { return s.offload.optimizer && sharded_stage(s) == 0; },
     .words = [](const Scenario&) { return say("framework.rule.deepspeed.optimizer_offload"); },
     .source = kDsZero,
     .mend = [](Scenario& s) { s.offload.optimizer = false; }},
    {.id = "optimizer_fraction",
     .path = "offload.optimizer_fraction",
     .reads = RuleReads::plan,
     .broken =
         [](const Scenario& s) {
           return s.offload.optimizer && s.offload.optimizer_fraction < 1 && sharded_stage(s) < 3;
         },
     .words = [](const Scenario&) { return say("framework.rule.deepspeed.optimizer_fraction"); },
     .source = "DeepSpeed, deepspeed/runtime/zero/offload_config.py",
     .mend = [](Scenario& s) { s.offload.optimizer_fraction = 1; }},
    {.id = "activation_offload",
     .path = "offload.activations",
     .reads = RuleReads::plan,
     .broken =
         [](const Scenario& s) { return s.offload.activations && s.checkpointing.policy != CheckpointPolicy::block; },
     .words = [](const Scenario&) { return say("framework.rule.deepspeed.activation_offload"); },
     .source = "DeepSpeed, deepspeed/runtime/activation_checkpointing/checkpointing.py",
     .mend = [](Scenario& s) { s.offload.activations = false; }},
    even_nodes<Framework::deepspeed>(),
};

}  // namespace

std::span<const Rule> torchtitan() { return kTorchtitan; }
std::span<const Rule> deepspeed() { return kDeepspeed; }

}  // namespace rules
}  // namespace roofscape::engine
