// What each class of operations takes of a whole step, on the mean chip: the dots of the roofline. Forward, backward
// and recomputation together. In ideal mode times are those under the roofs (scaling book ch. 1), whatever the step
// hides of them; FLOPs are those of the stated convention. Calibrated and custom, times are those of the kernels and
// FLOPs what they execute, so that operations on the matrix units add up to the step's matmul, attention and
// recomputation; vector operations are part of its HBM traffic (beside them stand the order of experts' tokens and
// the waiting for a slow host).
#pragma once

#include <array>

#include "engine/base/scalar.h"
#include "engine/inputs/inputs.h"
#include "engine/report/report.h"
#include "engine/training/layer_time.h"
#include "engine/training/stage_time.h"
#include "engine/training/training_cost.h"

namespace roofscape::engine {

template <Scalar S>
struct OperationStep {
  bool present = false;  // the model and the plan have it
  S flops{}, hbm_bytes{};
  S intensity{};      // FLOP a byte
  S achieved{};       // FLOP/s; ideal: min(peak, intensity x HBM bandwidth)
  S time{}, share{};  // seconds; of the step
};
template <Scalar S>
using OperationSteps = std::array<OperationStep<S>, kOperationCount>;

// Operations without FLOPs or bytes have a time that is not finite.
template <Scalar S>
void operation_steps(const Inputs<S>&, const LayerTime<S>&, const StageTime<S>&, const TrainingCost<S>&,
                     const LayerKey&, const PlanKey&, OperationSteps<S>& out);
extern template void operation_steps<double>(const Inputs<double>&, const LayerTime<double>&,
                                             const StageTime<double>&, const TrainingCost<double>&, const LayerKey&,
                                             const PlanKey&, OperationSteps<double>&);
extern template void operation_steps<Traced>(const Inputs<Traced>&, const LayerTime<Traced>&,
                                             const StageTime<Traced>&, const TrainingCost<Traced>&, const LayerKey&,
                                             const PlanKey&, OperationSteps<Traced>&);

}  // namespace roofscape::engine
