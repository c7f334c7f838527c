#pragma once

// Products of a mesh's degrees, each written here and nowhere else. `Degrees` is what has the degrees as members:
// Parallelism, or the search's Plan.

#include <cstdint>

#include "engine/base/scalar.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

// Ranks that each take a part of the batch.
template <class Degrees>
constexpr std::int64_t data_ranks(const Degrees& d) {
  return std::int64_t{d.data} * d.fsdp;
}

// Ranks among which the experts of a pipeline stage are dealt, beside those that split one expert.
template <class Degrees>
constexpr std::int64_t expert_ranks(const Degrees& d) {
  return data_ranks(d) * d.context * d.tensor / d.experts_tensor();
}

// Chips of the mesh. A double: five degrees at the ends of their domains have a product that no integer holds.
template <class Degrees>
constexpr double mesh_chips(const Degrees& d) {
  return static_cast<double>(data_ranks(d)) * d.tensor * d.context * d.pipeline;
}

// Sequences of which the global batch must be a multiple: one microbatch for every data rank.
template <class Degrees>
constexpr std::int64_t batch_granule(const Degrees& d, int microbatch_sequences) {
  return data_ranks(d) * microbatch_sequences;
}
inline std::int64_t batch_granule(const Scenario& s) {
  return batch_granule(s.parallelism, s.pipeline.microbatch_sequences);
}

// Microbatches of a step: what a data rank has of the batch, rounded up to whole microbatches.
template <Scalar S>
S microbatches(const S& batch_sequences, const S& data_ranks, const S& microbatch_sequences) {
  return ceil(batch_sequences / (data_ranks * microbatch_sequences));
}
// The same of a scenario; at least 1.
int microbatch_count(const Scenario&);

// Tokens of a microbatch on one rank of context parallelism.
template <Scalar S>
S microbatch_tokens(const S& microbatch_sequences, const S& sequence_length, const S& context) {
  return microbatch_sequences * sequence_length / context;
}

// The smallest batch with which every pipeline stage of every replica has a sequence to decode.
template <class Degrees>
constexpr std::int64_t least_decoding_batch(const Degrees& d) {
  return data_ranks(d) * d.pipeline;
}

// With the order of ranks that is meant.
inline Placement resolved_placement(const Scenario& s) {
  Placement out = s.placement;
  out.order = resolved(out.order, s.workload.kind);
  return out;
}
// Whether ranks in another order lie elsewhere: on switches, and stages beside ranks that share the batch.
inline bool rank_order_matters(const Cluster& cluster, const Parallelism& plan) {
  return cluster.chip.interconnect == Interconnect::switched && plan.pipeline > 1 && (plan.fsdp > 1 || plan.data > 1);
}

}  // namespace roofscape::engine
