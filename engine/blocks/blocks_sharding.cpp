// Sharded matrix multiplications and the blocks that tensor parallelism is made of.
#include <utility>

#include "engine/blocks/spec.h"
#include "engine/hardware/roofline.h"
#include "engine/hardware/sharded_matmul.h"
#include "engine/hardware/torus_collective.h"

namespace roofscape::engine::block_table {

namespace {

// Which operand is split along the contracting dimension: as typed; untyped both, if it is split at all.
std::string_view contraction_of(const BlockCall& call) {
  if (call.is_typed("contraction")) return call.word("contraction");
  return call.number("contraction_ways") > 1 ? "both" : "none";
}

// Which of the four cases of the book it is: what is contracted, and whether both operands use one mesh axis.
std::string case_of(std::string_view contraction, bool clash) {
  if (clash) return "4: illegal as it is, gather one operand first";
  if (contraction == "none") return "1: no communication";
  if (contraction == "both") return "3: partial sums, reduce the output";
  return "2: gather the split operand, or multiply and reduce";
}

template <Scalar S>
void sharded_matmul(BlockRun<S>& io) {
  const S B = io[Q::matmul_batch], D = io[Q::matmul_in], F = io[Q::matmul_out], b = io[Q::element_width];
  const S C = io[Q::peak_flops];
  const S rows = io[Q::shmm_row_ways], columns = io[Q::shmm_column_ways], ways = io[Q::shmm_contraction_ways];
  // Not known is not whole: what depends on it stays unknown.
  const int n = io.knows(Q::shmm_contraction_ways) ? io.integer(Q::shmm_contraction_ways) : 2;
  const BlockCall& call = io.call();
  const std::string_view contraction = contraction_of(call);
  if (contraction == "none" && call.number("contraction_ways") > 1)
    return io.fail("contraction", say("error.block.contraction"),
                   say("error.domain.choice", std::string("both, right, left")));
  for (const auto& [split, size] :
       {std::pair{"row_ways", "rows"}, {"contraction_ways", "contraction_size"}, {"column_ways", "columns"}})
    if (!divides(io, split, call.number(split), std::string(size), call.number(size))) return;
  const bool clash = io.flag("same_axis");
  io.say("case", case_of(contraction, clash));
  io.simulated(Q::shmm_legal, -1, clash ? 0 : 1);
  const S whole = io.out(Q::matmul_flops, matmul_flops(MatmulShape<S>{B, D, F}));
  const S replicas = io[Q::shmm_replicas];
  io.out(Q::shmm_total_flops, whole * replicas);
  const S local = io.out(Q::shmm_local_flops, local_matmul_flops(whole, rows, ways, columns));
  const S math = io.out(Q::shmm_math, time_at(local, C));
  const S gathered_flops = named(Q::shmm_gathered_flops, local_matmul_flops(whole, rows, one<S>(), columns));
  const S math_whole = io.out(Q::shmm_math_gathered, time_at(gathered_flops, C));

  const std::vector<TorusAxis<S>> axis{{ways, n, io.flag("wrapped")}};
  const TorusLinks<S> links{
      named(Q::shmm_axis_rate, torus_gather_bandwidth(io[Q::shmm_axes], io[Q::ici_axis_bandwidth])),
      named(Q::shmm_link_rate, torus_gather_bandwidth(io[Q::shmm_axes], io[Q::transfer_link])),
      io[Q::collective_hop]};
  const S latency = io.out(Q::collective_latency, torus_hops<S>(axis) * links.hop);
  // What has to be gathered to multiply whole rows and columns: the operand that is split, or both.
  const S of_left = named(Q::shmm_left_bytes, b * B * D / rows),
          of_right = named(Q::shmm_right_bytes, b * D * F / columns);
  const S split = contraction == "left"    ? one<S>() * of_left
                  : contraction == "right" ? one<S>() * of_right
                  : contraction == "both"  ? of_left + of_right
                                           : constant<S>(0) * of_right;
  const S operand = io.out(Q::shmm_operand_bytes, split);
  const S block = io.out(Q::shmm_output_bytes, b * (B / rows) * (F / columns));
  const S gather = io.out(Q::shmm_gather, torus_gather_time<S>(operand, axis, ways, links));
  const S scatter = io.out(Q::shmm_reduce_scatter, torus_gather_time<S>(block, axis, ways, links));
  const S reduce = io.out(Q::shmm_all_reduce, all_reduce_of_gather(scatter));
  io.out(Q::shmm_latency_bound, scatter / latency);
  const S first = io.out(Q::shmm_gather_first, gather_first_time(math_whole, gather));
  const S second = io.out(Q::shmm_reduce_after, reduce_after_time(math, reduce));
  io.out(Q::shmm_scatter_after, reduce_after_time(math, scatter));
  io.out(Q::shmm_strategy_ratio, second / first);
  const S threshold = io.out(Q::shmm_batch_threshold, gather_batch_threshold(b, C, links.axis));
  io.out(Q::shmm_contraction_threshold, reduce_contraction_threshold(threshold));
  io.out(Q::shmm_contraction_threshold_small, constant<S>(2) * B);
  io.out(Q::shmm_gather_to_scatter, operand / block);
  // Least latency: split an output dimension over the ranks and gather it, instead of reducing sums.
  const S split_output = io.out(Q::shmm_output_split, reduce_after_time(math, scatter));
  io.out(Q::shmm_output_split_gain, second / split_output);
  io.out(Q::shmm_replicated, time_at(gathered_flops, C));
  const S exposed = io.out(Q::shmm_overlap_exposed, overlapped_exposed_time(gather, math_whole, ways));
  io.out(Q::shmm_overlap_time, math_whole + exposed);
  io.out(Q::shmm_blocking_time, math_whole + gather);
}

template <Scalar S>
void tensor_parallel(BlockRun<S>& io) {
  const S B = io[Q::tokens], D = io[Q::d_model], F = io[Q::d_ff], Y = io[Q::tp_ways], b = io[Q::element_width];
  const S C = io[Q::peak_flops], M = io[Q::tp_axes], matrices = io[Q::tp_matrices];
  if (!divides(io, "ways", value_of(Y), std::string("d_ff"), value_of(F))) return;
  const S one_matrix = io.out(Q::tp_matrix_bytes, b * D * F);
  const S weights = io.out(Q::tp_weight_bytes, matrices * one_matrix / Y);
  const S activation = io.out(Q::tp_activation_bytes, b * B * D);
  const S free = io.out(Q::tp_free, io[Q::tp_capacity] - weights - activation);
  (void)free;
  io.out(Q::tp_load, time_at(weights, io[Q::hbm_bandwidth]));
  const S two_flop = constant<S>(2, unit::flop_each);
  const S flops = io.out(Q::tp_flops, two_flop * matrices * B * D * F);
  const S math = io.out(Q::tp_math, flops / (Y * C));
  // One gather before the first matrix and one reduction after the last.
  const S link = named(Q::tp_rate, torus_gather_bandwidth(M, io[Q::ici_axis_bandwidth]));
  const S comms = io.out(Q::tp_comms, all_reduce_of_gather(time_at(activation, link)));
  io.out(Q::tp_margin, math / comms);
  const S alpha = named(Q::tp_alpha, b * C / (two_flop * link));
  const S limit = io.out(Q::tp_limit, matrices * F / (constant<S>(2) * alpha));
  io.out(Q::tp_limit_margin, limit / Y);
  io.out(Q::tp_width_needed, Y * alpha * constant<S>(2) / matrices);
  io.out(Q::tp_lower, max(math, comms));
  io.out(Q::tp_backward_math, constant<S>(2) * math);
}

}  // namespace

std::vector<BuildingBlock> sharding_blocks() {
  return {
      {"sharded-matmul",
       "scaling book ch. 3",
       inputs(whole("rows", Q::matmul_batch), whole("contraction_size", Q::matmul_in),
              whole("columns", Q::matmul_out), element_input(),
              choice("contraction", {"both", "right", "left", "none"}), flag("same_axis", false),
              whole("row_ways", Q::shmm_row_ways).def(1),
              // Split in a way that is typed in, by how many is for whoever asks to say.
              whole("contraction_ways", Q::shmm_contraction_ways)
                  .from("1, if no operand is split",
                        [](const BlockCall& c) -> std::optional<double> {
                          const bool splits = c.is_typed("contraction") && c.word("contraction") != "none";
                          return splits ? std::nullopt : std::optional(1.0);
                        }),
              whole("column_ways", Q::shmm_column_ways).def(1), whole("replicas", Q::shmm_replicas).def(1),
              flag("wrapped", true), whole("torus_axes", Q::shmm_axes).def(1).up_to(3), dtype_input(), peak_input(),
              axis_input(), link_input(), hop_input()),
       {out_said("case"),
        out_holds("legal", Q::shmm_legal, 1),
        out("flops", Q::matmul_flops),
        out("total_flops", Q::shmm_total_flops),
        out("flops_per_device", Q::shmm_local_flops),
        out("math_s", Q::shmm_math),
        out("math_gathered_s", Q::shmm_math_gathered),
        out("operand_bytes", Q::shmm_operand_bytes),
        out("output_block_bytes", Q::shmm_output_bytes),
        out("all_gather_s", Q::shmm_gather),
        out("reduce_scatter_s", Q::shmm_reduce_scatter),
        out("all_reduce_s", Q::shmm_all_reduce),
        out("latency_s", Q::collective_latency),
        out_word("regime", Q::shmm_latency_bound, 1, "bandwidth", "latency"),
        out("gather_first_s", Q::shmm_gather_first),
        out("reduce_after_s", Q::shmm_reduce_after),
        out("scatter_after_s", Q::shmm_scatter_after),
        out_word("better", Q::shmm_strategy_ratio, 1, "gather_first", "reduce_after"),
        out("batch_threshold", Q::shmm_batch_threshold),
        out("contraction_threshold", Q::shmm_contraction_threshold),
        out("contraction_threshold_small_batch", Q::shmm_contraction_threshold_small),
        out("gather_to_scatter_bytes", Q::shmm_gather_to_scatter),
        out("output_split_s", Q::shmm_output_split),
        out("output_split_gain", Q::shmm_output_split_gain),
        out("replicated_s", Q::shmm_replicated),
        out("overlap_exposed_s", Q::shmm_overlap_exposed),
        out("overlapped_s", Q::shmm_overlap_time),
        out("blocking_s", Q::shmm_blocking_time)},
       sharded_matmul<double>,
       sharded_matmul<Traced>},
      {"tensor-parallel",
       "scaling book ch. 3 and 5",
       inputs(number("tokens", Q::tokens), size_input("d_model"), met_width_input(), whole("ways", Q::tp_ways),
              matrices_input(), element_input(), whole("torus_axes", Q::tp_axes).def(1).up_to(3), dtype_input(),
              peak_input(), hbm_input(), axis_input(), number("capacity_bytes", Q::tp_capacity).of("hbm_bytes")),
       {out("matrix_bytes", Q::tp_matrix_bytes), out("weight_bytes_per_chip", Q::tp_weight_bytes),
        out("activation_bytes", Q::tp_activation_bytes), out_holds("fits", Q::tp_free, 0),
        out("free_bytes", Q::tp_free), out("hbm_s", Q::tp_load), out("flops", Q::tp_flops), out("math_s", Q::tp_math),
        out("comms_s", Q::tp_comms), out("backward_math_s", Q::tp_backward_math), out("lower_s", Q::tp_lower),
        out_holds("compute_bound", Q::tp_margin, 1), out("margin", Q::tp_margin), out("largest_ways", Q::tp_limit),
        out("ways_margin", Q::tp_limit_margin), out("d_ff_needed", Q::tp_width_needed)},
       tensor_parallel<double>,
       tensor_parallel<Traced>},
  };
}

}  // namespace roofscape::engine::block_table
