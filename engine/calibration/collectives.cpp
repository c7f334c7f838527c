#include "engine/calibration/collectives.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "engine/hardware/collective.h"

namespace roofscape::engine {

namespace {

constexpr std::string_view kPlaced = "placement of the mesh on the links";

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
  if (!in.calibrated)
    return input_leaf<S>(trace_of(in.zero), Q::axis_hops, links.axis, collective_hops(links), kPlaced) *
           in.hop_latency;
  const CalibrationInputs<S>& c = in.calibration;
  const S& call = c[Calibrated::call_latency];
  const auto steps = [&](Q q, double count) {
    return input_leaf<S>(trace_of(call), q, links.axis, count,
                         "steps of rings and trees over the links of the group");
  };
  const auto inside = [&](double count) { return steps(Q::ring_steps, count) * c[Calibrated::link_latency]; };
  const auto across = [&](double count) { return steps(Q::tree_steps, count) * c[Calibrated::fabric_latency]; };
  switch (links.tier) {
    case LinkTier::ici:
      return call + inside(torus_steps(links));
    case LinkTier::dcn: {
      if (links.torus_axes == 0) return call + across(std::log2(std::max(2.0, double(links.degree))));
      AxisLinks slice = links;
      slice.degree = links.inside_slice;
      return call + inside(torus_steps(slice)) + across(std::log2(std::max(2.0, double(links.slices))));
    }
    case LinkTier::nvlink:
      return call + inside(links.inside_node - 1);
    case LinkTier::fabric:
      return call + inside(links.inside_node - 1) + across(fabric_steps(links));
    case LinkTier::none:
      break;
  }
  return in.zero;
}

template <Scalar S>
S send_latency(const Inputs<S>& in, const AxisLinks& links) {
  if (!in.calibrated) return in.hop_latency;
  const CalibrationInputs<S>& c = in.calibration;
  switch (links.tier) {
    case LinkTier::ici:
    case LinkTier::nvlink:
      return c[Calibrated::call_latency] + c[Calibrated::link_latency];
    case LinkTier::dcn:
    case LinkTier::fabric:
      return c[Calibrated::call_latency] + c[Calibrated::fabric_latency];
    case LinkTier::none:
      break;
  }
  return in.zero;
}
template double send_latency<double>(const Inputs<double>&, const AxisLinks&);
template Traced send_latency<Traced>(const Inputs<Traced>&, const AxisLinks&);

template <Scalar S>
ChipRates<S> group_rates(const Inputs<S>& in, const AxisLinks& links) {
  ChipRates<S> rates = in.achieved;
  const double inside = links.inside_node, node = in.calibration.node_size;
  if (in.calibrated && in.calibration.direct && inside > 1 && inside < node)
    rates.nvlink = input_leaf<S>(trace_of(rates.nvlink), Q::direct_share, links.axis, (inside - 1) / (node - 1),
                                 "links to the others of the group, of all to the node's chips") *
                   rates.nvlink;
  return rates;
}
template ChipRates<double> group_rates<double>(const Inputs<double>&, const AxisLinks&);
template ChipRates<Traced> group_rates<Traced>(const Inputs<Traced>&, const AxisLinks&);

template double collective_latency<double>(const Inputs<double>&, const AxisLinks&);
template Traced collective_latency<Traced>(const Inputs<Traced>&, const AxisLinks&);

}  // namespace roofscape::engine
