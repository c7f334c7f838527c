// Times of collectives in the bandwidth regime. V is always the size of the whole gathered array, after dividing by
// every other mesh axis it stays sharded on (scaling book, chapter 3; GPUs: chapter 12).
#pragma once

#include "engine/base/collective_kind.h"
#include "engine/base/scalar.h"
#include "engine/hardware/torus_collective.h"
#include "engine/inputs/inputs.h"
#include "engine/inputs/placement.h"

namespace roofscape::engine {

// The bandwidth W with which a group gathers, so that AllGather = ReduceScatter = V / W. Torus: axes x bandwidth of
// one axis, whatever the group's size; where an axis does not close, all but its own part that the corner rank
// receives over one link of it. `torus_axes` are counted as axes_worth (placement.h). Switches: what is left to
// receive inside the node and through the fabric decides,
//   1/W = max((n_in - 1)/(n_in W_gpu), (n_out - 1)/(n_out W_node) * groups sharing the node's links),
// with a term like the second for every fabric level the cluster states. Slices: over the torus and over the
// data-centre links of all the group's ranks in a slice together, one after the other, as data parallelism over these
// and FSDP inside a slice are: 1/W = 1/W_torus + 1/(n_slice W_dcn).
template <Scalar S>
S gather_bandwidth(const AxisLinks&, const S& torus_axes, const ChipRates<S>&);
// Where switches of the fabric add up what passes, an AllReduce sends and receives every byte once there. The
// bandwidth W' with which AllReduce = 2 V / W': of such a level twice what one group has of a child's link, else as
// above.
template <Scalar S>
S reduce_bandwidth(const AxisLinks&, const ChipRates<S>&);
// Whether the group has such a level.
bool reduces_in_network(const AxisLinks&);
// The fabric level that decides the bandwidth of a gather; -1: the links inside the node, or the cluster states no
// levels.
int binding_level(const AxisLinks&, const ChipRates<double>&);
// The slowest link, one way and whole, that a gather of a switched group crosses: of a chip into its node, of a node
// or a group of nodes into each level of the fabric it spans. For the book's bounds (chapter 12).
template <Scalar S>
S slowest_link(const AxisLinks&, const ChipRates<S>&);
// AllToAll where every rank of the group sends `bytes`, evenly to all of them.
template <Scalar S>
S exchange_time(const AxisLinks&, const S& bytes, const ChipRates<S>&);
// The same where between nodes no more than `across` of the bytes are sent, and passed on inside (switched links).
template <Scalar S>
S exchange_time(const AxisLinks&, const S& bytes, const S& across, const ChipRates<S>&);
// The two networks of a group that spans nodes work at the same time: seconds that each is busy for a byte of a gather,
// or of an AllToAll.
template <Scalar S>
struct TwoTiers {
  S inner, outer;
};
template <Scalar S>
TwoTiers<S> gather_tiers(const AxisLinks&, const ChipRates<S>&);
template <Scalar S>
TwoTiers<S> exchange_tiers(const AxisLinks&, const ChipRates<S>&);
// Of a group that spans several nodes or slices: the links of its ranks in one of these; degree 1 where it does not, or
// has but one rank in each.
AxisLinks links_in_node(const AxisLinks&);
// Hops that a collective over a group of ranks needs from one end to the other: torus axes one after the other, half
// of a closed ring or all of a line; one inside a node, two more between nodes (up to a switch and down).
int collective_hops(const AxisLinks&);
// One way from a rank to its neighbour along the axis, bytes/s. Of a group that spans nodes or slices: to a neighbour in
// another one.
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
extern template double reduce_bandwidth<double>(const AxisLinks&, const ChipRates<double>&);
extern template Traced reduce_bandwidth<Traced>(const AxisLinks&, const ChipRates<Traced>&);
extern template double slowest_link<double>(const AxisLinks&, const ChipRates<double>&);
extern template Traced slowest_link<Traced>(const AxisLinks&, const ChipRates<Traced>&);
extern template double exchange_time<double>(const AxisLinks&, const double&, const ChipRates<double>&);
extern template Traced exchange_time<Traced>(const AxisLinks&, const Traced&, const ChipRates<Traced>&);
extern template double exchange_time<double>(const AxisLinks&, const double&, const double&,
                                             const ChipRates<double>&);
extern template Traced exchange_time<Traced>(const AxisLinks&, const Traced&, const Traced&,
                                             const ChipRates<Traced>&);
extern template TwoTiers<double> gather_tiers<double>(const AxisLinks&, const ChipRates<double>&);
extern template TwoTiers<Traced> gather_tiers<Traced>(const AxisLinks&, const ChipRates<Traced>&);
extern template TwoTiers<double> exchange_tiers<double>(const AxisLinks&, const ChipRates<double>&);
extern template TwoTiers<Traced> exchange_tiers<Traced>(const AxisLinks&, const ChipRates<Traced>&);
extern template double send_bandwidth<double>(const AxisLinks&, const ChipRates<double>&);
extern template Traced send_bandwidth<Traced>(const AxisLinks&, const ChipRates<Traced>&);

}  // namespace roofscape::engine
