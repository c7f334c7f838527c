// What each class of operations takes of a whole step, on the mean chip: the dots of the roofline. Forward, backward
// and recomputation together; times are those under the roofs (scaling book ch. 1), whatever the step hides of them.
#pragma once

#include <array>

#include "engine/inputs.h"
#include "engine/report.h"
#include "engine/scalar.h"
#include "engine/training/layer_cost.h"
#include "engine/training/plan_cost.h"
#include "engine/training/stage_cost.h"

namespace roofscape::engine {

template <Scalar S>
struct OperationStep {
  bool present = false;  // the model and the plan have it
  S flops{}, hbm_bytes{};
  S intensity{};         // FLOP a byte
  S achieved{};          // FLOP/s: min(peak, intensity x HBM bandwidth)
  S time{}, share{};     // seconds; of the step
};
template <Scalar S>
using OperationSteps = std::array<OperationStep<S>, kOperationCount>;

// Operations without FLOPs or bytes have a time that is not finite.
template <Scalar S>
void operation_steps(const Inputs<S>&, const LayerCost<S>&, const StageCost<S>&, const PlanCost<S>&, const LayerKey&,
                     const PlanKey&, OperationSteps<S>& out);
extern template void operation_steps<double>(const Inputs<double>&, const LayerCost<double>&,
                                             const StageCost<double>&, const PlanCost<double>&, const LayerKey&,
                                             const PlanKey&, OperationSteps<double>&);
extern template void operation_steps<Traced>(const Inputs<Traced>&, const LayerCost<Traced>&,
                                             const StageCost<Traced>&, const PlanCost<Traced>&, const LayerKey&,
                                             const PlanKey&, OperationSteps<Traced>&);

}  // namespace roofscape::engine
