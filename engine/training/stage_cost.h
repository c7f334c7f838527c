// Second stage of the evaluation: the layers of each pipeline stage, the communication of the training state's shards,
// and the simulated pipeline. Reads the layer's cost and the StageKey.
#pragma once

#include <vector>

#include "engine/inputs.h"
#include "engine/report.h"
#include "engine/scalar.h"
#include "engine/training/layer_cost.h"

namespace roofscape::engine {

struct StageKey {
  ScheduleShape shape;
  int n_layers = 1;
  int zero_stage = 3;
  bool sequence_parallel = true;
  bool blocking_send = false;
  bool tied_embeddings = false;
  AxesOverlap overlap = AxesOverlap::sum;
};
StageKey stage_key(const Scenario&);

// Layers of each virtual stage, in the order a microbatch passes them. Every virtual stage gets the same number or one
// less; the ones with less stand at the ends, last, first, last but one, second ..., where head and embedding add work.
std::vector<int> split_layers(int n_layers, int virtual_stages);
void split_layers(int n_layers, int virtual_stages, std::vector<int>& out);

template <Scalar S>
struct StageCost {
  S microbatches, stages, chips, data_ranks, state_shards;
  BlockTime<S> layer, embedding, head;
  std::array<S, kAxisCount> comm_forward, comm_backward;  // of a layer, all axes
  AxisMask communicates{};
  S weight_bytes, gradient_bytes;       // of a layer, gathered over the state shards
  S mean_gradient_bytes;                // of a stage; pipelines only
  S layer_passes;                       // layers a chip computes in a step
  S vocab_time, vocab_hbm_exposed;      // a microbatch, all stages together
  std::array<S, kAxisCount> vocab_exposed;
  std::vector<int> layers;              // by virtual stage
  std::vector<S> stage_layers;          // the same to calculate with; empty without a pipeline
  std::vector<S> forward, backward;     // by virtual stage, one microbatch
  std::array<S, kAxisCount> end_reduction;  // after the last microbatch of a pipeline
  S work;                               // mean work of a device
  S transfer;                           // between two stages
  S makespan;
  S in_transfer;                        // mean idle time of a device in which what it waits for is on its way
  S bubble_time, bubble_to_work, span_bubble;  // of the simulated timeline
  bool simulated = false;
  bool drawn = false;                   // the timeline of every operation is in the report
};

// Fills `out` and `pipeline` (shape, order, times, timeline), reusing their memory; an order is kept while its shape stays.
template <Scalar S>
void stage_cost(const Inputs<S>&, const LayerCost<S>&, const StageKey&, SimulationScratch&, PipelineReport& pipeline,
                StageCost<S>& out);
extern template void stage_cost<double>(const Inputs<double>&, const LayerCost<double>&, const StageKey&,
                                        SimulationScratch&, PipelineReport&, StageCost<double>&);
extern template void stage_cost<Traced>(const Inputs<Traced>&, const LayerCost<Traced>&, const StageKey&,
                                        SimulationScratch&, PipelineReport&, StageCost<Traced>&);

// Microbatches of a step, rounded up; at least 1.
int microbatch_count(const Scenario&);

// Seconds of one tick of the simulated pipeline.
inline constexpr double kTickSeconds = 1e-12;

}  // namespace roofscape::engine
