// Configs of Hugging Face, one of each family, as models: counted to the last parameter, so that a default of a class
// that is wrong shows; and configs that must not become a model.
#include <doctest/doctest.h>

#include <regex>

#include "engine/evaluate/evaluate.h"
#include "engine/io/huggingface/hf_config.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/model/parameters.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/english.h"

namespace roofscape {
namespace {

struct Counted {
  const char* name;
  double total, active;
  const char* config;  // the keys that shape the model; LAYERS stands for a list of alternating layers
};
constexpr Counted kCounted[] = {
    {"llama-2-13b", 13015864320, 13015864320,
     R"({"model_type": "llama", "hidden_size": 5120, "intermediate_size": 13824, "max_position_embeddings": 4096, )"
     R"("num_attention_heads": 40, "num_hidden_layers": 40, "num_key_value_heads": 40, "tie_word_embeddings": false, )"
     R"("vocab_size": 32000})"},
    {"llama-2-70b", 68976648192, 68976648192,
     R"({"model_type": "llama", "hidden_size": 8192, "intermediate_size": 28672, "max_position_embeddings": 4096, )"
     R"("num_attention_heads": 64, "num_hidden_layers": 80, "num_key_value_heads": 8, "tie_word_embeddings": false, )"
     R"("vocab_size": 32000})"},
    {"llama-3-8b", 8030261248, 8030261248,
     R"({"model_type": "llama", "attention_bias": false, "hidden_size": 4096, "intermediate_size": 14336, )"
     R"("max_position_embeddings": 8192, "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, )"
     R"("tie_word_embeddings": false, "vocab_size": 128256})"},
    {"llama-3.1-405b", 405853388800, 405853388800,
     R"({"model_type": "llama", "attention_bias": false, "hidden_size": 16384, "intermediate_size": 53248, )"
     R"("max_position_embeddings": 131072, "mlp_bias": false, "num_attention_heads": 128, "num_hidden_layers": 126, )"
     R"("num_key_value_heads": 8, "tie_word_embeddings": false, "vocab_size": 128256})"},
    {"llama-3.2-1b", 1235814400, 1235814400,
     R"({"model_type": "llama", "attention_bias": false, "head_dim": 64, "hidden_size": 2048, )"
     R"("intermediate_size": 8192, "max_position_embeddings": 131072, "mlp_bias": false, "num_attention_heads": 32, )"
     R"("num_hidden_layers": 16, "num_key_value_heads": 8, "tie_word_embeddings": true, "vocab_size": 128256})"},
    {"mistral-7b-v0.2", 7241732096, 7241732096,
     R"({"model_type": "mistral", "hidden_size": 4096, "intermediate_size": 14336, "max_position_embeddings": 32768, )"
     R"("num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "sliding_window": null, )"
     R"("tie_word_embeddings": false, "vocab_size": 32000})"},
    {"mixtral-8x7b", 46702792704, 12879925248,
     R"({"model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336, "max_position_embeddings": 32768, )"
     R"("num_attention_heads": 32, "num_experts_per_tok": 2, "num_hidden_layers": 32, "num_key_value_heads": 8, )"
     R"("num_local_experts": 8, "sliding_window": null, "tie_word_embeddings": false, "vocab_size": 32000})"},
    {"mixtral-8x22b", 140620634112, 39152031744,
     R"({"model_type": "mixtral", "hidden_size": 6144, "intermediate_size": 16384, "max_position_embeddings": 65536, )"
     R"("num_attention_heads": 48, "num_experts_per_tok": 2, "num_hidden_layers": 56, "num_key_value_heads": 8, )"
     R"("num_local_experts": 8, "sliding_window": null, "tie_word_embeddings": false, "vocab_size": 32000})"},
    {"qwen3-0.6b", 596049920, 596049920,
     R"({"model_type": "qwen3", "attention_bias": false, "head_dim": 128, "hidden_size": 1024, )"
     R"("intermediate_size": 3072, "max_position_embeddings": 40960, "max_window_layers": 28, )"
     R"("num_attention_heads": 16, "num_hidden_layers": 28, "num_key_value_heads": 8, "sliding_window": null, )"
     R"("tie_word_embeddings": true, "use_sliding_window": false, "vocab_size": 151936})"},
    {"qwen3-8b", 8190735360, 8190735360,
     R"({"model_type": "qwen3", "attention_bias": false, "head_dim": 128, "hidden_size": 4096, )"
     R"("intermediate_size": 12288, "max_position_embeddings": 40960, "max_window_layers": 36, )"
     R"("num_attention_heads": 32, "num_hidden_layers": 36, "num_key_value_heads": 8, "sliding_window": null, )"
     R"("tie_word_embeddings": false, "use_sliding_window": false, "vocab_size": 151936})"},
    {"qwen3-30b-a3b", 30532122624, 3353032704,
     R"({"model_type": "qwen3_moe", "attention_bias": false, "decoder_sparse_step": 1, "head_dim": 128, )"
     R"("hidden_size": 2048, "intermediate_size": 6144, "max_position_embeddings": 40960, "max_window_layers": 48, )"
     R"("mlp_only_layers": [], "moe_intermediate_size": 768, "num_attention_heads": 32, "num_experts": 128, )"
     R"("num_experts_per_tok": 8, "num_hidden_layers": 48, "num_key_value_heads": 4, "sliding_window": null, )"
     R"("tie_word_embeddings": false, "use_sliding_window": false, "vocab_size": 151936})"},
    {"glm-4.5", 352797829024, 33632266144,
     R"({"model_type": "glm4_moe", "attention_bias": true, "first_k_dense_replace": 3, "head_dim": 128, )"
     R"("hidden_size": 5120, "intermediate_size": 12288, "max_position_embeddings": 131072, )"
     R"("moe_intermediate_size": 1536, "n_group": 1, "n_routed_experts": 160, "n_shared_experts": 1, )"
     R"("num_attention_heads": 96, "num_experts_per_tok": 8, "num_hidden_layers": 92, "num_key_value_heads": 8, )"
     R"("tie_word_embeddings": false, "topk_group": 1, "use_qk_norm": true, "vocab_size": 151552})"},
    {"glm-4.5-air", 106852251264, 13424129664,
     R"({"model_type": "glm4_moe", "attention_bias": true, "first_k_dense_replace": 1, "head_dim": 128, )"
     R"("hidden_size": 4096, "intermediate_size": 10944, "max_position_embeddings": 131072, )"
     R"("moe_intermediate_size": 1408, "n_group": 1, "n_routed_experts": 128, "n_shared_experts": 1, )"
     R"("num_attention_heads": 96, "num_experts_per_tok": 8, "num_hidden_layers": 46, "num_key_value_heads": 8, )"
     R"("tie_word_embeddings": false, "topk_group": 1, "use_qk_norm": false, "vocab_size": 151552})"},
    {"minimax-m2", 228689764864, 11030553088,
     R"({"model_type": "minimax_m2", "head_dim": 128, "hidden_size": 3072, "intermediate_size": 1536, )"
     R"("max_position_embeddings": 196608, "num_attention_heads": 48, "num_experts_per_tok": 8, )"
     R"("num_hidden_layers": 62, "num_key_value_heads": 8, "num_local_experts": 256, "shared_intermediate_size": 0, )"
     R"("tie_word_embeddings": false, "use_qk_norm": true, "use_routing_bias": true, "vocab_size": 200064})"},
    {"dots.llm1", 142774381696, 14016588928,
     R"({"model_type": "dots1", "attention_bias": false, "first_k_dense_replace": 1, "hidden_size": 4096, )"
     R"("intermediate_size": 10944, "max_position_embeddings": 32768, "moe_intermediate_size": 1408, "n_group": 1, )"
     R"("n_routed_experts": 128, "n_shared_experts": 2, "num_attention_heads": 32, "num_experts_per_tok": 6, )"
     R"("num_hidden_layers": 62, "num_key_value_heads": 32, "tie_word_embeddings": false, "topk_group": 1, )"
     R"("vocab_size": 152064})"},
    {"seed-oss-36b", 36151104512, 36151104512,
     R"({"model_type": "seed_oss", "attention_bias": true, "attention_out_bias": false, "head_dim": 128, )"
     R"("hidden_size": 5120, "intermediate_size": 27648, "max_position_embeddings": 524288, "mlp_bias": false, )"
     R"("num_attention_heads": 80, "num_hidden_layers": 64, "num_key_value_heads": 8, "tie_word_embeddings": false, )"
     R"("vocab_size": 155136})"},
    {"smollm3-3b", 3075098624, 3075098624,
     R"({"model_type": "smollm3", "attention_bias": false, "hidden_size": 2048, "intermediate_size": 11008, )"
     R"("max_position_embeddings": 65536, "mlp_bias": false, "num_attention_heads": 16, "num_hidden_layers": 36, )"
     R"("num_key_value_heads": 4, "vocab_size": 128256})"},
    {"qwen2.5-3b", 3085938688, 3085938688,
     R"({"model_type": "qwen2", "hidden_size": 2048, "intermediate_size": 11008, "max_position_embeddings": 32768, )"
     R"("max_window_layers": 70, "num_attention_heads": 16, "num_hidden_layers": 36, "num_key_value_heads": 2, )"
     R"("sliding_window": 32768, "tie_word_embeddings": true, "use_sliding_window": false, "vocab_size": 151936})"},
    {"qwen1.5-moe-a2.7b", 14315784192, 2689173504,
     R"({"model_type": "qwen2_moe", "decoder_sparse_step": 1, "hidden_size": 2048, "intermediate_size": 5632, )"
     R"("max_position_embeddings": 32768, "max_window_layers": 21, "moe_intermediate_size": 1408, )"
     R"("num_attention_heads": 16, "num_experts": 60, "num_experts_per_tok": 4, "num_hidden_layers": 24, )"
     R"("num_key_value_heads": 16, "shared_expert_intermediate_size": 5632, "sliding_window": 32768, )"
     R"("tie_word_embeddings": false, "use_sliding_window": false, "vocab_size": 151936})"},
    {"deepseek-v3", 671026419200, 37552297472,
     R"({"model_type": "deepseek_v3", "attention_bias": false, "first_k_dense_replace": 3, "hidden_size": 7168, )"
     R"("intermediate_size": 18432, "kv_lora_rank": 512, "max_position_embeddings": 163840, )"
     R"("moe_intermediate_size": 2048, "moe_layer_freq": 1, "n_routed_experts": 256, "n_shared_experts": 1, )"
     R"("num_attention_heads": 128, "num_experts_per_tok": 8, "num_hidden_layers": 61, "num_key_value_heads": 128, )"
     R"("num_nextn_predict_layers": 1, "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, )"
     R"("tie_word_embeddings": false, "topk_method": "noaux_tc", "v_head_dim": 128, "vocab_size": 129280})"},
    {"deepseek-v2-lite", 15706484224, 2661150208,
     R"({"model_type": "deepseek_v2", "attention_bias": false, "first_k_dense_replace": 1, "hidden_size": 2048, )"
     R"("intermediate_size": 10944, "kv_lora_rank": 512, "max_position_embeddings": 163840, )"
     R"("moe_intermediate_size": 1408, "moe_layer_freq": 1, "n_routed_experts": 64, "n_shared_experts": 2, )"
     R"("num_attention_heads": 16, "num_experts_per_tok": 6, "num_hidden_layers": 27, "num_key_value_heads": 16, )"
     R"("qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "topk_method": "greedy", "v_head_dim": 128, )"
     R"("vocab_size": 102400})"},
    {"deepseek-moe-16b", 16375728128, 2828650496,
     R"({"model_type": "deepseek", "attention_bias": false, "first_k_dense_replace": 1, "hidden_size": 2048, )"
     R"("intermediate_size": 10944, "max_position_embeddings": 4096, "moe_intermediate_size": 1408, )"
     R"("moe_layer_freq": 1, "n_routed_experts": 64, "n_shared_experts": 2, "num_attention_heads": 16, )"
     R"("num_experts_per_tok": 6, "num_hidden_layers": 28, "num_key_value_heads": 16, "tie_word_embeddings": false, )"
     R"("vocab_size": 102400})"},
    {"gpt-oss-20b", 20914757184, 4187440704,
     R"({"model_type": "gpt_oss", "attention_bias": true, "experts_per_token": 4, "head_dim": 64, "hidden_size": 2880, )"
     R"("intermediate_size": 2880, "max_position_embeddings": 131072, "num_attention_heads": 64, )"
     R"("num_experts_per_tok": 4, "num_hidden_layers": 24, "num_key_value_heads": 8, "num_local_experts": 32, )"
     R"("sliding_window": 128, "tie_word_embeddings": false, "vocab_size": 201088, "layer_types": LAYERS})"},
    {"gpt-oss-120b", 116829156672, 5711982912,
     R"({"model_type": "gpt_oss", "attention_bias": true, "experts_per_token": 4, "head_dim": 64, "hidden_size": 2880, )"
     R"("intermediate_size": 2880, "max_position_embeddings": 131072, "num_attention_heads": 64, )"
     R"("num_experts_per_tok": 4, "num_hidden_layers": 36, "num_key_value_heads": 8, "num_local_experts": 128, )"
     R"("sliding_window": 128, "tie_word_embeddings": false, "vocab_size": 201088, "layer_types": LAYERS})"},
    {"gemma-2b", 2506172416, 2506172416,
     R"({"model_type": "gemma", "attention_bias": false, "head_dim": 256, "hidden_size": 2048, )"
     R"("intermediate_size": 16384, "max_position_embeddings": 8192, "num_attention_heads": 8, "num_hidden_layers": 18, )"
     R"("num_key_value_heads": 1, "vocab_size": 256000})"},
    {"gemma-2-2b", 2614341888, 2614341888,
     R"({"model_type": "gemma2", "attention_bias": false, "head_dim": 256, "hidden_size": 2304, )"
     R"("intermediate_size": 9216, "max_position_embeddings": 8192, "num_attention_heads": 8, "num_hidden_layers": 26, )"
     R"("num_key_value_heads": 4, "sliding_window": 4096, "vocab_size": 256000})"},
    {"gemma-3-1b", 999885952, 999885952,
     R"({"model_type": "gemma3_text", "attention_bias": false, "head_dim": 256, "hidden_size": 1152, )"
     R"("intermediate_size": 6912, "max_position_embeddings": 32768, "num_attention_heads": 4, "num_hidden_layers": 26, )"
     R"("num_key_value_heads": 1, "sliding_window": 512, "sliding_window_pattern": 6, "vocab_size": 262144})"},
    {"gpt2", 124439808, 124439808,
     R"({"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024, "vocab_size": 50257})"},
    {"gpt2-medium", 354823168, 354823168,
     R"({"model_type": "gpt2", "n_embd": 1024, "n_head": 16, "n_layer": 24, "n_positions": 1024, "vocab_size": 50257})"},
    {"redpajama-incite-3b", 2775864320, 2775864320,
     R"({"model_type": "gpt_neox", "hidden_size": 2560, "intermediate_size": 10240, "max_position_embeddings": 2048, )"
     R"("num_attention_heads": 32, "num_hidden_layers": 32, "tie_word_embeddings": false, )"
     R"("use_parallel_residual": false, "vocab_size": 50432})"},
    {"phi-3.5-mini", 3821079552, 3821079552,
     R"({"model_type": "phi3", "attention_bias": false, "hidden_size": 3072, "intermediate_size": 8192, )"
     R"("max_position_embeddings": 131072, "num_attention_heads": 32, "num_hidden_layers": 32, )"
     R"("num_key_value_heads": 32, "sliding_window": 262144, "tie_word_embeddings": false, "vocab_size": 32064})"},
    {"phi-4-mini", 3836021760, 3836021760,
     R"({"model_type": "phi3", "attention_bias": false, "hidden_size": 3072, "intermediate_size": 8192, )"
     R"("max_position_embeddings": 131072, "mlp_bias": false, "num_attention_heads": 24, "num_hidden_layers": 32, )"
     R"("num_key_value_heads": 8, "sliding_window": 262144, "tie_word_embeddings": true, "vocab_size": 200064})"},
    {"starcoder2-7b", 7173923840, 7173923840,
     R"({"model_type": "starcoder2", "hidden_size": 4608, "intermediate_size": 18432, "max_position_embeddings": 16384, )"
     R"("num_attention_heads": 36, "num_hidden_layers": 32, "num_key_value_heads": 4, "sliding_window": 4096, )"
     R"("use_bias": true, "vocab_size": 49152})"},
    {"aya-23-8b", 8028033024, 8028033024,
     R"({"model_type": "cohere", "attention_bias": false, "hidden_size": 4096, "intermediate_size": 14336, )"
     R"("max_position_embeddings": 8192, "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, )"
     R"("use_qk_norm": false, "vocab_size": 256000})"},
    {"olmo-2-7b", 7298617344, 7298617344,
     R"({"model_type": "olmo2", "hidden_size": 4096, "intermediate_size": 11008, "max_position_embeddings": 4096, )"
     R"("num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 32, "tie_word_embeddings": false, )"
     R"("vocab_size": 100352})"},
    {"gpt-j-6b", 6050882784, 6050882784,
     R"({"model_type": "gptj", "n_embd": 4096, "n_head": 16, "n_inner": null, "n_layer": 28, "n_positions": 2048, )"
     R"("tie_word_embeddings": false, "vocab_size": 50400})"},
    {"tinyllama-1.1b", 1100048384, 1100048384,
     R"({"model_type": "llama", "attention_bias": false, "hidden_size": 2048, "intermediate_size": 5632, )"
     R"("max_position_embeddings": 2048, "num_attention_heads": 32, "num_hidden_layers": 22, "num_key_value_heads": 4, )"
     R"("tie_word_embeddings": false, "vocab_size": 32000})"},
    {"smollm2-135m", 134515008, 134515008,
     R"({"model_type": "llama", "attention_bias": false, "hidden_size": 576, "intermediate_size": 1536, )"
     R"("max_position_embeddings": 8192, "mlp_bias": false, "num_attention_heads": 9, "num_hidden_layers": 30, )"
     R"("num_key_value_heads": 3, "tie_word_embeddings": true, "vocab_size": 49152})"},
    {"falcon-7b", 6921720704, 6921720704,
     R"({"model_type": "falcon", "bias": false, "hidden_size": 4544, "multi_query": true, )"
     R"("new_decoder_architecture": false, "num_attention_heads": 71, "num_hidden_layers": 32, "parallel_attn": true, )"
     R"("vocab_size": 65024})"},
    {"gpt2-xl", 1557611200, 1557611200,
     R"({"model_type": "gpt2", "n_embd": 1600, "n_head": 25, "n_layer": 48, "n_positions": 1024, "vocab_size": 50257})"},
    {"dbrx", 131596523520, 36469708800,
     R"({"model_type": "dbrx", "d_model": 6144, "n_heads": 48, "n_layers": 40, "max_seq_len": 32768, )"
     R"("vocab_size": 100352, "attn_config": {"kv_n_heads": 8, "clip_qkv": 8}, )"
     R"("ffn_config": {"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4}, )"
     R"("tie_word_embeddings": false})"},
    {"mpt-7b", 6649286656, 6649286656,
     R"({"model_type": "mpt", "d_model": 4096, "n_heads": 32, "n_layers": 32, "expansion_ratio": 4, )"
     R"("max_seq_len": 2048, "vocab_size": 50432, "attn_config": {"alibi": true, )"
     R"("attn_type": "multihead_attention", "qk_ln": false}, "no_bias": true})"},
    {"phi-3.5-moe", 41873153344, 6640999744,
     R"({"model_type": "phimoe", "hidden_size": 4096, "intermediate_size": 6400, "num_hidden_layers": 32, )"
     R"("num_attention_heads": 32, "num_key_value_heads": 8, "num_local_experts": 16, "num_experts_per_tok": 2, )"
     R"("vocab_size": 32064, "attention_bias": true, "lm_head_bias": true, "tie_word_embeddings": false, )"
     R"("sliding_window": 131072, "max_position_embeddings": 131072})"},
    {"llama-4-scout", 107769861120, 17172894720,
     R"({"model_type": "llama4", "text_config": {"model_type": "llama4_text", "attention_chunk_size": 8192, )"
     R"("head_dim": 128, "hidden_size": 5120, "interleave_moe_layer_step": 1, "intermediate_size": 8192, )"
     R"("intermediate_size_mlp": 16384, "max_position_embeddings": 10485760, "num_attention_heads": 40, )"
     R"("num_experts_per_tok": 1, "num_hidden_layers": 48, "num_key_value_heads": 8, "num_local_experts": 16, )"
     R"("vocab_size": 202048, "tie_word_embeddings": false}, "vision_config": {}})"},
    {"llama-4-maverick", 400711848960, 17184691200,
     R"({"model_type": "llama4", "text_config": {"model_type": "llama4_text", "attention_chunk_size": 8192, )"
     R"("head_dim": 128, "hidden_size": 5120, "interleave_moe_layer_step": 2, "intermediate_size": 8192, )"
     R"("intermediate_size_mlp": 16384, "max_position_embeddings": 1048576, "num_attention_heads": 40, )"
     R"("num_experts_per_tok": 1, "num_hidden_layers": 48, "num_key_value_heads": 8, "num_local_experts": 128, )"
     R"("vocab_size": 202048, "tie_word_embeddings": false}, "vision_config": {}})"},
    {"ernie-4.5-21b-a3b", 21825437888, 3352150208,
     R"({"model_type": "ernie4_5_moe", "hidden_size": 2560, "intermediate_size": 12288, )"
     R"("num_hidden_layers": 28, "num_attention_heads": 20, "num_key_value_heads": 4, "moe_num_experts": 64, )"
     R"("moe_k": 6, "moe_intermediate_size": 1536, "moe_num_shared_experts": 2, "moe_layer_start_index": 1, )"
     R"("moe_layer_end_index": 27, "moe_layer_interval": 1, "vocab_size": 103424, "tie_word_embeddings": true})"},
    {"ernie-4.5-0.3b", 360748032, 360748032,
     R"({"model_type": "ernie4_5", "hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 18, )"
     R"("num_attention_heads": 16, "num_key_value_heads": 2, "head_dim": 128, "vocab_size": 103424, )"
     R"("tie_word_embeddings": true})"},
    {"glm-4-9b-0414", 9400279040, 9400279040,
     R"({"model_type": "glm4", "hidden_size": 4096, "intermediate_size": 13696, "num_hidden_layers": 40, )"
     R"("num_attention_heads": 32, "num_key_value_heads": 2, "head_dim": 128, "attention_bias": true, )"
     R"("vocab_size": 151552, "tie_word_embeddings": false})"},
    {"glm-4-9b", 9399951360, 9399951360,
     R"({"model_type": "glm", "hidden_size": 4096, "intermediate_size": 13696, "num_hidden_layers": 40, )"
     R"("num_attention_heads": 32, "num_key_value_heads": 2, "head_dim": 128, "attention_bias": true, )"
     R"("vocab_size": 151552, "tie_word_embeddings": false})"},
    {"olmo-3-7b", 7298011136, 7298011136,
     R"({"model_type": "olmo3", "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32, )"
     R"("num_attention_heads": 32, "num_key_value_heads": 32, "vocab_size": 100278, )"
     R"("tie_word_embeddings": false, "max_position_embeddings": 65536})"},
    {"hunyuan-a13b", 80393183232, 12747448320,
     R"({"model_type": "hunyuan_v1_moe", "hidden_size": 4096, "intermediate_size": 3072, )"
     R"("num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "num_experts": 64, )"
     R"("moe_topk": [8, 8], "num_shared_expert": [1, 1], "moe_intermediate_size": [3072, 3072], )"
     R"("vocab_size": 128167, "use_mixed_mlp_moe": true, "tie_word_embeddings": true, "head_dim": 128})"},
    {"baichuan2-7b", 7505973248, 7505973248,
     R"({"model_type": "baichuan", "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32, )"
     R"("num_attention_heads": 32, "vocab_size": 125696, "tie_word_embeddings": false, "model_max_length": 4096})"},
    {"ling-lite", 16801974272, 2753153024,
     R"({"model_type": "bailing_moe", "hidden_size": 2048, "intermediate_size": 5632, "num_hidden_layers": 28, )"
     R"("num_attention_heads": 16, "num_key_value_heads": 4, "num_experts": 64, "num_experts_per_tok": 6, )"
     R"("moe_intermediate_size": 1408, "num_shared_experts": 2, "first_k_dense_replace": 0, )"
     R"("vocab_size": 126464, "head_dim": 128, "tie_word_embeddings": false})"},
    {"qwen2.5-vl-7b", 7615616512, 7615616512,
     R"({"model_type": "qwen2_5_vl", "hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28, )"
     R"("num_attention_heads": 28, "num_key_value_heads": 4, "vocab_size": 152064, )"
     R"("tie_word_embeddings": false, "vision_config": {"depth": 32}, "use_sliding_window": false, )"
     R"("max_window_layers": 28, "sliding_window": 32768, "max_position_embeddings": 128000})"},
    {"qwen3-vl-30b-a3b", 30532122624, 3353032704,
     R"({"model_type": "qwen3_vl_moe", "vision_config": {}, "text_config": {"model_type": "qwen3_vl_moe_text", )"
     R"("hidden_size": 2048, "intermediate_size": 6144, "num_hidden_layers": 48, "num_attention_heads": 32, )"
     R"("num_key_value_heads": 4, "head_dim": 128, "num_experts": 128, "num_experts_per_tok": 8, )"
     R"("moe_intermediate_size": 768, "decoder_sparse_step": 1, "mlp_only_layers": [], "vocab_size": 151936, )"
     R"("tie_word_embeddings": false}})"},
};

