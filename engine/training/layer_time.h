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
// Calibrated, the same: the gradient is gathered or reduced as the activation was, with sequence parallelism the inputs
// are gathered once more for the weights' gradients (Korthikanti et al. 2022); what is computed again as a whole layer
// communicates again.
constexpr double tensor_units_backward(bool calibrated, bool sequence_parallel) {
  return calibrated ? (sequence_parallel ? 6 : 4) : tensor_collectives_backward(sequence_parallel);
}
// Of the MLP alone, as chapter 5 counts: two matrices, between a gather and a scatter; backward, as the gradients' two
// and once more the inputs'.
inline constexpr double kMlpMatrices = 2, kMlpCollectivesForward = 2, kMlpCollectivesBackward = 4;

// Arithmetic and traffic of a matrix multiplication's backward pass over those of its forward one: it has two of the
// same size, one for the gradient of its input and one for that of its weights.
inline constexpr double kBackwardOverForward = 2;

// The same of the products with weights as the plan has them: frozen ones give the gradient of their input alone.
template <Scalar S>
double backward_passes(const Inputs<S>& in) {
  return in.adapter.on ? 1 : kBackwardOverForward;
}

// What the links of a mesh carry; depends on the mesh alone.
template <Scalar S>
struct LinkRates {
  AxisArray<S> bandwidth;  // by axis; fsdp: of the group that shards state; expert: set with the layer
  // The same for AllReduce: other only where switches of the fabric add up.
  AxisArray<S> reduce_bandwidth;
  S state_bandwidth;
  // Of the ranks that hold the same experts, where these are spread (MeshLinks): a gather and an AllReduce over the
  // state's group, an AllReduce over data.
  S expert_state_bandwidth{}, expert_state_reduce{}, expert_data_reduce{};
  S expert_copies{};       // ranks of the state's group with the same experts; only where there are several
  AxisArray<S> latency{};  // of one gather over an axis; calibrated only
  // Between pipeline stages of one node or slice, where a pipeline has several of these: so many of its stages are in
  // one, else 1.
  int stages_in_node = 1;
  S in_node_bandwidth{}, in_node_latency{};
  Wires<S> wires;  // which axes wait for each other
};

// Whether experts are spread over ranks, so that these hold different ones.
template <Scalar S>
bool spreads_experts(const Inputs<S>& in) {
  return in.degree(Axis::expert).n > 1 && in.model.is.moe;
}

// Whether they are spread over more ranks than share training state: then these have no expert in common to shard.
template <Scalar S>
bool experts_reach_data(const Inputs<S>& in) {
  return spreads_experts(in) && in.links.expert_data.degree < in.degree(Axis::data).n;
}
// Parameters that `shards` ranks hold together, of which each holds its own `experts` and shares the rest of `rank`.
template <Scalar S>
S params_of_shards(const S& rank, const S& experts, const S& shards) {
  return rank - experts + shards * experts;
}

// Of a model that has dense layers and layers with experts: the layers of either kind.
enum class LayerKind : std::uint8_t { dense, experts };
template <class T>
using ByLayerKind = std::array<T, kEnumCount<LayerKind>>;
constexpr Variant variant_of(LayerKind kind) {
  return kind == LayerKind::dense ? Variant::dense_layer : Variant::expert_layer;
}

// Parameters of a layer that Muon updates, where it does (muon.h).
template <Scalar S>
struct MuonParameters {
  S layer{};  // mean of the layers
  S share{};  // of an expert's parameters: 1, or less where experts have biases
  ByLayerKind<S> kinds{};
};

template <Scalar S>
struct LayerOfKind {
  Block<S> layer;
  S params, params_rank, params_spread;
  LayerActivations<S> activations;
  S again;  // as LayerTime::layer_again
  HostWaits<S> host;
  S trained{}, trained_rank{}, trained_spread{}, weight_gradient{};  // as in LayerTime
};

