// The shape of a dense decoder-only Transformer: the numbers of its config.json that decide parameters, FLOPs and bytes.
#pragma once

#include <cstdint>
#include <string>

namespace roofscape::engine {

struct TransformerShape {
  std::string id, name, source;
  int n_layers = 1;
  int d_model = 1;
  int d_ff = 1;        // width of one gate or up matrix
  int n_heads = 1;
  int n_kv_heads = 1;  // fewer than n_heads: grouped-query attention
  int d_head = 1;
  int vocab_size = 1;
  bool gated_mlp = true;         // three MLP matrices instead of two
  bool tied_embeddings = false;  // the unembedding is the embedding
  friend bool operator==(const TransformerShape&, const TransformerShape&) = default;
};

}  // namespace roofscape::engine
