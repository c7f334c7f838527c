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
  S total;
};

template <Scalar S>
struct PlanCost {
  S flops_per_token, tokens_per_step, flops_model, flops_recompute, flops_hardware, flops_run;
  std::array<S, kStepParts.size()> step_parts;
  S step_time, network, mfu, hfu;
  S tokens_per_s, tokens_per_s_per_chip, run_steps, run_time, run_days, chip_hours, cost_usd, energy_kwh, stated_days;
  std::vector<StageMemory<S>> stages;  // by pipeline device
  std::size_t fullest_stage = 0;
  S memory_free;
  S buffers_gathered, buffers_working, buffers_logits;
  S state_bytes, checkpoints_bytes, job_bytes, minimum_chips;
  S bubble_fraction, bubble_even;
};

// Fills `out`, reusing its memory.
template <Scalar S>
void plan_cost(const Inputs<S>&, const LayerCost<S>&, const StageCost<S>&, const PlanKey&, const PipelineReport&,
               PlanCost<S>& out);
extern template void plan_cost<double>(const Inputs<double>&, const LayerCost<double>&, const StageCost<double>&,
                                       const PlanKey&, const PipelineReport&, PlanCost<double>&);
extern template void plan_cost<Traced>(const Inputs<Traced>&, const LayerCost<Traced>&, const StageCost<Traced>&,
                                       const PlanKey&, const PipelineReport&, PlanCost<Traced>&);

}  // namespace roofscape::engine
