// The time of a step: the left-to-right sum of its parts (kStepParts), so that parts add up exactly. Its parts but
// those of the pipeline's timeline and of offload read layer, mesh, microbatch and ZeRO stage: a search computes them
// again only where these change.
#pragma once

#include <array>

#include "engine/base/scalar.h"
#include "engine/inputs/inputs.h"
#include "engine/report/report.h"
#include "engine/training/layer_time.h"
#include "engine/training/model_flops.h"
#include "engine/training/plan_key.h"
#include "engine/training/stage_time.h"

namespace roofscape::engine {

template <Scalar S>
struct StepCost {
  S flops_recompute, flops_hardware, updated_params;
  S optimizer_bytes_each;  // of HBM, a parameter and step; mean of those of Adam and Muon
  S updated_by_muon{};     // of updated_params
  std::array<S, kStepParts.size()> step_parts;
  S layers_host{};    // of the host's part, what stands inside layers (block_time.h); else 0
  S before_pipeline;  // sum of the parts up to the pipeline's
  S step_time;
};

// All parts but the pipeline's two and offload, which are left alone.
template <Scalar S>
void step_parts(const Inputs<S>&, const LayerTime<S>&, const ModelFlops<S>&, const StepCounts<S>&,
                const StageBlocks<S>&, const StageWork<S>&, const EndReduction<S>&, const PlanKey&, StepCost<S>& out);
// The rest of the step and its time. `makespan` of the work as the pipeline has it; `simulated`: from a timeline.
template <Scalar S>
void finish_step(const Inputs<S>&, const LayerTime<S>&, const StageBlocks<S>&, const StageWork<S>&, const S& makespan,
                 const S& in_transfer, bool simulated, const PlanKey&, StepCost<S>& out);

// Where a part stands in step_parts.
constexpr std::size_t step_part_index(Q part) {
  std::size_t i = 0;
  while (kStepParts[i] != part) ++i;
  return i;
}

// What the host adds to a calibrated step whose other parts take this long: its own work, and waiting for the slowest
// node, which grows with the logarithm of their number.
template <Scalar S>
S host_time(const Inputs<S>& in, const S& others) {
  const CalibrationInputs<S>& c = in.calibration;
  return c[Calibrated::step_host] + c[Calibrated::straggler] * c.log_nodes * others;
}

// What devices idle beside transfers, of a pipeline that runs so long.
template <Scalar S>
S bubble_time(const S& makespan, const S& work, const S& in_transfer, const S& zero) {
  return max(makespan - work - in_transfer, zero);
}
// All parts but the host's, in their order.
template <Scalar S>
S without_host(const S& before_pipeline, const S& in_transfer, const S& bubble, const S& optimizer,
               const S& offload) {
  return before_pipeline + in_transfer + bubble + optimizer + offload;
}

extern template void step_parts<double>(const Inputs<double>&, const LayerTime<double>&, const ModelFlops<double>&,
                                        const StepCounts<double>&, const StageBlocks<double>&,
                                        const StageWork<double>&, const EndReduction<double>&, const PlanKey&,
                                        StepCost<double>&);
extern template void finish_step<double>(const Inputs<double>&, const LayerTime<double>&, const StageBlocks<double>&,
                                         const StageWork<double>&, const double&, const double&, bool, const PlanKey&,
                                         StepCost<double>&);

}  // namespace roofscape::engine
