#include "engine/search/plan.h"

#include <tuple>

#include "engine/scenario/mesh_size.h"
#include "engine/search/plan_dimensions.h"

namespace roofscape::engine {

std::strong_ordering operator<=>(const Plan& a, const Plan& b) {
  const auto key = [](const Plan& p) {
    return std::tuple(int{p.offload_optimizer} + int{p.offload_activations}, p.policy, p.zero_stage,
                      !p.sequence_parallel, p.microbatch_sequences, p.data, p.fsdp, p.tensor, p.context, p.pipeline,
                      p.expert, p.virtual_stages, p.schedule, p.offload_optimizer, p.keep_gathered, p.context_method,
                      p.expert_tensor, p.group_size, p.embedding_as_layers, p.head_as_layers, p.on, p.rank_order);
  };
  if (const std::strong_ordering order = key(a) <=> key(b); order != 0) return order;
  return a.optimizer_fraction < b.optimizer_fraction   ? std::strong_ordering::less
         : a.optimizer_fraction > b.optimizer_fraction ? std::strong_ordering::greater
                                                       : std::strong_ordering::equal;
}

Plan plan_of(const Scenario& s) {
  Plan plan;
  for (const PlanDimension& dimension : plan_dimensions()) dimension.set(plan, dimension.field->get(s));
  if (plan.pipeline == 1) plan.virtual_stages = 1;
  return plan;
}

void apply(Scenario& s, const Plan& plan) {
  for (const PlanDimension& dimension : plan_dimensions()) dimension.field->set(s, dimension.get(plan));
}

Plan bare_plan(const Scenario& s) {
  Plan plan;
  for (const PlanDimension& dimension : plan_dimensions())
    if (dimension.setting != nullptr) dimension.set(plan, dimension.field->get(s));
  return plan;
}

int microbatches_of(const Plan& plan, int batch_sequences) {
  const std::int64_t granule = batch_granule(plan, plan.microbatch_sequences);
  return batch_sequences % granule == 0 ? static_cast<int>(batch_sequences / granule) : 0;
}

ScheduleShape shape_of(const Plan& plan, int microbatches, const PipelinePlan& pipeline) {
  return schedule_shape(pipeline, plan.schedule, plan.pipeline, microbatches, plan.virtual_stages);
}

}  // namespace roofscape::engine
