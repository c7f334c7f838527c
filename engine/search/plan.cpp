#include "engine/search/plan.h"

#include "engine/scenario/mesh_size.h"

#include <tuple>

namespace roofscape::engine {

std::strong_ordering operator<=>(const Plan& a, const Plan& b) {
  const auto key = [](const Plan& p) {
    return std::tuple(int{p.offload_optimizer} + int{p.offload_activations}, p.policy, p.zero_stage,
                      !p.sequence_parallel, p.microbatch_sequences, p.data, p.fsdp, p.tensor, p.context, p.pipeline,
                      p.expert, p.virtual_stages, p.schedule, p.offload_optimizer);
  };
  return key(a) <=> key(b);
}

Plan plan_of(const Scenario& s) {
  const Parallelism& p = s.parallelism;
  Plan plan;
  plan.data = p.data, plan.fsdp = p.fsdp, plan.tensor = p.tensor, plan.context = p.context;
  plan.pipeline = p.pipeline, plan.expert = p.expert;
  plan.microbatch_sequences = s.pipeline.microbatch_sequences;
  plan.virtual_stages = p.pipeline > 1 ? s.pipeline.virtual_stages : 1;
  plan.zero_stage = static_cast<std::uint8_t>(p.zero_stage);
  plan.sequence_parallel = p.sequence_parallel;
  plan.schedule = s.pipeline.schedule;
  plan.policy = s.checkpointing.policy;
  plan.offload_optimizer = s.offload.optimizer, plan.offload_activations = s.offload.activations;
  return plan;
}

void apply(Scenario& s, const Plan& plan) {
  Parallelism& p = s.parallelism;
  p.data = plan.data, p.fsdp = plan.fsdp, p.tensor = plan.tensor, p.context = plan.context;
  p.pipeline = plan.pipeline, p.expert = plan.expert;
  s.pipeline.microbatch_sequences = plan.microbatch_sequences;
  s.pipeline.virtual_stages = plan.virtual_stages;
  p.zero_stage = plan.zero_stage;
  p.sequence_parallel = plan.sequence_parallel;
  s.pipeline.schedule = plan.schedule;
  s.checkpointing.policy = plan.policy;
  s.offload = {plan.offload_optimizer, plan.offload_activations};
}

int microbatches_of(const Plan& plan, int batch_sequences) {
  const std::int64_t granule = batch_granule(plan, plan.microbatch_sequences);
  return batch_sequences % granule == 0 ? static_cast<int>(batch_sequences / granule) : 0;
}

ScheduleShape shape_of(const Plan& plan, int microbatches) {
  ScheduleShape shape;
  shape.kind = plan.schedule;
  shape.stages = plan.pipeline;
  shape.microbatches = microbatches;
  shape.virtual_stages = plan.pipeline > 1 ? plan.virtual_stages : 1;
  return shape;
}

}  // namespace roofscape::engine
