#include "engine/calibration/collectives.h"

#include <algorithm>
#include <cmath>

namespace roofscape::engine {

namespace {

// Steps of a ring or, on a torus, of the rings of all axes one after the other.
double torus_steps(const AxisLinks& links) {
  const double axes = std::max(1, links.torus_axes);
  const double side = std::pow(static_cast<double>(links.degree), 1 / axes);
  return axes * side / 2;  // both directions at once
}
// Between nodes, steps grow with the logarithm once there are many: trees, and rings of several channels.
double fabric_steps(const AxisLinks& links) { return std::log2(static_cast<double>(links.across_nodes)); }

}  // namespace

template <Scalar S>
S collective_latency(const Inputs<S>& in, const AxisLinks& links) {
  const CalibrationInputs<S>& c = in.calibration;
  const S& call = c[Calibrated::call_latency];
  switch (links.tier) {
    case LinkTier::ici: return call + constant<S>(torus_steps(links)) * c[Calibrated::link_latency];
    case LinkTier::dcn: return call + constant<S>(std::log2(std::max(2.0, double(links.degree)))) * c[Calibrated::fabric_latency];
    case LinkTier::nvlink: return call + constant<S>(links.inside_node - 1) * c[Calibrated::link_latency];
    case LinkTier::fabric:
      return call + constant<S>(links.inside_node - 1) * c[Calibrated::link_latency] +
             constant<S>(fabric_steps(links)) * c[Calibrated::fabric_latency];
    case LinkTier::none: break;
  }
  return in.zero;
}

template <Scalar S>
ChipRates<S> group_rates(const Inputs<S>& in, const AxisLinks& links) {
  ChipRates<S> rates = in.achieved;
  const double inside = links.inside_node, node = in.calibration.node_size;
  if (in.calibrated && in.calibration.direct && inside > 1 && inside < node)
    rates.nvlink = constant<S>((inside - 1) / (node - 1)) * rates.nvlink;
  return rates;
}
template ChipRates<double> group_rates<double>(const Inputs<double>&, const AxisLinks&);
template ChipRates<Traced> group_rates<Traced>(const Inputs<Traced>&, const AxisLinks&);

template double collective_latency<double>(const Inputs<double>&, const AxisLinks&);
template Traced collective_latency<Traced>(const Inputs<Traced>&, const AxisLinks&);

}  // namespace roofscape::engine
