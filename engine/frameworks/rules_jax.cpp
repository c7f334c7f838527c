// The rules of MaxText and of JAX itself, as of August 2026. A mesh of JAX splits a dimension of an array over ranks
// only where they divide it.
#include <algorithm>
#include <vector>

#include "engine/frameworks/jax_terms.h"
#include "engine/frameworks/rule_tables.h"
#include "engine/pipeline/layer_split.h"
#include "engine/scenario/checkpoint_policies.h"

namespace roofscape::engine {

ExpertAxis expert_axis(const Scenario& s) {
  const Parallelism& p = s.parallelism;
  if (!s.model.is_moe() || p.expert == 1) return ExpertAxis::none;
  if (p.fsdp % p.expert == 0) return ExpertAxis::of_fsdp;
  if (p.data % p.expert == 0) return ExpertAxis::of_data;
  return ExpertAxis::impossible;
}

namespace rules {
namespace {

constexpr std::string_view kSharding = "JAX, jax/_src/named_sharding.py";
constexpr std::string_view kBase = "MaxText, src/maxtext/configs/base.yml";
constexpr std::string_view kTypes = "MaxText, src/maxtext/configs/types.py";

// Every virtual stage has as many layers.
bool even_stages(const Scenario& s) {
  const int stages = virtual_stages_of(s);
  if (!divides(stages, s.model.n_layers)) return false;
  const PipelinePlan& plan = s.pipeline;
  if (stages == 1 || (plan.layers_per_stage.empty() && plan.embedding_as_layers + plan.head_as_layers == 0))
    return true;
  const std::vector<int> layers = split_layers(layer_split(s), plan.schedule, stages);
  return std::all_of(layers.begin(), layers.end(), [&](int n) { return n == layers.front(); });
}

bool tensor_divides(const Scenario& s) {
  const TransformerShape& m = s.model;
  const int t = s.parallelism.tensor;
  return divides(t, m.n_heads) && (m.is_mla() || divides(t, m.n_kv_heads)) && divides(t, m.d_ff) &&
         divides(t, m.vocab_size) && (!m.is_moe() || divides(s.parallelism.experts_tensor(), m.expert_width()));
}

template <Framework framework>
constexpr Rule tensor_rule() {
  return {.id = "tensor",
          .path = "parallelism.tensor",
          .reads = RuleReads::mesh,
          .broken = [](const Scenario& s) { return !tensor_divides(s); },
          .words =
              [](const Scenario& s) {
                return say("framework.rule.jax.tensor", s.parallelism.tensor, s.model.n_heads, s.model.n_kv_heads,
                           s.model.d_ff, s.model.vocab_size);
              },
          .source = kSharding};
}
template <Framework framework>
constexpr Rule shards_rule() {
  return {.id = "shards",
          .path = "parallelism.fsdp",
          .reads = RuleReads::mesh,
          .broken =
              [](const Scenario& s) {
                return !divides(std::int64_t{s.parallelism.fsdp} * s.parallelism.context, s.model.d_model);
              },
          .words =
              [](const Scenario& s) {
                return say("framework.rule.jax.shards", s.parallelism.fsdp * s.parallelism.context, s.model.d_model);
              },
          .source = kSharding};
}
template <Framework framework>
constexpr Rule expert_tensor_rule() {
  return {.id = "expert_tensor",
          .path = "parallelism.expert_tensor",
          .reads = RuleReads::mesh,
          .broken =
              [](const Scenario& s) {
                return s.model.is_moe() && s.parallelism.experts_tensor() != s.parallelism.tensor;
              },
          .words = [](const Scenario&) { return say("framework.rule.jax.expert_tensor", framework_name(framework)); },
          .source = kBase,
          .mend = [](Scenario& s) { s.parallelism.expert_tensor = 0; }};
}

constexpr Rule kJax[] = {
    trains<Framework::jax>(),
    tensor_rule<Framework::jax>(),
    shards_rule<Framework::jax>(),
    {.id = "experts",
     .path = "parallelism.expert",
     .reads = RuleReads::mesh,
     .broken = [](const Scenario& s) { return expert_axis(s) == ExpertAxis::impossible; },
     .words =
         [](const Scenario& s) {
           return say("framework.rule.jax.experts", s.parallelism.expert, s.parallelism.fsdp, s.parallelism.data);
         },
     .source = kSharding},
    expert_tensor_rule<Framework::jax>(),
    own_order<Framework::jax>(),
    {.id = "layers",
     .path = "parallelism.pipeline",
     .reads = RuleReads::plan,
     .broken =
         [](const Scenario& s) {
           // Layers with experts and without are stacked apart.
           return !even_stages(s) || !divides(s.parallelism.pipeline, s.model.n_moe_layers());
         },
     .words =
         [](const Scenario& s) { return say("framework.rule.jax.layers", virtual_stages_of(s), s.model.n_layers); },
     .source = kSharding},
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
     .source = kSharding,
     .mend = [](Scenario& s) { s.parallelism.sequence_parallel = false; }},
    even_nodes<Framework::jax>(),
};

bool forwards_first(const Scenario& s) {
  return s.pipeline.schedule == ScheduleKind::gpipe || s.pipeline.schedule == ScheduleKind::looped_bfs;
}

// A part that none of MaxText's decoder blocks has; empty: there is none.
Sentence foreign_to_maxtext(const TransformerShape& m) {
  if (m.norms_per_layer != 2 && m.norms_per_layer != 4) return say("framework.part.norms", m.norms_per_layer);
  if (m.rel_pos_projection) return say("framework.part.rel_pos");
  if (m.embedding_norm > 0) return say("framework.part.embedding_norm");
  if (m.qk_norm_all_heads) return say("framework.part.qk_norm_all_heads");
  if (m.unembedding_bias) return say("framework.part.unembedding_bias");
  return {};
}

constexpr Rule kMaxtext[] = {
    trains<Framework::maxtext>(),
    {.id = "model",
     .path = "model",
     .reads = RuleReads::scenario,
     .broken = [](const Scenario& s) { return !foreign_to_maxtext(s.model).empty(); },
     .words =
         [](const Scenario& s) {
           return say("framework.rule.model", framework_name(Framework::maxtext), foreign_to_maxtext(s.model));
         },
     .source = "MaxText, src/maxtext/common/common_types.py"},
    {.id = "compute",
     .path = "precision.compute",
     .reads = RuleReads::scenario,
     .broken =
         [](const Scenario& s) {
           return s.precision.compute == Dtype::int4 || s.precision.compute == Dtype::nvfp4 ||
                  s.precision.compute == Dtype::mxfp4;
         },
     .words = [](const Scenario&) { return say("framework.rule.compute", framework_name(Framework::maxtext)); },
     .source = kBase,
     .mend = [](Scenario& s) { s.precision.compute = Dtype::bf16; }},
    tensor_rule<Framework::maxtext>(),
    shards_rule<Framework::maxtext>(),
    {.id = "experts",
     .path = "parallelism.expert",
     .reads = RuleReads::mesh,
     .broken =
         [](const Scenario& s) {
           return s.model.is_moe() && s.parallelism.expert > 1 && !divides(s.parallelism.expert, s.parallelism.fsdp);
         },
     .words =
         [](const Scenario& s) {
           return say("framework.rule.maxtext.experts", s.parallelism.expert, s.parallelism.fsdp);
         },
     .source = kBase},
    expert_tensor_rule<Framework::maxtext>(),
    {.id = "sharding",
     .path = "parallelism.zero_stage",
     .reads = RuleReads::plan,
     .broken =
         [](const Scenario& s) {
           const Parallelism& p = s.parallelism;
           const int stage = sharded_stage(s);
           if (p.context > 1 || p.expert > 1) return p.fsdp * p.context > 1 && stage != 3;
           return stage == 2 || (stage == 1 && p.data > 1);
         },
     .words = [](const Scenario& s) { return say("framework.rule.maxtext.sharding", s.parallelism.zero_stage); },
     .source = kBase,
     .mend = [](Scenario& s) { s.parallelism.zero_stage = 3; }},
    {.id = "gathered",
     .path = "parallelism.keep_gathered",
     .reads = RuleReads::plan,
     .broken =
         [](const Scenario& s) {
           const KeepGathered keep = s.parallelism.keep_gathered;
           return sharded_stage(s) == 3 && keep != KeepGathered::microbatch &&
                  !(keep == KeepGathered::step && s.parallelism.pipeline > 1);
         },
     .words = [](const Scenario&) { return say("framework.rule.maxtext.gathered"); },
     .source = kBase,
     .mend = [](Scenario& s) { s.parallelism.keep_gathered = KeepGathered::microbatch; }},
    {.id = "ring",
     .path = "parallelism.context_method",
     .reads = RuleReads::plan,
     .broken =
         [](const Scenario& s) {
           const std::int64_t context = s.parallelism.context;
           return context > 1 && s.parallelism.context_method == ContextMethod::ring && on_torus(s) &&
                  (!divides(context * context, s.workload.sequence_length) || s.model.attn_sinks ||
                   s.model.has_local_layers());
         },
     .words =
         [](const Scenario& s) {
           return say("framework.rule.maxtext.ring", s.parallelism.context, s.workload.sequence_length);
         },
     .source = kTypes,
     .mend = [](Scenario& s) { s.parallelism.context_method = ContextMethod::all_gather; }},
    {.id = "ulysses",
     .path = "parallelism.context_method",
     .reads = RuleReads::plan,
     .broken =
         [](const Scenario& s) {
           return s.parallelism.context > 1 && s.parallelism.context_method == ContextMethod::ulysses &&
                  (!on_torus(s) || s.model.is_mla() || s.model.has_local_layers());
         },
     .words = [](const Scenario&) { return say("framework.rule.maxtext.ulysses"); },
     .source = kTypes,
     .mend = [](Scenario& s) { s.parallelism.context_method = ContextMethod::all_gather; }},
    {.id = "schedule",
     .path = "pipeline.schedule",
     .reads = RuleReads::plan,
     .broken = [](const Scenario& s) { return s.parallelism.pipeline > 1 && !forwards_first(s); },
     .words =
         [](const Scenario& s) { return say("framework.rule.maxtext.schedule", schedule_id(s.pipeline.schedule)); },
     .source = "MaxText, src/maxtext/layers/pipeline.py",
     .mend =
         [](Scenario& s) {
           s.pipeline.schedule = s.pipeline.virtual_stages > 1 ? ScheduleKind::looped_bfs : ScheduleKind::gpipe;
         }},
    own_order<Framework::maxtext>(),
    {.id = "microbatches",
     .path = "pipeline.microbatch_sequences",
     .reads = RuleReads::plan,
     .broken =
         [](const Scenario& s) {
           return s.parallelism.pipeline > 1 && !divides(s.parallelism.pipeline, microbatch_count(s));
         },
     .words =
         [](const Scenario& s) {
           return say("framework.rule.maxtext.microbatches", microbatch_count(s), s.parallelism.pipeline);
         },
     .source = kTypes},
    {.id = "layers",
     .path = "parallelism.pipeline",
     .reads = RuleReads::plan,
     .broken = [](const Scenario& s) { return !even_stages(s); },
     .words =
         [](const Scenario& s) { return say("framework.rule.jax.layers", virtual_stages_of(s), s.model.n_layers); },
     .source = kBase,
     .mend =
         [](Scenario& s) {
           s.pipeline.layers_per_stage.clear();
           s.pipeline.embedding_as_layers = s.pipeline.head_as_layers = 0;
           if (even_stages(s)) return;
           s.pipeline.virtual_stages = 1;
           s.pipeline.schedule = ScheduleKind::gpipe;
         }},
    {.id = "recomputation",
     .path = "checkpointing.policy",
     .reads = RuleReads::plan,
     .broken =
         [](const Scenario& s) {
           const CheckpointPolicy policy = s.checkpointing.policy;
           return policy != CheckpointPolicy::none && policy != CheckpointPolicy::big_matmuls &&
                  policy != CheckpointPolicy::block;
         },
     .words =
         [](const Scenario& s) {
           return say("framework.rule.maxtext.recomputation", policy_id(s.checkpointing.policy));
         },
     .source = "MaxText, src/maxtext/layers/decoders.py",
     .mend =
         [](Scenario& s) {
           s.checkpointing.policy = s.checkpointing.policy == CheckpointPolicy::attention
                                        ? CheckpointPolicy::big_matmuls
                                        : CheckpointPolicy::block;
         }},
    {.id = "activation_offload",
     .path = "offload.activations",
     .reads = RuleReads::plan,
     .broken =
         [](const Scenario& s) {
           return s.offload.activations && s.checkpointing.policy != CheckpointPolicy::big_matmuls;
         },
     .words = [](const Scenario&) { return say("framework.rule.maxtext.activation_offload"); },
     .source = kBase,
     .mend = [](Scenario& s) { s.offload.activations = false; }},
    whole_optimizer<Framework::maxtext>(kBase),
    even_nodes<Framework::maxtext>(),
    wide_moments<Framework::maxtext>("MaxText, src/maxtext/optimizers/optimizers.py"),
};

}  // namespace

std::span<const Rule> jax() { return kJax; }
std::span<const Rule> maxtext() { return kMaxtext; }

}  // namespace rules
}  // namespace roofscape::engine
