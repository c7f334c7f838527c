#include "engine/model/parameters.h"

namespace roofscape::engine {

template <Scalar S>
Parameters<S> count_parameters(const ModelDims<S>& model) {
  const auto& [L, D, F, N, K, H, V, gated, tied] = model;
  Parameters<S> p;
  const S matrices = constant<S>(gated ? 3 : 2);
  const S two = constant<S>(2);
  p.mlp_layer = named(Q::params_mlp_layer, matrices * D * F);
  p.attention_layer = named(Q::params_attention_layer, two * D * H * (N + K));  // Q and output are D x NH, K and V are D x KH
  p.norms_layer = two * D;
  p.layer = named(Q::params_layer, p.mlp_layer + p.attention_layer + p.norms_layer);
  p.mlp = named(Q::params_mlp, L * p.mlp_layer);
  p.attention = named(Q::params_attention, L * p.attention_layer);
  p.norms = named(Q::params_norms, L * p.norms_layer + D);
  p.embedding = named(Q::params_embedding, V * D);
  p.head = named(Q::params_head, tied ? S(D) : V * D + D);
  p.vocab = named(Q::params_vocab, tied ? V * D : two * V * D);
  p.total = named(Q::params_total, p.mlp + p.attention + p.vocab + p.norms);
  p.active = named(Q::params_active, p.total);
  return p;
}

template Parameters<double> count_parameters<double>(const ModelDims<double>&);
template Parameters<Traced> count_parameters<Traced>(const ModelDims<Traced>&);

}  // namespace roofscape::engine
