#include "engine/training/operation_steps.h"

namespace roofscape::engine {

namespace {

// Adam, one parameter: two moments, their bias correction and the update.
constexpr double kAdamFlops = 12;

}  // namespace

template <Scalar S>
void operation_steps(const Inputs<S>& in, const LayerCost<S>& layer, const StageCost<S>& stage,
                     const PlanCost<S>& plan, const LayerKey& key, const PlanKey& plan_key, OperationSteps<S>& out) {
  const RecomputedOperations again = recomputed_operations(key);
  const bool everything_again = key.policy == CheckpointPolicy::block && key.flops == FlopsConvention::six_p;
  const S three = constant<S>(3), one = constant<S>(1);
  for (int i = 0; i < kOperationCount; ++i) {
    const auto kind = static_cast<OperationKind>(i);
    OperationStep<S>& step = out[static_cast<std::size_t>(i)];
    step.present = (kind != OperationKind::router || in.model.is.moe) &&
                   (kind != OperationKind::optimizer || plan_key.has_optimizer);
    if (!step.present) continue;
    if (kind == OperationKind::optimizer) {
      step.hbm_bytes = named(Q::operation_step_bytes, i, plan.optimizer_bytes_each * plan.updated_params);
      step.flops = named(Q::operation_step_flops, i, constant<S>(kAdamFlops, unit::flop_each) * plan.updated_params);
    } else {
      const OperationCost<S>& op = layer.operations.operations[static_cast<std::size_t>(i)];
      const bool vocabulary = kind == OperationKind::embedding || kind == OperationKind::logits;
      const S passes = vocabulary ? stage.microbatches / stage.stages : S(stage.layer_passes);
      // Forward, twice that backward, and once more where it is recomputed.
      const bool repeated = vocabulary ? everything_again : again[static_cast<std::size_t>(i)];
      const S runs = named(Q::operation_runs, i,
                           (repeated ? three + (vocabulary ? one : S(layer.recompute_times)) : three) * passes);
      step.flops = named(Q::operation_step_flops, i, named(Q::operation_flops, i, op.flops) * runs);
      step.hbm_bytes = named(Q::operation_step_bytes, i, op.hbm_bytes * runs);
    }
    step.intensity = named(Q::operation_intensity, i, step.flops / step.hbm_bytes);
    const S& W = in.chip.hbm_bandwidth;
    const S roof = is_vector_operation(kind) ? min(in.chip.peak_flops, in.chip.vector_flops) : S(in.chip.peak_flops);
    step.achieved = named(Q::operation_achieved, i, min(roof, step.intensity * W));
    step.time = named(Q::operation_time, i, step.flops / step.achieved);
    step.share = named(Q::operation_share, i, step.time / plan.step_time);
  }
}

template void operation_steps<double>(const Inputs<double>&, const LayerCost<double>&, const StageCost<double>&,
                                      const PlanCost<double>&, const LayerKey&, const PlanKey&,
                                      OperationSteps<double>&);
template void operation_steps<Traced>(const Inputs<Traced>&, const LayerCost<Traced>&, const StageCost<Traced>&,
                                      const PlanCost<Traced>&, const LayerKey&, const PlanKey&,
                                      OperationSteps<Traced>&);

}  // namespace roofscape::engine
