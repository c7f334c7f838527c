// Collectives over a tree of switches: GPUs in a node, nodes under leaf switches, leaves under spines (scaling book,
// chapter 12). All times in seconds, all sizes in bytes; bandwidths are of one direction. V is the whole gathered
// array; of an AllToAll, the bytes of all ranks together. Formulas are of the bandwidth regime.
#pragma once

#include <cstdint>

#include "engine/base/scalar.h"

namespace roofscape::engine {

// One level of the tree: every child of a switch has a link of this bandwidth up to it.
template <Scalar S>
struct SwitchLevel {
  S degree{};  // children of a switch
  S link{};    // bytes/s of one child's link, after oversubscription
};

// Bytes/s with which the children of a switch gather: each receives all but its own part. `sharing`: groups that use
// the same link at a time.
template <Scalar S>
S level_bandwidth(const S& degree, const S& sharing, const S& link) {
  return degree / ((degree - constant<S>(1)) * sharing) * link;
}
// AllGather or ReduceScatter through one level, of an array that is also sharded over `inner` ranks that fill the
// tree from below; `below` is the number of ranks under one child. A child takes in its share of the array once, at
// the bandwidth of its level.
template <Scalar S>
S level_gather_time(const S& bytes, const S& level_rate, const S& below, const S& inner);
// The rule of thumb for many ranks, in a node and across nodes.
template <Scalar S>
S node_gather_estimate(const S& bytes, const S& gpu, const S& inner, const S& node_size) {
  return bytes / (gpu * min(inner, node_size));
}
template <Scalar S>
S fabric_gather_estimate(const S& bytes, const S& node, const S& inner, const S& node_size) {
  return bytes / node * node_size / max(node_size, inner);
}

// Reduction in the switches (SHARP): every rank sends its array once and receives the sum once.
template <Scalar S>
S sharp_all_reduce_time(const S& bytes, const S& link) {
  return bytes / link;
}
// What a ring of N ranks moves over each link in an AllReduce, over the time it took.
template <Scalar S>
S bus_bandwidth(const S& bytes, const S& ranks, const S& seconds) {
  return constant<S>(2) * bytes * (ranks - constant<S>(1)) / (ranks * seconds);
}
template <Scalar S>
S bus_all_reduce_time(const S& bytes, const S& ranks, const S& bus) {
  return constant<S>(2) * bytes * (ranks - constant<S>(1)) / (ranks * bus);
}

// AllToAll of `parts` equal children of a switch, exactly and for many of them.
template <Scalar S>
S switch_all_to_all_time(const S& bytes, const S& parts, const S& link) {
  return bytes * (parts - constant<S>(1)) / (parts * parts * link);
}
template <Scalar S>
S switch_all_to_all_estimate(const S& bytes, const S& parts, const S& link) {
  return bytes / (parts * link);
}
// Share of shards that a token with k random choices among `shards` sends to: at most all of them, and exactly.
template <Scalar S>
S hit_estimate(const S& choices, const S& shards) {
  return min(choices / shards, constant<S>(1));
}
template <Scalar S>
S hit_fraction(const S& miss) {
  return constant<S>(1) - miss;
}

extern template double level_gather_time<double>(const double&, const double&, const double&, const double&);
extern template Traced level_gather_time<Traced>(const Traced&, const Traced&, const Traced&, const Traced&);

}  // namespace roofscape::engine
