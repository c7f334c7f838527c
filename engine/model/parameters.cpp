#include "engine/model/parameters.h"

namespace roofscape::engine {

template <Scalar S>
S active_ff(const ModelDims<S>& m) {
  if (!m.is.moe) return m.d_ff;
  const S moe_layers = named(Q::n_moe_layers, m.n_layers - m.n_dense_layers);
  const S experts = moe_layers * (m.experts_per_token + m.n_shared_experts) * m.d_ff_expert;
  return named(Q::active_ff, (m.is.dense_layers ? m.n_dense_layers * m.d_ff + experts : experts) / m.n_layers);
}

namespace {

template <Scalar S>
void count_attention(const ModelDims<S>& m, Parameters<S>& p) {
  const S &D = m.d_model, &N = m.n_heads, &K = m.n_kv_heads, &H = m.d_head;
  const ModelTraits& is = m.is;
  const S two = constant<S>(2);
  S matrices;
  if (is.mla) {
    // Queries and keys have a part with and one without rotation; keys and values come out of one latent.
    const S query = m.qk_nope_head_dim + m.qk_rope_head_dim;
    const S queries = is.q_lora ? D * m.q_lora_rank + m.q_lora_rank * N * query : D * N * query;
    matrices = queries + D * (m.kv_lora_rank + m.qk_rope_head_dim) +
               m.kv_lora_rank * N * (m.qk_nope_head_dim + m.v_head_dim) + N * m.v_head_dim * D;
  } else {
    matrices = two * D * H * (N + K);  // Q and output are D x NH, K and V are D x KH
    if (is.rel_pos_projection) matrices = matrices + D * N * H;
  }
  const bool extras = is.mla || is.qkv_bias || is.o_bias || is.qk_norm || is.attn_sinks;
  if (!extras) {
    p.attention_layer = named(Q::params_attention_layer, matrices);
    p.attention_matrices = p.attention_layer;
    return;
  }
  p.attention_matrices = named(Q::params_attention_matrices, matrices);
  if (is.mla) p.qkv_layer = named(Q::params_qkv_layer, p.attention_matrices - N * m.v_head_dim * D);
  S all = p.attention_matrices;
  if (is.mla) {  // norms of the latents
    all = all + m.kv_lora_rank;
    if (is.q_lora) all = all + m.q_lora_rank;
  } else if (is.qkv_bias) {
    all = all + (N + two * K) * H;
  }
  if (is.o_bias) all = all + D;
  if (is.qk_norm) all = is.qk_norm_all_heads ? all + (N + K) * H : all + two * H;
  if (is.attn_sinks) all = all + N;
  p.attention_layer = named(Q::params_attention_layer, all);
}

// Where as many parameters are given as the source states, what the parts beside the MLP leave of them.
template <Scalar S>
S left_of_published(const ModelDims<S>& m, const Parameters<S>& p) {
  return m.published_params - named(Q::params_beside_mlp, p.attention + p.vocab + p.norms);
}

template <Scalar S>
void count_mlp(const ModelDims<S>& m, Parameters<S>& p) {
  const S &L = m.n_layers, &D = m.d_model;
  const ModelTraits& is = m.is;
  const S matrices = constant<S>(is.gated_mlp ? 3 : 2), ups = constant<S>(is.gated_mlp ? 2 : 1);
  const auto mlp_of = [&](const S& width) {
    const S weights = matrices * D * width;
    return is.mlp_bias ? weights + ups * width + D : weights;
  };
  if (!is.moe && is.published_count) {
    p.mlp = named(Q::params_mlp, max(left_of_published(m, p), constant<S>(0)));
    p.mlp_layer = named(Q::params_mlp_layer, p.mlp / L);
    p.matmul_layer = named(Q::params_matmul_layer, p.mlp_layer + p.attention_matrices);
    return;
  }
  if (!is.moe) {
    p.mlp_layer = named(Q::params_mlp_layer, mlp_of(m.d_ff));
    p.mlp = named(Q::params_mlp, L * p.mlp_layer);
    const S mlp_matrices = is.mlp_bias ? matrices * D * m.d_ff : S(p.mlp_layer);
    p.matmul_layer = named(Q::params_matmul_layer, mlp_matrices + p.attention_matrices);
    return;
  }
  const S &E = m.n_experts, &k = m.experts_per_token, &Fe = m.d_ff_expert;
  p.n_moe_layers = named(Q::n_moe_layers, L - m.n_dense_layers);
  p.moe_share = named(Q::moe_share, p.n_moe_layers / L);
  const S& Lm = p.n_moe_layers;
  p.router = named(Q::params_router, is.router_bias ? Lm * D * E + Lm * E : Lm * D * E);
  S others = p.router;  // of the MLPs' parameters
  if (is.shared_experts) {
    const S shared = matrices * D * Lm * m.n_shared_experts * Fe;
    p.shared_experts = named(Q::params_shared_experts, is.shared_expert_gate ? shared + Lm * D : shared);
    others = others + p.shared_experts;
  }
  if (is.dense_layers) {
    p.dense_mlp = named(Q::params_dense_mlp, m.n_dense_layers * mlp_of(m.d_ff));
    others = others + p.dense_mlp;
  }
  if (is.published_count) {
    p.experts = named(Q::params_experts, max(left_of_published(m, p) - others, constant<S>(0)));
    p.expert = named(Q::params_expert, p.experts / (Lm * E));
  } else {
    p.expert = named(Q::params_expert, mlp_of(Fe));
    p.experts = named(Q::params_experts, Lm * E * p.expert);
  }
  p.mlp = named(Q::params_mlp, p.experts + others);
  p.mlp_layer = named(Q::params_mlp_layer, p.mlp / L);
  // More experts a token than there are is no model, but has a report.
  const S idle = value_of(k) > value_of(E) ? constant<S>(0) : S(E - k);
  p.inactive = named(Q::params_inactive, Lm * idle * p.expert);
  if (is.published_count) {
    p.matmul_layer = named(Q::params_matmul_layer, p.mlp_layer - p.inactive / L + p.attention_matrices);
    return;
  }
  S matmul = matrices * D * active_ff(m) + D * E * p.moe_share + p.attention_matrices;
  if (is.shared_experts && is.shared_expert_gate) matmul = matmul + D * p.moe_share;
  p.matmul_layer = named(Q::params_matmul_layer, matmul);
}

}  // namespace

template <Scalar S>
Parameters<S> count_parameters(const ModelDims<S>& m) {
  const S &L = m.n_layers, &D = m.d_model, &V = m.vocab_size;
  const ModelTraits& is = m.is;
  const S two = constant<S>(2);
  const auto norms_of = [&](int count) { return constant<S>(count * (is.layernorm_bias ? 2 : 1)) * D; };
  Parameters<S> p;
  count_attention(m, p);
  p.attention = named(Q::params_attention, L * p.attention_layer);
  p.norms_layer = norms_of(is.norms_per_layer);
  const S final_norm = is.layernorm_bias ? two * D : S(D);
  S norms = L * p.norms_layer + final_norm;
  p.unembedding = named(Q::params_unembedding, V * D);
  S embedding = V * D, vocab = is.tied_embeddings ? V * D : two * V * D;
  S head = is.tied_embeddings ? final_norm : V * D + final_norm;
  if (is.positions) {
    p.positions = named(Q::params_positions, m.learned_positions * D);
    embedding = embedding + p.positions, vocab = vocab + p.positions;
  }
  if (is.embedding_norm > 0)
    norms = norms + norms_of(is.embedding_norm), embedding = embedding + norms_of(is.embedding_norm);
  if (is.unembedding_bias) vocab = vocab + V, head = head + V;
  p.norms = named(Q::params_norms, norms);
  p.embedding = named(Q::params_embedding, embedding);
  p.head = named(Q::params_head, head);
  p.vocab = named(Q::params_vocab, vocab);
  count_mlp(m, p);
  p.layer = named(Q::params_layer, p.mlp_layer + p.attention_layer + p.norms_layer);
  p.layer_active = is.moe ? named(Q::params_layer_active, p.layer - p.inactive / L) : p.layer;
  p.total = named(Q::params_total, p.mlp + p.attention + p.vocab + p.norms);
  p.active = named(Q::params_active, is.moe ? p.total - p.inactive : S(p.total));
  p.matmul = named(Q::params_matmul, L * p.matmul_layer + p.unembedding);
  return p;
}

template double active_ff<double>(const ModelDims<double>&);
template Traced active_ff<Traced>(const ModelDims<Traced>&);
template Parameters<double> count_parameters<double>(const ModelDims<double>&);
template Parameters<Traced> count_parameters<Traced>(const ModelDims<Traced>&);

}  // namespace roofscape::engine
