// Second stage of the evaluation: the layers of each pipeline stage, the communication of the training state's
// shards, and the times of stages. Reads the layer's cost and the StageKey. pipeline_run.h runs the schedule with them.
#pragma once

#include <vector>

#include "engine/base/scalar.h"
#include "engine/calibration/collectives.h"
#include "engine/inputs/inputs.h"
#include "engine/pipeline/layer_split.h"
#include "engine/report/report.h"
#include "engine/training/layer_time.h"

namespace roofscape::engine {

// Seconds of one tick of the simulated pipeline.
inline constexpr double kTickSeconds = 1e-12;
Tick ticks_of(double seconds);

struct StageKey {
  ScheduleShape shape;
  LayerSplit layers;
  int zero_stage = 3;
  KeepGathered keep_gathered = KeepGathered::microbatch;
  bool sequence_parallel = true;
  StageSends sends = StageSends::by_schedule;
  bool tied_embeddings = false;
};
StageKey stage_key(const Scenario&);

// When the training state's shards and gradients are sent.
enum class StateTraffic {
  every_microbatch,  // a layer's weights for its forward and its backward, and its gradients
  every_chunk,       // the same, once for all microbatches of a chunk
  once_a_step        // weights and gradients of all layers
};
// Without a pipeline there is one chunk.
constexpr StateTraffic state_traffic_of(int zero_stage, KeepGathered keep, bool pipelined) {
  if (zero_stage < 3 || keep == KeepGathered::step) return StateTraffic::once_a_step;
  if (keep == KeepGathered::microbatch) return StateTraffic::every_microbatch;
  return pipelined ? StateTraffic::every_chunk : StateTraffic::once_a_step;
}
inline StateTraffic state_traffic_of(const StageKey& key) {
  return state_traffic_of(key.zero_stage, key.keep_gathered, key.shape.stages > 1);
}

// The pieces of the stage's cost, each by what it reads: a search computes one again only where that changes.
// How the plan splits a step: mesh, batch and microbatch.
template <Scalar S>
struct StepCounts {
  S microbatches, stages, chips, data_ranks, state_shards;
  bool weights_twice =
      false;  // a device holds a stage of either direction (DualPipe), and with it their training state
};
// One microbatch of a layer and of the vocabulary's blocks, with the traffic of the training state's shards. Of the
// mesh it reads data, fsdp, context and whether there is a pipeline; with one and below ZeRO-3 no state moves, and it
// is the layer's alone (moves_state).
template <Scalar S>
struct StageBlocks {
  BlockTime<S> layer, embedding, head;
  AxisArray<S> comm_forward, comm_backward;  // of a layer, all axes
  // Of a model with both kinds of layers; the layer above is their mean.
  struct OfKind {
    BlockTime<S> layer;
    AxisArray<S> comm_forward, comm_backward;
  };
  bool has_kinds = false;
  ByLayerKind<OfKind> kinds{};
  AxisMask communicates{};
  S weight_bytes, gradient_bytes;   // of a layer, gathered over the state shards
  S vocab_time, vocab_hbm_exposed;  // a microbatch, all stages together
  AxisArray<S> vocab_exposed;

