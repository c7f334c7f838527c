// Third stage of the evaluation: the step, what each chip holds, and the run they make: utilisation, days, cost.
#pragma once

#include "engine/base/scalar.h"
#include "engine/inputs/inputs.h"
#include "engine/report/report.h"
#include "engine/training/bubble.h"
#include "engine/training/layer_time.h"
#include "engine/training/memory.h"
#include "engine/training/model_flops.h"
#include "engine/training/plan_key.h"
#include "engine/training/stage_time.h"
#include "engine/training/step_time.h"

namespace roofscape::engine {

template <Scalar S>
struct TrainingCost : ModelFlops<S>, StepCost<S>, WorkingMemory<S>, ChipMemory<S>, Bubble<S> {
  S network, mfu, hfu;
  S tokens_per_s, tokens_per_s_per_chip, run_steps, run_time, run_days, chip_hours, cost_usd, energy_kwh, stated_days;
};

// Fills `out`, reusing its memory.
template <Scalar S>
void training_cost(const Inputs<S>&, const LayerTime<S>&, const StageTime<S>&, const PlanKey&, const PipelineReport&,
                   TrainingCost<S>& out);
extern template void training_cost<Traced>(const Inputs<Traced>&, const LayerTime<Traced>&, const StageTime<Traced>&,
                                           const PlanKey&, const PipelineReport&, TrainingCost<Traced>&);

}  // namespace roofscape::engine
