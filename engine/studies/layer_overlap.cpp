#include "engine/studies/layer_overlap.h"

#include <algorithm>
#include <numeric>

#include "engine/evaluate/evaluate.h"
#include "engine/hardware/wires.h"

namespace roofscape::engine {
namespace {

// Ranks of a group that stays on the fastest links: a node, or the first axis of the torus.
int close_ranks(const Scenario& s, int ranks) {
  const bool torus = s.cluster.chip.interconnect == Interconnect::torus;
  return std::gcd(std::max(1, torus ? s.cluster.slice[0] : s.cluster.node_size), ranks);
}

bool gathers_weights(const CollectiveRow& row) {
  return row.axis == Axis::fsdp && row.kind == CollectiveKind::all_gather;
}

}  // namespace

double hidden_in_pairs(const Report& report) { return 1 - report.quantities.value_or(Q::exposed_left, 1); }

Axis moves_over(const Scenario& s, const CollectiveRow& row) {
  return row.axis == Axis::fsdp && s.parallelism.fsdp == 1 ? Axis::context : row.axis;
}

Scenario with_strategy(const Scenario& s, Strategy strategy) {
  Scenario out = s;
  if (strategy == Strategy::plan) return out;
  Parallelism& plan = out.parallelism;
  const int ranks = plan.data * plan.fsdp * plan.tensor, close = close_ranks(s, ranks);
  plan.data = plan.fsdp = plan.tensor = 1;
  plan.expert_tensor = 0;
  out.placement = {};
  switch (strategy) {
    case Strategy::data:
      plan.data = ranks;
      break;
    case Strategy::fsdp:
      plan.fsdp = ranks;
      break;
    case Strategy::hybrid:
      plan.fsdp = close, plan.data = ranks / close;
      break;
    case Strategy::tensor:
      plan.tensor = close, plan.data = ranks / close;
      break;
    case Strategy::plan:
      break;
  }
  plan.zero_stage = strategy == Strategy::fsdp || strategy == Strategy::hybrid ? 3 : 0;
  return out;
}

LayerOverlap layer_overlap(const Scenario& s, const Report& report) {
  LayerOverlap out;
  out.scenario = s;
  out.waits = sharers(s);
  const auto value = [&report](Q q) { return report.quantities.value_or(q, 0); };
  out.forward.compute_s = value(Q::layer_work_forward);
  out.backward.compute_s = value(Q::layer_work_backward);
  out.forward.exposed_s = value(Q::layer_exposed_forward);
  out.backward.exposed_s = value(Q::layer_exposed_backward);
  out.forward.network_s = value(Q::layer_network_forward);
  out.backward.network_s = value(Q::layer_network_backward);
  out.hidden_in_pairs = hidden_in_pairs(report);
  const double passes = value(Q::layers_a_stage);
  out.backward.recompute_s = std::min(out.backward.compute_s, value(Q::layer_again));
  for (const CollectiveRow& row : report.collectives) {
    if (row.end_of_step || row.axis == Axis::pipeline || passes <= 0) continue;
    LayerPass& pass = row.backward ? out.backward : out.forward;
    // Once a step, spread over the microbatches it hides under, or once or more a layer: a mean layer's share.
    auto& seconds = gathers_weights(row) ? pass.gather_s : pass.transfer_s;
    const Axis axis = moves_over(s, row);
    const double calls = row.calls_per_step / passes;
    seconds[axis] += row.time_s * calls;
    if (calls < 1 - 1e-9) out.carried[axis] = calls;
  }
  // Rows count bytes over a bandwidth; starting a transfer and doing it again with a layer's forward take longer.
  for (const bool backward : {false, true})
    for (std::size_t i = 0; i < report.transfers.size(); ++i) {
      LayerPass& pass = backward ? out.backward : out.forward;
      const double seconds = backward ? report.transfers[i].backward_s : report.transfers[i].forward_s,
                   rows = pass.gather_s[i] + pass.transfer_s[i];
      if (!(seconds > 0) || !(rows > 0)) continue;
      pass.gather_s[i] *= seconds / rows, pass.transfer_s[i] *= seconds / rows;
    }
  for (const Diagnostic& d : report.diagnostics)
    if (d.severity == Severity::error && out.problem.empty()) out.problem = d.code;
  return out;
}

LayerOverlap layer_overlap(const Scenario& s, Strategy strategy) {
  const Scenario edited = with_strategy(s, strategy);
  return layer_overlap(edited, evaluate(edited));
}

}  // namespace roofscape::engine
