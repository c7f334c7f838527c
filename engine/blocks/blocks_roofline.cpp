// One chip: rooflines of a matmul, of vector operations, of anything; ridge points; bounds of a multi-stage transfer.
#include "engine/blocks/spec.h"
#include "engine/hardware/roofline.h"
#include "engine/hardware/torus_collective.h"
#include "engine/hardware/transfer.h"

namespace roofscape::engine::block_table {

namespace {

template <Scalar S>
void matmul(BlockRun<S>& io) {
  const S B = io[Q::matmul_batch], D = io[Q::matmul_in], F = io[Q::matmul_out];
  const MatmulShape<S> shape{B, D, F};
  const MatmulWidths<S> b{io[Q::matmul_input_bytes], io[Q::matmul_weight_bytes], io[Q::matmul_output_bytes]};
  const S C = io[Q::peak_flops], W = io[Q::hbm_bandwidth];
  const S one_flop = constant<S>(1, unit::flop_each), two = constant<S>(2, unit::flop_each);
  const S set_bytes =
      named(Q::matmul_set_bytes, b.weight * io[Q::matmul_weight_sets]);  // of what one useful weight brings along
  const S flops = io.out(Q::matmul_flops, matmul_flops(shape));
  io.out(Q::matmul_flops_exact, B * F * (two * D - one_flop));
  const S weights = io.flag("weights_per_row") ? D * F * B : D * F;
  const S weight_total = named(Q::matmul_weight_total, set_bytes * weights);
  const S bytes = io.out(Q::matmul_bytes, b.input * B * D + weight_total + b.output * B * F);
  const S intensity = io.out(Q::matmul_intensity, flops / bytes);
  const bool per_row = io.flag("weights_per_row");
  // Where only the weights count: a row of its own weights has no others to share them with.
  io.out(Q::matmul_intensity_small_batch, per_row ? two / set_bytes : two * B / set_bytes);
  const S ridge = io.out(Q::matmul_ridge, ridge_point(C, W));
  const S math = io.out(Q::matmul_math, time_at(flops, C));
  const S traffic = io.out(Q::matmul_traffic, time_at(bytes, W));
  const S lower = io.out(Q::matmul_lower, max(math, traffic));
  io.out(Q::matmul_upper, math + traffic);
  const S rate = io.out(Q::matmul_rate, flops / lower);
  io.out(Q::matmul_attainable, attainable(intensity, W, C));
  io.out(Q::matmul_utilisation, rate / C);
  io.out(Q::matmul_margin, intensity / ridge);
  if (per_row)
    io.without({Q::matmul_batch_estimate, Q::matmul_batch_critical, Q::matmul_tiled_bytes, Q::matmul_tiled_intensity,
                Q::matmul_tile_intensity},
               "weights_per_row");
  else
    io.out(Q::matmul_batch_estimate, critical_batch_estimate(set_bytes, ridge));
  const S row_math = named(Q::matmul_row_math, row_math_time(shape, C));
  const S row_traffic = named(Q::matmul_row_traffic, row_traffic_time(shape, b, W));
  const S margin = named(Q::matmul_margin_row, row_math - row_traffic);
  const S critical = critical_batch(shape, {b.input, set_bytes, b.output}, W, margin);
  if (value_of(margin) <= 0)
    io.without(Q::matmul_batch_critical, "never_compute_bound");
  else if (!per_row)
    io.out(Q::matmul_batch_critical, critical);
  // Shapes are padded to the matrix unit.
  const S pad = io[Q::matmul_unit];
  const S padded_in = named(Q::matmul_padded_in, pad * ceil(D / pad)),
          padded_out = named(Q::matmul_padded_out, pad * ceil(F / pad));
  io.out(Q::matmul_padded_flops, matmul_flops(MatmulShape<S>{B, padded_in, padded_out}));
  // Tiles of the output stay; those of the inputs are read again for each.
  const S bm = io[Q::matmul_tile_rows], bk = io[Q::matmul_tile_in], bn = io[Q::matmul_tile_out];
  io.out(Q::matmul_tile_bytes, b.input * bm * bk + b.weight * bk * bn + b.output * bm * bn);
  if (per_row) return;
  const S in_again = named(Q::matmul_in_again, ceil(F / bn)),
          weights_again = named(Q::matmul_weights_again, ceil(B / bm));
  const S tiled =
      io.out(Q::matmul_tiled_bytes, b.input * B * D * in_again + b.weight * D * F * weights_again + b.output * B * F);
  io.out(Q::matmul_tiled_intensity, flops / tiled);
  io.out(Q::matmul_tile_intensity, two * bm * bn / (b.input * bm + b.weight * bn));
}

template <Scalar S>
void roofline(BlockRun<S>& io) {
  const S C = io[Q::peak_flops], W = io[Q::hbm_bandwidth];
  const S flops = io[Q::roofline_flops], bytes = io[Q::roofline_bytes];
  const S chips = io[Q::roofline_chips];
  const S intensity = io.out(Q::roofline_intensity,
                             io.knows(Q::roofline_given_intensity) ? io[Q::roofline_given_intensity] : flops / bytes);
  const S ridge = io.out(Q::roofline_ridge, ridge_point(C, W));
  io.out(Q::roofline_margin, intensity / ridge);
  const S roof = io.out(Q::roofline_attainable, attainable(intensity, W, C));
  io.out(Q::roofline_utilisation, roof / C);
  const S math = io.out(Q::roofline_math, flops / (chips * C));
  const S traffic = io.out(Q::roofline_traffic, bytes / (chips * W));
  io.out(Q::roofline_lower, max(math, traffic));
  io.out(Q::roofline_upper, math + traffic);
  io.out(Q::roofline_achieved, C * io[Q::roofline_efficiency]);
}

Sourced bandwidth_of_level(const Chip& chip, const BlockCall& call) {
  const std::string_view level = call.word("level");
  return chip[level == "vmem"   ? ChipField::vmem_bytes_per_s
              : level == "l2"   ? ChipField::l2_bytes_per_s
              : level == "pcie" ? ChipField::host_pcie_bytes_per_s_per_chip
              : level == "ici"  ? ChipField::ici_bytes_per_s_per_axis_bidirectional
              : level == "dcn"  ? ChipField::dcn_bytes_per_s_per_chip
              : level == "gpu"  ? ChipField::scaleup_bytes_per_s_per_chip_oneway
              : level == "node" ? ChipField::scaleout_bytes_per_s_per_node_oneway
                                : ChipField::hbm_bytes_per_s];
}
// Two chips exchange sums over one direction of one link; of an axis of a torus the bandwidth counts both.
std::optional<double> link_of_level(const BlockCall& call) {
  const double bandwidth = call.number("bytes_per_s");
  return call.word("level") == "ici" ? one_direction(bandwidth) : bandwidth;
}

template <Scalar S>
void ridge(BlockRun<S>& io) {
  const S C = io[Q::peak_flops], W = io[Q::ridge_bandwidth], b = io[Q::matmul_weight_bytes];
  const S point = io.out(Q::ridge_point, ridge_point(C, W));
  const S batch = io.out(Q::ridge_batch, critical_batch_estimate(b, point));
  io.out(Q::ridge_batch_experts, batch * io[Q::ridge_experts] / io[Q::ridge_experts_per_token]);
  io.out(Q::ridge_contraction, critical_contraction(b, C, io[Q::transfer_link]));
  io.out(Q::ridge_vector, io[Q::vector_peak] / W);
  io.out(Q::ridge_matmul_to_vector, C / io[Q::vector_peak]);
}

template <Scalar S>
void vector(BlockRun<S>& io) {
  const S n = io[Q::vector_elements], b = io[Q::vector_width];
  const S one_flop = constant<S>(1, unit::flop_each);
  const bool dot = io.choice("operation") == "dot";
  // A dot product multiplies and adds two vectors into one number; pointwise operations write one element for each.
  const S flops =
      io.out(Q::vector_flops, dot ? constant<S>(2, unit::flop_each) * n - one_flop : io[Q::vector_flops_each] * n);
  const S moved = dot ? constant<S>(2) * n + one<S>() : (io[Q::vector_reads] + io[Q::vector_writes]) * n;
  const S bytes = io.out(Q::vector_bytes, b * moved);
  const S intensity =
      io.out(Q::vector_intensity,
             dot ? flops / bytes : io[Q::vector_flops_each] / (b * (io[Q::vector_reads] + io[Q::vector_writes])));
  const S V = io[Q::vector_peak], W = io[Q::hbm_bandwidth];
  const S point = io.out(Q::vector_ridge, V / W);
  io.out(Q::vector_margin, intensity / point);
  const S math = io.out(Q::vector_math, flops / V), traffic = io.out(Q::vector_traffic, bytes / W);
  io.out(Q::vector_time, max(math, traffic));
}

template <Scalar S>
void transfer(BlockRun<S>& io) {
  const auto asked = io.value("path").numbers;
  const auto wants = [&](double stage, Q rate) {
    for (const double s : asked)
      if (s == stage) return true;
    return asked.empty() && io.knows(rate);
  };
  const S bytes = io[Q::transfer_bytes];
  const S chips = io[Q::transfer_chips];
  std::vector<S> stages;
  const auto add = [&](double stage, Q rate, Q time, const S& x) {
    if (wants(stage, rate))
      stages.push_back(io.out(time, x));
    else if (asked.empty())
      io.out(time, x);  // says what it needs
    else
      io.without(time, "not_on_path");
  };
  add(0, Q::transfer_pcie, Q::transfer_pcie_time, link_time(bytes, io[Q::transfer_pcie_links], io[Q::transfer_pcie]));
  add(1, Q::transfer_link, Q::transfer_ici_time,
      gather_to_one_time(bytes, chips, io[Q::transfer_ports], io[Q::transfer_link]));
  add(2, Q::hbm_bandwidth, Q::transfer_hbm_time, time_at(bytes, io[Q::hbm_bandwidth]));
  add(3, Q::dcn_bandwidth, Q::transfer_dcn_time, link_time(bytes, chips, io[Q::dcn_bandwidth]));
  const S math = io.out(Q::transfer_math_time, time_at(io[Q::transfer_flops], io[Q::peak_flops]));
  if (io.knows(Q::transfer_flops) || wants(4, Q::transfer_flops)) stages.push_back(math);
  if (stages.empty()) return io.fail("path", say("error.block.path"), say("error.block.path.remedy"));
  S lower = stages.front(), upper = stages.front();
  for (std::size_t i = 1; i < stages.size(); ++i) lower = max(lower, stages[i]), upper = upper + stages[i];
  io.out(Q::transfer_lower, lower);
  io.out(Q::transfer_upper, upper);
  io.out(Q::transfer_critical_batch,
         critical_batch_estimate(io[Q::matmul_weight_bytes],
                                 named(Q::transfer_ridge, io[Q::peak_flops] / io[Q::transfer_pcie])));
}

}  // namespace

std::vector<BuildingBlock> roofline_blocks() {
  return {
      {"matmul",
       "scaling book ch. 1",
       inputs(number("batch", Q::matmul_batch), number("d_in", Q::matmul_in), number("d_out", Q::matmul_out),
              number("input_bytes", Q::matmul_input_bytes).def(2),
              number("weight_bytes", Q::matmul_weight_bytes).def(2),
              number("output_bytes", Q::matmul_output_bytes).def(2), dtype_input(), peak_input(), hbm_input(),
              flag("weights_per_row", false), number("weight_sets", Q::matmul_weight_sets).def(1).at_least(1),
              whole("unit", Q::matmul_unit).def(128).of("mxu_dim"), whole("tile_rows", Q::matmul_tile_rows),
              whole("tile_in", Q::matmul_tile_in), whole("tile_out", Q::matmul_tile_out)),
       {out("flops", Q::matmul_flops),
        out("flops_exact", Q::matmul_flops_exact),
        out("bytes", Q::matmul_bytes),
        out("intensity", Q::matmul_intensity),
        out("intensity_small_batch", Q::matmul_intensity_small_batch),
        out("ridge", Q::matmul_ridge),
        out("math_s", Q::matmul_math),
        out("bytes_s", Q::matmul_traffic),
        out("lower_s", Q::matmul_lower),
        out("upper_s", Q::matmul_upper),
        out("flops_per_s", Q::matmul_rate),
        out("attainable_flops_per_s", Q::matmul_attainable),
        out("utilisation", Q::matmul_utilisation),
        out_word("regime", Q::matmul_margin, 1, "compute", "memory"),
        out_holds("compute_bound", Q::matmul_margin, 1),
        out("margin", Q::matmul_margin),
        out("critical_batch", Q::matmul_batch_critical),
        out("critical_batch_estimate", Q::matmul_batch_estimate),
        out("padded_flops", Q::matmul_padded_flops),
        out("tile_bytes", Q::matmul_tile_bytes),
        out("tiled_bytes", Q::matmul_tiled_bytes),
        out("tiled_intensity", Q::matmul_tiled_intensity),
        out("tile_intensity", Q::matmul_tile_intensity)},
       matmul<double>,
       matmul<Traced>},
      {"roofline",
       "scaling book ch. 1",
       inputs(number("flops", Q::roofline_flops).at_least(0), number("bytes", Q::roofline_bytes),
              number("intensity", Q::roofline_given_intensity), dtype_input(), peak_input(), hbm_input(),
              whole("chips", Q::roofline_chips).def(1), fraction("efficiency", Q::roofline_efficiency).def(1)),
       {out("intensity", Q::roofline_intensity), out("ridge", Q::roofline_ridge), out("margin", Q::roofline_margin),
        out_word("regime", Q::roofline_margin, 1, "compute", "memory"),
        out("attainable_flops_per_s", Q::roofline_attainable), out("utilisation", Q::roofline_utilisation),
        out("math_s", Q::roofline_math), out("bytes_s", Q::roofline_traffic), out("lower_s", Q::roofline_lower),
        out("upper_s", Q::roofline_upper), out("achieved_flops_per_s", Q::roofline_achieved)},
       roofline<double>,
       roofline<Traced>},
      {"ridge",
       "scaling book ch. 1 and 12",
       inputs(dtype_input(), choice("level", {"hbm", "vmem", "l2", "pcie", "ici", "dcn", "gpu", "node"}),
              peak_input(), number("bytes_per_s", Q::ridge_bandwidth).chip(bandwidth_of_level),
              number("link_bytes_per_s", Q::transfer_link)
                  .from("bytes_per_s, of a torus axis half of it", link_of_level),
              number("weight_bytes", Q::matmul_weight_bytes).def(2), expert_count_input(1), chosen_experts_input(1),
              vector_input()),
       {out("ridge", Q::ridge_point), out("critical_batch", Q::ridge_batch),
        out("critical_batch_experts", Q::ridge_batch_experts), out("critical_contraction", Q::ridge_contraction),
        out("vector_ridge", Q::ridge_vector), out("matmul_to_vector", Q::ridge_matmul_to_vector)},
       ridge<double>,
       ridge<Traced>},
      {"vector",
       "scaling book ch. 1 and 12",
       inputs(choice("operation", {"pointwise", "dot"}), number("elements", Q::vector_elements),
              number("element_bytes", Q::vector_width).def(4), number("reads", Q::vector_reads).def(2).at_least(0),
              number("writes", Q::vector_writes).def(1).at_least(0),
              number("flops_per_element", Q::vector_flops_each).def(1), vector_input(), hbm_input()),
       {out("flops", Q::vector_flops), out("bytes", Q::vector_bytes), out("intensity", Q::vector_intensity),
        out("ridge", Q::vector_ridge), out_word("regime", Q::vector_margin, 1, "compute", "memory"),
        out("math_s", Q::vector_math), out("bytes_s", Q::vector_traffic), out("time_s", Q::vector_time)},
       vector<double>,
       vector<Traced>},
      {"transfer",
       "scaling book ch. 2",
       inputs(number("bytes", Q::transfer_bytes), words("path", {"pcie", "ici", "hbm", "dcn", "math"}),
              whole("chips", Q::transfer_chips).def(1), whole("pcie_links", Q::transfer_pcie_links).def(1),
              number("pcie_bytes_per_s", Q::transfer_pcie).of("host_pcie_bytes_per_s_per_chip"),
              whole("ici_ports", Q::transfer_ports).def(1),
              number("ici_link_bytes_per_s", Q::transfer_link).of("ici_bytes_per_s_per_link_oneway"), hbm_input(),
              number("dcn_bytes_per_s", Q::dcn_bandwidth).of("dcn_bytes_per_s_per_chip"),
              number("flops", Q::transfer_flops), dtype_input(), peak_input(),
              number("weight_bytes", Q::matmul_weight_bytes).def(2)),
       {out("pcie_s", Q::transfer_pcie_time), out("ici_s", Q::transfer_ici_time), out("hbm_s", Q::transfer_hbm_time),
        out("dcn_s", Q::transfer_dcn_time), out("math_s", Q::transfer_math_time), out("lower_s", Q::transfer_lower),
        out("upper_s", Q::transfer_upper), out("critical_batch_from_host", Q::transfer_critical_batch)},
       transfer<double>,
       transfer<Traced>},
  };
}

}  // namespace roofscape::engine::block_table
