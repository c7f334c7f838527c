#include "engine/evaluate/bound.h"

#include <algorithm>

#include "engine/base/finite.h"
#include "engine/evaluate/step_shares.h"

namespace roofscape::engine {

double seconds_of_part(const Evaluation<double>& e, Q q) {
  for (std::size_t i = 0; i < kStepParts.size(); ++i)
    if (kStepParts[i] == q) return finite(e.plan.step_parts[i]);
  return 0.0;
}

Bound find_bound(const Evaluation<double>& e, const AxisArray<AxisTransfers>& transfers) {
  const auto& stage = e.stage;
  const auto part = [&e](Q q) { return seconds_of_part(e, q); };
  // With Muon the optimizer is mostly arithmetic (step_shares.h).
  const double update = part(Q::step_optimizer);
  const bool computes = stage.muon.on && updates_by_products(finite(stage.muon.products), update);
  double compute = part(Q::step_matmul) + part(Q::step_attention) + part(Q::step_recompute);
  if (computes) compute += update;
  double hbm = finite(stage.layer_passes * (e.layer.layer.hbm_forward + e.layer.layer.hbm_backward));
  if (!computes) hbm = hbm + update;
  const double network = finite(e.plan.network);
  const double bubble = part(Q::step_bubble) + part(Q::step_pipeline_transfer);
  Bound bound;
  double longest = compute;
  const auto consider = [&](double seconds, BoundKind kind) {
    if (seconds > longest) longest = seconds, bound.kind = kind;
  };
  consider(hbm, BoundKind::hbm);
  consider(network, BoundKind::mesh_axis);
  consider(bubble, BoundKind::bubble);
  consider(part(Q::step_host), BoundKind::host);
  consider(part(Q::step_offload), BoundKind::offload);
  double busiest = -1;
  for (int i = 0; i < kAxisCount; ++i) {
    const AxisTransfers& of = transfers[static_cast<std::size_t>(i)];
    const double seconds = of.step_end_s + of.update_s + finite(stage.layer_passes) * (of.forward_s + of.backward_s);
    if (seconds > busiest) busiest = seconds, bound.axis = static_cast<Axis>(i);
  }
  return bound;
}

Bound find_bound(const DecodeCost<double>& d) {
  const bool attention_math = finite(d.attention_math) > finite(d.kv_read),
             arithmetic = finite(d.flops_time) >= finite(d.weight_read);
  const double attention = finite(d.parts[0]), linear = finite(d.parts[1]);
  const double compute = (attention_math ? attention : 0) + (arithmetic ? linear : 0);
  const double hbm = attention + linear - compute;
  const double network = finite(d.parts[2]) + finite(d.parts[3]), host = finite(d.parts[5]);
  Bound bound;
  if (host > std::max({compute, hbm, network})) {
    bound.kind = BoundKind::host;
    return bound;
  }
  bound.kind = compute > hbm ? BoundKind::compute : BoundKind::hbm;
  if (network <= std::max(compute, hbm)) return bound;
  bound.kind = BoundKind::mesh_axis;
  if (finite(d.parts[3]) > finite(d.parts[2])) {
    bound.axis = Axis::pipeline;
    return bound;
  }
  double longest = -1;
  for (std::size_t i = 0; i < d.network.seconds.size(); ++i)
    if (d.network.communicates[i] && finite(d.network.seconds[i]) > longest)
      longest = finite(d.network.seconds[i]), bound.axis = static_cast<Axis>(i);
  const std::size_t i = static_cast<std::size_t>(bound.axis);
  if (finite(d.network.latency[i]) >= 0.999 * longest) bound.kind = BoundKind::latency;
  return bound;
}

std::string_view Bound::id() const {
  switch (kind) {
    case BoundKind::compute:
      return "compute";
    case BoundKind::hbm:
      return "hbm";
    case BoundKind::bubble:
      return "bubble";
    case BoundKind::latency:
      return "latency";
    case BoundKind::host:
      return "host";
    case BoundKind::offload:
      return "offload";
    case BoundKind::none:
      return "";
    case BoundKind::mesh_axis:
      return kAxisIds[axis];
  }
  return "compute";
}

}  // namespace roofscape::engine
