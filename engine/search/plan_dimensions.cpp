#include "engine/search/plan_dimensions.h"

#include <array>

#include "engine/frameworks/synonyms.h"

namespace roofscape::engine {

namespace {

template <auto member>
constexpr PlanDimension dimension(std::string_view name, std::string_view path, Allowed PlanSpace::*allowed) {
  return {
      .name = name,
      .path = path,
      .allowed = allowed,
      .get = [](const Plan& plan) { return static_cast<int>(plan.*member); },
      .set = [](Plan& plan,
                int value) { plan.*member = static_cast<std::remove_reference_t<decltype(plan.*member)>>(value); }};
}
template <auto member>
constexpr PlanDimension knob(std::string_view name, std::string_view path, Allowed PlanSpace::*allowed,
                             bool (*matters)(const Plan&) = nullptr) {
  PlanDimension row = dimension<member>(name, path, allowed);
  row.is_knob = true;
  row.matters = matters;
  return row;
}
template <auto member>
constexpr PlanDimension of_schedule(std::string_view name, std::string_view path, Allowed PlanSpace::*allowed) {
  PlanDimension row = dimension<member>(name, path, allowed);
  row.matters = [](const Plan& plan) { return plan.pipeline > 1; };
  return row;
}

constexpr std::array kRows{
    dimension<&Plan::data>("data", "parallelism.data", &PlanSpace::data),
    dimension<&Plan::fsdp>("fsdp", "parallelism.fsdp", &PlanSpace::fsdp),
    dimension<&Plan::tensor>("tensor", "parallelism.tensor", &PlanSpace::tensor),
    dimension<&Plan::context>("context", "parallelism.context", &PlanSpace::context),
    dimension<&Plan::pipeline>("pipeline", "parallelism.pipeline", &PlanSpace::pipeline),
    dimension<&Plan::expert>("expert", "parallelism.expert", &PlanSpace::expert),
    knob<&Plan::microbatch_sequences>("microbatch", "pipeline.microbatch_sequences", &PlanSpace::microbatch),
    of_schedule<&Plan::virtual_stages>("virtual_stages", "pipeline.virtual_stages", &PlanSpace::virtual_stages),
    knob<&Plan::zero_stage>("zero_stage", "parallelism.zero_stage", &PlanSpace::zero_stage,
                            [](const Plan& plan) { return plan.fsdp * plan.context > 1; }),
    knob<&Plan::sequence_parallel>("sequence_parallel", "parallelism.sequence_parallel",
                                   &PlanSpace::sequence_parallel, [](const Plan& plan) { return plan.tensor > 1; }),
    of_schedule<&Plan::schedule>("schedule", "pipeline.schedule", &PlanSpace::schedule),
    knob<&Plan::policy>("policy", "checkpointing.policy", &PlanSpace::policy),
    knob<&Plan::offload_optimizer>("offload_optimizer", "offload.optimizer", &PlanSpace::offload_optimizer),
    knob<&Plan::offload_activations>("offload_activations", "offload.activations", &PlanSpace::offload_activations),
};

}  // namespace

std::span<const PlanDimension> plan_dimensions() {
  static const auto kDimensions = [] {
    auto rows = kRows;
    for (PlanDimension& row : rows) row.field = find_field(row.path);
    return rows;
  }();
  return kDimensions;
}

const PlanDimension* find_plan_dimension(std::string_view name) {
  for (const PlanDimension& row : plan_dimensions())
    if (row.name == name) return &row;
  if (const NamedField* field = find_named_field(name))
    for (const PlanDimension& row : plan_dimensions())
      if (row.path == field->path) return &row;
  return nullptr;
}

}  // namespace roofscape::engine
