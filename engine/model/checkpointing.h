// Activation checkpointing: what a layer keeps of a microbatch and what the backward pass therefore computes again.
//
//   none              everything: the outputs of all operations (the book rounds it to 20 tensors of width D)
//   attention         everything but the attention core's output, recomputed (Korthikanti et al. 2022, "selective")
//   big_matmuls       outputs of the matrix multiplications (scaling book, chapter 4): NH + 2KH + 2D + 2F per token
//   k_per_layer       k tensors of width D (chapter 6 keeps four), filled in the order: layer input, MLP input,
//                     attention output, queries, keys and values, gate and up; the first that does not fit ends
//                     the list
//   block             the layer's input, width D
//   some_blocks       the input of n layers, everything of the others
//   segments          the input of C segments of L/C layers; a segment runs again once and is kept while its backward
//                     needs it (Chen et al. 2016; the optimum is C = sqrt(L))
//   segments_minimal  the same with nothing kept inside a segment: each layer starts from the segment's input, which
//                     takes L (L/C - 1)/2 forwards to get to the layers' inputs (CS231n notes) and L more through the
//                     layers themselves, whose tensors their backward needs: (L/C + 1)/2 per layer. C = L is `block`
//
// Where C does not divide L, the segments have ceil(L/C) layers or one less, and this is counted.
// Under the last three a layer's numbers are those of the mean layer.
#pragma once

#include "engine/base/scalar.h"
#include "engine/inputs/inputs.h"
#include "engine/model/layer_operations.h"

namespace roofscape::engine {

// Which operations of a layer run again in the backward pass.
using RecomputedOperations = std::array<bool, kOperationCount>;
RecomputedOperations recomputed_operations(const LayerKey&);

// How often the mean layer does so: 1, or what some_blocks and segments_minimal make of it.
template <Scalar S>
S recompute_times(const Inputs<S>&, const LayerKey&);
extern template double recompute_times<double>(const Inputs<double>&, const LayerKey&);
extern template Traced recompute_times<Traced>(const Inputs<Traced>&, const LayerKey&);

template <Scalar S>
struct LayerActivations {
  S checkpoint_bytes;  // kept, of one microbatch on one chip
  S full_bytes;        // made by the whole layer
  // Needed by the layer's weight gradients once its input gradient is there: the inputs of its matrices, computed
  // again where they were not kept, and the gradients of their outputs (Qi et al. 2023 call it M_W).
  S postponed_bytes;
  S working_bytes;  // held while a layer, or a segment of layers, is computed again, beside the checkpoints
};
template <Scalar S>
LayerActivations<S> layer_activations(const Inputs<S>&, const LayerKey&, const S& t);
extern template LayerActivations<double> layer_activations<double>(const Inputs<double>&, const LayerKey&,
                                                                   const double&);
extern template LayerActivations<Traced> layer_activations<Traced>(const Inputs<Traced>&, const LayerKey&,
                                                                   const Traced&);

}  // namespace roofscape::engine
