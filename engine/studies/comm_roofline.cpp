#include "engine/studies/comm_roofline.h"

#include <algorithm>
#include <cmath>

#include "engine/hardware/roofline.h"
#include "engine/hardware/torus_collective.h"
#include "engine/inputs/inputs.h"
#include "engine/studies/layer_overlap.h"

namespace roofscape::engine {

namespace {

// Chips that share a link of each level of the fabric.
std::vector<double> sharers(const Cluster& cluster) {
  std::vector<double> out;
  double chips = cluster.node_size;
  for (const FabricLevel& level : cluster.fabric) {
    out.push_back(chips);
    chips *= level.degree;
  }
  return out;
}

}  // namespace

CommRoofline comm_roofline(const Scenario& s, const Report& report) {
  const Inputs<double> in = make_inputs<double>(s, nullptr);
  CommRoofline out;
  const double peak = in.chip.peak_flops;
  if (std::isfinite(peak)) out.peak = peak;
  const double chips = report.quantities.value_or(Q::chips_used, 0);
  if (chips > 0) out.flops = report.quantities.value_or(Q::flops_hardware_per_step, 0) / chips;
  const auto add = [&](RoofTier tier, double rate, int axes = 0, int level = -1) {
    if (rate > 0 && std::isfinite(rate) && peak > 0)
      out.roofs.push_back({tier, axes, level, rate, ridge_point(peak, rate)});
  };
  add(RoofTier::hbm, in.chip.hbm_bandwidth);
  if (in.links.torus_dims > 0) {
    const auto over = [&](double worth, int axes) {
      add(RoofTier::ici, torus_gather_bandwidth(worth, in.chip.ici_axis), axes);
    };
    for (int axes = in.links.torus_dims; axes >= 1; --axes) over(in.links.best_axes_worth(axes), axes);
    // A mesh axis may lie on others than the best.
    for (const Axis axis : {Axis::data, Axis::fsdp, Axis::tensor, Axis::context, Axis::expert, Axis::pipeline})
      if (const AxisLinks& links = in.links.group(axis);
          links.tier == LinkTier::ici && links.axes_worth() != in.links.best_axes_worth(links.torus_axes) &&
          std::none_of(out.roofs.begin(), out.roofs.end(), [&](const LinkRoof& r) {
            return r.torus_axes == links.torus_axes &&
                   r.bytes_per_s == torus_gather_bandwidth(links.axes_worth(), in.chip.ici_axis);
          }))
        over(links.axes_worth(), links.torus_axes);
    add(RoofTier::dcn, in.chip.dcn);
  } else {
    add(RoofTier::nvlink, in.chip.nvlink);
    const std::vector<double> shared = sharers(s.cluster);
    if (shared.empty()) add(RoofTier::fabric, in.chip.node / s.cluster.node_size);
    for (std::size_t i = 0; i < std::min(shared.size(), kMaxFabricLevels); ++i)
      add(RoofTier::fabric, in.chip.levels[i] / shared[i], 0, static_cast<int>(i));
  }
  add(RoofTier::pcie, in.chip.pcie);
  std::stable_sort(out.roofs.begin(), out.roofs.end(),
                   [](const LinkRoof& a, const LinkRoof& b) { return a.bytes_per_s > b.bytes_per_s; });

  const auto roof_of = [&](const AxisPlacement& p) {
    const RoofTier tier = p.tier == LinkTier::ici   ? RoofTier::ici
                          : p.tier == LinkTier::dcn ? RoofTier::dcn
                          : p.tier == LinkTier::nvlink ||
                                  (p.tier == LinkTier::fabric && p.fabric_level < 0 && !s.cluster.fabric.empty())
                              ? RoofTier::nvlink
                              : RoofTier::fabric;
    for (std::size_t i = 0; i < out.roofs.size(); ++i) {
      const LinkRoof& r = out.roofs[i];
      const double worth = in.links.group(p.axis).axes_worth();
      if (r.tier == tier &&
          (tier != RoofTier::ici ||
           (r.torus_axes == p.torus_axes && r.bytes_per_s == torus_gather_bandwidth(worth, in.chip.ici_axis))) &&
          (tier != RoofTier::fabric || r.fabric_level == p.fabric_level))
        return static_cast<int>(i);
    }
    return -1;
  };
  const LayerOverlap layer = layer_overlap(s, report);
  for (const AxisPlacement& p : report.placement) {
    AxisDot dot;
    dot.axis = p.axis;
    dot.degree = p.degree;
    dot.roof = roof_of(p);
    if (dot.roof < 0 || out.flops <= 0) continue;
    const double rate = out.roofs[static_cast<std::size_t>(dot.roof)].bytes_per_s;
    for (const CollectiveRow& row : report.collectives) {
      if (moves_over(s, row) != p.axis) continue;
      const double seconds = row.calls_per_step * row.time_s;
      dot.seconds += seconds;
      // A transfer to the next rank may use less than a collective has; of collectives the links carry their time's
      // worth, but for the latency.
      const double sent = row.calls_per_step * row.sent_s();
      dot.bytes +=
          row.kind == CollectiveKind::send ? std::min(row.calls_per_step * row.bytes, sent * rate) : sent * rate;
    }
    if (!(dot.seconds > 0) || !(dot.bytes > 0)) continue;
    dot.intensity = out.flops / dot.bytes;
    const double reached = out.flops / dot.seconds;
    dot.flop_per_s = std::min(peak, reached);
    dot.margin = reached / peak;
    const auto axis = static_cast<std::size_t>(p.axis);
    if (const double seconds = layer.forward.gather_s[axis] + layer.forward.transfer_s[axis]; seconds > 0)
      dot.forward_margin = layer.forward.compute_s / seconds;
    out.axes.push_back(dot);
  }
  return out;
}

}  // namespace roofscape::engine