engine::Parameters<double> parameters_of(const engine::TransformerShape& shape) {
  return engine::count_parameters(engine::make_model_dims<double>(shape, nullptr));
}

std::string with_layers(std::string text) {
  const std::size_t at = text.find("LAYERS");
  if (at == std::string::npos) return text;
  std::smatch found;
  std::regex_search(text, found, std::regex(R"("num_hidden_layers": (\d+))"));
  std::string list;
  for (int i = 0; i < std::stoi(found[1]); ++i)
    list += std::string(i == 0 ? "" : ", ") + (i % 2 == 0 ? "\"sliding_attention\"" : "\"full_attention\"");
  return text.replace(at, 6, "[" + list + "]");
}

engine::TransformerShape shape_of(std::string_view text) {
  auto read = io::read_hf_config(text, "config.json");
  REQUIRE_MESSAGE(read.ok(), (read ? "" : test::in_english(read.error())));
  return std::move(read).value().shape;
}
std::string config_named(std::string_view name) {
  for (const Counted& model : kCounted)
    if (model.name == name) return with_layers(model.config);
  FAIL("no such config");
  return {};
}
engine::TransformerShape shape_named(std::string_view name) { return shape_of(config_named(name)); }
std::string hf_error(std::string_view text) {
  const auto read = io::read_hf_config(text, "config.json");
  return read ? std::string() : test::in_english(read.error());
}
// A small config of LLaMA with one thing changed.
std::string llama(std::string_view changed_key, std::string_view value) {
  std::string out = "{";
  const std::pair<std::string_view, std::string_view> members[] = {
      {"model_type", "\"llama\""}, {"hidden_size", "4096"},       {"intermediate_size", "14336"},
      {"num_hidden_layers", "32"}, {"num_attention_heads", "32"}, {"num_key_value_heads", "8"},
      {"vocab_size", "128256"}};
  bool there = false;
  for (const auto& [key, own] : members) {
    there = there || key == changed_key;
    if (key == changed_key && value.empty()) continue;
    out +=
        (out.size() > 1 ? ", \"" : "\"") + std::string(key) + "\": " + std::string(key == changed_key ? value : own);
  }
  if (!there && !changed_key.empty()) out += ", \"" + std::string(changed_key) + "\": " + std::string(value);
  return out + "}";
}

