#include "engine/frameworks/synonyms.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "engine/base/ascii.h"
#include "engine/pipeline/schedules.h"
#include "engine/scenario/scenario_fields.h"

namespace roofscape::engine {

namespace {

constexpr std::array kCpCommTypes{WordPair{"p2p", "ring"}, WordPair{"all_gather", "all_gather"},
                                  WordPair{"a2a", "ulysses"}};
constexpr std::array kTpPpDpMapping{WordPair{"true", "tp-cp-pp-dp"}, WordPair{"false", "tp-cp-dp-pp"}};
constexpr std::array kRotateMethods{WordPair{"alltoall", "ring"}, WordPair{"allgather", "all_gather"}};
constexpr std::array kMaxtextContext{WordPair{"ring", "ring"}, WordPair{"all_gather", "all_gather"},
                                     WordPair{"ulysses", "ulysses"}};
constexpr std::size_t kTorchScheduleCount = static_cast<std::size_t>(
    std::ranges::count_if(kScheduleFacts, [](const ScheduleFacts& facts) { return !facts.torch.empty(); }));
constexpr std::array kTorchSchedules = [] {
  std::array<WordPair, kTorchScheduleCount> words;
  std::size_t n = 0;
  for (const ScheduleKind kind : kSchedules)
    if (!facts_of(kind).torch.empty()) words[n++] = {facts_of(kind).torch, schedule_id(kind)};
  return words;
}();
constexpr std::array kGranularities{WordPair{"full", "block"}, WordPair{"selective", "attention"}};
constexpr std::array kCheckpointModes{WordPair{"none", "none"}, WordPair{"full", "block"},
                                      WordPair{"selective", "big_matmuls"}};
constexpr std::array kRematPolicies{WordPair{"full", "block"}, WordPair{"minimal", "big_matmuls"},
                                    WordPair{"none", "none"}};
constexpr std::array kJaxDtypes{WordPair{"bfloat16", "bf16"}, WordPair{"float16", "fp16"},
                                WordPair{"float32", "fp32"}};
constexpr std::array kCacheDtypes{WordPair{"auto", "none"},     WordPair{"fp8", "fp8"},
                                  WordPair{"fp8_e4m3", "fp8"},  WordPair{"fp8_e5m2", "fp8"},
                                  WordPair{"bfloat16", "bf16"}, WordPair{"float16", "fp16"}};

using enum Framework;

// Megatron Bridge has Megatron-LM's names with underscores, in sections; the rows say which section.
constexpr std::array kRows{
    Synonym{megatron, "num-layers", "model.n_layers"},
    Synonym{megatron, "hidden-size", "model.d_model"},
    Synonym{megatron, "ffn-hidden-size", "model.d_ff"},
    Synonym{megatron, "num-attention-heads", "model.n_heads"},
    Synonym{megatron, "num-query-groups", "model.n_kv_heads"},
    Synonym{megatron, "kv-channels", "model.d_head"},
    Synonym{megatron, "vocab-size", "model.vocab_size"},
    Synonym{megatron, "num-experts", "model.moe.n_routed_experts"},
    Synonym{megatron, "moe-router-topk", "model.moe.experts_per_token"},
    Synonym{megatron, "moe-ffn-hidden-size", "model.moe.d_ff_expert"},
    Synonym{megatron, "moe-router-num-groups", "model.moe.n_expert_groups"},
    Synonym{megatron, "moe-router-group-topk", "model.moe.groups_per_token"},
    Synonym{megatron, "q-lora-rank", "model.mla.q_lora_rank"},
    Synonym{megatron, "kv-lora-rank", "model.mla.kv_lora_rank"},
    Synonym{megatron, "qk-head-dim", "model.mla.qk_nope_head_dim"},
    Synonym{megatron, "qk-pos-emb-head-dim", "model.mla.qk_rope_head_dim"},
    Synonym{megatron, "v-head-dim", "model.mla.v_head_dim"},
    Synonym{megatron, "seq-length", "workload.sequence_length"},
    Synonym{megatron, "global-batch-size", "workload.global_batch_sequences"},
    Synonym{megatron, "micro-batch-size", "pipeline.microbatch_sequences"},
    Synonym{megatron, "tensor-model-parallel-size", "parallelism.tensor"},
    Synonym{megatron, "pipeline-model-parallel-size", "parallelism.pipeline"},
    Synonym{megatron, "context-parallel-size", "parallelism.context"},
    Synonym{megatron, "expert-model-parallel-size", "parallelism.expert"},
    Synonym{megatron, "expert-tensor-parallel-size", "parallelism.expert_tensor"},
    Synonym{megatron, "cp-comm-type", "parallelism.context_method", kCpCommTypes},
    Synonym{megatron, "sequence-parallel", "parallelism.sequence_parallel"},
    Synonym{megatron, "use-tp-pp-dp-mapping", "placement.order", kTpPpDpMapping},
    Synonym{megatron, "num-virtual-stages-per-pipeline-rank", "pipeline.virtual_stages"},
    Synonym{megatron, "microbatch-group-size-per-virtual-pipeline-stage", "pipeline.group_size"},
    Synonym{megatron, "pipeline-model-parallel-layout", "pipeline.layers_per_stage"},
    Synonym{megatron, "recompute-granularity", "checkpointing.policy", kGranularities},
    Synonym{megatron, "optimizer-cpu-offload", "offload.optimizer"},
    Synonym{megatron, "optimizer-offload-fraction", "offload.optimizer_fraction"},
    Synonym{megatron, "cpu-offloading", "offload.activations"},

    Synonym{megatron_bridge, "model.num_layers", "model.n_layers"},
    Synonym{megatron_bridge, "model.hidden_size", "model.d_model"},
    Synonym{megatron_bridge, "model.ffn_hidden_size", "model.d_ff"},
    Synonym{megatron_bridge, "model.num_attention_heads", "model.n_heads"},
    Synonym{megatron_bridge, "model.num_query_groups", "model.n_kv_heads"},
    Synonym{megatron_bridge, "model.kv_channels", "model.d_head"},
    Synonym{megatron_bridge, "model.vocab_size", "model.vocab_size"},
    Synonym{megatron_bridge, "model.num_moe_experts", "model.moe.n_routed_experts"},
    Synonym{megatron_bridge, "model.moe_router_topk", "model.moe.experts_per_token"},
    Synonym{megatron_bridge, "model.moe_ffn_hidden_size", "model.moe.d_ff_expert"},
    Synonym{megatron_bridge, "model.moe_router_num_groups", "model.moe.n_expert_groups"},
    Synonym{megatron_bridge, "model.moe_router_group_topk", "model.moe.groups_per_token"},
    Synonym{megatron_bridge, "model.q_lora_rank", "model.mla.q_lora_rank"},
    Synonym{megatron_bridge, "model.kv_lora_rank", "model.mla.kv_lora_rank"},
    Synonym{megatron_bridge, "model.qk_head_dim", "model.mla.qk_nope_head_dim"},
    Synonym{megatron_bridge, "model.qk_pos_emb_head_dim", "model.mla.qk_rope_head_dim"},
    Synonym{megatron_bridge, "model.v_head_dim", "model.mla.v_head_dim"},
    Synonym{megatron_bridge, "model.seq_length", "workload.sequence_length"},
    Synonym{megatron_bridge, "train.global_batch_size", "workload.global_batch_sequences"},
    Synonym{megatron_bridge, "train.micro_batch_size", "pipeline.microbatch_sequences"},
    Synonym{megatron_bridge, "model.tensor_model_parallel_size", "parallelism.tensor"},
    Synonym{megatron_bridge, "model.pipeline_model_parallel_size", "parallelism.pipeline"},
    Synonym{megatron_bridge, "model.context_parallel_size", "parallelism.context"},
    Synonym{megatron_bridge, "model.expert_model_parallel_size", "parallelism.expert"},
    Synonym{megatron_bridge, "model.expert_tensor_parallel_size", "parallelism.expert_tensor"},
    Synonym{megatron_bridge, "model.cp_comm_type", "parallelism.context_method", kCpCommTypes},
    Synonym{megatron_bridge, "model.sequence_parallel", "parallelism.sequence_parallel"},
    Synonym{megatron_bridge, "dist.use_tp_pp_dp_mapping", "placement.order", kTpPpDpMapping},
    Synonym{megatron_bridge, "model.virtual_pipeline_model_parallel_size", "pipeline.virtual_stages"},
    Synonym{megatron_bridge, "model.microbatch_group_size_per_vp_stage", "pipeline.group_size"},
    Synonym{megatron_bridge, "model.pipeline_model_parallel_layout", "pipeline.layers_per_stage"},
    Synonym{megatron_bridge, "model.recompute_granularity", "checkpointing.policy", kGranularities},
    Synonym{megatron_bridge, "optimizer.optimizer_cpu_offload", "offload.optimizer"},
    Synonym{megatron_bridge, "optimizer.optimizer_offload_fraction", "offload.optimizer_fraction"},
    Synonym{megatron_bridge, "model.cpu_offloading", "offload.activations"},

    Synonym{torchtitan, "training.seq_len", "workload.sequence_length"},
    Synonym{torchtitan, "training.global_batch_size", "workload.global_batch_sequences"},
    Synonym{torchtitan, "training.enable_cpu_offload", "offload.optimizer"},
    Synonym{torchtitan, "training.mixed_precision_param", "precision.compute", kJaxDtypes},
    Synonym{torchtitan, "parallelism.data_parallel_replicate_degree", "parallelism.data"},
    Synonym{torchtitan, "parallelism.data_parallel_shard_degree", "parallelism.fsdp"},
    Synonym{torchtitan, "parallelism.tensor_parallel_degree", "parallelism.tensor"},
    Synonym{torchtitan, "parallelism.context_parallel_degree", "parallelism.context"},
    Synonym{torchtitan, "parallelism.context_parallel_rotate_method", "parallelism.context_method", kRotateMethods},
    Synonym{torchtitan, "parallelism.pipeline_parallel_degree", "parallelism.pipeline"},
    Synonym{torchtitan, "parallelism.expert_parallel_degree", "parallelism.expert"},
    Synonym{torchtitan, "parallelism.expert_tensor_parallel_degree", "parallelism.expert_tensor"},
    Synonym{torchtitan, "parallelism.pipeline_parallel_schedule", "pipeline.schedule", kTorchSchedules},
    Synonym{torchtitan, "parallelism.pipeline_parallel_microbatch_size", "pipeline.microbatch_sequences"},
    Synonym{torchtitan, "parallelism.module_fqns_per_model_part", "pipeline.layers_per_stage"},
    Synonym{torchtitan, "activation_checkpoint.mode", "checkpointing.policy", kCheckpointModes},

    Synonym{maxtext, "base_num_decoder_layers", "model.n_layers"},
    Synonym{maxtext, "base_emb_dim", "model.d_model"},
    Synonym{maxtext, "base_mlp_dim", "model.d_ff"},
    Synonym{maxtext, "base_num_query_heads", "model.n_heads"},
    Synonym{maxtext, "base_num_kv_heads", "model.n_kv_heads"},
    Synonym{maxtext, "head_dim", "model.d_head"},
    Synonym{maxtext, "vocab_size", "model.vocab_size"},
    Synonym{maxtext, "num_experts", "model.moe.n_routed_experts"},
    Synonym{maxtext, "num_experts_per_tok", "model.moe.experts_per_token"},
    Synonym{maxtext, "base_moe_mlp_dim", "model.moe.d_ff_expert"},
    Synonym{maxtext, "shared_experts", "model.moe.n_shared_experts"},
    Synonym{maxtext, "first_num_dense_layers", "model.moe.n_dense_layers"},
    Synonym{maxtext, "q_lora_rank", "model.mla.q_lora_rank"},
    Synonym{maxtext, "kv_lora_rank", "model.mla.kv_lora_rank"},
    Synonym{maxtext, "qk_nope_head_dim", "model.mla.qk_nope_head_dim"},
    Synonym{maxtext, "qk_rope_head_dim", "model.mla.qk_rope_head_dim"},
    Synonym{maxtext, "v_head_dim", "model.mla.v_head_dim"},
    Synonym{maxtext, "logits_via_embedding", "model.tied_embeddings"},
    Synonym{maxtext, "max_target_length", "workload.sequence_length"},
    Synonym{maxtext, "ici_data_parallelism", "parallelism.data"},
    Synonym{maxtext, "ici_fsdp_parallelism", "parallelism.fsdp"},
    Synonym{maxtext, "ici_tensor_parallelism", "parallelism.tensor"},
    Synonym{maxtext, "ici_context_parallelism", "parallelism.context"},
    Synonym{maxtext, "ici_pipeline_parallelism", "parallelism.pipeline"},
    Synonym{maxtext, "ici_expert_parallelism", "parallelism.expert"},
    Synonym{maxtext, "context_parallel_strategy", "parallelism.context_method", kMaxtextContext},
    Synonym{maxtext, "num_pipeline_repeats", "pipeline.virtual_stages"},
    Synonym{maxtext, "remat_policy", "checkpointing.policy", kRematPolicies},
    Synonym{maxtext, "dtype", "precision.compute", kJaxDtypes},
    Synonym{maxtext, "weight_dtype", "precision.weights", kJaxDtypes},
    Synonym{maxtext, "optimizer_memory_host_offload", "offload.optimizer"},

    Synonym{deepspeed, "train_batch_size", "workload.global_batch_sequences"},
    Synonym{deepspeed, "train_micro_batch_size_per_gpu", "pipeline.microbatch_sequences"},
    Synonym{deepspeed, "zero_optimization.stage", "parallelism.zero_stage"},
    Synonym{deepspeed, "tensor_parallel.autotp_size", "parallelism.tensor"},
    Synonym{deepspeed, "sequence_parallel_size", "parallelism.context"},

    Synonym{vllm, "tensor-parallel-size", "parallelism.tensor"},
    Synonym{vllm, "pipeline-parallel-size", "parallelism.pipeline"},
    Synonym{vllm, "data-parallel-size", "parallelism.data"},
    Synonym{vllm, "kv-cache-dtype", "precision.kv_cache", kCacheDtypes},
    Synonym{vllm, "block-size", "serving.page_tokens"},
    Synonym{vllm, "max-num-batched-tokens", "serving.prefill_chunk_tokens"},
    Synonym{vllm, "num-speculative-tokens", "serving.draft_tokens"},
    Synonym{vllm, "max-num-seqs", "workload.batch"},

    Synonym{sglang, "tp-size", "parallelism.tensor"},
    Synonym{sglang, "pp-size", "parallelism.pipeline"},
    Synonym{sglang, "dp-size", "parallelism.data"},
    Synonym{sglang, "ep-size", "parallelism.expert"},
    Synonym{sglang, "kv-cache-dtype", "precision.kv_cache", kCacheDtypes},
    Synonym{sglang, "page-size", "serving.page_tokens"},
    Synonym{sglang, "chunked-prefill-size", "serving.prefill_chunk_tokens"},
    Synonym{sglang, "speculative-num-steps", "serving.draft_tokens"},
    Synonym{sglang, "max-running-requests", "workload.batch"},

    Synonym{trtllm, "tensor_parallel_size", "parallelism.tensor"},
    Synonym{trtllm, "pipeline_parallel_size", "parallelism.pipeline"},
    Synonym{trtllm, "moe_expert_parallel_size", "parallelism.expert"},
    Synonym{trtllm, "moe_tensor_parallel_size", "parallelism.expert_tensor"},
    Synonym{trtllm, "kv_cache_config.dtype", "precision.kv_cache", kCacheDtypes},
    Synonym{trtllm, "kv_cache_config.tokens_per_block", "serving.page_tokens"},
    Synonym{trtllm, "max_num_tokens", "serving.prefill_chunk_tokens"},
    Synonym{trtllm, "max_batch_size", "workload.batch"},
};

// What papers and conversations say for short.
constexpr WordPair kShort[] = {
    {"tp", "parallelism.tensor"},
    {"pp", "parallelism.pipeline"},
    {"cp", "parallelism.context"},
    {"ep", "parallelism.expert"},
    {"etp", "parallelism.expert_tensor"},
    {"dp", "parallelism.data"},
    {"dp_replicate", "parallelism.data"},
    {"dp_shard", "parallelism.fsdp"},
    {"vpp", "pipeline.virtual_stages"},
    {"vp", "pipeline.virtual_stages"},
    {"mbs", "pipeline.microbatch_sequences"},
    {"gbs", "workload.global_batch_sequences"},
    {"sp", "parallelism.sequence_parallel"},
    {"zero", "parallelism.zero_stage"},
    // Of the mesh, though prefill ranks and Muon have such fields too.
    {"data", "parallelism.data"},
    {"tensor", "parallelism.tensor"},
    {"context", "parallelism.context"},
    {"pipeline", "parallelism.pipeline"},
    {"expert", "parallelism.expert"},
};

// As names are compared: small letters and digits alone.
std::string plain(std::string_view name) {
  std::string out;
  for (const char c : name)
    if (c != '-' && c != '_' && c != ' ') out += ascii_lower(c);
  return out;
}

std::string_view last_part(std::string_view key) { return key.substr(key.rfind('.') + 1); }

using Names = std::map<std::string, NamedField, std::less<>>;

// The last parts of the fields' own paths ("sequence_length", "mode"); without a path: of two fields.
std::map<std::string, std::string_view> own_names() {
  std::map<std::string, std::string_view> own;
  for (const Field& field : scenario_fields()) {
    const std::string_view last = last_part(field.path);
    if (is_digit(last.front())) continue;  // an element of a list
    if (const auto [at, is_new] = own.emplace(plain(last), field.path); !is_new) at->second = {};
  }
  return own;
}

// A name that means different fields in two frameworks is nobody's.
const Names& all_names() {
  static const Names kNames = [] {
    const auto own = own_names();
    Names names;
    const auto add = [&names](std::string_view name, const NamedField& field) {
      const auto [at, is_new] = names.emplace(plain(name), field);
      if (!is_new && at->second.path != field.path) at->second.path = {};
      if (!is_new && at->second.words.empty()) at->second.words = field.words;
    };
    for (const Synonym& row : kRows) {
      add(row.key, {row.path, row.words});
      const std::string_view last = last_part(row.key);
      if (last != row.key && !own.contains(plain(last))) add(last, {row.path, row.words});
    }
    for (const auto& [name, path] : kShort) add(name, {path, {}});
    std::erase_if(names, [](const auto& one) { return one.second.path.empty(); });
    for (const auto& [name, path] : own)
      if (!path.empty()) names.try_emplace(name, NamedField{path, {}});
    return names;
  }();
  return kNames;
}

const Synonym* row_of(Framework framework, std::string_view path) {
  const auto found = std::find_if(kRows.begin(), kRows.end(),
                                  [&](const Synonym& row) { return row.framework == framework && row.path == path; });
  return found == kRows.end() ? nullptr : &*found;
}

}  // namespace

std::span<const Synonym> synonyms() { return kRows; }

std::string_view key_for(Framework framework, std::string_view path) {
  const Synonym* row = row_of(framework, path);
  return row != nullptr ? row->key : std::string_view();
}

std::string_view word_for(Framework framework, std::string_view path, std::string_view choice) {
  if (const Synonym* row = row_of(framework, path))
    for (const auto& [word, means] : row->words)
      if (means == choice) return word;
  return {};
}

const NamedField* find_named_field(std::string_view name) {
  while (name.starts_with('-')) name.remove_prefix(1);
  const Names& names = all_names();
  const auto found = names.find(plain(name));
  return found == names.end() ? nullptr : &found->second;
}

std::string_view choice_named(const NamedField& field, std::string_view word) {
  for (const auto& [theirs, ours] : field.words)
    if (plain(theirs) == plain(word)) return ours;
  return word;
}

std::string_view choice_called(std::string_view path, std::string_view word) {
  std::string_view meant;
  for (const Synonym& row : kRows) {
    if (row.path != path) continue;
    for (const auto& [theirs, ours] : row.words) {
      if (plain(theirs) != plain(word)) continue;
      if (!meant.empty() && meant != ours) return {};
      meant = ours;
    }
  }
  return meant;
}

}  // namespace roofscape::engine
