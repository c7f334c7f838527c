#include "engine/training/book_bounds.h"

#include "engine/hardware/collective.h"
#include "engine/hardware/roofline.h"

namespace roofscape::engine {

template <Scalar S>
Bounds<S> bounds(const Inputs<S>& in, const S& batch_tokens, bool add) {
  Bounds<S> out;
  out.torus = in.links.torus_dims > 0;
  const auto& chip = in.chip;
  // A mixture of experts computes with those a token passes and moves all of them.
  const bool moe = in.model.is.moe;
  out.active_width = out.total_width = in.model.d_ff;
  if (moe) {
    const ModelDims<S>& m = in.model;
    const auto width = [&](Q q, const S& experts) {
      return named(q, m.is.shared_experts ? (experts + m.n_shared_experts) * m.d_ff_expert : experts * m.d_ff_expert);
    };
    out.active_width = width(Q::bound_active_width, m.experts_per_token);
    out.total_width = width(Q::bound_total_width, m.n_experts);
  }
  const S& F = out.active_width;
  // Of FSDP over one axis: with the weights a token meets, and with those that are moved.
  const auto limits = [&](const S& link) {
    out.dense = fsdp_tokens_per_chip(chip.peak_flops, link, constant<S>(1), in.gather_bytes);
    if (moe) out.dense = named(Q::bound_dense, out.dense);
    out.fsdp_1 = named(Q::bound_fsdp_1, moe ? out.dense * out.total_width / F : out.dense);
    if (!moe) out.dense = out.fsdp_1;
  };
  const auto axes = [](double n) { return constant<S>(n); };
  out.tokens_per_chip = named(Q::bound_cluster_tokens, batch_tokens / in.cluster_chips);
  out.ridge = named(Q::ridge, ridge_point(chip.peak_flops, chip.hbm_bandwidth));
  if (!out.torus) {
    // A switched cluster gathers as fast as the slowest level of links lets a node, or a group of nodes, receive.
    out.alpha = named(Q::bound_alpha, chip.peak_flops / chip.node);
    const AxisLinks& data = in.links[Axis::data];
    const AxisLinks& tensor = in.links[Axis::tensor];
    const AxisLinks& state = in.links.state.degree > 1 ? in.links.state : data;
    out.link = named(Q::bound_link, (state.degree > 1 ? slowest_link(state, chip) : chip.node) + in.zero);
    limits(out.link);
    // Tensor parallelism stays inside a node unless the mesh says otherwise.
    const S tensor_link = tensor.degree > 1 ? slowest_link(tensor, chip) : S(chip.nvlink);
    out.tensor =
        named(Q::bound_tensor,
              tensor_degree_limit(F, axes(1),
                                  fsdp_tokens_per_chip(chip.peak_flops, tensor_link, axes(1), in.activation_bytes)));
    out.fsdp_2 = out.fsdp_3 = out.mixed_sum = out.mixed_max = out.x_opt = out.ratio_sum = out.ratio_max = out.dcn =
        out.max_chips_mixed = in.zero;
    out.max_chips_fsdp = named(Q::bound_max_chips_fsdp, batch_tokens / out.fsdp_1);
    return out;
  }
  // Torus axes of FSDP and tensor: as placed, else the book's two and one.
  const S& Mx = in.bound_axes_fsdp;
  const S& My = in.bound_axes_tensor;
  out.alpha = named(Q::bound_alpha, chip.peak_flops / chip.ici_axis);
  out.link = in.zero;
  limits(chip.ici_axis);
  out.fsdp_2 = named(Q::bound_fsdp_2, out.fsdp_1 / axes(in.links.best_axes_worth(2)));
  out.fsdp_3 = named(Q::bound_fsdp_3, out.fsdp_1 / axes(in.links.best_axes_worth(3)));
  // The book moves weights and activations in one type.
  const bool one_type = value_of(in.activation_bytes) == value_of(in.gather_bytes);
  const S moved_activations =
      one_type ? out.dense : fsdp_tokens_per_chip(chip.peak_flops, chip.ici_axis, axes(1), in.activation_bytes);
  out.tensor = named(Q::bound_tensor, tensor_degree_limit(F, My, moved_activations));
  out.mixed_sum = named(Q::bound_mixed_sum, mixed_tokens_per_chip(out.fsdp_1, moved_activations, F, Mx, My, true));
  out.mixed_max = named(Q::bound_mixed_max, mixed_tokens_per_chip(out.fsdp_1, moved_activations, F, Mx, My, false));
  // Tensor and FSDP stay inside a slice: its share of batch and chips counts.
  const S slice_tokens = named(Q::tokens_per_slice, batch_tokens / in.slices);
  out.x_opt =
      named(Q::bound_x_opt,
            best_fsdp_degree(one_type ? slice_tokens : slice_tokens * in.activation_bytes / in.gather_bytes,
                             out.total_width, Mx, My, named(Q::chips_per_slice, in.cluster_chips / in.slices)));
  out.ratio_sum = named(Q::bound_ratio_sum, mixed_ratio(out.tokens_per_chip, out.mixed_sum));
  out.ratio_max = named(Q::bound_ratio_max, mixed_ratio(out.tokens_per_chip, out.mixed_max));
  out.max_chips_fsdp = named(Q::bound_max_chips_fsdp, batch_tokens / out.fsdp_3);
  out.max_chips_mixed = named(Q::bound_max_chips_mixed, batch_tokens / (add ? out.mixed_sum : out.mixed_max));
  out.dcn = named(Q::bound_dcn, fsdp_tokens_per_chip(chip.peak_flops, chip.dcn, axes(1), in.weight_bytes));
  return out;
}

template Bounds<double> bounds<double>(const Inputs<double>&, const double&, bool);
template Bounds<Traced> bounds<Traced>(const Inputs<Traced>&, const Traced&, bool);

}  // namespace roofscape::engine