TEST_CASE("configs of every family are counted to the last parameter") {
  for (const Counted& model : kCounted) {
    CAPTURE(std::string(model.name));
    const engine::TransformerShape shape = shape_of(with_layers(model.config));
    CHECK(parameters_of(shape).total == model.total);
    CHECK(parameters_of(shape).active == model.active);
  }
}

TEST_CASE("configs of which a rounded total was published come within that rounding") {
  struct Rounded {
    const char* name;
    double total;
    const char* config;
  };
  constexpr Rounded kRounded[] = {
      {"exaone-4.0-32b", 3.2e+10,
       R"({"model_type": "exaone4", "hidden_size": 5120, "intermediate_size": 27392, "num_hidden_layers": 64, )"
       R"("num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 102400, )"
       R"("sliding_window": 4096, "sliding_window_pattern": "LLLG", "max_position_embeddings": 131072})"},

      {"minitron-4b", 4190000000,
       R"({"model_type": "nemotron", "hidden_size": 3072, "intermediate_size": 9216, "num_hidden_layers": 32, )"
       R"("num_attention_heads": 24, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 256000})"},

      {"nemotron-4-340b", 3.41e+11,
       R"({"model_type": "nemotron", "hidden_size": 18432, "intermediate_size": 73728, "num_hidden_layers": 96, )"
       R"("num_attention_heads": 96, "num_key_value_heads": 8, "vocab_size": 256000})"},

      {"granite-3.0-3b-a800m", 3300000000,
       R"({"model_type": "granitemoe", "hidden_size": 1536, "intermediate_size": 512, "num_hidden_layers": 32, )"
       R"("num_attention_heads": 24, "num_key_value_heads": 8, "num_local_experts": 40, "num_experts_per_tok": 8, )"
       R"("vocab_size": 49155, "tie_word_embeddings": true})"},

      {"afm-4.5b", 4620000000,
       R"({"model_type": "arcee", "hidden_size": 2560, "intermediate_size": 18432, "num_hidden_layers": 36, )"
       R"("num_attention_heads": 20, "num_key_value_heads": 4, "head_dim": 128, "vocab_size": 128004, )"
       R"("tie_word_embeddings": false})"},

      {"ling-flash-2.0", 1.03e+11,
       R"({"model_type": "bailing_moe_v2", "hidden_size": 4096, "intermediate_size": 9216, )"
       R"("num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 4, "num_experts": 256, )"
       R"("num_experts_per_tok": 8, "moe_intermediate_size": 1024, "num_shared_experts": 1, )"
       R"("first_k_dense_replace": 1, "vocab_size": 157184, "head_dim": 128, "n_group": 8, "topk_group": 4, )"
       R"("use_qk_norm": true, "moe_router_enable_expert_bias": true, "tie_word_embeddings": false})"},

      {"ernie-4.5-300b-a47b", 3e+11,
       R"({"model_type": "ernie4_5_moe", "hidden_size": 8192, "intermediate_size": 28672, )"
       R"("num_hidden_layers": 54, "num_attention_heads": 64, "num_key_value_heads": 8, "moe_num_experts": 64, )"
       R"("moe_k": 8, "moe_intermediate_size": 3584, "moe_layer_start_index": 3, "moe_layer_end_index": 53, )"
       R"("moe_layer_interval": 1, "moe_num_shared_experts": 0, "vocab_size": 103424, )"
       R"("tie_word_embeddings": false})"},
  };
  for (const Rounded& model : kRounded) {
    CAPTURE(std::string(model.name));
    CHECK(parameters_of(shape_of(model.config)).total == doctest::Approx(model.total).epsilon(0.003));
  }
}

