// The model types of Hugging Face that Roofscape reads: keys, defaults of the class, and parts no key speaks of. From
// the configuration classes of transformers; what the defaults mean in parameters is checked in
// tests/engine/io/hf_config_test.cpp.
#include "engine/io/huggingface/hf_steps.h"

namespace roofscape::io {
namespace {

using engine::TransformerShape;
using M = TransformerShape;

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
constexpr HfKeys kMosaic{"n_layers", "d_model", "", "n_heads", "attn_config.kv_n_heads", "", "max_seq_len"};
constexpr HfKeys kDbrx{"n_layers", "d_model",    "ffn_config.ffn_hidden_size", "n_heads", "attn_config.kv_n_heads",
                       "",         "max_seq_len"};
constexpr HfKeys kLlama4{"num_hidden_layers",   "hidden_size", "intermediate_size_mlp",  "num_attention_heads",
                         "num_key_value_heads", "head_dim",    "max_position_embeddings"};

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
constexpr HfFlag kQwen3Vl[] = {kTied, kQkvBias, kOutBias, kHeadNorms};
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
constexpr HfFlag kPhimoe[] = {kUntied, kLayerNorm, kQkvBias, kOutBias, {&M::unembedding_bias, "lm_head_bias", false}};
constexpr HfFlag kErnie[] = {
    kTied, {&M::qkv_bias, "use_bias", false}, {&M::o_bias, "use_bias", false}, {&M::mlp_bias, "use_bias", false}};
constexpr HfFlag kGlm4[] = {kUntied, {&M::qkv_bias, "attention_bias", true}};
constexpr HfFlag kExaone4[] = {kUntied, kHeadNorms};
constexpr HfFlag kNemotron[] = {kUntied, kPlain, kLayerNorm, kQkvBias, kOutBias, {&M::mlp_bias, "mlp_bias", false}};
constexpr HfFlag kArcee[] = {kUntied, kPlain, kQkvBias, kOutBias, {&M::mlp_bias, "mlp_bias", false}};
constexpr HfFlag kMosaicFlags[] = {kTied, kPlain};
constexpr HfFlag kBailing[] = {kUntied, {&M::qkv_bias, "use_qkv_bias", false}, {&M::o_bias, "use_bias", false}};
constexpr HfFlag kBailing2[] = {kUntied,
                                {&M::qkv_bias, "use_qkv_bias", false},
                                {&M::o_bias, "use_bias", false},
                                {&M::qk_norm, "use_qk_norm", true}};
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
    {"deepseek_v3",
     "DeepseekV3ForCausalLM",
     &kCommon,
     {.dense_layers = 3, .shared_experts = 1},
     kNoBias,
     2,
     {deepseek_v3}},
    {"kimi_k2", "", &kCommon, {.dense_layers = 3, .shared_experts = 1}, kNoBias, 2, {deepseek_v3}},
    {"glm4_moe",
     "Glm4MoeForCausalLM",
     &kCommon,
     {.kv_heads = 8, .head_dim = 128, .dense_layers = 1, .shared_experts = 1},
     kGlm4Moe,
     2,
     {corrected_experts}},
    {"minimax_m2", "MiniMaxM2ForCausalLM", &kCommon, {.kv_heads = 8}, kMinimax, 2, {minimax_experts}},
    {"dots1", "Dots1ForCausalLM", &kCommon, {}, kQwen3, 2, {corrected_experts}},
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
    {"baichuan", "BaichuanForCausalLM", &kCommon, {}, kNoBias, 2, {}},
    {"phimoe", "PhiMoEForCausalLM", &kCommon, {.kv_heads = 8}, kPhimoe, 2, {mixtral_experts, all_local}},
    {"dbrx", "DbrxForCausalLM", &kDbrx, {.kv_heads = 1}, kNoBias, 2, {dbrx_experts}},
    {"mpt", "MPTForCausalLM", &kMosaic, {.ff_times_width = 4}, kMosaicFlags, 2, {mosaic_attention}},
    {"llama4_text",
     "Llama4ForCausalLM",
     &kLlama4,
     {.kv_heads = 8, .head_dim = 128},
     kDeepseek,
     2,
     {llama4_experts, chunks_local}},
    {"ernie4_5", "Ernie4_5ForCausalLM", &kCommon, {.kv_heads = 2, .head_dim = 128}, kErnie, 2, {}},
    {"ernie4_5_moe",
     "Ernie4_5_MoeForCausalLM",
     &kCommon,
     {.kv_heads = 4, .shared_experts = 2},
     kErnie,
     2,
     {ernie_experts}},
    {"glm", "GlmForCausalLM", &kCommon, {.kv_heads = 2, .head_dim = 128}, kGlm4, 2, {}},
    {"glm4", "Glm4ForCausalLM", &kCommon, {.kv_heads = 2, .head_dim = 128}, kGlm4, 4, {}},
    {"glm4v_moe_text",
     "",
     &kCommon,
     {.kv_heads = 8, .head_dim = 128, .dense_layers = 1, .shared_experts = 1},
     kGlm4Moe,
     2,
     {corrected_experts}},
    {"olmo3", "Olmo3ForCausalLM", &kCommon, {.window = 4096, .window_group = 4}, kOlmo2, 2, {groups_local}},
    {"exaone4", "Exaone4ForCausalLM", &kCommon, {.window = 4096, .window_group = 4}, kExaone4, 2, {lettered_local}},
    {"nemotron", "NemotronForCausalLM", &kCommon, {}, kNemotron, 2, {}},
    {"granitemoe", "GraniteMoeForCausalLM", &kCommon, {}, kDeepseek, 2, {mixtral_experts}},
    {"arcee", "ArceeForCausalLM", &kCommon, {}, kArcee, 2, {}},
    {"hunyuan_v1_dense", "HunYuanDenseV1ForCausalLM", &kCommon, {}, kQwen3, 2, {}},
    {"hunyuan_v1_moe", "HunYuanMoEV1ForCausalLM", &kCommon, {.shared_experts = 1}, kQwen3, 2, {hunyuan_experts}},
    {"bailing_moe", "BailingMoeForCausalLM", &kCommon, {}, kBailing, 2, {bailing_experts}},
    {"bailing_moe_v2", "BailingMoeV2ForCausalLM", &kCommon, {}, kBailing2, 2, {bailing_experts}},
    {"qwen2_vl",
     "Qwen2VLForConditionalGeneration",
     &kCommon,
     {.kv_heads = 32},
     kQwen2,
     2,
     {late_local, without_vision}},
    {"qwen2_vl_text", "", &kCommon, {.kv_heads = 32}, kQwen2, 2, {late_local}},
    {"qwen2_5_vl",
     "Qwen2_5_VLForConditionalGeneration",
     &kCommon,
     {.kv_heads = 32},
     kQwen2,
     2,
     {late_local, without_vision}},
    {"qwen2_5_vl_text", "", &kCommon, {.kv_heads = 32}, kQwen2, 2, {late_local}},
    {"qwen3_vl_text", "", &kCommon, {.kv_heads = 32, .head_dim = 128}, kQwen3, 2, {}},
    {"qwen3_vl_moe_text", "", &kCommon, {.kv_heads = 16}, kQwen3Vl, 2, {qwen_experts}},
};

}  // namespace

std::span<const HfFamily> hf_families() { return kFamilies; }

}  // namespace roofscape::io
