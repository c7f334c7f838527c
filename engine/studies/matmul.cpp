#include "engine/studies/matmul.h"

#include <algorithm>
#include <cmath>

#include "engine/hardware/roofline.h"
#include "engine/model/layer_operations.h"
#include "engine/scenario/mesh_size.h"
#include "engine/studies/log_axis.h"

namespace roofscape::engine {

namespace {

constexpr double kRowsAbove = 8, kRowsBelow = 64;  // of the axis around what is marked, as factors
constexpr double kFaster = 1.05;                   // than bf16, to be a mix of its own

struct Mix {
  DtypeMix mix;
  double weight, activation;  // bytes of an element
  ChipField peak;
};
constexpr std::array<Mix, 4> kMixes{{{DtypeMix::bf16, 2, 2, ChipField::peak_bf16_dense_flops_per_s},
                                     {DtypeMix::int8_weights, 1, 2, ChipField::peak_bf16_dense_flops_per_s},
                                     {DtypeMix::int8, 1, 1, ChipField::peak_int8_dense_ops_per_s},
                                     {DtypeMix::fp8, 1, 1, ChipField::peak_fp8_dense_flops_per_s}}};

}  // namespace

MatmulStudy matmul_study(const Scenario& s, OperationKind which) {
  const Inputs<double> in = make_inputs<double>(s, nullptr);
  const Parameters<double> params = count_parameters(in.model);
  // The operation is linear in its rows: what is there without any are the weights.
  const auto cost = [&](double rows) {
    return layer_operations(in, params, layer_key(s), rows).operations[static_cast<std::size_t>(which)];
  };
  const OperationCost<double> none = cost(0), one = cost(1);
  const double weights = none.hbm_bytes / in.weight_bytes,
               row = (one.hbm_bytes - none.hbm_bytes) / in.activation_bytes;
  const double bandwidth = in.chip.hbm_bandwidth;
  MatmulStudy study;
  study.flops_a_row = one.flops;
  study.rows_now = microbatch_tokens(in.microbatch_sequences, in.sequence_length, in.degree(Axis::context).x);
  if (!(one.flops > 0) || !(bandwidth > 0) || !(weights > 0)) return study;
  double bf16 = 0, low = study.rows_now, high = study.rows_now;
  struct Traffic {
    double weights, row;  // bytes
  };
  std::vector<Traffic> traffic;
  for (const Mix& mix : kMixes) {
    const auto& peak = s.cluster.chip[mix.peak].value;
    if (!peak || !(*peak > 0)) continue;
    if (mix.mix == DtypeMix::bf16)
      bf16 = *peak;
    else if (mix.mix != DtypeMix::int8_weights && *peak < bf16 * kFaster)
      continue;
    MatmulLine line;
    line.mix = mix.mix;
    line.peak = *peak;
    line.weight_bytes = mix.weight * weights;
    // The shape of a matrix of so many weights: rows cost the arithmetic and the traffic of the operation.
    const double margin = time_at(one.flops, *peak) - time_at(mix.activation * row, bandwidth);
    if (margin > 0)
      line.critical_rows = critical_batch(MatmulShape<double>{1, weights, 1}, MatmulWidths<double>{0, mix.weight, 0},
                                          bandwidth, margin);
    if (line.critical_rows) low = std::min(low, *line.critical_rows), high = std::max(high, *line.critical_rows);
    if (mix.peak == peak_field(s.precision.compute) && mix.weight == mix.activation) study.own = study.lines.size();
    traffic.push_back({line.weight_bytes, mix.activation * row});
    study.lines.push_back(std::move(line));
  }
  low = std::max(1.0, std::exp2(std::floor(std::log2(low / kRowsBelow))));
  high = std::exp2(std::ceil(std::log2(high * kRowsAbove)));
  study.rows = log_axis(low, high);
  // A line that is drawn from sample to sample has its corner.
  for (const MatmulLine& line : study.lines)
    if (line.critical_rows) study.rows.push_back(*line.critical_rows);
  study.rows.push_back(study.rows_now);
  std::sort(study.rows.begin(), study.rows.end());
  study.rows.erase(std::unique(study.rows.begin(), study.rows.end()), study.rows.end());
  for (const double n : study.rows) {
    for (std::size_t k = 0; k < study.lines.size(); ++k)
      study.lines[k].flop_per_s.push_back(
          attainable(n * one.flops / (traffic[k].weights + n * traffic[k].row), bandwidth, study.lines[k].peak));
  }
  return study;
}

}  // namespace roofscape::engine