TEST_CASE("the same model from its config and from its preset has the same shape") {
  const std::pair<const char*, const char*> same[] = {
      {"llama-3-8b", "llama3-8b"},        {"mixtral-8x7b", "mixtral-8x7b"},  {"deepseek-v2-lite", "deepseek-v2-lite"},
      {"gpt-oss-120b", "gpt-oss-120b"},   {"gemma-2-2b", "gemma2-2b"},       {"gemma-3-1b", "gemma3-1b"},
      {"qwen3-30b-a3b", "qwen3-30b-a3b"}, {"llama-4-scout", "llama4-scout"}, {"llama-4-maverick", "llama4-maverick"}};
  for (const auto& pair : same) {
    const char *config = pair.first, *preset = pair.second;
    CAPTURE(std::string(config));
    engine::TransformerShape read = shape_named(config);
    const engine::TransformerShape& shipped = *test::shipped().find_model(preset);
    read.id = shipped.id, read.name = shipped.name, read.source = shipped.source;
    read.published_total_params = shipped.published_total_params;
    read.published_active_params = shipped.published_active_params;
    read.max_context_tokens = shipped.max_context_tokens;
    CHECK(read == shipped);
  }
}

TEST_CASE("windows: named layers, every other layer, five of six, none beyond the context") {
  using engine::LocalAttention;
  CHECK(shape_named("gpt-oss-120b").local_attention == LocalAttention{128, 18});
  CHECK(shape_named("gemma-2-2b").local_attention == LocalAttention{4096, 13});
  CHECK(shape_named("gemma-3-1b").local_attention == LocalAttention{512, 22});
  CHECK(shape_named("starcoder2-7b").local_attention == LocalAttention{4096, 32});
  CHECK(shape_named("llama-4-scout").local_attention == LocalAttention{8192, 36});
  CHECK(shape_named("olmo-3-7b").local_attention == LocalAttention{4096, 24});
  const auto exaone = [](std::string_view pattern) {
    return shape_of(R"({"model_type": "exaone4", "hidden_size": 1024, "intermediate_size": 4096, )"
                    R"("num_hidden_layers": 30, "num_attention_heads": 8, "num_key_value_heads": 2, )"
                    R"("vocab_size": 1024, )" +
                    std::string(pattern) + "}")
        .local_attention;
  };
  CHECK(exaone(R"("sliding_window": 4096, "sliding_window_pattern": "LLG")") == LocalAttention{4096, 20});
  CHECK(exaone(R"("sliding_window": 512, "sliding_window_pattern": "LLLL")") == LocalAttention{512, 29});
  CHECK(exaone(R"("sliding_window_pattern": 5)") == LocalAttention{4096, 24});
  CHECK(exaone(R"("sliding_window": null)") == LocalAttention{});
  CHECK_FALSE(shape_named("mistral-7b-v0.2").has_local_layers());  // null
  CHECK_FALSE(shape_named("phi-3.5-mini").has_local_layers());     // wider than the context
  CHECK_FALSE(shape_named("qwen3-8b").has_local_layers());         // not used
}

