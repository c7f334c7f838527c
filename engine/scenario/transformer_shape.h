// The shape of a decoder-only Transformer: the numbers of its config.json that decide parameters, FLOPs and bytes.
// Dense and mixture-of-experts MLPs; multi-head, grouped-query, multi-query and latent attention; local layers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

namespace roofscape::engine {

// Mixture of experts. n_routed_experts 0: a dense model.
struct MoeShape {
  int n_routed_experts = 0;
  int experts_per_token = 0;
  int d_ff_expert = 0;               // width of one expert's gate or up matrix; 0: d_ff
  int n_shared_experts = 0;          // every token passes through them; each as wide as an expert
  int n_dense_layers = 0;            // layers with an MLP of width d_ff: the first ones, or
  bool dense_layers_spread = false;  // spread evenly among those with experts
  // Routing that is limited to groups of experts, one group or more on a node: a token's experts lie in at most
  // groups_per_token of them. 0: it is not.
  int n_expert_groups = 0, groups_per_token = 0;
  bool router_bias = false;
  bool shared_expert_gate = false;  // d_model weights a layer that scale the shared experts' output
  friend bool operator==(const MoeShape&, const MoeShape&) = default;
};

// Multi-head latent attention (DeepSeek-V2, 2024). kv_lora_rank 0: standard attention.
struct MlaShape {
  int q_lora_rank = 0;  // 0: queries are projected directly
  int kv_lora_rank = 0;
  int qk_nope_head_dim = 0;
  int qk_rope_head_dim = 0;
  int v_head_dim = 0;
  friend bool operator==(const MlaShape&, const MlaShape&) = default;
};

// Layers whose queries see only the last window_tokens tokens. n_local_layers 0: there are none.
struct LocalAttention {
  int window_tokens = 0;
  int n_local_layers = 0;
  friend bool operator==(const LocalAttention&, const LocalAttention&) = default;
};

// Which sizes were changed by hand after the model was read: bit i for the i-th field of the scenario's field table
// (all fields of a model come first there). A note about where numbers come from and no part of the model: models of
// the same sizes are equal whatever it says.
struct ModelEdits {
  std::uint64_t fields = 0;
  std::uint64_t named = 0;  // of these, the changes that were there when the model got its present name
  friend bool operator==(const ModelEdits&, const ModelEdits&) { return true; }
};

struct TransformerShape {
  std::string id, name, source;
  ModelEdits edits;
  int n_layers = 1;
  int d_model = 1;
  int d_ff = 1;  // width of one gate or up matrix
  int n_heads = 1;
  int n_kv_heads = 1;  // fewer than n_heads: grouped-query attention
  int d_head = 1;
  int vocab_size = 1;
  bool gated_mlp = true;         // three MLP matrices instead of two
  bool tied_embeddings = false;  // the unembedding is the embedding
  bool qkv_bias = false, o_bias = false, mlp_bias = false, unembedding_bias = false;
  bool layernorm_bias = false;      // LayerNorm with weight and bias instead of RMSNorm
  bool qk_norm = false;             // norms of queries and keys, d_head weights each ...
  bool qk_norm_all_heads = false;   // ... or one weight for each element of all heads
  bool attn_sinks = false;          // a learned logit for each query head
  bool rel_pos_projection = false;  // a d_model x heads projection of relative positions (Transformer-XL)
  int norms_per_layer = 2;          // 1: attention and MLP in parallel; 4: before and after both
  int embedding_norm = 0;           // norms between the embedding and the first layer
  int learned_positions = 0;        // rows of a table of positions
  int max_context_tokens = 0;       // 0: not known
  MoeShape moe;
  MlaShape mla;
  LocalAttention local_attention;
  double published_total_params = 0, published_active_params = 0;  // as published, rounded or exact; 0: not known

  bool is_moe() const { return moe.n_routed_experts > 0; }
  bool is_mla() const { return mla.kv_lora_rank > 0; }
  // Matrix units take operands of 16 bytes, 8 elements of 16 bits, whole; rows of heads of another width begin between
  // them (NVIDIA, Matrix Multiplication Background, tensor core requirements).
  bool has_aligned_heads() const {
    constexpr int kAligned = 8;
    const auto whole = [](int width) { return width % kAligned == 0; };
    return is_mla() ? whole(mla.qk_nope_head_dim + mla.qk_rope_head_dim) && whole(mla.v_head_dim) : whole(d_head);
  }
  bool has_local_layers() const { return local_attention.n_local_layers > 0 && local_attention.window_tokens > 0; }
  bool has_expert_groups() const { return is_moe() && moe.n_expert_groups > 1 && moe.groups_per_token > 0; }
  // Dense layers that come before all with experts, so that the first stages of a pipeline hold them.
  int n_first_dense_layers() const { return is_moe() && !moe.dense_layers_spread ? n_layers - n_moe_layers() : 0; }
  int n_moe_layers() const { return is_moe() ? std::max(0, n_layers - moe.n_dense_layers) : 0; }
  int n_local_layers() const { return has_local_layers() ? std::min(n_layers, local_attention.n_local_layers) : 0; }
  int expert_width() const { return moe.d_ff_expert > 0 ? moe.d_ff_expert : d_ff; }
  friend bool operator==(const TransformerShape&, const TransformerShape&) = default;
};

}  // namespace roofscape::engine
