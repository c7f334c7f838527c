#include "engine/training/bounds.h"

namespace roofscape::engine {

template <Scalar S>
Bounds<S> bounds(const Inputs<S>& in, const S& batch_tokens, AxesOverlap overlap) {
  Bounds<S> out;
  out.torus = in.links.torus_dims > 0;
  out.has_dcn = out.torus;
  const auto& chip = in.chip;
  const S& F = in.model.d_ff;
  const auto axes = [](double n) { return constant<S>(n); };
  out.tokens_per_chip = named(Q::bound_cluster_tokens, batch_tokens / in.cluster_chips);
  out.ridge = named(Q::ridge, chip.peak_flops / chip.hbm_bandwidth);
  if (!out.torus) {
    // A switched cluster gathers across nodes as fast as a node can receive; tensor parallelism stays inside one.
    out.alpha = named(Q::bound_alpha, chip.peak_flops / chip.node);
    out.fsdp_1 = named(Q::bound_fsdp_1, fsdp_tokens_per_chip(chip.peak_flops, chip.node, axes(1), in.weight_bytes));
    out.tensor = named(Q::bound_tensor,
                       tensor_degree_limit(F, axes(1), fsdp_tokens_per_chip(chip.peak_flops, chip.nvlink, axes(1),
                                                                            in.activation_bytes)));
    out.fsdp_2 = out.fsdp_3 = out.mixed_sum = out.mixed_max = out.x_opt = out.ratio_sum = out.ratio_max = out.dcn =
        out.max_chips_mixed = in.zero;
    out.max_chips_fsdp = named(Q::bound_max_chips_fsdp, batch_tokens / out.fsdp_1);
    return out;
  }
  // Torus axes of FSDP and tensor: as placed, else the book's two and one.
  const S& Mx = in.bound_axes_fsdp;
  const S& My = in.bound_axes_tensor;
  out.alpha = named(Q::bound_alpha, chip.peak_flops / chip.ici_axis);
  out.fsdp_1 = named(Q::bound_fsdp_1, fsdp_tokens_per_chip(chip.peak_flops, chip.ici_axis, axes(1), in.weight_bytes));
  out.fsdp_2 = named(Q::bound_fsdp_2, out.fsdp_1 / axes(2));
  out.fsdp_3 = named(Q::bound_fsdp_3, out.fsdp_1 / axes(3));
  out.tensor = named(Q::bound_tensor, tensor_degree_limit(F, My, out.fsdp_1));
  out.mixed_sum = named(Q::bound_mixed_sum, mixed_tokens_per_chip(out.fsdp_1, F, Mx, My, AxesOverlap::sum));
  out.mixed_max = named(Q::bound_mixed_max, mixed_tokens_per_chip(out.fsdp_1, F, Mx, My, AxesOverlap::max));
  // Tensor and FSDP stay inside a slice: its share of batch and chips counts.
  out.x_opt = named(Q::bound_x_opt,
                    best_fsdp_degree(named(Q::tokens_per_slice, batch_tokens / in.slices), F, Mx, My,
                                     named(Q::chips_per_slice, in.cluster_chips / in.slices)));
  out.ratio_sum =
      named(Q::bound_ratio_sum, mixed_ratio(out.tokens_per_chip, F, Mx, My, out.fsdp_1, AxesOverlap::sum));
  out.ratio_max =
      named(Q::bound_ratio_max, mixed_ratio(out.tokens_per_chip, F, Mx, My, out.fsdp_1, AxesOverlap::max));
  out.max_chips_fsdp = named(Q::bound_max_chips_fsdp, batch_tokens / out.fsdp_3);
  out.max_chips_mixed =
      named(Q::bound_max_chips_mixed, batch_tokens / (overlap == AxesOverlap::sum ? out.mixed_sum : out.mixed_max));
  out.dcn = named(Q::bound_dcn, fsdp_tokens_per_chip(chip.peak_flops, chip.dcn, axes(1), in.weight_bytes));
  return out;
}

template Bounds<double> bounds<double>(const Inputs<double>&, const double&, AxesOverlap);
template Bounds<Traced> bounds<Traced>(const Inputs<Traced>&, const Traced&, AxesOverlap);

}  // namespace roofscape::engine
