#include "engine/search/plan_dimensions.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#include "engine/frameworks/synonyms.h"
#include "engine/scenario/mesh_size.h"
#include "engine/search/torus_places.h"

namespace roofscape::engine {

namespace {

template <class T>
void set_number(T& to, double value) {
  if constexpr (std::is_same_v<T, bool>)
    to = value != 0;
  else if constexpr (std::is_enum_v<T>)
    to = static_cast<T>(static_cast<int>(value));
  else
    to = static_cast<T>(value);
}
template <auto member>
constexpr PlanDimension dimension(std::string_view name, std::string_view path, Allowed PlanSpace::*allowed) {
  return {.name = name,
          .path = path,
          .allowed = allowed,
          .get = [](const Plan& plan) { return static_cast<double>(plan.*member); },
          .set = [](Plan& plan, double value) { set_number(plan.*member, value); }};
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

// ---- settings ----

double of_sharded(const Scenario&, const Plan& plan, double value) {
  return plan.zero_stage == 3 && plan.fsdp * plan.context > 1 ? value : PlanSetting::kNothing;
}
double of_context(const Scenario&, const Plan& plan, double value) {
  return plan.context > 1 ? value : PlanSetting::kNothing;
}
// Ranks that split an expert; more than there are of tensor are none that can be had.
double of_expert_tensor(const Scenario& s, const Plan& plan, double value) {
  if (!s.model.is_moe()) return PlanSetting::kNothing;
  return value > 0 ? value : plan.tensor;
}
double of_group_size(const Scenario& s, const Plan& plan, double value) {
  const int microbatches = microbatches_of(plan, s.workload.global_batch_sequences);
  if (plan.pipeline == 1 || microbatches == 0 || !facts_of(plan.schedule).takes_groups) return PlanSetting::kNothing;
  if (shape_of(plan, microbatches, s.pipeline).order) return PlanSetting::kNothing;
  PipelinePlan pipeline;
  pipeline.group_size = static_cast<int>(value);
  const ScheduleShape shape = shape_of(plan, microbatches, pipeline);
  return check_schedule(shape) ? group_size_of(shape) : PlanSetting::kNothing;
}
// Layers that are listed for as many virtual stages are not dealt.
double of_layers(const Scenario& s, const Plan& plan, double value) {
  if (plan.pipeline == 1) return PlanSetting::kNothing;
  if (s.pipeline.layers_per_stage.empty()) return value;
  const int stages = plan.pipeline * passes_per_device(shape_of(plan, 1, {}));
  return listed_layers(layer_split(s), stages) == ListedLayers::used ? PlanSetting::kNothing : value;
}

double of_rank_order(const Scenario& s, const Plan& plan, double value) {
  const Parallelism mesh{.data = plan.data, .fsdp = plan.fsdp, .pipeline = plan.pipeline};
  if (!rank_order_matters(s.cluster, mesh)) return PlanSetting::kNothing;
  return static_cast<double>(resolved(static_cast<RankOrder>(static_cast<int>(value)), s.workload.kind));
}
double of_offload(const Scenario&, const Plan& plan, double value) {
  return plan.offload_optimizer ? value : PlanSetting::kNothing;
}

Plan placed(Plan plan, Axis axis, double value) {
  plan.on[axis] = static_cast<TorusAxes>(static_cast<int>(value));
  return plan;
}
template <Axis axis>
double of_places(const Scenario& s, const Plan& plan, double value) {
  const TorusPlaces places = torus_places(s, placed(plan, axis, value));
  return places.on[axis] != 0 ? places.code : PlanSetting::kNothing;
}
template <Axis axis>
bool places_apart(const Scenario& s, const Plan& plan, double value) {
  return keeps_axes_apart(s, placed(plan, axis, value), axis);
}

constexpr std::array kChoices{0.0, 1.0, 2.0};
constexpr std::array kTorusAxes{0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0};
static_assert(kTorusAxes.size() == kTorusAxesIds.size());
constexpr std::array kExpertRanks{0.0, 1.0};  // as many as tensor, and whole experts
constexpr std::array kGroupSizes{0.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0};
constexpr std::array kAsLayers{0.0, 1.0};
constexpr std::array kOrders{1.0, 2.0};
static_assert(kOrders.size() + 1 == kEnumCount<RankOrder>);  // all but automatic
constexpr std::array kShares{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0};
static_assert(kChoices.size() == kEnumCount<KeepGathered> && kChoices.size() == kEnumCount<ContextMethod>);

using enum PlanSetting::Reads;
constexpr PlanSetting kKeepGathered{&PlanSpace::keep_gathered, kChoices, of_sharded, zero_stage};
constexpr PlanSetting kContextMethod{&PlanSpace::context_method, kChoices, of_context, mesh};
constexpr PlanSetting kExpertTensor{&PlanSpace::expert_tensor, kExpertRanks, of_expert_tensor, mesh};
constexpr PlanSetting kGroupSize{&PlanSpace::group_size, kGroupSizes, of_group_size, schedule};
constexpr PlanSetting kEmbeddingAsLayers{&PlanSpace::embedding_as_layers, kAsLayers, of_layers, schedule};
constexpr PlanSetting kHeadAsLayers{&PlanSpace::head_as_layers, kAsLayers, of_layers, schedule};
template <Axis axis, auto values>
constexpr PlanSetting kPlacedOn{values, kTorusAxes, of_places<axis>, placement, places_apart<axis>};
constexpr PlanSetting kRankOrder{&PlanSpace::rank_order, kOrders, of_rank_order, mesh};
constexpr PlanSetting kOptimizerFraction{&PlanSpace::optimizer_fraction, kShares, of_offload, offload};

template <auto member>
constexpr PlanDimension setting(std::string_view name, std::string_view path, const PlanSetting& of,
                                bool is_knob = false) {
  PlanDimension row = dimension<member>(name, path, nullptr);
  row.setting = &of;
  row.is_knob = is_knob;
  return row;
}
template <Axis axis, auto values>
constexpr PlanDimension placed_on(std::string_view name, std::string_view path) {
  return {.name = name,
          .path = path,
          .setting = &kPlacedOn<axis, values>,
          .get = [](const Plan& plan) { return static_cast<double>(plan.on[axis]); },
          .set = [](Plan& plan, double value) { plan = placed(plan, axis, value); }};
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
    setting<&Plan::keep_gathered>("keep_gathered", "parallelism.keep_gathered", kKeepGathered, true),
    setting<&Plan::context_method>("context_method", "parallelism.context_method", kContextMethod, true),
    setting<&Plan::expert_tensor>("expert_tensor", "parallelism.expert_tensor", kExpertTensor),
    setting<&Plan::group_size>("group_size", "pipeline.group_size", kGroupSize),
    setting<&Plan::embedding_as_layers>("embedding_as_layers", "pipeline.embedding_as_layers", kEmbeddingAsLayers),
    setting<&Plan::head_as_layers>("head_as_layers", "pipeline.head_as_layers", kHeadAsLayers),
    placed_on<Axis::data, &PlanSpace::data_on>("data_on", "placement.data.on"),
    placed_on<Axis::fsdp, &PlanSpace::fsdp_on>("fsdp_on", "placement.fsdp.on"),
    placed_on<Axis::tensor, &PlanSpace::tensor_on>("tensor_on", "placement.tensor.on"),
    placed_on<Axis::context, &PlanSpace::context_on>("context_on", "placement.context.on"),
    placed_on<Axis::expert, &PlanSpace::expert_on>("expert_on", "placement.expert.on"),
    placed_on<Axis::pipeline, &PlanSpace::pipeline_on>("pipeline_on", "placement.pipeline.on"),
    setting<&Plan::rank_order>("rank_order", "placement.order", kRankOrder),
    setting<&Plan::optimizer_fraction>("optimizer_fraction", "offload.optimizer_fraction", kOptimizerFraction, true),
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
