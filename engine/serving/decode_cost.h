// A decoding step on the scenario's mesh, as the sum of its parts (scaling book, chapters 7 and 8): attention reads
// each sequence's keys and values; linear layers take the longer of reading the weights and their FLOPs; transfers
// that outlast what they hide under; the way through the pipeline's stages; the draft model. Without a pipeline,
// drafts and exposed transfers it is the book's formula:
//   T_step = b KV / (n W_hbm) + max(2 b P / (n C), P_bytes / (n W_hbm))
//
// The cache splits over KV heads first, at most one head a rank; tensor ranks beyond them hold copies, or take other
// sequences (two exchanges a layer), or other tokens of each sequence. Context ranks take other tokens too, on chips
// of their own. Pipeline stages work on different sequences at the same time, so a pass reads all layers' weights for
// 1/p of a replica's sequences. Experts: a pass reads those that its tokens are sent to, at most all.
//
// Calibrated: weights and cache are read at the rates that kernels reach, the embedding is a look-up and no read,
// collectives stand between kernels with nothing to hide under but the share hidden_tensor, and the host's part is
// the starts of the kernels and the time between steps.
#pragma once

#include "engine/serving/pass_network.h"

namespace roofscape::engine {

template <Scalar S>
struct DecodeCost {
  S chips, replicas, replica_sequences, pass_sequences;
  S kv_head_ways, kv_spare_ways, kv_ways, kv_copies;
  S kv_layer_bytes, kv_read_bytes, kv_sequence_bytes, kv_prompt_bytes, allocated_tokens;
  S params_shared;  // outside the routed experts
  S expert_ways;    // of the routed experts; only with experts
  S experts_hit;
  S pass_tokens, weight_read_bytes;
  S kv_read, attention_math, weight_read, flops, flops_time, work;
  S query_bytes;
  S starts;  // of the pass's kernels; calibrated
  PassNetwork<S> network;
  std::array<S, kDecodeParts.size()> parts;
  S model_step, step;
  S accepted, token_time, tokens_per_s, tokens_per_chip;
};

template <Scalar S>
DecodeCost<S> decode_cost(const ServingInputs<S>&, const Parameters<S>&);
extern template DecodeCost<double> decode_cost<double>(const ServingInputs<double>&, const Parameters<double>&);
extern template DecodeCost<Traced> decode_cost<Traced>(const ServingInputs<Traced>&, const Parameters<Traced>&);

// Tokens of a sequence summed over the layers that keep them: a window keeps no more than its own. Named as `row`.
template <Scalar S>
S kv_tokens_over_layers(const ModelDims<S>& m, const S& tokens, Q row) {
  if (!m.is.local) return named(row, m.n_layers * tokens);
  return named(row, (m.n_layers - m.n_local_layers) * tokens + m.n_local_layers * min(m.window_tokens, tokens));
}
// FLOPs of linear layers for so many tokens in the stated convention: every active parameter, or only the matrices.
template <Scalar S>
const S& multiplied_parameters(const Parameters<S>& p, FlopsConvention convention) {
  return convention == FlopsConvention::six_p ? p.active : p.matmul;
}
// Kernels that a pass starts in one layer: four products, attention with the rotation and the write to the cache
// before it, two norms with their residual, the activation. Latent attention has three products, two norms and a
// rotation more.
inline constexpr double kPassKernels = 9, kLatentKernels = 6;
// Beside them a layer with experts: the router, the choice, tokens sorted and put together again; shared experts.
inline constexpr double kExpertKernels = 4, kSharedKernels = 4;
// Of the mean layer.
template <Scalar S>
S pass_kernel_count(const Inputs<S>& in) {
  return constant<S>(kPassKernels + (in.model.is.mla ? kLatentKernels : 0));
}
// Of a layer with experts.
template <Scalar S>
S expert_kernel_count(const Inputs<S>& in) {
  return constant<S>(kPassKernels + (in.model.is.mla ? kLatentKernels : 0) + kExpertKernels +
                     (in.model.is.shared_experts ? kSharedKernels : 0));
}
// Seconds between the kernels of a pass; `busy`: what the chip has to do meanwhile. A host that starts a layer's
// kernels one by one sets the pace where it is slower than they are.
template <Scalar S>
S pass_starts(const Inputs<S>& in, const S& layers, const S& busy) {
  const CalibrationInputs<S>& c = in.calibration;
  const S gaps = layers * (pass_kernel_count(in) * c[Calibrated::kernel_gap]);
  return named(Q::pass_start, c.issues ? max(gaps, layers * c[Calibrated::issue] - busy) : gaps);
}
// Transfers beyond what they hide under.
template <Scalar S>
S exposed_seconds(const Inputs<S>& in, const S& network, const S& work) {
  if (in.calibrated) return (constant<S>(1) - in.calibration[Calibrated::hidden_tensor]) * network;
  return max(network - (in.full_overlap ? work : in.overlap * work), constant<S>(0, unit::seconds));
}

}  // namespace roofscape::engine
