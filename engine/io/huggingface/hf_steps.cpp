#include "engine/io/huggingface/hf_steps.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

namespace roofscape::io {
namespace {

using engine::TransformerShape;

constexpr int kMany = 1 << 24;

struct MoeKeys {
  std::string_view experts, per_token, width;
};

void read_experts(HfReader& in, const MoeKeys& keys, TransformerShape& m) {
  m.moe.n_routed_experts = in.size("model.moe.n_routed_experts", keys.experts, std::nullopt);
  m.moe.experts_per_token = in.size("model.moe.experts_per_token", keys.per_token, std::nullopt);
  m.moe.d_ff_expert = in.size("model.moe.d_ff_expert", keys.width, std::nullopt);
  if (!in.failed() &&
      (m.moe.n_routed_experts < 1 || m.moe.experts_per_token < 1 || m.moe.experts_per_token > m.moe.n_routed_experts))
    in.fail(keys.per_token, engine::say("error.config.per_token", m.moe.experts_per_token, m.moe.n_routed_experts),
            engine::say("error.config.per_token.remedy"));
}

// Layers by whether they have experts.
template <class HasExperts>
void count_dense_layers(TransformerShape& m, const HasExperts& has_experts) {
  for (int layer = 0; layer < m.n_layers; ++layer) {
    if (has_experts(layer)) continue;
    if (layer != m.moe.n_dense_layers) m.moe.dense_layers_spread = true;
    ++m.moe.n_dense_layers;
  }
}
bool names(const Json* layers, int layer) {
  return layers != nullptr && std::find(layers->begin(), layers->end(), Json(layer)) != layers->end();
}

int size_or_told(HfReader& in, std::string_view field, std::string_view key, int fallback) {
  if (!in.has(key)) in.note(std::string(key) + " is not given: " + std::to_string(fallback));
  return in.size(field, key, fallback);
}
void read_shared_experts(HfReader& in, std::string_view key, const HfDefaults& defaults, TransformerShape& m) {
  m.moe.n_shared_experts = size_or_told(in, "model.moe.n_shared_experts", key, defaults.shared_experts);
}

struct DeepseekKeys {
  std::string_view experts = "n_routed_experts", shared = "n_shared_experts";
};
void read_deepseek_experts(HfReader& in, const HfDefaults& defaults, TransformerShape& m,
                           const DeepseekKeys& keys = {}) {
  read_experts(in, {keys.experts, "num_experts_per_tok", "moe_intermediate_size"}, m);
  read_shared_experts(in, keys.shared, defaults, m);
  m.moe.n_dense_layers = size_or_told(in, "model.moe.n_dense_layers", "first_k_dense_replace", defaults.dense_layers);
  if (!in.failed() && m.moe.n_dense_layers > m.n_layers)
    in.fail("first_k_dense_replace", engine::say("error.config.more_layers"),
            engine::say("error.config.at_most", m.n_layers));
  if (in.count("n_group", 1, kMany) > 1) {
    m.moe.n_expert_groups = in.count("n_group", 1, kMany);
    m.moe.groups_per_token = in.count("topk_group", 1, m.moe.n_expert_groups);
  }
  if (in.count("moe_layer_freq", 1, kMany) != 1) in.fail("moe_layer_freq", engine::say("error.config.only", 1));
}

void read_latent(HfReader& in, TransformerShape& m) {
  m.mla.kv_lora_rank = in.size("model.mla.kv_lora_rank", "kv_lora_rank", std::nullopt);
  m.mla.q_lora_rank = in.size("model.mla.q_lora_rank", "q_lora_rank", 0);
  if (!in.has("q_lora_rank")) in.note("q_lora_rank is not given: queries are projected directly");
  m.mla.qk_nope_head_dim = in.size("model.mla.qk_nope_head_dim", "qk_nope_head_dim", std::nullopt);
  m.mla.qk_rope_head_dim = in.size("model.mla.qk_rope_head_dim", "qk_rope_head_dim", std::nullopt);
  m.mla.v_head_dim = in.size("model.mla.v_head_dim", "v_head_dim", std::nullopt);
  m.n_kv_heads = m.n_heads;
  m.d_head = std::max(1, m.mla.v_head_dim);
  if (in.flag("attention_bias", false)) in.note("attention_bias: biases of the latent projections are left out");
}

int window_of(HfReader& in, const HfDefaults& defaults, const TransformerShape& m) {
  // A key that says null has no window; one that is missing has the class's.
  if (in.is_null("sliding_window")) return 0;
  const int window = in.size("model.local_attention.window_tokens", "sliding_window", defaults.window);
  return m.max_context_tokens > 0 && window >= m.max_context_tokens ? 0 : window;
}

void refuse_true(HfReader& in, std::string_view key) {
  if (in.flag(key, false)) in.fail(key, engine::say("error.config.unsupported", std::string("true")));
}

void set_window(TransformerShape& m, int window, int layers) {
  if (window > 0 && layers > 0) m.local_attention = {window, layers};
}

}  // namespace

// ---- experts ----

void mixtral_experts(HfReader& in, const HfDefaults&, TransformerShape& m) {
  read_experts(in, {"num_local_experts", "num_experts_per_tok", "intermediate_size"}, m);
}

void olmoe_experts(HfReader& in, const HfDefaults&, TransformerShape& m) {
  read_experts(in, {"num_experts", "num_experts_per_tok", "intermediate_size"}, m);
}

void gpt_oss_experts(HfReader& in, const HfDefaults&, TransformerShape& m) {
  read_experts(in, {"num_local_experts", "num_experts_per_tok|experts_per_token", "intermediate_size"}, m);
  m.moe.router_bias = true;
}

// Every decoder_sparse_step-th layer has experts, but those that mlp_only_layers names.
void qwen_experts(HfReader& in, const HfDefaults&, TransformerShape& m) {
  read_experts(in, {"num_experts|num_local_experts", "num_experts_per_tok", "moe_intermediate_size"}, m);
  const int step = std::max(1, in.count("decoder_sparse_step", 1, kMany));
  const Json* dense = in.list("mlp_only_layers");
  count_dense_layers(m, [&](int layer) { return !names(dense, layer) && (layer + 1) % step == 0; });
}

void dbrx_experts(HfReader& in, const HfDefaults&, TransformerShape& m) {
  read_experts(in, {"ffn_config.moe_num_experts", "ffn_config.moe_top_k", "ffn_config.ffn_hidden_size"}, m);
}

// One shared expert, of the width of the others. The layers that have experts are named, or every so many.
void llama4_experts(HfReader& in, const HfDefaults&, TransformerShape& m) {
  read_experts(in, {"num_local_experts", "num_experts_per_tok", "intermediate_size"}, m);
  m.moe.n_shared_experts = 1;
  const Json* with_experts = in.list("moe_layers");
  const int step = std::max(1, in.count("interleave_moe_layer_step", 1, kMany));
  count_dense_layers(
      m, [&](int layer) { return with_experts != nullptr ? names(with_experts, layer) : (layer + 1) % step == 0; });
}

// Layers from a first to a last one have experts, or every so many of them; with a correction for each expert.
void ernie_experts(HfReader& in, const HfDefaults& defaults, TransformerShape& m) {
  read_experts(in, {"moe_num_experts", "moe_k", "moe_intermediate_size"}, m);
  read_shared_experts(in, "moe_num_shared_experts", defaults, m);
  m.moe.router_bias = true;
  const int first = in.count("moe_layer_start_index", 1, kMany);
  const int step = std::max(1, in.count("moe_layer_interval", 1, kMany));
  const bool to_the_end = in.is("moe_layer_end_index", -1);
  const int last = to_the_end ? m.n_layers - 1 : in.count("moe_layer_end_index", m.n_layers - 1, kMany);
  count_dense_layers(m, [&](int layer) { return layer >= first && layer <= last && (layer + 1) % step == 0; });
}

// One shared expert of the width of the others, in every layer.
void hunyuan_experts(HfReader& in, const HfDefaults& defaults, TransformerShape& m) {
  read_experts(in, {"num_experts", "moe_topk", "moe_intermediate_size|intermediate_size"}, m);
  read_shared_experts(in, "num_shared_expert", defaults, m);
}

void qwen2_experts(HfReader& in, const HfDefaults& defaults, TransformerShape& m) {
  qwen_experts(in, defaults, m);
  const int shared = in.count("shared_expert_intermediate_size", 0, kMany);
  if (in.failed() || shared == 0) return;
  if (m.moe.d_ff_expert < 1 || shared % m.moe.d_ff_expert != 0)
    return in.fail("shared_expert_intermediate_size", engine::say("error.config.shared", shared));
  m.moe.n_shared_experts = shared / m.moe.d_ff_expert;
  m.moe.shared_expert_gate = true;
}

void deepseek_experts(HfReader& in, const HfDefaults& defaults, TransformerShape& m) {
  read_deepseek_experts(in, defaults, m);
}

void deepseek_v2(HfReader& in, const HfDefaults& defaults, TransformerShape& m) {
  read_latent(in, m);
  read_deepseek_experts(in, defaults, m);
}

void deepseek_v3(HfReader& in, const HfDefaults& defaults, TransformerShape& m) {
  deepseek_v2(in, defaults, m);
  const std::string method = in.text("topk_method");
  m.moe.router_bias = method.empty() || method == "noaux_tc";  // a correction for each expert
}

// With a correction for each expert.
void corrected_experts(HfReader& in, const HfDefaults& defaults, TransformerShape& m) {
  read_deepseek_experts(in, defaults, m);
  m.moe.router_bias = true;
}

void bailing_experts(HfReader& in, const HfDefaults& defaults, TransformerShape& m) {
  read_deepseek_experts(in, defaults, m, {"num_experts", "num_shared_experts"});
  m.moe.router_bias = in.flag("moe_router_enable_expert_bias", false);
}

void minimax_experts(HfReader& in, const HfDefaults&, TransformerShape& m) {
  read_experts(in, {"num_local_experts", "num_experts_per_tok", "intermediate_size"}, m);
  m.moe.router_bias = in.flag("use_routing_bias", true);
  if (in.count("shared_intermediate_size", 0, kMany) != 0)
    in.fail("shared_intermediate_size", engine::say("error.config.only", 0));
}

// ---- windows ----

void all_local(HfReader& in, const HfDefaults& defaults, TransformerShape& m) {
  set_window(m, window_of(in, defaults, m), m.n_layers);
}

void every_other_local(HfReader& in, const HfDefaults& defaults, TransformerShape& m) {
  set_window(m, window_of(in, defaults, m), (m.n_layers + 1) / 2);  // the first, third ...
}

// The last of every group of layers is global.
void groups_local(HfReader& in, const HfDefaults& defaults, TransformerShape& m) {
  const int group =
      std::max(1, in.count("sliding_window_pattern|_sliding_window_pattern", defaults.window_group, kMany));
  set_window(m, window_of(in, defaults, m), m.n_layers - m.n_layers / group);
}

// Chunks within which a query sees what came before it: windows, of which a query sees half on average. Layers that
// rotate positions have them; every so many does not.
void chunks_local(HfReader& in, const HfDefaults&, TransformerShape& m) {
  if (in.is_null("attention_chunk_size")) return;
  const int chunk = in.size("model.local_attention.window_tokens", "attention_chunk_size", 8192);
  const Json* rotating = in.list("no_rope_layers");
  const int group = std::max(1, in.count("no_rope_layer_interval", 4, kMany));
  int layers = m.n_layers - m.n_layers / group;
  if (rotating != nullptr && !rotating->empty())
    layers = static_cast<int>(std::count(rotating->begin(), rotating->end(), Json(1)));
  set_window(m, chunk, std::min(layers, m.n_layers));
  if (m.has_local_layers() && chunk < m.max_context_tokens)
    in.note("attention_chunk_size: chunks of " + std::to_string(chunk) + " tokens are counted as windows of so many");
}

// A pattern of letters for local and global layers, or a number as in groups_local; the last layer is global.
void lettered_local(HfReader& in, const HfDefaults& defaults, TransformerShape& m) {
  if (in.has("layer_types")) return;
  const std::string letters = in.text("sliding_window_pattern");
  if (letters.empty()) return groups_local(in, defaults, m);
  int local = 0;
  for (int layer = 0; layer + 1 < m.n_layers; ++layer)
    local += letters[static_cast<std::size_t>(layer) % letters.size()] == 'L';
  set_window(m, window_of(in, defaults, m), local);
}

// Layers from max_window_layers on, if windows are used at all.
void late_local(HfReader& in, const HfDefaults& defaults, TransformerShape& m) {
  if (!in.flag("use_sliding_window", false)) return;
  const int global = in.count("max_window_layers", m.n_layers, kMany);
  set_window(m, window_of(in, defaults, m), std::max(0, m.n_layers - global));
}

// ---- what else is particular ----

void learned_positions(HfReader&, const HfDefaults&, TransformerShape& m) {
  m.learned_positions = m.max_context_tokens;
}

void opt_positions(HfReader& in, const HfDefaults&, TransformerShape& m) {
  m.learned_positions = m.max_context_tokens + 2;  // two rows that padding takes
  if (in.has("word_embed_proj_dim") && in.count("word_embed_proj_dim", 0, kMany) != m.d_model)
    in.fail("word_embed_proj_dim", engine::say("error.config.word_embed"));
  if (!in.flag("do_layer_norm_before", true))
    in.fail("do_layer_norm_before", engine::say("error.config.only", std::string("true")));
}

void mosaic_attention(HfReader& in, const HfDefaults&, TransformerShape& m) {
  m.d_ff = in.count("expansion_ratio", 4, 1024) * m.d_model;
  if (in.text("attn_config.attn_type") == "multiquery_attention") m.n_kv_heads = 1;
  if (!in.flag("attn_config.alibi", true) && in.flag("learned_pos_emb", true))
    m.learned_positions = m.max_context_tokens;
  refuse_true(in, "attn_config.qk_ln");
  refuse_true(in, "attn_config.qk_gn");
}

void without_vision(HfReader& in, const HfDefaults&, TransformerShape&) {
  if (in.has("vision_config")) in.note("vision_config is left out");
}

void bloom_norm(HfReader&, const HfDefaults&, TransformerShape& m) { m.embedding_norm = 1; }

void one_kv_head(HfReader& in, const HfDefaults&, TransformerShape& m) {
  if (in.flag("multi_query", true)) m.n_kv_heads = 1;
}

void falcon_heads(HfReader& in, const HfDefaults& defaults, TransformerShape& m) {
  const bool parallel = in.flag("parallel_attn", true);
  if (in.flag("new_decoder_architecture", false)) {  // num_kv_heads means nothing without it
    m.n_kv_heads = in.size("model.n_kv_heads", "num_kv_heads|n_head_kv", m.n_heads);
    m.norms_per_layer = in.count("num_ln_in_parallel_attn", 2, 2);
  } else {
    one_kv_head(in, defaults, m);
    m.norms_per_layer = parallel ? 1 : 2;
  }
}

void stablelm_norms(HfReader& in, const HfDefaults&, TransformerShape& m) {
  refuse_true(in, "qk_layernorm");
  if (in.flag("use_parallel_residual", false)) m.norms_per_layer = 1;
}

void no_query_norms(HfReader& in, const HfDefaults&, TransformerShape&) { refuse_true(in, "qk_layernorm"); }

}  // namespace roofscape::io