TEST_CASE("what the class has and no key says") {
  CHECK(shape_named("falcon-7b").n_kv_heads == 1);
  CHECK(shape_named("qwen2.5-3b").qkv_bias);
  CHECK_FALSE(shape_named("qwen2.5-3b").o_bias);
  CHECK(shape_named("gemma-2b").tied_embeddings);
  CHECK(shape_named("aya-23-8b").norms_per_layer == 1);
  CHECK(shape_named("qwen3-0.6b").d_head == 128);  // not 1024 / 16
  CHECK(shape_named("qwen1.5-moe-a2.7b").moe.n_shared_experts == 4);
  CHECK(shape_named("deepseek-v3").moe.router_bias);
}

TEST_CASE("the source of a model says which defaults were taken") {
  CHECK(shape_named("gemma-2b").source.find("tie_word_embeddings is not given: true") != std::string::npos);
  CHECK(shape_named("deepseek-v3").source.find("num_nextn_predict_layers") != std::string::npos);
}

TEST_CASE("a model type that is not known is named, not guessed") {
  for (const char* type : {"quantum_llama", "t5", "qwen3_next", "nemotron_h", "mamba"})
    CHECK(hf_error(llama("model_type", "\"" + std::string(type) + "\"")).find(type) != std::string::npos);
  CHECK(hf_error(llama("model_type", "")).find("model_type") != std::string::npos);
  CHECK(hf_error(llama("model_type", "17")).find("model_type") != std::string::npos);
  CHECK(hf_error(llama("is_encoder_decoder", "true")).find("llama") != std::string::npos);
}

