// How attention heads can be spread over ranks.
#pragma once

#include <algorithm>

#include "engine/scenario/transformer_shape.h"

namespace roofscape::engine {

// Whether tensor ranks have equally many heads: each its own KV heads, or each KV head as many copies.
inline bool splits_heads(const TransformerShape& m, int tensor) {
  return m.n_heads % tensor == 0 &&
         (m.is_mla() || m.n_kv_heads % tensor == 0 || (m.n_kv_heads > 0 && tensor % m.n_kv_heads == 0));
}

// Ranks that Ulysses can split a sequence over: each takes whole heads of its tensor rank, queries with the keys and
// values they meet (Jacobs et al. 2023); nothing copies KV heads to more ranks.
inline int most_ulysses_ranks(const TransformerShape& m, int tensor) {
  return std::max(1, (m.is_mla() ? m.n_heads : m.n_kv_heads) / std::max(1, tensor));
}

}  // namespace roofscape::engine
