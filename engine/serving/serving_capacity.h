// Memory of a decoding chip as the sum of its parts, the largest batch that fits, and the smallest slices that hold
// the weights (scaling book, chapters 7 and 8). Every sequence is given memory for its whole length, in whole pages.
// The largest batch is exact: a batch fits if and only if it is not above it.
#pragma once

#include "engine/serving/decode_cost.h"
#include "engine/serving/prefill_cost.h"

namespace roofscape::engine {

template <Scalar S>
struct ServingCapacity {
  std::array<S, kServingMemoryParts.size()> parts;
  S total, free;
  S sequence_chip_bytes, sequence_working, prefill_working, room, replica_max, max_batch, kv_equal_batch;
  S kv_total, weights_all;
  std::array<S, 3> minimum_chips, slices;  // bf16, 8 bits, 4 bits
};

template <Scalar S>
ServingCapacity<S> serving_capacity(const ServingInputs<S>&, const Parameters<S>&, const DecodeCost<S>&,
                                    const PrefillCost<S>&, const Cluster&);
extern template ServingCapacity<double> serving_capacity<double>(const ServingInputs<double>&,
                                                                 const Parameters<double>&, const DecodeCost<double>&,
                                                                 const PrefillCost<double>&, const Cluster&);
extern template ServingCapacity<Traced> serving_capacity<Traced>(const ServingInputs<Traced>&,
                                                                 const Parameters<Traced>&, const DecodeCost<Traced>&,
                                                                 const PrefillCost<Traced>&, const Cluster&);

// The smallest size in which chips like these can be had that is at least `chips`: slices of a torus (2D: 1, 4, 8,
// then doubling; 3D: 4, then doubling), chips of a node, or whole nodes.
double obtainable_chips(const Cluster&, double chips);

}  // namespace roofscape::engine
