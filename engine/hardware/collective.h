// Times of collectives in the bandwidth regime. V is always the size of the whole gathered array, after dividing by every
// other mesh axis it stays sharded on (scaling book, chapter 3; GPUs: chapter 12).
#pragma once

#include "engine/hardware/collective_kind.h"
#include "engine/hardware/placement.h"
#include "engine/hardware/torus_collective.h"
#include "engine/inputs.h"
#include "engine/scalar.h"

namespace roofscape::engine {

// The bandwidth W with which a group gathers, so that AllGather = ReduceScatter = V / W. Torus: axes x bandwidth of one
// axis, whatever the group's size. Switches: what is left to receive inside the node and through the fabric decides,
//   1/W = max((n_in - 1)/(n_in W_gpu), (n_out - 1)/(n_out W_node) * groups sharing the node's links).
template <Scalar S>
S gather_bandwidth(const AxisLinks&, const S& torus_axes, const ChipRates<S>&);
// One way from a rank to its neighbour along the axis, bytes/s.
template <Scalar S>
S send_bandwidth(const AxisLinks&, const ChipRates<S>&);

template <Scalar S>
S all_gather_time(const S& bytes, const S& bandwidth) {
  return bytes / bandwidth;
}
template <Scalar S>
S all_reduce_time(const S& bytes, const S& bandwidth) {  // ReduceScatter, then AllGather
  return all_reduce_of_gather(all_gather_time(bytes, bandwidth));
}

extern template double gather_bandwidth<double>(const AxisLinks&, const double&, const ChipRates<double>&);
extern template Traced gather_bandwidth<Traced>(const AxisLinks&, const Traced&, const ChipRates<Traced>&);
extern template double send_bandwidth<double>(const AxisLinks&, const ChipRates<double>&);
extern template Traced send_bandwidth<Traced>(const AxisLinks&, const ChipRates<Traced>&);

}  // namespace roofscape::engine
