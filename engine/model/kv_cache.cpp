#include "engine/model/kv_cache.h"

namespace roofscape::engine {

template <Scalar S>
S kv_elements(const ModelDims<S>& m) {
  return named(Q::kv_elements,
               m.is.mla ? m.kv_lora_rank + m.qk_rope_head_dim : constant<S>(2) * m.n_kv_heads * m.d_head);
}

template <Scalar S>
S kv_cache_bytes_per_token(const ModelDims<S>& m, const S& element_bytes, const S& tokens) {
  const S elements = kv_elements(m);
  if (!m.is.local) return named(Q::kv_cache_bytes_per_token, element_bytes * elements * m.n_layers);
  const S kept = min(m.window_tokens, tokens) / tokens;
  return named(Q::kv_cache_bytes_per_token,
               element_bytes * elements * ((m.n_layers - m.n_local_layers) + m.n_local_layers * kept));
}

template double kv_elements<double>(const ModelDims<double>&);
template Traced kv_elements<Traced>(const ModelDims<Traced>&);
template double kv_cache_bytes_per_token<double>(const ModelDims<double>&, const double&, const double&);
template Traced kv_cache_bytes_per_token<Traced>(const ModelDims<Traced>&, const Traced&, const Traced&);

}  // namespace roofscape::engine
