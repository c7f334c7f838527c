// The book's bounds: from how many tokens a chip a strategy is limited by arithmetic.
#include "engine/blocks/spec.h"
#include "engine/hardware/switched_collective.h"
#include "engine/training/book_bounds.h"

namespace roofscape::engine::block_table {

namespace {

// A mixture of experts computes with those a token passes and moves all of them: by how much more weights are moved
// than met, in units of `one`.
template <Scalar S>
S times_moved(const BlockRun<S>& io, const S& one_axis) {
  const BlockCall& call = io.call();
  if (call.number("moved_d_ff") != call.number("d_ff") && io.knows(Q::d_ff))
    return one_axis * io[Q::moved_ff] / io[Q::d_ff];
  if (io.knows(Q::d_ff) || call.number("experts") == call.number("experts_per_token")) return one_axis;
  return one_axis * io[Q::ridge_experts] / io[Q::ridge_experts_per_token];
}
// Of all experts, where only their number is typed in.
In moved_input() {
  return moved_width_input().from("d_ff x experts / experts_per_token", [](const BlockCall& c) {
    return std::optional(c.number("d_ff") * c.number("experts") / c.number("experts_per_token"));
  });
}

template <Scalar S>
void bounds_torus(BlockRun<S>& io) {
  const S C = io[Q::peak_flops], b = io[Q::element_width];
  const S F = io[Q::d_ff], B = io[Q::tokens], N = io[Q::bounds_chips], slices = io[Q::cluster_slices];
  const S Mx = io[Q::bounds_axes_x], My = io[Q::bounds_axes_y];
  const S alpha = io.out(Q::bounds_alpha, io.knows(Q::bounds_given_alpha)
                                              ? io[Q::bounds_given_alpha] * one<S>()
                                              : fsdp_tokens_per_chip(C, io[Q::ici_axis_bandwidth], one<S>(), b));
  io.out(Q::bounds_intensity, C / io[Q::ici_axis_bandwidth]);
  const S moved = io.out(Q::bounds_moved, times_moved(io, alpha));
  const S fsdp = io.out(Q::bounds_fsdp, moved / io[Q::bounds_axes_fsdp]);
  // As many axes as the chip has.
  const auto over = [&](Q q, int axes) {
    if (io.call().chip() != nullptr && io.integer(Q::bounds_axes_fsdp) < axes && !io.call().is_typed("fsdp_axes"))
      io.without(q, "fewer_axes");
    else
      io.out(q, moved / constant<S>(axes));
  };
  over(Q::bounds_fsdp_2, 2), over(Q::bounds_fsdp_3, 3);
  io.out(Q::bounds_fsdp_tokens, fsdp * N);
  const S fsdp_chips = io.out(Q::bounds_fsdp_chips, B / fsdp);
  io.out(Q::bounds_fsdp_pods, fsdp_chips / io[Q::bounds_pod]);
  const S per_chip =
      io.out(Q::bounds_tokens_chip,
             io.knows(Q::bounds_given_tokens_chip) ? io[Q::bounds_given_tokens_chip] * one<S>() : B / N);
  io.out(Q::bounds_fsdp_margin, per_chip / fsdp);
  // Tensor parallelism alone.
  const S limit = io.out(Q::bounds_tensor, tensor_degree_limit(F, My, alpha));
  io.out(Q::bounds_tensor_width, io[Q::bounds_ways] * alpha / My);
  io.out(Q::bounds_tensor_margin, limit / io[Q::bounds_ways]);
  // FSDP and tensor together, with both overlap models.
  const S mixed_max = io.out(Q::bounds_mixed_max, mixed_tokens_per_chip(moved, alpha, F, Mx, My, false));
  const S mixed_sum = io.out(Q::bounds_mixed_sum, mixed_tokens_per_chip(moved, alpha, F, Mx, My, true));
  io.out(Q::bounds_mixed_max_tokens, mixed_max * N);
  io.out(Q::bounds_mixed_sum_tokens, mixed_sum * N);
  io.out(Q::bounds_mixed_max_chips, B / mixed_max);
  io.out(Q::bounds_mixed_sum_chips, B / mixed_sum);
  io.out(Q::bounds_ratio_max, mixed_ratio(per_chip, mixed_max));
  io.out(Q::bounds_ratio_sum, mixed_ratio(per_chip, mixed_sum));
  const S slice_tokens = io.out(Q::bounds_slice_tokens, B / slices);
  const S slice_chips = named(Q::bounds_slice_chips, N / slices);
  io.out(Q::bounds_x_opt, best_fsdp_degree(slice_tokens, io[Q::moved_ff], Mx, My, slice_chips));
  const S dcn = io.out(Q::bounds_dcn, fsdp_tokens_per_chip(C, io[Q::dcn_bandwidth], one<S>(), b));
  io.out(Q::bounds_dcn_margin, slice_tokens / dcn);
  io.out(Q::bounds_dcn_total, dcn * slices);
  io.out(Q::bounds_experts, one<S>() * fsdp);
}

template <Scalar S>
void mesh_optimum(BlockRun<S>& io) {
  const S B = io[Q::tokens], F = io[Q::d_ff], D = io[Q::d_model], N = io[Q::bounds_chips], b = io[Q::element_width];
  const S Mx = io[Q::bounds_axes_x], My = io[Q::bounds_axes_y], C = io[Q::peak_flops], W = io[Q::ici_axis_bandwidth];
  const S alpha = io.out(Q::bounds_alpha, fsdp_tokens_per_chip(C, W, one<S>(), b));
  const S limit = io.out(Q::bounds_tensor, tensor_degree_limit(F, My, alpha));
  const S best = io.out(Q::bounds_x_opt, best_fsdp_degree(B, io[Q::moved_ff], Mx, My, N));
  const S free = io.out(Q::opt_tensor, N / best);
  // Not below 1 way of tensor, nor above what it can hide, nor more chips than there are.
  const S clipped = io.out(Q::opt_tensor_clipped, min(max(free, one<S>()), max(min(limit, N), one<S>())));
  (void)clipped;
  const S X = io.knows(Q::opt_fsdp_given) ? io[Q::opt_fsdp_given] : best, Y = io.out(Q::opt_tensor_used, N / X);
  const S two = constant<S>(2), two_flop = constant<S>(2, unit::flop_each), matrices = io[Q::tp_matrices];
  const S math = io.out(Q::opt_math, named(Q::opt_flops, two_flop * matrices * B * D * F) / (N * C));
  const S weights = named(Q::opt_weight_bytes, matrices * b * D * io[Q::moved_ff] / Y),
          stream = named(Q::opt_stream_bytes, two * b * B * D / X);
  const S fsdp = io.out(Q::opt_fsdp_time, weights / (W * Mx)), tensor = io.out(Q::opt_tensor_time, stream / (W * My));
  const S sum = io.out(Q::opt_comms_sum, fsdp + tensor), both = io.out(Q::opt_comms_max, max(fsdp, tensor));
  io.out(Q::opt_ratio_sum, math / sum);
  io.out(Q::opt_ratio_max, math / both);
}

template <Scalar S>
void bounds_gpu(BlockRun<S>& io) {
  const S C = io[Q::peak_flops], b = io[Q::element_width], F = io[Q::d_ff];
  const S gpu = io[Q::nvlink_bandwidth], node = io[Q::node_bandwidth], nodes = io[Q::gb_data_nodes];
  const S in_node = io.out(Q::gb_in_node, fsdp_tokens_per_chip(C, gpu, one<S>(), b));
  const S beyond = io.out(Q::gb_beyond, fsdp_tokens_per_chip(C, node, one<S>(), b));
  const S binding = io.out(
      Q::gb_binding, io.knows(Q::bounds_given_alpha) ? io[Q::bounds_given_alpha] * one<S>() : max(in_node, beyond));
  const S reached = named(Q::gb_reach, level_bandwidth(nodes, one<S>(), node));
  io.out(Q::gb_beyond_exact, fsdp_tokens_per_chip(C, reached, one<S>(), b));
  io.out(Q::gb_sharp, binding / constant<S>(2));
  io.out(Q::gb_experts, times_moved(io, binding));
  const S pipelined = io.out(Q::gb_pipelined, beyond / io[Q::gb_model_nodes]);
  const S per_gpu =
      io.out(Q::bounds_tokens_chip, io.knows(Q::bounds_given_tokens_chip) ? io[Q::bounds_given_tokens_chip] * one<S>()
                                                                          : io[Q::tokens] / io[Q::gb_gpus]);
  io.out(Q::gb_total, binding * io[Q::gb_gpus]);
  io.out(Q::gb_margin, per_gpu / binding);
  io.out(Q::gb_pipelined_margin, per_gpu / pipelined);
  io.out(Q::gb_tensor_node, F / in_node);
  const S tensor = io.out(Q::gb_tensor_beyond, F / beyond);
  io.out(Q::gb_tensor_two, tensor + io[Q::gpucoll_gpus]);
  // Expert parallelism over Z GPUs of several nodes.
  const S Z = io[Q::gb_expert_ways], k = io[Q::ridge_experts_per_token], n = io[Q::gpucoll_gpus];
  const S hit = io.out(Q::gb_expert_hit, hit_estimate(n * k, Z));
  const S width = io.out(Q::gb_expert_width, beyond * (Z - n) * hit / k);
  io.out(Q::gb_expert_margin, F / width);
  io.out(Q::gb_expert_wide, n * beyond);
}

In given_tokens() { return number("tokens_per_chip", Q::bounds_given_tokens_chip); }

}  // namespace

std::vector<BuildingBlock> bounds_blocks() {
  const auto axes = [](std::string_view name, Q q, double fallback) { return whole(name, q).def(fallback).up_to(3); };
  return {
      {"bounds",
       "scaling book ch. 5 and 6",
       inputs(number("tokens", Q::tokens), whole("chips", Q::bounds_chips), given_tokens(),
              whole("slices", Q::cluster_slices).def(1), met_width_input(), expert_count_input(1),
              chosen_experts_input(1), moved_input(), element_input(), dtype_input(), peak_input(), axis_input(),
              number("dcn_bytes_per_s", Q::dcn_bandwidth).of("dcn_bytes_per_s_per_chip"),
              number("one_axis_tokens", Q::bounds_given_alpha), torus_axes_input("fsdp_axes", Q::bounds_axes_fsdp, 3),
              fsdp_axes_input("mixed_fsdp_axes", Q::bounds_axes_x, 2), axes("mixed_tensor_axes", Q::bounds_axes_y, 1),
              whole("tensor_ways", Q::bounds_ways), whole("pod_chips", Q::bounds_pod)),
       {out("one_axis_tokens", Q::bounds_alpha),
        out("ici_intensity", Q::bounds_intensity),
        out("fsdp_tokens_per_chip", Q::bounds_fsdp),
        out("fsdp_2_axes_tokens_per_chip", Q::bounds_fsdp_2),
        out("fsdp_3_axes_tokens_per_chip", Q::bounds_fsdp_3),
        out("fsdp_tokens", Q::bounds_fsdp_tokens),
        out("fsdp_chips", Q::bounds_fsdp_chips),
        out("fsdp_pods", Q::bounds_fsdp_pods),
        out("tokens_per_chip", Q::bounds_tokens_chip),
        out_holds("fsdp_compute_bound", Q::bounds_fsdp_margin, 1),
        out("fsdp_margin", Q::bounds_fsdp_margin),
        out("tensor_ways", Q::bounds_tensor),
        out_holds("tensor_compute_bound", Q::bounds_tensor_margin, 1),
        out("d_ff_for_ways", Q::bounds_tensor_width),
        out("mixed_max_tokens_per_chip", Q::bounds_mixed_max),
        out("mixed_sum_tokens_per_chip", Q::bounds_mixed_sum),
        out("mixed_max_tokens", Q::bounds_mixed_max_tokens),
        out("mixed_sum_tokens", Q::bounds_mixed_sum_tokens),
        out("mixed_max_chips", Q::bounds_mixed_max_chips),
        out("mixed_sum_chips", Q::bounds_mixed_sum_chips),
        out("mixed_max_ratio", Q::bounds_ratio_max),
        out("mixed_sum_ratio", Q::bounds_ratio_sum),
        out_holds("mixed_max_compute_bound", Q::bounds_ratio_max, 1),
        out_holds("mixed_sum_compute_bound", Q::bounds_ratio_sum, 1),
        out("fsdp_ways_optimal", Q::bounds_x_opt),
        out("tokens_per_slice", Q::bounds_slice_tokens),
        out("dcn_tokens_per_slice", Q::bounds_dcn),
        out("dcn_tokens", Q::bounds_dcn_total),
        out_holds("dcn_compute_bound", Q::bounds_dcn_margin, 1),
        out("dcn_margin", Q::bounds_dcn_margin),
        out("moved_one_axis_tokens", Q::bounds_moved),
        out("expert_tokens_per_chip", Q::bounds_experts)},
       bounds_torus<double>,
       bounds_torus<Traced>},
      {"mesh-optimum",
       "scaling book ch. 5",
       inputs(number("tokens", Q::tokens), whole("chips", Q::bounds_chips), size_input("d_model"), met_width_input(),
              moved_width_input(), matrices_input(), element_input(),
              fsdp_axes_input("fsdp_axes", Q::bounds_axes_x, 2), axes("tensor_axes", Q::bounds_axes_y, 1),
              number("fsdp", Q::opt_fsdp_given), dtype_input(), peak_input(), axis_input()),
       {out("fsdp_optimal", Q::bounds_x_opt), out("tensor_optimal", Q::opt_tensor),
        out("tensor_clipped", Q::opt_tensor_clipped), out("tensor_limit", Q::bounds_tensor),
        out("tensor", Q::opt_tensor_used), out("math_s", Q::opt_math), out("fsdp_s", Q::opt_fsdp_time),
        out("tensor_s", Q::opt_tensor_time), out("comms_sum_s", Q::opt_comms_sum),
        out("comms_max_s", Q::opt_comms_max), out("ratio_sum", Q::opt_ratio_sum), out("ratio_max", Q::opt_ratio_max),
        out_holds("compute_bound_sum", Q::opt_ratio_sum, 1), out_holds("compute_bound_max", Q::opt_ratio_max, 1)},
       mesh_optimum<double>,
       mesh_optimum<Traced>},
      {"bounds-gpu",
       "scaling book ch. 12",
       inputs(number("tokens", Q::tokens), whole("gpus", Q::gb_gpus), given_tokens(), met_width_input(),
              expert_count_input(1), chosen_experts_input(1), moved_input(), element_input(), dtype_input(),
              peak_input(), number("gpu_bytes_per_s", Q::nvlink_bandwidth).of("scaleup_bytes_per_s_per_chip_oneway"),
              number("node_bytes_per_s", Q::node_bandwidth).of("scaleout_bytes_per_s_per_node_oneway"),
              whole("node_size", Q::gpucoll_gpus).def(8).of("scaleup_domain_chips"),
              whole("data_nodes", Q::gb_data_nodes).at_least(2), whole("model_nodes", Q::gb_model_nodes).def(1),
              number("required_tokens", Q::bounds_given_alpha), whole("expert_ways", Q::gb_expert_ways)),
       {out("in_node_tokens_per_gpu", Q::gb_in_node), out("beyond_node_tokens_per_gpu", Q::gb_beyond),
        out("required_tokens_per_gpu", Q::gb_binding), out("beyond_node_exact_tokens_per_gpu", Q::gb_beyond_exact),
        out("sharp_tokens_per_gpu", Q::gb_sharp), out("expert_tokens_per_gpu", Q::gb_experts),
        out("model_parallel_tokens_per_gpu", Q::gb_pipelined), out("tokens_per_gpu", Q::bounds_tokens_chip),
        out("required_tokens", Q::gb_total), out_holds("compute_bound", Q::gb_margin, 1), out("margin", Q::gb_margin),
        out_holds("compute_bound_model_parallel", Q::gb_pipelined_margin, 1),
        out("tensor_ways_in_node", Q::gb_tensor_node), out("tensor_ways_beyond_node", Q::gb_tensor_beyond),
        out("tensor_ways_two_nodes", Q::gb_tensor_two), out("expert_hit_estimate", Q::gb_expert_hit),
        out("expert_d_ff_needed", Q::gb_expert_width), out_holds("expert_compute_bound", Q::gb_expert_margin, 1),
        out("expert_d_ff_needed_many_nodes", Q::gb_expert_wide)},
       bounds_gpu<double>,
       bounds_gpu<Traced>},
  };
}

}  // namespace roofscape::engine::block_table
