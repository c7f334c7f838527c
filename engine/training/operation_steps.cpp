#include "engine/training/operation_steps.h"

#include "engine/scenario/checkpoint_policies.h"
#include "engine/training/optimizer_home.h"

namespace roofscape::engine {

namespace {

// Adam, one parameter: two moments, their bias correction and the update.
constexpr double kAdamFlops = 12;

// Seconds of a step that the kernels of an operation run: forward and backward, and forward again where that is done.
template <Scalar S>
S kernel_time(const Inputs<S>& in, const LayerTime<S>& layer, const StageTime<S>& stage, OperationKind kind,
              bool repeated) {
  const LayerKernels<S>& k = layer.kernels;
  if (kind == OperationKind::logits) return stage.microbatches * (k.head_forward + k.head_backward) / stage.stages;
  if (kind == OperationKind::embedding)
    return stage.microbatches * (k.embedding_forward + k.embedding_backward) / stage.stages;
  const auto i = static_cast<std::size_t>(kind);
  if (is_vector_operation(kind)) {
    const S once = vector_time(in, layer.operations.operations[i].hbm_bytes, vector_kernels(kind));
    const S three = constant<S>(3);
    return stage.layer_passes * (k.vectors_again ? three + layer.recompute_times : three) * once;
  }
  const S once = k.forward[i] + k.backward[i];
  return stage.layer_passes * (repeated ? once + layer.recompute_times * k.forward[i] : once);
}

// Bytes its kernels move, which run for `seconds` in all: vector operations are fused or run in several passes, and
// products that feed each other need not leave the chip in between.
template <Scalar S>
S kernel_bytes(const Inputs<S>& in, OperationKind kind, const S& bytes, const S& seconds) {
  const S moved =
      is_vector_operation(kind) ? in.calibration[Calibrated::vector_passes] * bytes : constant<S>(1) * bytes;
  return min(moved, seconds * in.calibration.hbm);
}

}  // namespace

template <Scalar S>
void operation_steps(const Inputs<S>& in, const LayerTime<S>& layer, const StageTime<S>& stage,
                     const TrainingCost<S>& plan, const LayerKey& key, const PlanKey& plan_key,
                     OperationSteps<S>& out) {
  const RecomputedOperations again = recomputed_operations(key);
  const bool everything_again = repeats_forward_pass(key.policy, key.flops);
  const S three = constant<S>(3), one = constant<S>(1);
  const S& W = in.calibrated ? in.calibration.hbm : in.chip.hbm_bandwidth;
  for (int i = 0; i < kOperationCount; ++i) {
    const auto kind = static_cast<OperationKind>(i);
    OperationStep<S>& step = out[static_cast<std::size_t>(i)];
    step.present = (kind != OperationKind::router || in.model.is.moe) &&
                   (kind != OperationKind::optimizer || updates_on_chip(in, plan_key));
    if (!step.present) continue;
    const bool vocabulary = kind == OperationKind::embedding || kind == OperationKind::logits;
    // Calibrated, no part of the step has the vocabulary's blocks again.
    const bool repeated = vocabulary                                   ? everything_again && !in.calibrated
                          : in.calibrated && is_vector_operation(kind) ? layer.kernels.vectors_again
                                                                       : again[static_cast<std::size_t>(i)];
    if (kind == OperationKind::optimizer) {
      const S updated = chip_share(in, plan_key, plan.updated_params);
      step.hbm_bytes = named(Q::operation_step_bytes, i, plan.optimizer_bytes_each * updated);
      step.flops = named(Q::operation_step_flops, i, constant<S>(kAdamFlops, unit::flop_each) * updated);
      if (stage.muon.on) {
        // The products' share of it is on the matrix units: its time is the step's part.
        step.flops = named(Q::operation_step_flops, i, step.flops + stage.muon.flops);
        step.time = named(Q::operation_time, i, step.hbm_bytes / W + stage.muon.products);
        step.intensity = named(Q::operation_intensity, i, step.flops / step.hbm_bytes);
        step.achieved = named(Q::operation_achieved, i, step.flops / step.time);
        step.share = named(Q::operation_share, i, step.time / plan.step_time);
        continue;
      }
    } else {
      const OperationCost<S>& op = layer.operations.operations[static_cast<std::size_t>(i)];
      // Products with frozen weights give the gradient of their input alone.
      const bool frozen = in.adapter.on && kind != OperationKind::attention && !is_vector_operation(kind);
      const S trained = frozen || (in.adapter.on && vocabulary) ? constant<S>(2) : three;
      const S passes = vocabulary ? stage.microbatches / stage.stages : S(stage.layer_passes);
      // Forward, twice that backward, and once more where it is recomputed.
      const S runs = named(Q::operation_runs, i,
                           (repeated ? trained + (vocabulary ? one : S(layer.recompute_times)) : trained) * passes);
      if (in.calibrated && kind == OperationKind::attention) {
        const LayerKernels<S>& k = layer.kernels;
        const S once = k.attention_flops + k.attention_flops_backward;
        step.flops = named(Q::operation_step_flops, i,
                           passes * (repeated ? once + layer.recompute_times * k.attention_flops : once));
      } else if (in.calibrated && kind == OperationKind::embedding) {
        step.flops = named(Q::operation_step_flops, i, constant<S>(0, unit::flop_each) * passes);  // a lookup
      } else {
        step.flops = named(Q::operation_step_flops, i, named(Q::operation_flops, i, op.flops) * runs);
      }
      step.hbm_bytes = named(Q::operation_step_bytes, i, op.hbm_bytes * runs);
      const OperationCost<S>& adapter = layer.operations.adapters[static_cast<std::size_t>(i)];
      const bool adapts = frozen && !vocabulary && value_of(adapter.flops) > 0;
      const S adapter_runs = repeated ? three + layer.recompute_times : three;
      if (adapts) {
        step.flops = named(Q::operation_step_flops, i, step.flops + adapter_runs * passes * adapter.flops);
        step.hbm_bytes =
            named(Q::operation_step_bytes, i, step.hbm_bytes + adapter_runs * passes * adapter.hbm_bytes);
      }
      if (in.calibrated) {
        step.time = named(Q::operation_time, i, kernel_time(in, layer, stage, kind, repeated));
        const S moved = op.hbm_bytes * runs;
        step.hbm_bytes = named(
            Q::operation_step_bytes, i,
            kernel_bytes<S>(in, kind, adapts ? moved + adapter_runs * passes * adapter.hbm_bytes : moved, step.time));
      }
    }
    step.intensity = named(Q::operation_intensity, i, step.flops / step.hbm_bytes);
    if (in.calibrated) {
      if (kind == OperationKind::optimizer) step.time = named(Q::operation_time, i, step.hbm_bytes / W);
      step.achieved = named(Q::operation_achieved, i, step.flops / step.time);
      step.share = named(Q::operation_share, i, step.time / plan.step_time);
      continue;
    }
    const S roof = is_vector_operation(kind) ? min(in.chip.peak_flops, in.chip.vector_flops) : S(in.chip.peak_flops);
    step.achieved = named(Q::operation_achieved, i, min(roof, step.intensity * W));
    step.time = named(Q::operation_time, i, step.flops / step.achieved);
    step.share = named(Q::operation_share, i, step.time / plan.step_time);
  }
}

template void operation_steps<double>(const Inputs<double>&, const LayerTime<double>&, const StageTime<double>&,
                                      const TrainingCost<double>&, const LayerKey&, const PlanKey&,
                                      OperationSteps<double>&);
template void operation_steps<Traced>(const Inputs<Traced>&, const LayerTime<Traced>&, const StageTime<Traced>&,
                                      const TrainingCost<Traced>&, const LayerKey&, const PlanKey&,
                                      OperationSteps<Traced>&);

}  // namespace roofscape::engine