TEST_CASE("sizes that are missing are named: keys of another program are not a small model") {
  for (const char* key :
       {"hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size", "intermediate_size"})
    CHECK(hf_error(llama(key, "")).find(key) != std::string::npos);
  CHECK(hf_error(R"({"model_type": "gpt2", "num_layers": 48, "hidden_dim": 1600, "n_head": 25, "vocab_size": 50257})")
            .find("n_layer") != std::string::npos);
  const std::string renamed =
      std::regex_replace(config_named("deepseek-v3"), std::regex("\"n_routed_experts\""), "\"num_routed_experts\"");
  CHECK(hf_error(renamed).find("n_routed_experts") != std::string::npos);
}

TEST_CASE("of a model with several parts the text model is read") {
  const std::string inner = llama("", "");
  const auto read = io::read_hf_config(R"({"model_type": "llava", "text_config": )" + inner + "}", "config.json");
  REQUIRE(read.ok());
  CHECK(parameters_of(read->shape).total == 8030261248);
  CHECK(read->notes[0].find("llava") != std::string::npos);
  CHECK(hf_error(R"({"model_type": "llava", "text_config": {"model_type": "llama", "vocab_size": 32064}})")
            .find("text_config.") != std::string::npos);
  CHECK(
      hf_error(R"({"model_type": "gemma3n", "text_config": {"model_type": "gemma3n_text"}})").find("gemma3n_text") !=
      std::string::npos);
  // Older files have the sizes of the text model beside the other parts.
  CHECK(shape_named("qwen2.5-vl-7b").source.find("vision_config is left out") != std::string::npos);
}