// How many layers a stage holds: of which kinds, where the dense ones come first, else any.
template <Scalar S>
struct StageLayers {
  S all{};
  bool by_kind = false;
  S dense{}, experts{};  // of all
};
template <Scalar S>
StageLayers<S> operator+(const StageLayers<S>& a, const StageLayers<S>& b) {
  if (!a.by_kind) return {a.all + b.all};
  return {a.all + b.all, true, a.dense + b.dense, a.experts + b.experts};
}
// What so many layers have of something that the mean layer has, or one of either kind. What dense layers lack, such as
// the exchange of experts, is a zero without a dimension, which is left out.
template <Scalar S>
S of_layers(const StageLayers<S>& layers, const S& mean, const S& dense, const S& experts) {
  if (layers.by_kind && value_of(dense) == 0) return layers.experts * experts;
  return layers.by_kind ? layers.dense * dense + layers.experts * experts : layers.all * mean;
}

template <Scalar S>
struct LayerTime : LinkRates<S> {
  Parameters<S> params;
  S microbatch_tokens;
  LayerOperations<S> operations;
  LayerActivations<S> activations;
  S flops_recompute, recompute_times;
  S layer_again;    // seconds of a layer's products and attention computed again, at the speed of the mode
  S params_rank;    // of a layer, on one expert rank
  S params_spread;  // of these, those of experts that are spread over ranks
  S params_absent;  // of the model, on other expert ranks
  // Arithmetic, HBM and the communication of tensor and context; stage_blocks() adds that of the state shards.
  Block<S> layer, embedding, head;
  LayerKernels<S> kernels;  // calibrated only
  HostWaits<S> host;        // not set but where layers may idle for it
  S tensor_share;           // of the collectives over tensor that is left where fewer ranks split an expert
  S hbm_bytes_backward, tensor_bytes, context_bytes, expert_bytes, expert_across_bytes,
      expert_exchange;  // of a layer; tensor, context: one transfer
  S context_exchange;   // Ulysses: both AllToAlls of a layer
  // Of a model with both kinds of layers; empty for others. All that is said of a layer above is the mean of both.
  bool has_kinds = false;
  bool dense_first = false;
  ByLayerKind<LayerOfKind<S>> kinds{};
  MuonParameters<S> muon;
  // Of adapters, where these are trained and the rest is frozen: of a layer, on one expert rank, those of experts that
  // are spread over ranks; of the model, on other expert ranks. Seconds of a layer's weight gradients.
  S trained{}, trained_rank{}, trained_spread{}, trained_absent{}, weight_gradient{};

  const LayerOfKind<S>& kind(LayerKind k) const { return kinds[static_cast<std::size_t>(k)]; }
  // So many layers, and how many of them are of either kind.
  StageLayers<S> layers(const S& all, const S& dense) const { return layers(all, dense, all - dense); }
  StageLayers<S> layers(const S& all, const S& dense, const S& experts) const {
    return dense_first ? StageLayers<S>{all, true, dense, experts} : StageLayers<S>{all};
  }
  // What so many layers have of a number of the mean layer, or of each kind.
  template <class Member>
  S sum(const StageLayers<S>& n, const S& mean, Member&& member) const {
    return of_layers(n, mean, S(member(kind(LayerKind::dense))), S(member(kind(LayerKind::experts))));
  }
  // The larger of both kinds.
  template <class Member>
  S largest(const S& mean, Member&& member) const {
    return has_kinds ? max(S(member(kind(LayerKind::dense))), S(member(kind(LayerKind::experts)))) : mean;
  }
};
// Mean of the layers of something that those of either kind have; a zero is left out here too.
template <Scalar S>
S mean_of_kinds(const Parameters<S>& params, const S& dense, const S& experts) {
  if (value_of(dense) == 0) return value_of(experts) == 0 ? experts : params.moe_share * experts;
  if (value_of(experts) == 0) return (constant<S>(1) - params.moe_share) * dense;
  return (constant<S>(1) - params.moe_share) * dense + params.moe_share * experts;
}

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
