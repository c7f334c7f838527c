// What moves the training state that ranks share: gathers of weights and reductions of gradients, for a block beside its
// work and at the end of a step. Seconds; bytes are those of one rank of tensor and pipeline.
#pragma once

#include "engine/training/stage_time.h"

namespace roofscape::engine {

// Which axis the group of state shards is called by: fsdp, or context where that is all there is to shard over.
template <Scalar S>
Axis state_axis_of(const Inputs<S>& in) {
  return in.degree(Axis::fsdp).n > 1 ? Axis::fsdp : Axis::context;
}

// Bytes of a weight as ranks send it to one another.
template <Scalar S>
const S& sent_weight_bytes(const Inputs<S>& in, int zero_stage) {
  return zero_stage < 3 ? in.update_bytes : in.gather_bytes;
}

// Bytes of the training state that are moved: all, and of them those of experts that are spread over ranks, if there
// are such.
template <Scalar S>
struct MovedState {
  S all, experts{};
  bool spread = false;
};
// Seconds of a gather or a scatter over the group that shards state. Without ZeRO its ReduceScatter and AllGather of
// gradients are one AllReduce. Experts go over the ranks that hold the same ones; what one rank alone holds stays.
template <Scalar S>
S state_moved(const LinkRates<S>&, int zero_stage, const MovedState<S>& bytes, bool expert_copies);
// Of an AllReduce over data of what the group that shards state, of `shards` ranks, leaves each of them with.
template <Scalar S>
S data_moved(const Inputs<S>&, const LinkRates<S>&, const MovedState<S>& gradients, const S& shards);

// Communication of the group that shards training state, for a block whose gathered weights take `weights` bytes and
// whose gradients `gradients`. ZeRO-3 gathers the weights of every microbatch or chunk, forward and backward, and
// scatters its gradients; what is sent once a step is here spread over the microbatches it can hide under (no
// pipeline).
template <Scalar S>
struct BlockTraffic {
  S state_forward, state_backward, data_backward;
};
template <Scalar S>
BlockTraffic<S> block_traffic(const Inputs<S>&, const LinkRates<S>&, const StageKey&, const MovedState<S>& weights,
                              const MovedState<S>& gradients, const S& microbatches, const S& shards);

template <Scalar S>
void end_reduction(const Inputs<S>&, const LayerTime<S>&, const LinkRates<S>&, const StepCounts<S>&, const StageKey&,
                   EndReduction<S>& out);
// Calibrated: the share of an axis's reduction at the end of a step that runs under the last backward passes, and of
// its gathers under the first forward ones.
constexpr Calibrated hidden_at_end(Axis axis) {
  return axis == Axis::data ? Calibrated::hidden_data : Calibrated::hidden_fsdp;
}

extern template double state_moved<double>(const LinkRates<double>&, int, const MovedState<double>&, bool);
extern template Traced state_moved<Traced>(const LinkRates<Traced>&, int, const MovedState<Traced>&, bool);
extern template double data_moved<double>(const Inputs<double>&, const LinkRates<double>&, const MovedState<double>&,
                                          const double&);
extern template BlockTraffic<double> block_traffic<double>(const Inputs<double>&, const LinkRates<double>&,
                                                           const StageKey&, const MovedState<double>&,
                                                           const MovedState<double>&, const double&, const double&);
extern template BlockTraffic<Traced> block_traffic<Traced>(const Inputs<Traced>&, const LinkRates<Traced>&,
                                                           const StageKey&, const MovedState<Traced>&,
                                                           const MovedState<Traced>&, const Traced&, const Traced&);
extern template void end_reduction<double>(const Inputs<double>&, const LayerTime<double>&, const LinkRates<double>&,
                                           const StepCounts<double>&, const StageKey&, EndReduction<double>&);
extern template void end_reduction<Traced>(const Inputs<Traced>&, const LayerTime<Traced>&, const LinkRates<Traced>&,
                                           const StepCounts<Traced>&, const StageKey&, EndReduction<Traced>&);

}  // namespace roofscape::engine
