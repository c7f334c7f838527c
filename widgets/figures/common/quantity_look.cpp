#include "widgets/figures/common/quantity_look.h"

namespace roofscape::widgets {

using engine::Q;

Fill fill_of(const Theme& theme, Q part, float em) {
  switch (part) {
    case Q::step_matmul:
      return fill_of(theme, StepPart::compute, em);
    case Q::step_attention: {
      Fill f = fill_of(theme, StepPart::compute, em);
      f.colour = mix(f.colour, theme.panel, 0.35f);
      return f;
    }
    case Q::step_recompute:
      return fill_of(theme, StepPart::recompute, em);
    case Q::step_hbm:
      return fill_of(theme, StepPart::host, em);
    case Q::step_data:
      return fill_of(theme, StepPart::data, em);
    case Q::step_fsdp:
      return fill_of(theme, StepPart::fsdp, em);
    case Q::step_tensor:
      return fill_of(theme, StepPart::tensor, em);
    case Q::step_context:
      return fill_of(theme, StepPart::context, em);
    case Q::step_expert:
      return fill_of(theme, StepPart::expert, em);
    case Q::step_offload:
      return fill_of(theme, StepPart::host, em);
    case Q::step_pipeline_transfer:
      return fill_of(theme, StepPart::pipeline, em);
    case Q::step_bubble:
      return fill_of(theme, StepPart::bubble, em);
    case Q::step_optimizer:
      return fill_of(theme, StepPart::optimizer, em);
    case Q::memory_weights:
      return fill_of(theme, MemoryPart::weights, em);
    case Q::memory_gradients:
      return fill_of(theme, MemoryPart::gradients, em);
    case Q::memory_optimizer:
      return fill_of(theme, MemoryPart::optimizer, em);
    case Q::memory_activations:
      return fill_of(theme, MemoryPart::activations, em);
    case Q::memory_buffers:
      return fill_of(theme, MemoryPart::buffers, em);
    case Q::memory_reserve:
      return fill_of(theme, MemoryPart::reserve, em);
    case Q::memory_kv_cache:
    case Q::decode_kv_read:
      return fill_of(theme, MemoryPart::kv_cache, em);
    case Q::decode_weight_read:
      return fill_of(theme, MemoryPart::weights, em);
    case Q::decode_transfer:
      return fill_of(theme, StepPart::pipeline, em);
    case Q::decode_draft:
      return fill_of(theme, StepPart::recompute, em);
    case Q::step_host:
    case Q::decode_host:
      return fill_of(theme, StepPart::host, em);
    default:
      return fill_of(theme, StepPart::compute, em);
  }
}

StepPart look_of(engine::Axis axis) {
  switch (axis) {
    case engine::Axis::data:
      return StepPart::data;
    case engine::Axis::fsdp:
      return StepPart::fsdp;
    case engine::Axis::tensor:
      return StepPart::tensor;
    case engine::Axis::context:
      return StepPart::context;
    case engine::Axis::expert:
      return StepPart::expert;
    case engine::Axis::pipeline:
      return StepPart::pipeline;
  }
  return StepPart::data;
}

}  // namespace roofscape::widgets
