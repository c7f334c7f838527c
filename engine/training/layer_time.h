// First stage of the evaluation: one layer, one microbatch, one chip. Depends on the LayerKey and the links of the
// tensor, context and expert axes only, so a search costs a layer once for all plans that share them.
#pragma once

#include "engine/calibration/kernels.h"
#include "engine/hardware/collective.h"
#include "engine/hardware/wires.h"
#include "engine/inputs/inputs.h"
#include "engine/model/checkpointing.h"
#include "engine/model/layer_operations.h"
#include "engine/model/parameters.h"
#include "engine/training/block_time.h"

namespace roofscape::engine {

// Collectives over tensor in one layer, each of the residual stream. Forward: gather and scatter around attention and
// around the MLP. Backward: the same for gradients; with the sequence split over tensor ranks the inputs are gathered
// once more and their gradients scattered (the book's mixed algorithm, chapter 5), without, two AllReduces suffice.
inline constexpr double kTensorCollectivesForward = 4;
constexpr double tensor_collectives_backward(bool sequence_parallel) { return sequence_parallel ? 8 : 4; }
// Of the MLP alone, as chapter 5 counts: two matrices, between a gather and a scatter; backward, as the gradients' two
// and once more the inputs'.
inline constexpr double kMlpMatrices = 2, kMlpCollectivesForward = 2, kMlpCollectivesBackward = 4;

// Arithmetic and traffic of a matrix multiplication's backward pass over those of its forward one: it has two of the
// same size, one for the gradient of its input and one for that of its weights.
inline constexpr double kBackwardOverForward = 2;

// What the links of a mesh carry; depends on the mesh alone.
template <Scalar S>
struct LinkRates {
  AxisArray<S> bandwidth;  // by axis; fsdp: of the group that shards state; expert: set with the layer
  // The same for AllReduce: other only where switches of the fabric add up.
  AxisArray<S> reduce_bandwidth;
  S state_bandwidth;
  AxisArray<S> latency{};  // of one gather over an axis; calibrated only
  Wires<S> wires;          // which axes wait for each other
};

template <Scalar S>
struct LayerTime : LinkRates<S> {
  Parameters<S> params;
  S microbatch_tokens;
  LayerOperations<S> operations;
  LayerActivations<S> activations;
  S flops_recompute, recompute_times;
  S layer_again;    // seconds of a layer's products and attention computed again, at the speed of the mode
  S params_rank;    // of a layer, on one expert rank
  S params_absent;  // of the model, on other expert ranks
  // Arithmetic, HBM and the communication of tensor and context; the state shards' share is added by stage_cost.
  Block<S> layer, embedding, head;
  LayerKernels<S> kernels;  // calibrated only
  S tensor_share;           // of the collectives over tensor that is left where fewer ranks split an expert
  S hbm_bytes_backward, tensor_bytes, context_bytes, expert_bytes, expert_across_bytes,
      expert_exchange;  // of a layer; tensor, context: one transfer
  S context_exchange;   // Ulysses: both AllToAlls of a layer
};

template <Scalar S>
LinkRates<S> link_rates(const Inputs<S>&);
extern template LinkRates<double> link_rates<double>(const Inputs<double>&);
extern template LinkRates<Traced> link_rates<Traced>(const Inputs<Traced>&);

// Of the rates a layer reads those of tensor and context.
template <Scalar S>
LayerTime<S> layer_time(const Inputs<S>&, const LinkRates<S>&, const LayerKey&, ContextMethod);
extern template LayerTime<double> layer_time<double>(const Inputs<double>&, const LinkRates<double>&, const LayerKey&,
                                                     ContextMethod);
extern template LayerTime<Traced> layer_time<Traced>(const Inputs<Traced>&, const LinkRates<Traced>&, const LayerKey&,
                                                     ContextMethod);
template <Scalar S>
LayerTime<S> layer_time(const Inputs<S>&, const LayerKey&, ContextMethod);
extern template LayerTime<double> layer_time<double>(const Inputs<double>&, const LayerKey&, ContextMethod);
extern template LayerTime<Traced> layer_time<Traced>(const Inputs<Traced>&, const LayerKey&, ContextMethod);

}  // namespace roofscape::engine
