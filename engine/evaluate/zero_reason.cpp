#include "engine/evaluate/zero_reason.h"

namespace roofscape::engine {

namespace {

ZeroReason reason_of_axis(const Scenario& s, const Report& report, Axis axis) {
  if (s.parallelism.degree(axis) == 1) return {ZeroKind::one_rank, axis, 0};
  const double hidden_s = report.transfers[axis].hidden_s;
  return hidden_s > 0 ? ZeroReason{ZeroKind::hidden, axis, hidden_s} : ZeroReason{ZeroKind::nothing_sent, axis, 0};
}

}  // namespace

std::optional<ZeroReason> zero_reason(const Scenario& s, const Report& report, Q q) {
  const std::optional<double> value = report.quantities[q];
  if (!value || *value != 0) return std::nullopt;
  switch (q) {
    case Q::step_attention:
      if (s.assumptions.flops == FlopsConvention::six_p) return ZeroReason{ZeroKind::convention};
      break;
    case Q::step_recompute:
      if (s.checkpointing.policy == CheckpointPolicy::none) return ZeroReason{ZeroKind::keeps_all};
      break;
    case Q::step_hbm:
      return ZeroReason{ZeroKind::hbm_hidden};
    case Q::step_data:
      return reason_of_axis(s, report, Axis::data);
    case Q::step_fsdp:
      return reason_of_axis(s, report, Axis::fsdp);
    case Q::step_tensor:
      return reason_of_axis(s, report, Axis::tensor);
    case Q::step_context:
      return reason_of_axis(s, report, Axis::context);
    case Q::step_expert:
      return reason_of_axis(s, report, Axis::expert);
    case Q::step_pipeline_transfer:
      return reason_of_axis(s, report, Axis::pipeline);
    case Q::step_bubble:
    case Q::pipeline_bubble_fraction:
      if (s.parallelism.pipeline == 1) return ZeroReason{ZeroKind::one_stage};
      break;
    case Q::step_offload:
      if (!s.offload.optimizer && !s.offload.activations) return ZeroReason{ZeroKind::not_offloaded};
      break;
    case Q::step_host:
    case Q::memory_reserve:
      if (s.assumptions.mode == Mode::ideal) return ZeroReason{ZeroKind::ideal_mode};
      break;
    case Q::memory_gradients:
      if (s.precision.gradients == Dtype::none) return ZeroReason{ZeroKind::gradients_not_stored};
      break;
    default:
      break;
  }
  return std::nullopt;
}

}  // namespace roofscape::engine