TEST_CASE("layers with experts: every so many, from a first to a last one, or by name") {
  const auto dense = [](std::string_view name, const char* key, const char* value) {
    std::string text = config_named(name);
    const std::string whole = "\"" + std::string(key) + "\": ";
    if (const std::size_t at = text.find(whole); at != std::string::npos)
      text.replace(at + whole.size(), text.find_first_of(",}", at) - at - whole.size(), value);
    else
      text.insert(text.find("\"num_hidden_layers"), whole + value + ", ");
    const engine::TransformerShape shape = shape_of(text);
    return std::pair(shape.moe.n_dense_layers, shape.moe.dense_layers_spread);
  };
  CHECK(shape_named("llama-4-scout").moe.n_dense_layers == 0);
  CHECK(dense("llama-4-maverick", "interleave_moe_layer_step", "2") == std::pair(24, true));
  CHECK(dense("llama-4-maverick", "moe_layers", "[1, 47]") == std::pair(46, true));
  CHECK(dense("ernie-4.5-21b-a3b", "moe_layer_start_index", "3") == std::pair(3, false));
  CHECK(dense("ernie-4.5-21b-a3b", "moe_layer_end_index", "-1") == std::pair(1, false));
  CHECK(dense("ernie-4.5-21b-a3b", "moe_layer_end_index", "20") == std::pair(8, true));
  CHECK(dense("ernie-4.5-21b-a3b", "moe_layer_interval", "2") == std::pair(14, true));
}

