#include "engine/hardware/collective.h"

#include "engine/hardware/switched_collective.h"
#include "engine/hardware/torus_collective.h"

namespace roofscape::engine {

template <Scalar S>
S gather_bandwidth(const AxisLinks& links, const S& torus_axes, const ChipRates<S>& chip) {
  switch (links.tier) {
    case LinkTier::ici: return torus_gather_bandwidth(torus_axes, chip.ici_axis);
    case LinkTier::dcn: return chip.dcn;
    case LinkTier::nvlink: return level_bandwidth(constant<S>(links.inside_node), constant<S>(1), chip.nvlink);
    case LinkTier::fabric: {
      const S fabric =
          level_bandwidth(constant<S>(links.across_nodes), constant<S>(links.groups_a_node), chip.node);
      if (links.inside_node == 1) return fabric;
      return min(level_bandwidth(constant<S>(links.inside_node), constant<S>(1), chip.nvlink), fabric);
    }
    case LinkTier::none: break;
  }
  return constant<S>(0);
}

template <Scalar S>
S send_bandwidth(const AxisLinks& links, const ChipRates<S>& chip) {
  switch (links.tier) {
    case LinkTier::ici: return one_direction(chip.ici_axis);
    case LinkTier::dcn: return chip.dcn;
    case LinkTier::nvlink: return chip.nvlink;
    case LinkTier::fabric: return chip.node / constant<S>(links.inside_node * links.groups_a_node);
    case LinkTier::none: break;
  }
  return constant<S>(0);
}

template double gather_bandwidth<double>(const AxisLinks&, const double&, const ChipRates<double>&);
template Traced gather_bandwidth<Traced>(const AxisLinks&, const Traced&, const ChipRates<Traced>&);
template double send_bandwidth<double>(const AxisLinks&, const ChipRates<double>&);
template Traced send_bandwidth<Traced>(const AxisLinks&, const ChipRates<Traced>&);

}  // namespace roofscape::engine
