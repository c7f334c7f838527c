#include "engine/studies/sharded_matmul.h"

#include <algorithm>
#include <cmath>

#include "engine/hardware/collective.h"
#include "engine/hardware/roofline.h"
#include "engine/hardware/sharded_matmul.h"
#include "engine/scenario/mesh_size.h"

namespace roofscape::engine {

namespace {
constexpr int kExampleRanks = 4;
}

ShardedMatmulStudy sharded_matmul_study(const Scenario& s) {
  ShardedMatmulStudy study;
  const Inputs<double> in = make_inputs<double>(s, nullptr);
  Parallelism plan = s.parallelism;
  study.assumed = plan.tensor <= 1;
  if (study.assumed)
    plan.tensor = in.links.torus_dims > 0 ? kExampleRanks : std::max(2, std::min(s.cluster.node_size, kExampleRanks));
  const AxisLinks links =
      study.assumed ? place_mesh(s.cluster, plan, s.placement)[Axis::tensor] : in.links[Axis::tensor];
  const double ranks = plan.tensor;
  study.ranks = plan.tensor;
  study.rows = microbatch_tokens(in.microbatch_sequences, in.sequence_length, in.degree(Axis::context).x);
  study.contraction = in.model.d_model;
  study.columns = in.model.d_ff;
  const double bandwidth = gather_bandwidth(links, links.axes_worth(), in.chip);
  const double reduction = reduces_in_network(links) ? reduce_bandwidth(links, in.chip) : bandwidth;
  const double peak = in.chip.peak_flops;
  if (!(bandwidth > 0) || !std::isfinite(bandwidth) || !(peak > 0)) return study;

  const double B = study.rows, D = study.contraction, F = study.columns;
  const double flops = matmul_flops(MatmulShape<double>{B, D, F});
  const double whole = time_at(local_matmul_flops(flops, 1.0, 1.0, 1.0), peak),
               split = time_at(local_matmul_flops(flops, 1.0, ranks, 1.0), peak);
  const auto move = [&](CollectiveKind kind, Operand operand) {
    const double width = operand == Operand::weights ? in.weight_bytes : in.activation_bytes;
    const double elements = operand == Operand::in ? B * D : operand == Operand::weights ? D * F : B * F;
    const double bytes = width * elements;
    const bool reduces = kind == CollectiveKind::all_reduce;
    return MatmulMove{kind, operand, bytes,
                      reduces ? all_reduce_time(bytes, reduction) : all_gather_time(bytes, bandwidth)};
  };
  using enum CollectiveKind;
  const auto first = [&](Operand operand, double math) {
    const MatmulMove gather = move(all_gather, operand);
    return MatmulWay{{gather}, math, gather.seconds, gather_first_time(math, gather.seconds)};
  };
  const auto after = [&](CollectiveKind kind) {
    const MatmulMove sum = move(kind, Operand::out);
    return MatmulWay{{sum}, split, sum.seconds, reduce_after_time(split, sum.seconds)};
  };
  study.cases.push_back({1, Split::none, Split::columns, Split::columns, false, {MatmulWay{{}, split, 0, split}}});
  study.cases.push_back(
      {2, Split::none, Split::rows, Split::none, false, {first(Operand::weights, whole), after(all_reduce)}});
  study.cases.push_back(
      {3, Split::columns, Split::rows, Split::none, true, {after(all_reduce), after(reduce_scatter)}});
  study.cases.push_back({4,
                         Split::rows,
                         Split::columns,
                         Split::columns,
                         false,
                         {first(Operand::in, split), first(Operand::weights, split)}});

  // In [B, D_Y]: it is gathered in both. Then either the hidden activations are gathered too, or the second matrix is
  // split by rows and its partial sums, as wide as In, are scattered.
  const double both = split + split;
  const auto of = [&](std::vector<MatmulMove> moves) {
    double seconds = 0;
    for (const MatmulMove& m : moves) seconds += m.seconds;
    return MatmulWay{std::move(moves), both, seconds, max(both, seconds)};
  };
  study.gathered = of({move(all_gather, Operand::in), move(all_gather, Operand::hidden)});
  MatmulMove scatter = move(reduce_scatter, Operand::in);
  scatter.operand = Operand::out;
  study.column_row = of({move(all_gather, Operand::in), scatter});
  return study;
}

}  // namespace roofscape::engine