TEST_CASE("a list that says the same of each layer is that number, and any other is refused by its key") {
  CHECK(shape_of(llama("intermediate_size", "[14336, 14336, 14336]")) == shape_of(llama("", "")));
  CHECK(hf_error(llama("intermediate_size", "[14336, 14335]")).find("intermediate_size") != std::string::npos);
  CHECK(hf_error(llama("intermediate_size", "[]")).find("intermediate_size") != std::string::npos);
}

TEST_CASE("values that cannot be are named by their key") {
  const std::pair<const char*, const char*> wrong[] = {{"hidden_size", "\"4096\""},
                                                       {"hidden_size", "0"},
                                                       {"num_hidden_layers", "-3"},
                                                       {"num_attention_heads", "30"},
                                                       {"vocab_size", "1e300"},
                                                       {"num_hidden_layers", "[]"},
                                                       {"num_key_value_heads", "5"},
                                                       {"tie_word_embeddings", "\"no\""},
                                                       {"layer_types", "[\"linear_attention\"]"},
                                                       {"head_dim", "1.5"}};
  for (const auto& pair : wrong) {
    const char *key = pair.first, *value = pair.second;
    CAPTURE(std::string(key));
    const std::string error = hf_error(llama(key, value));
    CHECK(error.find(key) != std::string::npos);
    CHECK(error.starts_with("config.json: "));
  }
  CHECK(hf_error(R"({"model_type": "llama", "time_step_limit": [0.0, Infinity]})").find("Infinity") !=
        std::string::npos);
  CHECK(hf_error(R"({"model_type": "llama", "hidden_size": 4096, "hidden_size": 8192})").find("hidden_size") !=
        std::string::npos);
  CHECK(hf_error(R"({"model_type": "llama", "num_hi)").find("line 1") != std::string::npos);
  CHECK(hf_error("[]") != "");
  CHECK(hf_error("") != "");
}

TEST_CASE("a byte order mark and a Korean name do no harm") {
  CHECK(parameters_of(shape_of("\xef\xbb\xbf" + llama("", ""))).total == 8030261248);
  CHECK(shape_of(llama("_name_or_path", "\"\xeb\x9d\xbc\xeb\xa7\x88\"")).name == "\xeb\x9d\xbc\xeb\xa7\x88");
}

TEST_CASE("a config is the model of a scenario by its path, and inline") {
  const test::TemporaryFolder folder;
  folder.write("checkpoint/config.json", llama("", ""));
  const auto file =
      folder.write("s.json", R"({"model": "checkpoint/config.json", "cluster": {"chip": "h100-sxm", "nodes": 1},
    "parallelism": {"fsdp": 8}, "workload": {"global_batch_sequences": 8}})");
  const auto scenario = io::load_scenario(file.string(), test::shipped());
  REQUIRE_MESSAGE(scenario.ok(), (scenario ? "" : test::in_english(scenario.error())));
  CHECK(scenario->model.name == "checkpoint");
  CHECK(engine::evaluate(scenario.value()).quantities[engine::Q::params_total] == 8030261248);
  const auto again = test::read(io::write_scenario(scenario.value(), test::shipped()));
  REQUIRE(again.ok());
  CHECK(again->model == scenario->model);
  CHECK(test::read(R"({"model": )" + llama("", "") + "}").ok());
  CHECK(test::error_of(R"({"model": )" + llama("hidden_size", "") + "}").find("model.hidden_size") !=
        std::string::npos);
  engine::Scenario edited = scenario.value();
  CHECK_FALSE(io::set_field(edited, "model=" + (folder.path() / "checkpoint/config.json").string(), test::shipped())
                  .has_value());
}

TEST_CASE("every shipped model written inline reads back as itself") {
  for (const io::Preset& preset : test::shipped().list(io::PresetKind::model)) {
    CAPTURE(preset.id);
    engine::Scenario scenario;
    scenario.model = *test::shipped().find_model(preset.id);
    scenario.model.id = "mine";
    scenario.cluster = *test::shipped().find_cluster("h100-16k");
    const auto again = test::read(io::write_scenario(scenario, test::shipped()));
    REQUIRE_MESSAGE(again.ok(), (again ? "" : test::in_english(again.error())));
    CHECK(again->model == scenario.model);
  }
}

}  // namespace
}  // namespace roofscape
