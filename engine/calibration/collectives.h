// What collectives cost beside their bandwidth. In ideal mode the hops of the chip's latency, which a collective takes
// at least (scaling book, chapters 3 and 7). In calibrated and custom mode the start of a call and the steps of a ring
// inside a node or slice and between nodes, which come before the bytes. NCCL runs large groups as rings inside the node and trees between
// nodes for AllReduce; gathers and scatters stay rings.
#pragma once

#include "engine/inputs/inputs.h"
#include "engine/inputs/placement.h"

namespace roofscape::engine {

// Seconds of a call whose bytes alone take `sent`.
template <Scalar S>
S with_latency(const Inputs<S>& in, const S& sent, const S& latency) {
  return in.calibrated ? sent + latency : max(sent, latency);
}

// The latency of one gather or scatter over the group. An AllReduce has both.
template <Scalar S>
S collective_latency(const Inputs<S>&, const AxisLinks&);
extern template double collective_latency<double>(const Inputs<double>&, const AxisLinks&);
extern template Traced collective_latency<Traced>(const Inputs<Traced>&, const AxisLinks&);
// Seconds before the first byte of a message from a rank of the group to the next arrives: of a group that spans nodes
// or slices, to one in another of these.
template <Scalar S>
S send_latency(const Inputs<S>&, const AxisLinks&);
extern template double send_latency<double>(const Inputs<double>&, const AxisLinks&);
extern template Traced send_latency<Traced>(const Inputs<Traced>&, const AxisLinks&);

// The chip's links as a group of it has them: where the chips of a node are joined directly, a group has of a chip's
// links only those to its own members.
template <Scalar S>
ChipRates<S> group_rates(const Inputs<S>&, const AxisLinks&);
extern template ChipRates<double> group_rates<double>(const Inputs<double>&, const AxisLinks&);
extern template ChipRates<Traced> group_rates<Traced>(const Inputs<Traced>&, const AxisLinks&);

}  // namespace roofscape::engine
