// The operations of one Transformer layer, of the embedding and of the output head: FLOPs and HBM bytes of the
// forward pass of one microbatch on one chip (scaling book, chapters 1 and 4; the backward pass costs twice the
// forward). Vector operations are fused with nothing: each reads and writes HBM once. Where layers differ (experts in
// some, a window in some) an operation is that of the mean layer, so that layers times its cost is the model's.
#pragma once

#include <array>

#include "engine/base/scalar.h"
#include "engine/inputs/inputs.h"
#include "engine/model/parameters.h"
#include "engine/report/report.h"

namespace roofscape::engine {

inline constexpr double kLogitBytes = 4;  // those of a token are made in fp32

template <Scalar S>
struct OperationCost {
  S flops{}, hbm_bytes{};
};

// What decides the cost of a layer, besides the model: everything it reads that a plan can change.
struct LayerKey {
  int tensor = 1;
  bool sequence_parallel = true;
  int n_kv_heads = 1;  // latent attention: as many as query heads
  FlopsConvention flops = FlopsConvention::six_p;
  CheckpointPolicy policy = CheckpointPolicy::block;
  int checkpoints_per_layer = 4;
  int d_model = 1, attention_width = 1, kv_width = 1, d_ff = 1;  // to decide what fits k tensors of width d_model
  bool gated_mlp = true;
  // The same width of layers of either kind, in a model that has dense layers and layers with experts; 0 in others.
  int d_ff_dense = 0, d_ff_experts = 0;
  bool dense_first = false;  // the dense layers come before the others
};
LayerKey layer_key(const Scenario&);

// What one tensor rank has of the widths of a layer: query heads x d_head, KV heads x d_head (a whole head where
// there are fewer heads than ranks), MLP width that a token passes through. In latent attention queries and keys are
// wider than values: attention and kv are the mean of both, so that twice them are queries and outputs, keys and
// values.
template <Scalar S>
struct LayerWidths {
  S attention, kv, ff;
};
template <Scalar S>
LayerWidths<S> layer_widths(const Inputs<S>&, const LayerKey&);
extern template LayerWidths<double> layer_widths<double>(const Inputs<double>&, const LayerKey&);
extern template LayerWidths<Traced> layer_widths<Traced>(const Inputs<Traced>&, const LayerKey&);

// The blocks beside the layers, as indices of quantities.
inline constexpr int kEmbeddingBlock = 0, kHeadBlock = 1;

template <Scalar S>
struct LayerOperations {
  std::array<OperationCost<S>, kOperationCount> operations;  // by OperationKind, forward; the head's are `logits`
  S flops_forward;                                           // of the layer, in the stated convention
  S hbm_bytes_forward;
  S embedding_flops, head_flops;  // in the stated convention
  S embedding_hbm_bytes, head_hbm_bytes;
  S kv_cache_bytes_per_token;  // of the whole model
  // Where adapters are trained: what stands beside each operation, their sum, and bytes of the products with frozen
  // weights. Bytes of the layer have the adapters', FLOPs have not.
  std::array<OperationCost<S>, kOperationCount> adapters{};
  S adapter_flops{}, adapter_bytes{}, frozen_bytes{};
};

// t: tokens of the microbatch on one context rank.
template <Scalar S>
LayerOperations<S> layer_operations(const Inputs<S>&, const Parameters<S>&, const LayerKey&, const S& t);
extern template LayerOperations<double> layer_operations<double>(const Inputs<double>&, const Parameters<double>&,
                                                                 const LayerKey&, const double&);
extern template LayerOperations<Traced> layer_operations<Traced>(const Inputs<Traced>&, const Parameters<Traced>&,
                                                                 const LayerKey&, const Traced&);

// Mean over the layers of what those without a window have and those with one.
template <Scalar S>
S mean_of_layers(const ModelDims<S>& m, const S& whole, const S& local) {
  return ((m.n_layers - m.n_local_layers) * whole + m.n_local_layers * local) / m.n_layers;
}
// Keys of `keys` that a query meets through a window. Causal callers count half of every product, so what a window
// leaves is doubled first.
template <Scalar S>
S keys_in_window(const S& keys, const S& window, bool causal) {
  const S seen = min(window, keys);
  return causal ? seen * (constant<S>(2) - seen / keys) : seen;
}

// What attention executes in the forward pass of one layer: scores and values of t tokens over `width` of query
// heads, of the whole sequence or, causal, of what is not masked. Whatever the stated convention.
template <Scalar S>
S attention_forward_flops(const Inputs<S>&, const S& width, const S& t, bool causal);
extern template double attention_forward_flops<double>(const Inputs<double>&, const double&, const double&, bool);
extern template Traced attention_forward_flops<Traced>(const Inputs<Traced>&, const Traced&, const Traced&, bool);

// Training FLOPs of one token in the stated convention: 6 P, or 6 FLOP a parameter of every matrix multiplication and
// 12 T N H a layer for attention (half of it if the masked part is left out). P counts the experts that a token
// passes through. A local layer attends to min(T, window) keys; of its window nothing is masked but the first tokens'
// part before the sequence, so leaving the masked part out makes it w - w^2 / 2T. Latent attention: 6 T N (d_n + d_r
// + d_v).
template <Scalar S>
S training_flops_per_token(const Inputs<S>&, const Parameters<S>&, FlopsConvention);
extern template double training_flops_per_token<double>(const Inputs<double>&, const Parameters<double>&,
                                                        FlopsConvention);
extern template Traced training_flops_per_token<Traced>(const Inputs<Traced>&, const Parameters<Traced>&,
                                                        FlopsConvention);
// The attention part of it alone.
template <Scalar S>
S attention_flops_per_token(const Inputs<S>&, FlopsConvention);
extern template double attention_flops_per_token<double>(const Inputs<double>&, FlopsConvention);
extern template Traced attention_flops_per_token<Traced>(const Inputs<Traced>&, FlopsConvention);

}  // namespace roofscape::engine
