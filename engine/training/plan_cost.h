// Third stage of the evaluation: what the whole step takes and what each chip holds. Step time and chip memory are
// defined as the left-to-right sums of their parts (kStepParts, kMemoryParts), so that parts add up exactly.
#pragma once

#include <array>
#include <vector>

#include "engine/inputs.h"
#include "engine/report.h"
#include "engine/scalar.h"
#include "engine/training/layer_cost.h"
#include "engine/training/stage_cost.h"

namespace roofscape::engine {

struct PlanKey {
  FlopsConvention flops = FlopsConvention::six_p;
  CheckpointPolicy policy = CheckpointPolicy::block;
  int zero_stage = 3;
  bool stores_gradients = false;
  bool offload_optimizer = false, offload_activations = false;
  bool has_optimizer = true;
  bool tied_embeddings = false;
};
PlanKey plan_key(const Scenario&);

template <Scalar S>
struct StageMemory {
  int virtual_stages = 0;  // that the device holds; DualPipe: of both directions
  bool embedding = false, head = false;
  S layers;
  S params;
  std::array<S, kMemoryPartCount> parts;
  S state;  // sum of the first three parts
  S total;
};

// The pieces of the plan's cost, each by what it reads: a search computes one again only where that changes.
// Model, batch and convention.
template <Scalar S>
struct ModelFlops {
  S flops_per_token, tokens_per_step, flops_model, flops_run, flops_attention;
};
// The step. Its parts but those of the pipeline's timeline and of offload read layer, mesh, microbatch and ZeRO
// stage.
template <Scalar S>
struct StepCost {
  S flops_recompute, flops_hardware, updated_params;
  S optimizer_bytes_each;  // of HBM, a parameter and step
  std::array<S, kStepParts.size()> step_parts;
  S before_pipeline;  // sum of the parts up to the pipeline's
  S step_time;
};
// Working memory beside the training state.
template <Scalar S>
struct WorkingMemory {
  S buffers_gathered, buffers_working, buffers_logits;
};
// What a pipeline device holds and runs: a few kinds of devices cover a pipeline.
template <Scalar S>
struct DeviceLoad {
  int device = 0;
  S layers, in_flight;  // microbatches held at the peak
  bool embedding = false, head = false;
  bool doubled = false;  // DualPipe: the weights of both directions
};

template <Scalar S>
struct PlanCost : ModelFlops<S>, StepCost<S>, WorkingMemory<S> {
  S network, mfu, hfu;
  S tokens_per_s, tokens_per_s_per_chip, run_steps, run_time, run_days, chip_hours, cost_usd, energy_kwh, stated_days;
  std::vector<StageMemory<S>> stages;  // by pipeline device
  std::size_t fullest_stage = 0;
  S memory_free;
  S state_bytes, checkpoints_bytes, job_bytes, minimum_chips;
  S bubble_fraction, bubble_even;
};

template <Scalar S>
void model_flops(const Inputs<S>&, const Parameters<S>&, const PlanKey&, ModelFlops<S>& out);
// All parts but the pipeline's two and offload, which are left alone.
template <Scalar S>
void step_parts(const Inputs<S>&, const LayerCost<S>&, const ModelFlops<S>&, const StepCounts<S>&,
                const StageBlocks<S>&, const StageWork<S>&, const EndReduction<S>&, const PlanKey&, StepCost<S>& out);
// The rest of the step and its time. `makespan` of the work as the pipeline has it; `simulated`: from a timeline.
template <Scalar S>
void finish_step(const Inputs<S>&, const LayerCost<S>&, const StageBlocks<S>&, const StageWork<S>&, const S& makespan,
                 const S& in_transfer, bool simulated, const PlanKey&, StepCost<S>& out);
template <Scalar S>
void working_memory(const Inputs<S>&, const LayerCost<S>&, const PlanKey&, WorkingMemory<S>& out);
// Weights, gradients and optimizer state of a device: the first three parts of `out`, and its parameters.
template <Scalar S>
void state_memory(const Inputs<S>&, const LayerCost<S>&, const StepCounts<S>&, const DeviceLoad<S>&, const PlanKey&,
                  StageMemory<S>& out);
// The other parts and the total. Here to be inlined: a search asks it for every plan.
template <Scalar S>
void finish_memory(const Inputs<S>& in, const LayerCost<S>& layer, const WorkingMemory<S>& buffers,
                   const DeviceLoad<S>& load, const PlanKey& key, StageMemory<S>& memory) {
  const S held_layers = load.doubled ? load.layers / constant<S>(2) : load.layers;
  S& activations = memory.parts[3];
  S& working = memory.parts[4];
  S& reserve = memory.parts[5];
  static_assert(kMemoryParts[3] == Q::memory_activations && kMemoryParts[4] == Q::memory_buffers &&
                kMemoryParts[5] == Q::memory_reserve);
  // On their way to the host the checkpoints of two layers are on the chip.
  activations =
      (key.offload_activations ? constant<S>(2) : load.in_flight * held_layers) * layer.activations.checkpoint_bytes;
  working = buffers.buffers_gathered + buffers.buffers_working;
  if (load.head) working = working + buffers.buffers_logits;
  reserve = S(in.reserve_bytes);
  if (in.calibrated) {
    working = in.calibration[Calibrated::buffer_share] * working;
    reserve = in.reserve_bytes + in.calibration[Calibrated::reserve] +
              in.calibration[Calibrated::fragmentation] * (activations + working);
  }
  memory.total = memory.state + activations + working + reserve;
}
extern template void model_flops<double>(const Inputs<double>&, const Parameters<double>&, const PlanKey&,
                                         ModelFlops<double>&);
extern template void step_parts<double>(const Inputs<double>&, const LayerCost<double>&, const ModelFlops<double>&,
                                        const StepCounts<double>&, const StageBlocks<double>&,
                                        const StageWork<double>&, const EndReduction<double>&, const PlanKey&,
                                        StepCost<double>&);
extern template void finish_step<double>(const Inputs<double>&, const LayerCost<double>&, const StageBlocks<double>&,
                                         const StageWork<double>&, const double&, const double&, bool, const PlanKey&,
                                         StepCost<double>&);
extern template void working_memory<double>(const Inputs<double>&, const LayerCost<double>&, const PlanKey&,
                                            WorkingMemory<double>&);
extern template void state_memory<double>(const Inputs<double>&, const LayerCost<double>&, const StepCounts<double>&,
                                          const DeviceLoad<double>&, const PlanKey&, StageMemory<double>&);

// Fills `out`, reusing its memory.
template <Scalar S>
void plan_cost(const Inputs<S>&, const LayerCost<S>&, const StageCost<S>&, const PlanKey&, const PipelineReport&,
               PlanCost<S>& out);
extern template void plan_cost<double>(const Inputs<double>&, const LayerCost<double>&, const StageCost<double>&,
                                       const PlanKey&, const PipelineReport&, PlanCost<double>&);
extern template void plan_cost<Traced>(const Inputs<Traced>&, const LayerCost<Traced>&, const StageCost<Traced>&,
                                       const PlanKey&, const PipelineReport&, PlanCost<Traced>&);

}  // namespace roofscape::engine
