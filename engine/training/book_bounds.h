// The book's bounds: from how many tokens a chip on a strategy is compute-bound (scaling book, chapters 5, 6 and 12).
// The book's rules cancel 2 FLOP of a multiply-add against 2 bytes of a bf16 number; here both factors stand, so the
// bounds hold for other precisions too.
#pragma once

#include "engine/base/scalar.h"
#include "engine/inputs/inputs.h"

namespace roofscape::engine {

// Tokens a chip below which FSDP (or data parallelism) over `axes` torus axes of bandwidth `link` is network-bound:
// b C / (2 M W). One axis of v5p: 2550.
template <Scalar S>
S fsdp_tokens_per_chip(const S& peak, const S& link, const S& axes, const S& element_bytes) {
  return element_bytes * peak / (constant<S>(2, unit::flop_each) * axes * link);
}
// Largest tensor degree that stays compute-bound: M F / (tokens a chip of one-axis FSDP).
template <Scalar S>
S tensor_degree_limit(const S& d_ff, const S& axes, const S& one_axis_tokens) {
  return axes * d_ff / one_axis_tokens;
}
// Tokens a chip below which FSDP with tensor is network-bound at the best split; M_X and M_Y are the torus axes of
// each. Transfers on different axes at the same time: a_X a_Y / (M_X M_Y F); one after the other: four times that.
// a_X and a_Y are the tokens a chip of one-axis FSDP with the weights that are moved and with those that a token
// meets: in a dense model they are equal, of a mixture of experts a_X is larger by all experts over those a token
// passes.
template <Scalar S>
S mixed_tokens_per_chip(const S& moved, const S& met, const S& d_ff, const S& axes_x, const S& axes_y, bool add) {
  const S limit = moved * met / (axes_x * axes_y * d_ff);
  return add ? constant<S>(4) * limit : limit;
}
// FSDP degree that minimises communication: sqrt(B/F * M_X/M_Y * N), F of all weights that are moved.
template <Scalar S>
S best_fsdp_degree(const S& batch_tokens, const S& d_ff, const S& axes_x, const S& axes_y, const S& chips) {
  return sqrt(batch_tokens / d_ff * axes_x / axes_y * chips);
}
// Arithmetic over communication at that split, from the limit above; below 1 it caps the MFU.
template <Scalar S>
S mixed_ratio(const S& tokens_per_chip, const S& limit) {
  return sqrt(tokens_per_chip / limit);
}

// The same as times. `fsdp` and `tensor` are those of the whole layer without the other: FSDP as if every chip had
// all of it, tensor as if every chip had the tokens of one. Split over Y tensor ranks the first takes a Y-th, the
// second Y times as long. The split where both are equal is the best one, whether the two add up or run at the same
// time.
template <Scalar S>
S best_tensor_degree(const S& fsdp, const S& tensor) {
  return sqrt(fsdp / tensor);
}
template <Scalar S>
S split_time(const S& fsdp, const S& tensor, const S& degree, bool add) {
  const S weights = fsdp / degree, activations = tensor * degree;
  return add ? weights + activations : max(weights, activations);
}

template <Scalar S>
struct Bounds {
  bool torus = false;
  S link;                              // switched
  S active_width, total_width, dense;  // mixtures of experts
  S tokens_per_chip, alpha, fsdp_1, fsdp_2, fsdp_3, tensor, mixed_sum, mixed_max, x_opt, ratio_sum, ratio_max, dcn,
      ridge;
  S max_chips_fsdp, max_chips_mixed;
};
// All of them for a scenario's model, batch and cluster; of its mesh only the links it is laid on count. `add`: as
// transfers_add (hardware/wires.h).
template <Scalar S>
Bounds<S> bounds(const Inputs<S>&, const S& batch_tokens, bool add);
extern template Bounds<double> bounds<double>(const Inputs<double>&, const double&, bool);
extern template Bounds<Traced> bounds<Traced>(const Inputs<Traced>&, const Traced&, bool);

}  // namespace roofscape::engine
