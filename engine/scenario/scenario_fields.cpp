#include "engine/scenario/scenario_fields.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include <fmt/format.h>

#include "engine/scenario/checkpoint_policies.h"

namespace roofscape::engine {

namespace {

constexpr EnumTable<WorkloadKind> kWorkloadKinds{"training", "serving"};
constexpr EnumTable<ContextMethod> kContextMethods{"ring", "all_gather", "ulysses"};
constexpr EnumTable<KeepGathered> kKeepGathered{"microbatch", "chunk", "step"};
constexpr EnumTable<Dtype> kDtypes{"none", "fp8", "bf16", "fp16", "fp32", "int8", "int4", "nvfp4", "mxfp4"};
constexpr std::span<const std::string_view> kTrainedDtypes = std::span(kDtypes.ids()).first(5);
constexpr EnumTable<KvSplit> kKvSplits{"heads", "batch", "sequence"};
constexpr EnumTable<OptimizerKind> kOptimizers{"none",      "adam_bf16", "adam_fp32",
                                               "adam_8bit", "muon_bf16", "muon_fp32"};
constexpr EnumTable<MuonHomes> kMuonHomes{"replicated", "distributed"};
constexpr EnumTable<MuonTensor> kMuonTensors{"gathered", "blockwise"};
constexpr EnumTable<Mode> kModes{"ideal", "calibrated", "custom"};
constexpr EnumTable<AttentionKernel> kAttentionKernels{"auto", "fused", "unfused"};
constexpr EnumTable<LossKernel> kLossKernels{"auto", "plain", "fused", "chunked"};
constexpr EnumTable<ElementwiseKernel> kElementwiseKernels{"fused", "eager"};
constexpr EnumTable<KernelLaunch> kKernelLaunches{"queued", "blocking", "graphs"};
constexpr EnumTable<StackChoice> kStacks{"auto", "megatron-2021",      "megatron",      "megatron-2026", "torch-fsdp",
                                         "xla",  "faster-transformer", "torch-compile", "inflight"};
constexpr EnumTable<FlopsConvention> kFlopsConventions{"6p", "exact", "exact_causal"};
constexpr EnumTable<AxesOverlap> kOverlaps{"auto", "sum", "max", "by_wire"};
constexpr EnumTable<ParameterCount> kParameterCounts{"counted", "published"};

// What the counts of the table are counts of: each is typed and shown with its word.
namespace counted {
constexpr Unit heads{"heads", {}, Notation::count};
constexpr Unit experts{"experts", {}, Notation::count};
constexpr Unit groups{"groups", {}, Notation::count};
constexpr Unit norms{"norms", {}, Notation::count};
constexpr Unit nodes{"nodes", {}, Notation::count};
constexpr Unit slices{"slices", {}, Notation::count};
constexpr Unit chunks{"chunks", {}, Notation::count};
constexpr Unit tensors{"tensors", {}, Notation::count};
constexpr Unit segments{"segments", {}, Notation::count};
constexpr Unit prompts{"prompts", {}, Notation::count};
}  // namespace counted

#define GET(expression) [](const Scenario& s) { return static_cast<double>(s.expression); }
#define SET(expression) \
  [](Scenario& s, double v) { s.expression = static_cast<std::remove_reference_t<decltype(s.expression)>>(v); }

// The fields of the model, which note what is changed by hand. Their bits are their places in the table.
#define SET_MODEL(expression, place)                                                   \
  [](Scenario& s, double v) {                                                          \
    const auto next = static_cast<std::remove_reference_t<decltype(s.expression)>>(v); \
    if (s.expression != next) s.model.edits.fields |= std::uint64_t{1} << (place);     \
    s.expression = next;                                                               \
  }
constexpr int kFirstPlace = __COUNTER__ + 1;

constexpr Field integer(std::string_view path, double low, double high, Unit u, double (*get)(const Scenario&),
                        void (*set)(Scenario&, double)) {
  return {path, FieldKind::integer, std::nullopt, low, high, u, {}, get, set};
}
constexpr Field number(std::string_view path, double low, double high, Unit u, double (*get)(const Scenario&),
                       void (*set)(Scenario&, double)) {
  return {path, FieldKind::number, std::nullopt, low, high, u, {}, get, set};
}
constexpr Field boolean(std::string_view path, double (*get)(const Scenario&), void (*set)(Scenario&, double)) {
  return {path, FieldKind::boolean, std::nullopt, 0, 1, unit::count, {}, get, set};
}
constexpr Field choice(std::string_view path, std::span<const std::string_view> words, double (*get)(const Scenario&),
                       void (*set)(Scenario&, double)) {
  return {path, FieldKind::choice, std::nullopt, 0, static_cast<double>(words.size() - 1), unit::count, words, get,
          set};
}

// What only one kind of workload reads.
constexpr Field training_only(Field field) {
  field.only = WorkloadKind::training;
  return field;
}
constexpr Field serving_only(Field field) {
  field.only = WorkloadKind::serving;
  return field;
}

#define MODEL_INTEGER(path, expression, low, high, u) \
  integer(path, low, high, u, GET(expression), SET_MODEL(expression, __COUNTER__ - kFirstPlace))
#define MODEL_NUMBER(path, expression, low, high, u) \
  number(path, low, high, u, GET(expression), SET_MODEL(expression, __COUNTER__ - kFirstPlace))
#define MODEL_BOOLEAN(path, expression) \
  boolean(path, GET(expression), SET_MODEL(expression, __COUNTER__ - kFirstPlace))
#define INTEGER(path, expression, low, high, u) integer(path, low, high, u, GET(expression), SET(expression))
#define NUMBER(path, expression, low, high, u) number(path, low, high, u, GET(expression), SET(expression))
#define BOOLEAN(path, expression) boolean(path, GET(expression), [](Scenario& s, double v) { s.expression = v != 0; })
#define CHOICE(path, expression, words)                                                               \
  choice(path, words, GET(expression), [](Scenario& s, double v) {                                    \
    s.expression = static_cast<std::remove_reference_t<decltype(s.expression)>>(static_cast<int>(v)); \
  })

#define LENGTH_BIN(i)                                                                                              \
  serving_only(NUMBER("workload.lengths." #i ".share", workload.lengths[i].share, 0, 1e12, unit::one)),            \
      serving_only(INTEGER("workload.lengths." #i ".prompt_tokens", workload.lengths[i].prompt_tokens, 1, 1 << 24, \
                           unit::tokens)),                                                                         \
      serving_only(INTEGER("workload.lengths." #i ".output_tokens", workload.lengths[i].output_tokens, 1, 1 << 24, \
                           unit::tokens))

#define PLACEMENT(axis, i)                                                  \
  INTEGER("placement." axis ".axes", placement.axes[i], 0, 3, unit::count), \
      CHOICE("placement." axis ".on", placement.on[i], kTorusAxesIds)

const std::array kFields{
    MODEL_INTEGER("model.n_layers", model.n_layers, 1, 10000, unit::layers),
    MODEL_INTEGER("model.d_model", model.d_model, 1, 1 << 20, unit::elements),
    MODEL_INTEGER("model.d_ff", model.d_ff, 1, 1 << 22, unit::elements),
    MODEL_INTEGER("model.n_heads", model.n_heads, 1, 1 << 14, counted::heads),
    MODEL_INTEGER("model.n_kv_heads", model.n_kv_heads, 1, 1 << 14, counted::heads),
    MODEL_INTEGER("model.d_head", model.d_head, 1, 1 << 14, unit::elements),
    MODEL_INTEGER("model.vocab_size", model.vocab_size, 1, 1 << 24, unit::tokens),
    MODEL_BOOLEAN("model.gated_mlp", model.gated_mlp),
    MODEL_BOOLEAN("model.tied_embeddings", model.tied_embeddings),
    MODEL_BOOLEAN("model.qkv_bias", model.qkv_bias),
    MODEL_BOOLEAN("model.o_bias", model.o_bias),
    MODEL_BOOLEAN("model.mlp_bias", model.mlp_bias),
    MODEL_BOOLEAN("model.unembedding_bias", model.unembedding_bias),
    MODEL_BOOLEAN("model.layernorm_bias", model.layernorm_bias),
    MODEL_BOOLEAN("model.qk_norm", model.qk_norm),
    MODEL_BOOLEAN("model.qk_norm_all_heads", model.qk_norm_all_heads),
    MODEL_BOOLEAN("model.attn_sinks", model.attn_sinks),
    MODEL_BOOLEAN("model.rel_pos_projection", model.rel_pos_projection),
    MODEL_INTEGER("model.norms_per_layer", model.norms_per_layer, 0, 8, counted::norms),
    MODEL_INTEGER("model.embedding_norm", model.embedding_norm, 0, 4, counted::norms),
    MODEL_INTEGER("model.learned_positions", model.learned_positions, 0, 1 << 24, unit::tokens),
    MODEL_INTEGER("model.max_context_tokens", model.max_context_tokens, 0, 1 << 30, unit::tokens),
    MODEL_INTEGER("model.moe.n_routed_experts", model.moe.n_routed_experts, 0, 1 << 14, counted::experts),
    MODEL_INTEGER("model.moe.experts_per_token", model.moe.experts_per_token, 0, 1 << 14, counted::experts),
    MODEL_INTEGER("model.moe.d_ff_expert", model.moe.d_ff_expert, 0, 1 << 22, unit::elements),
    MODEL_INTEGER("model.moe.n_shared_experts", model.moe.n_shared_experts, 0, 1024, counted::experts),
    MODEL_INTEGER("model.moe.n_dense_layers", model.moe.n_dense_layers, 0, 10000, unit::layers),
    MODEL_BOOLEAN("model.moe.dense_layers_spread", model.moe.dense_layers_spread),
    MODEL_INTEGER("model.moe.n_expert_groups", model.moe.n_expert_groups, 0, 1 << 14, counted::groups),
    MODEL_INTEGER("model.moe.groups_per_token", model.moe.groups_per_token, 0, 1 << 14, counted::groups),
    MODEL_BOOLEAN("model.moe.router_bias", model.moe.router_bias),
    MODEL_BOOLEAN("model.moe.shared_expert_gate", model.moe.shared_expert_gate),
    MODEL_INTEGER("model.mla.q_lora_rank", model.mla.q_lora_rank, 0, 1 << 20, unit::elements),
    MODEL_INTEGER("model.mla.kv_lora_rank", model.mla.kv_lora_rank, 0, 1 << 20, unit::elements),
    MODEL_INTEGER("model.mla.qk_nope_head_dim", model.mla.qk_nope_head_dim, 0, 1 << 14, unit::elements),
    MODEL_INTEGER("model.mla.qk_rope_head_dim", model.mla.qk_rope_head_dim, 0, 1 << 14, unit::elements),
    MODEL_INTEGER("model.mla.v_head_dim", model.mla.v_head_dim, 0, 1 << 14, unit::elements),
    MODEL_INTEGER("model.local_attention.window_tokens", model.local_attention.window_tokens, 0, 1 << 24,
                  unit::tokens),
    MODEL_INTEGER("model.local_attention.n_local_layers", model.local_attention.n_local_layers, 0, 10000,
                  unit::layers),
    MODEL_NUMBER("model.published_total_params", model.published_total_params, 0, 1e15, unit::parameters),
    MODEL_NUMBER("model.published_active_params", model.published_active_params, 0, 1e15, unit::parameters),
    INTEGER("cluster.slice.0", cluster.slice[0], 1, 1024, unit::chips),
    INTEGER("cluster.slice.1", cluster.slice[1], 1, 1024, unit::chips),
    INTEGER("cluster.slice.2", cluster.slice[2], 1, 1024, unit::chips),
    INTEGER("cluster.slices", cluster.slices, 1, 1024, counted::slices),
    INTEGER("cluster.nodes", cluster.nodes, 1, 1 << 17, counted::nodes),
    INTEGER("cluster.node_size", cluster.node_size, 1, 1024, unit::chips),
    CHOICE("workload.kind", workload.kind, kWorkloadKinds.ids()),
    training_only(INTEGER("workload.global_batch_sequences", workload.global_batch_sequences, 1, kMostBatchSequences,
                          unit::sequences)),
    training_only(INTEGER("workload.sequence_length", workload.sequence_length, 1, 1 << 24, unit::tokens)),
    training_only(NUMBER("workload.train_tokens", workload.train_tokens, 1, 1e18, unit::tokens)),
    serving_only(INTEGER("workload.prompt_tokens", workload.prompt_tokens, 1, 1 << 24, unit::tokens)),
    serving_only(INTEGER("workload.output_tokens", workload.output_tokens, 1, 1 << 24, unit::tokens)),
    serving_only(INTEGER("workload.batch", workload.batch, 1, kMostBatchSequences, unit::sequences)),
    serving_only(NUMBER("workload.arrivals_per_s", workload.arrivals_per_s, 0, 1e9, unit::requests_per_s)),
    serving_only(NUMBER("workload.slo.ttft_s", workload.slo.ttft_s, 0, 1e6, unit::seconds)),
    serving_only(
        NUMBER("workload.slo.time_per_output_token_s", workload.slo.time_per_output_token_s, 0, 1e6, unit::seconds)),
    LENGTH_BIN(0),
    LENGTH_BIN(1),
    LENGTH_BIN(2),
    LENGTH_BIN(3),
    LENGTH_BIN(4),
    LENGTH_BIN(5),
    LENGTH_BIN(6),
    LENGTH_BIN(7),
    INTEGER("parallelism.data", parallelism.data, 1, kMostDataDegree, unit::ways),
    INTEGER("parallelism.fsdp", parallelism.fsdp, 1, kMostDataDegree, unit::ways),
    INTEGER("parallelism.tensor", parallelism.tensor, 1, kMostTensorDegree, unit::ways),
    INTEGER("parallelism.context", parallelism.context, 1, kMostContextDegree, unit::ways),
    INTEGER("parallelism.pipeline", parallelism.pipeline, 1, kMostPipelineDegree, unit::ways),
    INTEGER("parallelism.expert", parallelism.expert, 1, kMostExpertDegree, unit::ways),
    INTEGER("parallelism.expert_tensor", parallelism.expert_tensor, 0, kMostTensorDegree, unit::ways),
    training_only(BOOLEAN("parallelism.sequence_parallel", parallelism.sequence_parallel)),
    INTEGER("parallelism.zero_stage", parallelism.zero_stage, 0, 3, unit::count),
    training_only(CHOICE("parallelism.keep_gathered", parallelism.keep_gathered, kKeepGathered.ids())),
    training_only(CHOICE("parallelism.context_method", parallelism.context_method, kContextMethods.ids())),
    PLACEMENT("data", 0),
    PLACEMENT("fsdp", 1),
    PLACEMENT("tensor", 2),
    PLACEMENT("context", 3),
    PLACEMENT("expert", 4),
    PLACEMENT("pipeline", 5),
    CHOICE("placement.order", placement.order, kRankOrders.ids()),
    training_only(CHOICE("pipeline.schedule", pipeline.schedule, kScheduleIds.ids())),
    training_only(
        INTEGER("pipeline.microbatch_sequences", pipeline.microbatch_sequences, 1, 1 << 16, unit::sequences)),
    training_only(INTEGER("pipeline.virtual_stages", pipeline.virtual_stages, 1, 64, counted::chunks)),
    training_only(INTEGER("pipeline.group_size", pipeline.group_size, 0, 1 << 24, unit::microbatches)),
    training_only(CHOICE("pipeline.backward_order", pipeline.backward_order, kBackwardOrders.ids())),
    training_only(CHOICE("pipeline.sends", pipeline.sends, kStageSends.ids())),
    training_only(INTEGER("pipeline.embedding_as_layers", pipeline.embedding_as_layers, 0, 1000, unit::layers)),
    training_only(INTEGER("pipeline.head_as_layers", pipeline.head_as_layers, 0, 1000, unit::layers)),
    training_only(boolean(
        kLayersByHand, [](const Scenario& s) { return s.pipeline.layers_per_stage.empty() ? 0.0 : 1.0; },
        [](Scenario& s, double by_hand) { list_layers(s, by_hand != 0); })),
    training_only(boolean(
        kGivenOrder, [](const Scenario& s) { return s.pipeline.order ? 1.0 : 0.0; },
        [](Scenario& s, double given) { give_order(s, given != 0); })),
    training_only(CHOICE("checkpointing.policy", checkpointing.policy, kCheckpointPolicyIds)),
    training_only(INTEGER("checkpointing.k", checkpointing.k, 1, 20, counted::tensors)),
    training_only(INTEGER("checkpointing.blocks", checkpointing.blocks, 1, 10000, unit::layers)),
    training_only(INTEGER("checkpointing.segments", checkpointing.segments, 0, 10000, counted::segments)),
    CHOICE("kernels.attention", kernels.attention, kAttentionKernels.ids()),
    training_only(CHOICE("kernels.loss", kernels.loss, kLossKernels.ids())),
    training_only(CHOICE("kernels.elementwise", kernels.elementwise, kElementwiseKernels.ids())),
    training_only(CHOICE("kernels.launch", kernels.launch, kKernelLaunches.ids())),
    CHOICE("precision.compute", precision.compute, kDtypes.ids()),
    CHOICE("precision.weights", precision.weights, kDtypes.ids()),
    training_only(CHOICE("precision.gradients", precision.gradients, kTrainedDtypes)),
    training_only(CHOICE("precision.optimizer", precision.optimizer, kOptimizers.ids())),
    training_only(CHOICE("precision.master_weights", precision.master_weights, kTrainedDtypes)),
    serving_only(CHOICE("precision.kv_cache", precision.kv_cache, kDtypes.ids())),
    training_only(CHOICE("precision.residual", precision.residual, kTrainedDtypes)),
    training_only(INTEGER("muon.newton_schulz_steps", muon.newton_schulz_steps, 1, 20, unit::count)),
    training_only(CHOICE("muon.homes", muon.homes, kMuonHomes.ids())),
    training_only(CHOICE("muon.tensor", muon.tensor, kMuonTensors.ids())),
    training_only(INTEGER("adapter.rank", adapter.rank, 0, 1024, unit::elements)),
    training_only(CHOICE("adapter.targets", adapter.targets, kAdapterTargets.ids())),
    training_only(BOOLEAN("adapter.experts", adapter.experts)),
    training_only(BOOLEAN("offload.optimizer", offload.optimizer)),
    training_only(NUMBER("offload.optimizer_fraction", offload.optimizer_fraction, 0, 1, unit::fraction)),
    training_only(BOOLEAN("offload.activations", offload.activations)),
    serving_only(BOOLEAN("serving.disaggregated", serving.disaggregated)),
    serving_only(INTEGER("serving.prefill.data", serving.prefill.data, 1, kMostDataDegree, unit::ways)),
    serving_only(INTEGER("serving.prefill.tensor", serving.prefill.tensor, 1, kMostTensorDegree, unit::ways)),
    serving_only(INTEGER("serving.prefill.context", serving.prefill.context, 1, kMostContextDegree, unit::ways)),
    serving_only(INTEGER("serving.prefill.pipeline", serving.prefill.pipeline, 1, kMostPipelineDegree, unit::ways)),
    serving_only(INTEGER("serving.prefill.expert", serving.prefill.expert, 1, kMostExpertDegree, unit::ways)),
    serving_only(CHOICE("serving.kv_split", serving.kv_split, kKvSplits.ids())),
    serving_only(INTEGER("serving.prefill_chunk_tokens", serving.prefill_chunk_tokens, 0, 1 << 24, unit::tokens)),
    serving_only(INTEGER("serving.prefill_prompts", serving.prefill_prompts, 1, 1 << 20, counted::prompts)),
    serving_only(NUMBER("serving.prefix_hit_rate", serving.prefix_hit_rate, 0, 0.999, unit::fraction)),
    serving_only(INTEGER("serving.page_tokens", serving.page_tokens, 0, 1 << 20, unit::tokens)),
    serving_only(INTEGER("serving.draft_tokens", serving.draft_tokens, 0, 16, unit::tokens)),
    serving_only(NUMBER("serving.acceptance_rate", serving.acceptance_rate, 0, 1, unit::fraction)),
    serving_only(NUMBER("serving.draft_cost", serving.draft_cost, 0, 1, unit::one)),
    CHOICE("assumptions.mode", assumptions.mode, kModes.ids()),
    CHOICE("assumptions.flops", assumptions.flops, kFlopsConventions.ids()),
    training_only(CHOICE("assumptions.axes_overlap", assumptions.axes_overlap, kOverlaps.ids())),
    NUMBER("assumptions.overlap", assumptions.overlap, 0, 1, unit::fraction),
    NUMBER("assumptions.stated_mfu", assumptions.stated_mfu, 0.001, 1, unit::fraction),
    NUMBER("assumptions.reserve_bytes", assumptions.reserve_bytes, 0, 1e12, unit::bytes),
    training_only(NUMBER("assumptions.host_memory_bytes_per_s", assumptions.host_memory_bytes_per_s, 0, 1e13,
                         unit::bytes_per_s)),
    serving_only(NUMBER("assumptions.context_share", assumptions.context_share, 0, 1, unit::fraction)),
    serving_only(CHOICE("assumptions.parameters", assumptions.parameters, kParameterCounts.ids())),
    serving_only(NUMBER("assumptions.hop_latency_s", assumptions.hop_latency_s, 0, 1, unit::seconds)),
    CHOICE("assumptions.stack", assumptions.stack, kStacks.ids()),
#define CALIBRATION(name, id, symbol, unit, least, most, ideal) \
  NUMBER("assumptions.custom." id, assumptions.custom[Calibrated::name], least, most, unit),
#include "engine/base/calibration_parameters.def"
#undef CALIBRATION
};

}  // namespace

std::span<const Field> scenario_fields() { return kFields; }

const Field* find_field(std::string_view path) {
  const auto found = std::find_if(kFields.begin(), kFields.end(), [path](const Field& f) { return f.path == path; });
  return found == kFields.end() ? nullptr : &*found;
}

bool applies(const Field& field, WorkloadKind kind) { return !field.only || *field.only == kind; }

bool in_domain(const Field& field, double value) {
  if (!std::isfinite(value)) return false;
  // Computing or storing weights in no format at all is not a choice.
  if ((field.path == "precision.compute" || field.path == "precision.weights") && value == 0) return false;
  if (field.kind != FieldKind::number && value != std::floor(value)) return false;
  return value >= field.minimum && value <= field.maximum;
}

Sentence domain_of(const Field& field) {
  switch (field.kind) {
    case FieldKind::integer:
      return say("error.domain.whole", fmt::format("{:.0f}", field.minimum), fmt::format("{:.0f}", field.maximum));
    case FieldKind::number:
      return say("error.domain.number", fmt::format("{:g}", field.minimum), fmt::format("{:g}", field.maximum));
    case FieldKind::boolean:
      return say("error.domain.boolean");
    case FieldKind::choice: {
      std::string all;
      for (std::size_t i = 0; i < field.choices.size(); ++i)
        if (in_domain(field, static_cast<double>(i)))
          all += fmt::format("{}{}", all.empty() ? "" : " ", field.choices[i]);
      return say("error.domain.choice", std::move(all));
    }
  }
  return {};
}

void apply(Scenario& scenario, const FieldEdit& edit) {
  if (edit.field != nullptr && in_domain(*edit.field, edit.value)) edit.field->set(scenario, edit.value);
}

}  // namespace roofscape::engine
