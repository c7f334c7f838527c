// The model types of Hugging Face that Roofscape reads: keys, defaults of the class, and parts no key speaks of. From
// the configuration classes of transformers; what the defaults mean in parameters is checked in
// tests/engine/io/hf_config_test.cpp.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/io/huggingface/hf_reader.h"

namespace roofscape::io {
namespace {

using engine::TransformerShape;
using M = TransformerShape;

constexpr int kMany = 1 << 24;

constexpr HfKeys kCommon{"num_hidden_layers",   "hidden_size", "intermediate_size",      "num_attention_heads",
                         "num_key_value_heads", "head_dim",    "max_position_embeddings"};
constexpr HfKeys kGpt2{
    "n_layer|num_hidden_layers",          "n_embd|hidden_size", "n_inner", "n_head|num_attention_heads", "", "",
    "n_positions|max_position_embeddings"};
constexpr HfKeys kNeox{"num_hidden_layers",      "hidden_size", "intermediate_size", "num_attention_heads", "", "",
                       "max_position_embeddings"};
constexpr HfKeys kFalcon{
    "num_hidden_layers|n_layer", "hidden_size", "ffn_hidden_size", "num_attention_heads|n_head", "", "",
    "max_position_embeddings"};
constexpr HfKeys kBloom{
    "n_layer|num_hidden_layers", "hidden_size|n_embed", "", "n_head|num_attention_heads", "", "", "seq_length"};
constexpr HfKeys kOpt{"num_hidden_layers",      "hidden_size", "ffn_dim", "num_attention_heads", "", "",
                      "max_position_embeddings"};

// ---- experts ----

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
  read_experts(in, {"num_experts", "num_experts_per_tok", "moe_intermediate_size"}, m);
  const int step = std::max(1, in.count("decoder_sparse_step", 1, kMany));
  const Json* dense = in.list("mlp_only_layers");
  for (int layer = 0; layer < m.n_layers; ++layer) {
    const bool named = dense != nullptr && std::find(dense->begin(), dense->end(), Json(layer)) != dense->end();
    if (!named && (layer + 1) % step == 0) continue;
    if (layer != m.moe.n_dense_layers) m.moe.dense_layers_spread = true;
    ++m.moe.n_dense_layers;
  }
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

void read_deepseek_experts(HfReader& in, TransformerShape& m, int dense_layers, int shared) {
  read_experts(in, {"n_routed_experts", "num_experts_per_tok", "moe_intermediate_size"}, m);
  m.moe.n_shared_experts = in.size("model.moe.n_shared_experts", "n_shared_experts", shared);
  if (!in.has("n_shared_experts")) in.note("n_shared_experts is not given: " + std::to_string(shared));
  m.moe.n_dense_layers = in.size("model.moe.n_dense_layers", "first_k_dense_replace", dense_layers);
  if (!in.has("first_k_dense_replace"))
    in.note("first_k_dense_replace is not given: " + std::to_string(dense_layers));
  if (!in.failed() && m.moe.n_dense_layers > m.n_layers)
    in.fail("first_k_dense_replace", engine::say("error.config.more_layers"),
            engine::say("error.config.at_most", m.n_layers));
  if (in.count("n_group", 1, kMany) > 1) {
    m.moe.n_expert_groups = in.count("n_group", 1, kMany);
    m.moe.groups_per_token = in.count("topk_group", 1, m.moe.n_expert_groups);
  }
  if (in.count("moe_layer_freq", 1, kMany) != 1) in.fail("moe_layer_freq", engine::say("error.config.only", 1));
}

void deepseek_experts(HfReader& in, const HfDefaults&, TransformerShape& m) { read_deepseek_experts(in, m, 0, 0); }

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

void deepseek_v2(HfReader& in, const HfDefaults&, TransformerShape& m) {
  read_latent(in, m);
  read_deepseek_experts(in, m, 0, 0);
}

void deepseek_v3(HfReader& in, const HfDefaults&, TransformerShape& m) {
  read_latent(in, m);
  read_deepseek_experts(in, m, 3, 1);
  const std::string method = in.text("topk_method");
  m.moe.router_bias = method.empty() || method == "noaux_tc";  // a correction for each expert
}

// Of DeepSeek's form, beside attention that is not latent; with a correction for each expert.
template <int dense_layers, int shared>
void corrected_experts(HfReader& in, const HfDefaults&, TransformerShape& m) {
  read_deepseek_experts(in, m, dense_layers, shared);
  m.moe.router_bias = true;
}

void minimax_experts(HfReader& in, const HfDefaults&, TransformerShape& m) {
  read_experts(in, {"num_local_experts", "num_experts_per_tok", "intermediate_size"}, m);
  m.moe.router_bias = in.flag("use_routing_bias", true);
  if (in.count("shared_intermediate_size", 0, kMany) != 0)
    in.fail("shared_intermediate_size", engine::say("error.config.only", 0));
}

// ---- windows ----

int window_of(HfReader& in, const HfDefaults& defaults, const TransformerShape& m) {
  // A key that says null has no window; one that is missing has the class's.
  if (in.is_null("sliding_window")) return 0;
  const int window = in.size("model.local_attention.window_tokens", "sliding_window", defaults.window);
  return m.max_context_tokens > 0 && window >= m.max_context_tokens ? 0 : window;
}

void set_window(TransformerShape& m, int window, int layers) {
  if (window > 0 && layers > 0) m.local_attention = {window, layers};
}

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
  if (in.flag("qk_layernorm", false))
    in.fail("qk_layernorm", engine::say("error.config.unsupported", std::string("true")));
  if (in.flag("use_parallel_residual", false)) m.norms_per_layer = 1;
}

void no_query_norms(HfReader& in, const HfDefaults&, TransformerShape&) {
  if (in.flag("qk_layernorm", false))
    in.fail("qk_layernorm", engine::say("error.config.unsupported", std::string("true")));
}

// ---- flags ----

constexpr HfFlag kUntied{&M::tied_embeddings, "tie_word_embeddings", false};
constexpr HfFlag kTied{&M::tied_embeddings, "tie_word_embeddings", true};
constexpr HfFlag kPlain{&M::gated_mlp, "", false};
constexpr HfFlag kLayerNorm{&M::layernorm_bias, "", true};
constexpr HfFlag kHeadNorms{&M::qk_norm, "", true};
constexpr HfFlag kAllHeads{&M::qk_norm_all_heads, "", true};
constexpr HfFlag kQkvBias{&M::qkv_bias, "attention_bias", false};
constexpr HfFlag kOutBias{&M::o_bias, "attention_bias", false};
constexpr HfFlag kHasQkvBias{&M::qkv_bias, "", true};
constexpr HfFlag kHasOutBias{&M::o_bias, "", true};
constexpr HfFlag kHasMlpBias{&M::mlp_bias, "", true};

constexpr HfFlag kLlama[] = {kUntied, kQkvBias, kOutBias, {&M::mlp_bias, "mlp_bias", false}};
constexpr HfFlag kNoBias[] = {kUntied};
constexpr HfFlag kQwen2[] = {kUntied, kHasQkvBias};
constexpr HfFlag kQwen2Moe[] = {kUntied, {&M::qkv_bias, "qkv_bias", true}};
constexpr HfFlag kQwen3[] = {kUntied, kQkvBias, kOutBias, kHeadNorms};
constexpr HfFlag kGlm4Moe[] = {kUntied, kQkvBias, {&M::qk_norm, "use_qk_norm", false}};
constexpr HfFlag kMinimax[] = {kUntied, {&M::qk_norm, "use_qk_norm", true}, kAllHeads};
constexpr HfFlag kSeed[] = {kUntied,
                            {&M::qkv_bias, "attention_bias", true},
                            {&M::o_bias, "attention_out_bias", false},
                            {&M::mlp_bias, "mlp_bias", false}};
constexpr HfFlag kSmollm3[] = {kTied, kQkvBias, kOutBias, {&M::mlp_bias, "mlp_bias", false}};
constexpr HfFlag kGemma[] = {kTied, kQkvBias, kOutBias};
constexpr HfFlag kGemma3[] = {kTied, kQkvBias, kOutBias, kHeadNorms};
constexpr HfFlag kDeepseek[] = {kUntied, kQkvBias, kOutBias};
constexpr HfFlag kGptOss[] = {kUntied,
                              {&M::qkv_bias, "attention_bias", true},
                              {&M::o_bias, "attention_bias", true},
                              kHasMlpBias,
                              {&M::attn_sinks, "", true}};
constexpr HfFlag kGpt2Flags[] = {kTied, kPlain, kLayerNorm, kHasQkvBias, kHasOutBias, kHasMlpBias};
constexpr HfFlag kGptJ[] = {kUntied, kPlain, kLayerNorm, kHasMlpBias, {&M::unembedding_bias, "", true}};
constexpr HfFlag kNeoxFlags[] = {
    kUntied,    kPlain, kLayerNorm, {&M::qkv_bias, "attention_bias", true}, {&M::o_bias, "attention_bias", true},
    kHasMlpBias};
constexpr HfFlag kFalconFlags[] = {kTied,
                                   kPlain,
                                   kLayerNorm,
                                   {&M::qkv_bias, "bias", false},
                                   {&M::o_bias, "bias", false},
                                   {&M::mlp_bias, "bias", false}};
constexpr HfFlag kPhi[] = {
    kUntied, kPlain, kLayerNorm, kHasQkvBias, kHasOutBias, kHasMlpBias, {&M::unembedding_bias, "", true}};
constexpr HfFlag kStarcoder2[] = {kTied,
                                  kPlain,
                                  kLayerNorm,
                                  {&M::qkv_bias, "use_bias", true},
                                  {&M::o_bias, "use_bias", true},
                                  {&M::mlp_bias, "use_bias", true}};
constexpr HfFlag kOlmo2[] = {kUntied, kQkvBias, kOutBias, kHeadNorms, kAllHeads};
constexpr HfFlag kCohere[] = {kTied, kQkvBias, kOutBias, {&M::qk_norm, "use_qk_norm", false}, kAllHeads};
constexpr HfFlag kCohere2[] = {kTied, kQkvBias, kOutBias};
constexpr HfFlag kStablelm[] = {kUntied, kLayerNorm, {&M::qkv_bias, "use_qkv_bias", false}};
constexpr HfFlag kInternlm2[] = {kUntied, {&M::qkv_bias, "bias", false}, {&M::o_bias, "bias", false}};
constexpr HfFlag kOptFlags[] = {kTied,
                                kPlain,
                                kLayerNorm,
                                {&M::qkv_bias, "enable_bias", true},
                                {&M::o_bias, "enable_bias", true},
                                {&M::mlp_bias, "enable_bias", true}};

// heads, kv_heads, head_dim, vocab, ff as a multiple of the width, window
constexpr HfFamily kFamilies[] = {
    {"llama", "LlamaForCausalLM", &kCommon, {}, kLlama, 2, {}},
    {"mistral", "MistralForCausalLM", &kCommon, {.kv_heads = 8, .window = 4096}, kNoBias, 2, {all_local}},
    {"mixtral", "MixtralForCausalLM", &kCommon, {.kv_heads = 8}, kNoBias, 2, {mixtral_experts, all_local}},
    {"qwen2", "Qwen2ForCausalLM", &kCommon, {.kv_heads = 32}, kQwen2, 2, {late_local}},
    {"qwen2_moe", "Qwen2MoeForCausalLM", &kCommon, {.kv_heads = 16}, kQwen2Moe, 2, {qwen2_experts, late_local}},
    {"qwen3", "Qwen3ForCausalLM", &kCommon, {.kv_heads = 32, .head_dim = 128}, kQwen3, 2, {late_local}},
    {"qwen3_moe", "Qwen3MoeForCausalLM", &kCommon, {.kv_heads = 4}, kQwen3, 2, {qwen_experts, late_local}},
    {"gemma", "GemmaForCausalLM", &kCommon, {.kv_heads = 16, .head_dim = 256}, kGemma, 2, {}},
    {"gemma2",
     "Gemma2ForCausalLM",
     &kCommon,
     {.kv_heads = 4, .head_dim = 256, .window = 4096},
     kGemma,
     4,
     {every_other_local}},
    {"gemma3_text",
     "Gemma3ForCausalLM",
     &kCommon,
     {.heads = 8, .kv_heads = 4, .head_dim = 256, .vocab = 262208, .window = 4096},
     kGemma3,
     4,
     {groups_local}},
    {"deepseek", "DeepseekForCausalLM", &kCommon, {}, kDeepseek, 2, {deepseek_experts}},
    {"deepseek_v2", "DeepseekV2ForCausalLM", &kCommon, {}, kNoBias, 2, {deepseek_v2}},
    {"deepseek_v3", "DeepseekV3ForCausalLM", &kCommon, {}, kNoBias, 2, {deepseek_v3}},
    {"kimi_k2", "", &kCommon, {}, kNoBias, 2, {deepseek_v3}},
    {"glm4_moe",
     "Glm4MoeForCausalLM",
     &kCommon,
     {.kv_heads = 8, .head_dim = 128},
     kGlm4Moe,
     2,
     {corrected_experts<1, 1>}},
    {"minimax_m2", "MiniMaxM2ForCausalLM", &kCommon, {.kv_heads = 8}, kMinimax, 2, {minimax_experts}},
    {"dots1", "Dots1ForCausalLM", &kCommon, {}, kQwen3, 2, {corrected_experts<0, 0>}},
    {"seed_oss", "SeedOssForCausalLM", &kCommon, {.kv_heads = 8, .head_dim = 128}, kSeed, 2, {}},
    {"smollm3", "SmolLM3ForCausalLM", &kCommon, {.kv_heads = 4}, kSmollm3, 2, {}},
    {"gpt_oss",
     "GptOssForCausalLM",
     &kCommon,
     {.kv_heads = 8, .head_dim = 64, .window = 128},
     kGptOss,
     2,
     {gpt_oss_experts, every_other_local}},
    {"gpt2", "GPT2LMHeadModel", &kGpt2, {.ff_times_width = 4}, kGpt2Flags, 2, {learned_positions}},
    {"gpt_bigcode",
     "GPTBigCodeForCausalLM",
     &kGpt2,
     {.ff_times_width = 4},
     kGpt2Flags,
     2,
     {learned_positions, one_kv_head}},
    {"gptj", "GPTJForCausalLM", &kGpt2, {.ff_times_width = 4}, kGptJ, 1, {}},
    {"gpt_neox", "GPTNeoXForCausalLM", &kNeox, {}, kNeoxFlags, 2, {}},
    {"falcon", "FalconForCausalLM", &kFalcon, {.ff_times_width = 4}, kFalconFlags, 1, {falcon_heads}},
    {"bloom", "BloomForCausalLM", &kBloom, {.ff_times_width = 4}, kGpt2Flags, 2, {bloom_norm}},
    {"opt", "OPTForCausalLM", &kOpt, {}, kOptFlags, 2, {opt_positions}},
    {"phi", "PhiForCausalLM", &kCommon, {}, kPhi, 1, {no_query_norms}},
    {"phi3", "Phi3ForCausalLM", &kCommon, {}, kNoBias, 2, {all_local}},
    {"starcoder2", "Starcoder2ForCausalLM", &kCommon, {.kv_heads = 2}, kStarcoder2, 2, {all_local}},
    {"olmo2", "Olmo2ForCausalLM", &kCommon, {}, kOlmo2, 2, {}},
    {"olmoe", "OlmoeForCausalLM", &kCommon, {}, kOlmo2, 2, {olmoe_experts}},
    {"cohere", "CohereForCausalLM", &kCommon, {}, kCohere, 1, {}},
    {"cohere2", "Cohere2ForCausalLM", &kCommon, {.window = 4096, .window_group = 4}, kCohere2, 1, {groups_local}},
    {"granite", "GraniteForCausalLM", &kCommon, {}, kLlama, 2, {}},
    {"stablelm", "StableLmForCausalLM", &kCommon, {.kv_heads = 32}, kStablelm, 2, {stablelm_norms}},
    {"internlm2", "InternLM2ForCausalLM", &kCommon, {}, kInternlm2, 2, {}},
};

}  // namespace

std::span<const HfFamily> hf_families() { return kFamilies; }

}  // namespace roofscape::io
