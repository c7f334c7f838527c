#include "engine/search/plan_dimensions.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "engine/frameworks/synonyms.h"
#include "engine/inputs/placement.h"

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

// ---- settings ----

int of_sharded(const Scenario&, const Plan& plan, int value) {
  return plan.zero_stage == 3 && plan.fsdp * plan.context > 1 ? value : PlanSetting::kNothing;
}
int of_context(const Scenario&, const Plan& plan, int value) {
  return plan.context > 1 ? value : PlanSetting::kNothing;
}
// Ranks that split an expert; more than there are of tensor are none that can be had.
int of_expert_tensor(const Scenario& s, const Plan& plan, int value) {
  if (!s.model.is_moe()) return PlanSetting::kNothing;
  return value > 0 ? value : plan.tensor;
}
int of_group_size(const Scenario& s, const Plan& plan, int value) {
  const int microbatches = microbatches_of(plan, s.workload.global_batch_sequences);
  if (plan.pipeline == 1 || microbatches == 0 || !facts_of(plan.schedule).takes_groups) return PlanSetting::kNothing;
  if (shape_of(plan, microbatches, s.pipeline).order) return PlanSetting::kNothing;
  PipelinePlan pipeline;
  pipeline.group_size = value;
  const ScheduleShape shape = shape_of(plan, microbatches, pipeline);
  return check_schedule(shape) ? group_size_of(shape) : PlanSetting::kNothing;
}
// Layers that are listed for as many virtual stages are not dealt.
int of_layers(const Scenario& s, const Plan& plan, int value) {
  if (plan.pipeline == 1) return PlanSetting::kNothing;
  if (s.pipeline.layers_per_stage.empty()) return value;
  const int stages = plan.pipeline * passes_per_device(shape_of(plan, 1, {}));
  return listed_layers(layer_split(s), stages) == ListedLayers::used ? PlanSetting::kNothing : value;
}

MeshLinks with_tensor_on(const Scenario& s, const Plan& plan, int value) {
  Parallelism mesh = s.parallelism;
  mesh.data = plan.data, mesh.fsdp = plan.fsdp, mesh.tensor = plan.tensor, mesh.context = plan.context;
  mesh.pipeline = plan.pipeline, mesh.expert = plan.expert, mesh.expert_tensor = plan.expert_tensor;
  Placement placement = s.placement;
  placement.on[Axis::tensor] = static_cast<TorusAxes>(value);
  return place_mesh(s.cluster, mesh, placement);
}
// Everything that sends over links of its own.
std::array<const AxisLinks*, kAxisCount + 3> groups_of(const MeshLinks& mesh) {
  std::array<const AxisLinks*, kAxisCount + 3> groups{};
  std::ranges::transform(mesh.axes, groups.begin(), [](const AxisLinks& of) { return &of; });
  std::ranges::copy(std::array{&mesh.state, &mesh.expert_state, &mesh.expert_data}, groups.begin() + kAxisCount);
  return groups;
}
bool places_tensor(const Scenario& s, const Plan& plan) {
  return s.cluster.chip.interconnect == Interconnect::torus && plan.tensor > 1;
}
// The torus axes of every group that sends. Axes of which both close, or none, are alike: no time tells x from y.
int of_tensor_axes(const Scenario& s, const Plan& plan, int value) {
  if (!places_tensor(s, plan)) return PlanSetting::kNothing;
  const MeshLinks links = with_tensor_on(s, plan, value);
  const auto as_named = [&](const std::array<std::size_t, 3>& name) {
    int code = 0;
    for (const AxisLinks* of : groups_of(links)) {
      code *= 8;
      for (std::size_t axis = 0; axis < name.size(); ++axis)
        if ((static_cast<unsigned>(of->on) >> axis & 1u) != 0) code += 1 << name[axis];
    }
    return code;
  };
  int least = std::numeric_limits<int>::max();
  std::array<std::size_t, 3> name{0, 1, 2};
  do {
    const auto alike = [&](std::size_t axis) { return links.closes[axis] == links.closes[name[axis]]; };
    if (alike(0) && alike(1) && alike(2)) least = std::min(least, as_named(name));
  } while (std::ranges::next_permutation(name).found);
  return least;
}
// Groups that share a torus axis are priced as if each had all of its links: what a person asks for, and no search.
bool leaves_tensor_alone(const Scenario& s, const Plan& plan, int value) {
  if (!places_tensor(s, plan)) return true;
  const MeshLinks links = with_tensor_on(s, plan, value);
  const AxisLinks& tensor = links[Axis::tensor];
  return std::ranges::all_of(groups_of(links), [&tensor](const AxisLinks* of) {
    return of == &tensor || (static_cast<unsigned>(of->on) & static_cast<unsigned>(tensor.on)) == 0;
  });
}

constexpr std::array kChoices{0, 1, 2};
constexpr std::array kTorusAxes{0, 1, 2, 3, 4, 5, 6, 7};
static_assert(kTorusAxes.size() == kTorusAxesIds.size());
constexpr std::array kExpertRanks{0, 1};  // as many as tensor, and whole experts
constexpr std::array kGroupSizes{0, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
constexpr std::array kAsLayers{0, 1};
static_assert(kChoices.size() == kEnumCount<KeepGathered> && kChoices.size() == kEnumCount<ContextMethod>);

using enum PlanSetting::Reads;
constexpr PlanSetting kKeepGathered{&PlanSpace::keep_gathered, kChoices, of_sharded, zero_stage};
constexpr PlanSetting kContextMethod{&PlanSpace::context_method, kChoices, of_context, mesh};
constexpr PlanSetting kExpertTensor{&PlanSpace::expert_tensor, kExpertRanks, of_expert_tensor, mesh};
constexpr PlanSetting kGroupSize{&PlanSpace::group_size, kGroupSizes, of_group_size, schedule};
constexpr PlanSetting kEmbeddingAsLayers{&PlanSpace::embedding_as_layers, kAsLayers, of_layers, schedule};
constexpr PlanSetting kHeadAsLayers{&PlanSpace::head_as_layers, kAsLayers, of_layers, schedule};
constexpr PlanSetting kTensorOn{&PlanSpace::tensor_on, kTorusAxes, of_tensor_axes, mesh, leaves_tensor_alone};

template <auto member>
constexpr PlanDimension setting(std::string_view name, std::string_view path, const PlanSetting& of,
                                bool is_knob = false) {
  PlanDimension row = dimension<member>(name, path, nullptr);
  row.setting = &of;
  row.is_knob = is_knob;
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
    setting<&Plan::keep_gathered>("keep_gathered", "parallelism.keep_gathered", kKeepGathered, true),
    setting<&Plan::context_method>("context_method", "parallelism.context_method", kContextMethod, true),
    setting<&Plan::expert_tensor>("expert_tensor", "parallelism.expert_tensor", kExpertTensor),
    setting<&Plan::group_size>("group_size", "pipeline.group_size", kGroupSize),
    setting<&Plan::embedding_as_layers>("embedding_as_layers", "pipeline.embedding_as_layers", kEmbeddingAsLayers),
    setting<&Plan::head_as_layers>("head_as_layers", "pipeline.head_as_layers", kHeadAsLayers),
    setting<&Plan::tensor_on>("tensor_on", "placement.tensor.on", kTensorOn),
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
