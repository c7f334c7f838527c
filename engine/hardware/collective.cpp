#include "engine/hardware/collective.h"

namespace roofscape::engine {

template <Scalar S>
S gather_bandwidth(const AxisLinks& links, const S& torus_axes, const ChipRates<S>& chip) {
  switch (links.tier) {
    case LinkTier::ici: return torus_axes * chip.ici_axis;
    case LinkTier::dcn: return chip.dcn;
    case LinkTier::nvlink: {
      const double n = links.inside_node;
      return constant<S>(n / (n - 1)) * chip.nvlink;
    }
    case LinkTier::fabric: {
      const double n_in = links.inside_node, n_out = links.across_nodes;
      const S fabric = constant<S>(n_out / ((n_out - 1) * links.groups_a_node)) * chip.node;
      if (links.inside_node == 1) return fabric;
      return min(constant<S>(n_in / (n_in - 1)) * chip.nvlink, fabric);
    }
    case LinkTier::none: break;
  }
  return constant<S>(0);
}

template <Scalar S>
S send_bandwidth(const AxisLinks& links, const ChipRates<S>& chip) {
  switch (links.tier) {
    case LinkTier::ici: return chip.ici_axis / constant<S>(2);  // one of the two directions
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