  const OfKind& kind(LayerKind k) const { return kinds[static_cast<std::size_t>(k)]; }
  // What so many layers have of a number of the mean layer, or of each kind.
  template <class Member>
  S sum(const StageLayers<S>& n, const S& mean, Member&& member) const {
    return of_layers(n, mean, S(member(kind(LayerKind::dense))), S(member(kind(LayerKind::experts))));
  }
  S sum(const StageLayers<S>& n, S BlockTime<S>::*member) const {
    return sum(n, layer.*member, [member](const OfKind& k) { return k.layer.*member; });
  }
};
template <Scalar S>
struct StageWork {
  S layer_passes;  // layers a chip computes in a step
  S work;          // mean work of a device
  // Of a schedule that joins a forward with a backward: what that hides of the communication layers expose, and the
  // share of it that is left.
  bool pairs = false;
  S hidden, exposed_left;
};
// The virtual stages of a schedule that overlaps: a forward of one and a backward of another stage of its device, as
// one operation.
template <Scalar S>
struct PairedStages {
  std::vector<S> pair;  // by virtual stage of the forward and partner (pair_partner)
  S hidden;             // a step, mean of the devices: what pairs take less than their halves one after the other
  std::vector<std::int64_t> counts;  // working memory, by partner
};
// What Muon adds to the end of a step (muon.h).
template <Scalar S>
struct MuonWork {
  bool on = false, sends = false;
  S flops{}, products{};          // of a chip, and their seconds
  AxisArray<S> network, exposed;  // seconds by axis, and what of them the products do not hide
  AxisArray<S> bytes, calls;      // that take so long; of a chip. Not set where nothing is sent
  AxisArray<S> sent;              // seconds of the bytes alone, without the latency of calls
  double experts_bytes = 0;       // of those of shared state, experts' between ranks with the same ones
  bool exchanges = false;         // over the ranks that share state: to homes and back, instead of gathers
};
// After the last microbatch of a pipeline. Reads the mesh, the parameters and the ZeRO stage.
template <Scalar S>
struct EndReduction {
  S mean_gradient_bytes;                    // of a stage; pipelines only
  S expert_gradient_bytes{};                // of them, those of spread experts
  S update_bytes{}, expert_update_bytes{};  // of weights that are gathered then, where adapters are trained
  AxisArray<S> end_network;                 // of each axis, alone on its links
  AxisArray<S> end_reduction;               // what of it the step waits for: the parts add up
  MuonWork<S> muon;
};

template <Scalar S>
struct StageTime : StepCounts<S>, StageBlocks<S>, StageWork<S>, EndReduction<S> {
  std::vector<StageLayers<S>> stage_layers;  // by virtual stage, to calculate with; empty without a pipeline
  std::vector<int> dense_layers;             // working memory: of them, dense, where kinds stand apart
  std::vector<S> forward, backward;          // by virtual stage, one microbatch
  PairedStages<S> paired;                    // of a legal schedule that overlaps
  S transfer;                                // between two stages
  S transfer_in_node;                        // between two of one node or slice, where stages_in_node > 1
  S makespan;
  S in_transfer;                               // mean idle time of a device in which what it waits for is on its way
  S bubble_time, bubble_to_work, span_bubble;  // of the simulated timeline
  S even_stages_idle;                          // the same schedule's, simulated, with equal stages
  bool simulated = false;
  bool drawn = false;  // the timeline of every operation is in the report
  PipelineTimes even;  // working memory, of the equal stages
  Timeline even_timeline;
};

template <Scalar S>
StepCounts<S> step_counts(const Inputs<S>&, bool weights_twice);
inline bool holds_weights_twice(const ScheduleShape& shape) {
  return shape.stages > 1 && directions(shape.kind) == 2;
}
template <Scalar S>
void stage_blocks(const Inputs<S>&, const LayerTime<S>&, const LinkRates<S>&, const StepCounts<S>&, const StageKey&,
                  StageBlocks<S>& out);
// `overlaps`: of a schedule that does; hide_in_pairs is to follow.
template <Scalar S>
StageWork<S> stage_work(const Inputs<S>&, const StepCounts<S>&, const StageBlocks<S>&, bool overlaps);
extern template StepCounts<double> step_counts<double>(const Inputs<double>&, bool);
extern template void stage_blocks<double>(const Inputs<double>&, const LayerTime<double>&, const LinkRates<double>&,
                                          const StepCounts<double>&, const StageKey&, StageBlocks<double>&);
extern template StageWork<double> stage_work<double>(const Inputs<double>&, const StepCounts<double>&,
                                                     const StageBlocks<double>&, bool);
// Whether layers carry traffic of the training state's shards or gradients of replicas.
template <Scalar S>
bool moves_state(const Inputs<S>& in, const StageKey& key) {
  const bool pipelined = key.shape.stages > 1;
  return (in.links.state.degree > 1 && (!pipelined || state_traffic_of(key) != StateTraffic::once_a_step)) ||
         (in.degree(Axis::data).n > 1 && !pipelined);
}

// All but what the order of a schedule makes of it: the virtual stages and their times. Fills `out`, in which nothing
// is simulated yet, and of `pipeline` shape and status and, where these are legal, times and recompute.
template <Scalar S>
void stage_times(const Inputs<S>&, const LayerTime<S>&, const StageKey&, PipelineReport& pipeline, StageTime<S>& out);
extern template void stage_times<double>(const Inputs<double>&, const LayerTime<double>&, const StageKey&,
                                         PipelineReport&, StageTime<double>&);

// What a tensor rank sends to the next stage: the residual stream of a microbatch, or its share where the stream is
// split over the ranks. Megatron-LM sends each rank's share also where all have the whole (Narayanan et al. 2021,
// section 4.1).
template <Scalar S>
S boundary_bytes(const Inputs<S>& in, const S& microbatch_tokens, bool sequence_parallel) {
  const S stream = in.residual_bytes * microbatch_tokens * in.model.d_model;
  return sequence_parallel || in.calibrated ? stream / in.degree(Axis::tensor).x : stream;
}

// One microbatch through a virtual stage of so many layers.
template <Scalar S>
struct StagePass {
  S forward, backward;
};
template <Scalar S>
StagePass<S> stage_pass(const StageBlocks<S>& blocks, const StageLayers<S>& layers, bool first, bool last) {
  StagePass<S> pass{blocks.sum(layers, &BlockTime<S>::forward), blocks.sum(layers, &BlockTime<S>::backward)};
  if (first) pass = {pass.forward + blocks.embedding.forward, pass.backward + blocks.embedding.backward};
  if (last) pass = {pass.forward + blocks.head.forward, pass.backward + blocks.head.backward};
  return pass;
}
// The same in ticks, with the backward in its two halves.
struct StageTicks {
  Tick forward = 0, backward_input = 0, backward_weight = 0;
};
template <Scalar S>
StageTicks stage_ticks(const Inputs<S>&, const LayerTime<S>&, const StagePass<S>& pass, const StageLayers<S>& layers,
                       bool first, bool last);
extern template StageTicks stage_ticks<double>(const Inputs<double>&, const LayerTime<double>&,
                                               const StagePass<double>&, const StageLayers<double>&, bool, bool);
// What a microbatch needs from a stage to the next: its bytes over the bandwidth and the latency (with_latency).
// `transfer` between nodes or slices, or where all stages are in one; `in_node` between stages of one where they are in
// several (LinkRates::stages_in_node).
template <Scalar S>
struct StageTransfers {
  S transfer, in_node;
};
template <Scalar S>
StageTransfers<S> stage_transfers(const Inputs<S>& in, const LinkRates<S>& rates, const S& microbatch_tokens,
                                  bool sequence_parallel) {
  const S bytes = boundary_bytes(in, microbatch_tokens, sequence_parallel);
  const auto over = [&](const S& bandwidth, const S& latency) {
    return with_latency(in, S(bytes / bandwidth), latency);
  };
  StageTransfers<S> out{over(rates.bandwidth[Axis::pipeline], rates.latency[Axis::pipeline]), in.zero};
  if (rates.stages_in_node > 1) out.in_node = over(rates.in_node_bandwidth, rates.in_node_latency);
  return out;
}
// No transfer is shorter: the bytes over the fastest of the links.
template <Scalar S>
S least_stage_transfer(const Inputs<S>& in, const LinkRates<S>& rates, const S& microbatch_tokens,
                       bool sequence_parallel) {
  const S& far = rates.bandwidth[Axis::pipeline];
  const S fastest = rates.stages_in_node > 1 ? max(far, rates.in_node_bandwidth) : far;
  return boundary_bytes(in, microbatch_tokens, sequence_parallel) / fastest;
}
// The hops of a pipeline in ticks.
template <Scalar S>
void set_hops(const LinkRates<S>& rates, const StageTransfers<S>& transfers, PipelineTimes& times) {
  times.transfer = ticks_of(value_of(transfers.transfer));
  times.node_devices = static_cast<std::uint32_t>(rates.stages_in_node);
  times.transfer_in_node = rates.stages_in_node > 1 ? ticks_of(value_of(transfers.in_node)) : 0;
}

}  // namespace roofscape::engine
