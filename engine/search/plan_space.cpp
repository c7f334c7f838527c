#include "engine/search/plan_space.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <ranges>
#include <span>

#include <fmt/format.h>

#include "engine/base/divisors.h"
#include "engine/base/read_number.h"
#include "engine/frameworks/synonyms.h"
#include "engine/inputs/placement.h"
#include "engine/model/model_check.h"
#include "engine/model/split_heads.h"
#include "engine/scenario/checkpoint_policies.h"
#include "engine/scenario/mesh_size.h"
#include "engine/scenario/scenario_fields.h"
#include "engine/search/even_chip_counts.h"
#include "engine/search/plan_dimensions.h"
#include "engine/search/torus_places.h"

namespace roofscape::engine {
namespace {

constexpr std::string_view kAnyValue = "any";  // of a setting

std::string listed(const auto& words) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : ", ") + std::string(word);
  return out;
}

// A number, or the word of a choice or switch, as a number.
std::optional<double> number_of(std::string_view text, const Field& field) {
  if (field.kind == FieldKind::boolean) {
    if (text == "on" || text == "true") return 1;
    if (text == "off" || text == "false") return 0;
    return std::nullopt;
  }
  if (field.kind == FieldKind::choice) {
    for (const std::string_view word : {text, choice_called(field.path, text)})
      for (std::size_t i = 0; i < field.choices.size(); ++i)
        if (field.choices[i] == word) return static_cast<double>(i);
    return std::nullopt;
  }
  const NumberReading n = read_number(text, field.unit);
  if (!n || std::abs(*n) > std::numeric_limits<int>::max()) return std::nullopt;
  if (field.kind == FieldKind::integer && *n != std::floor(*n)) return std::nullopt;
  return *n;
}

// What one may give for a dimension. Of a few numbers all of them; an upper bound of many says nothing of a search.
Sentence values_of(const Field& field) {
  constexpr double kFew = 10;
  if (field.kind == FieldKind::boolean) return say("error.search.switch");
  if (field.kind == FieldKind::choice) return say("error.give_one", listed(field.choices));
  if (field.kind == FieldKind::number)
    return say("error.number.between", fmt::format("{:g}", field.minimum), fmt::format("{:g}", field.maximum));
  if (field.maximum - field.minimum >= kFew)
    return say("error.number.whole_between", fmt::format("{:.0f}", field.minimum),
               fmt::format("{:.0f}", field.maximum));
  std::string all;
  for (double n = field.minimum; n < field.maximum; ++n) all += fmt::format("{}{:.0f}", all.empty() ? "" : ", ", n);
  return say("error.give", say("error.or", std::move(all), fmt::format("{:.0f}", field.maximum)));
}

Allowed just(std::vector<double> values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double min = *least, max = *most;
  return {min, max, std::move(values)};
}

// Each once.
std::vector<double> sorted_values(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

// The values of a setting in the order in which they are tried.
std::vector<double> values_tried(const PlanDimension& dimension, const PlanSpace& space, const Plan& own) {
  std::vector<double> values = sorted_values(space.*(dimension.setting->values));
  const double mine = dimension.get(own);
  if (values.empty()) return {mine};
  if (const auto at = std::find(values.begin(), values.end(), mine); at != values.end())
    std::rotate(values.begin(), at, at + 1);
  return values;
}

// Whether it says where on a torus a mesh axis lies. What that comes to depends on where the others do.
bool places(const PlanDimension& dimension) {
  return dimension.setting != nullptr && dimension.setting->reads == PlanSetting::Reads::placement;
}
PlacesTried places_tried(const PlanSpace& space, const Plan& own) {
  PlacesTried out;
  std::size_t axis = 0;  // the rows of placements are in the order of the axes
  for (const PlanDimension& dimension : plan_dimensions())
    if (places(dimension)) {
      for (const double value : values_tried(dimension, space, own))
        out[axis].push_back(static_cast<TorusAxes>(static_cast<int>(value)));
      ++axis;
    }
  return out;
}

}  // namespace

bool Allowed::allows(double n) const {
  return n >= min && n <= max && (only.empty() || std::find(only.begin(), only.end(), n) != only.end());
}

PlanSpace space_of(const Scenario& s) {
  PlanSpace space;
  space.policy = {0, kCheckpointPolicies - 1, {}};
  for (const CheckpointFacts& facts : kCheckpointFacts)
    if (facts.searched) space.policy.only.push_back(static_cast<int>(facts.policy));
  if (const CheckpointPolicy own = s.checkpointing.policy; !facts_of(own).searched)
    space.policy.only.push_back(static_cast<int>(own));
  if (!s.model.is_moe())
    for (const ScheduleKind kind : kSchedules)
      if (!facts_of(kind).for_experts || kind == s.pipeline.schedule)
        space.schedule.only.push_back(static_cast<int>(kind));
  if (!s.cluster.chip[ChipField::host_pcie_bytes_per_s_per_chip].value)
    space.offload_optimizer.max = space.offload_activations.max = 0;
  return space;
}

std::vector<std::string_view> dimension_names() {
  std::vector<std::string_view> names;
  for (const PlanDimension& dimension : plan_dimensions()) names.push_back(dimension.name);
  return names;
}

std::vector<Plan> settings_tried(const Scenario& s, const PlanSpace& space) {
  const Plan own = bare_plan(s);
  std::vector<Plan> out{own};
  for (const PlanDimension& dimension : plan_dimensions()) {
    if (dimension.setting == nullptr) continue;
    std::vector<Plan> more;
    for (const Plan& plan : out)
      for (const double value : values_tried(dimension, space, own)) dimension.set(more.emplace_back(plan), value);
    out = std::move(more);
  }
  return out;
}

std::size_t count_settings(const PlanSpace& space) {
  std::size_t count = 1;
  for (const PlanDimension& dimension : plan_dimensions())
    if (dimension.setting != nullptr)
      count *= std::max<std::size_t>(1, sorted_values(space.*(dimension.setting->values)).size());
  return count;
}

Scenario with_settings_of(Scenario s, const Plan& plan) {
  for (const PlanDimension& dimension : plan_dimensions())
    if (dimension.setting != nullptr) dimension.field->set(s, dimension.get(plan));
  return s;
}

bool same_settings(const Plan& a, const Plan& b) {
  return std::ranges::all_of(plan_dimensions(), [&](const PlanDimension& dimension) {
    return dimension.setting == nullptr || dimension.get(a) == dimension.get(b);
  });
}

std::optional<BrokenLimit> broken_limit(const Scenario& s, const PlanSpace& space, const Plan& plan) {
  const PlanSpace widest = space_of(s);
  const bool placed_as_tried = first_placed_as(s, places_tried(space, bare_plan(s)), plan).has_value();
  std::optional<BrokenLimit> placed_apart;  // of axes each of which has a place that is tried, but with others
  for (const PlanDimension& dimension : plan_dimensions()) {
    const double value = dimension.get(plan);
    if (const PlanSetting* setting = dimension.setting) {
      const std::vector<double>& values = space.*(setting->values);
      if (values.empty() || (places(dimension) && placed_as_tried)) continue;
      const double mine = setting->comes_to(s, plan, value);
      const auto is_the_plans = [&](double other) { return setting->comes_to(s, plan, other) == mine; };
      const BrokenLimit broken{dimension.name, just(values)};
      if (std::ranges::none_of(values, is_the_plans)) return broken;
      if (places(dimension) && !placed_apart) placed_apart = broken;
      continue;
    }
    const Allowed& allowed = space.*(dimension.allowed);
    const bool matters = dimension.matters == nullptr || dimension.matters(plan);
    if (!allowed.allows(value) && (widest.*(dimension.allowed)).allows(value) && matters)
      return BrokenLimit{dimension.name, allowed};
  }
  if (!space.tensor_across_nodes && crosses_nodes(s.cluster, plan.tensor)) return BrokenLimit{"tensor_nodes", {}};
  return placed_apart;
}

std::optional<ConstraintError> constrain(PlanSpace& space, std::string_view name, std::string_view value,
                                         ConstraintKind how) {
  const PlanDimension* dimension = find_plan_dimension(name);
  if (dimension == nullptr)
    return ConstraintError{say("error.search.dimension", name), say("error.there_are", listed(dimension_names()))};
  if (const PlanSetting* setting = dimension->setting) {
    std::vector<double>& values = space.*(setting->values);
    if (how != ConstraintKind::pinned)
      return ConstraintError{say("error.search.setting_limit", name), say("error.search.setting_limit.remedy")};
    if (value == kAnyValue) {
      values.assign(setting->worth_trying.begin(), setting->worth_trying.end());
      return std::nullopt;
    }
    Allowed allowed;
    auto wrong = constrain(allowed, name, value, how, *dimension->field);
    if (wrong)
      wrong->remedy = say("error.search.setting_value.remedy", std::move(wrong->remedy), kAnyValue);
    else
      values = std::move(allowed.only);
    return wrong;
  }
  return constrain(space.*(dimension->allowed), name, value, how, *dimension->field);
}

std::optional<ConstraintError> constrain(Allowed& allowed, std::string_view name, std::string_view value,
                                         ConstraintKind how, const Field& field) {
  const bool ordered = field.kind == FieldKind::integer || field.kind == FieldKind::number;
  std::vector<double> numbers;
  for (std::size_t begin = 0; begin <= value.size();) {
    const std::size_t end = std::min(value.find(',', begin), value.size());
    const std::string_view word = value.substr(begin, end - begin);
    const auto number = number_of(word, field);
    if (!number || (ordered && *number < field.minimum) ||
        (ordered && how != ConstraintKind::at_most && *number > field.maximum))
      return ConstraintError{say("error.search.value", name, word), values_of(field)};
    numbers.push_back(*number);
    begin = end + 1;
  }
  if (how == ConstraintKind::pinned) {
    allowed = just(std::move(numbers));
    return std::nullopt;
  }
  if (numbers.size() != 1 || !ordered)
    return ConstraintError{say("error.search.limit", name), say("error.search.limit.remedy")};
  if (how == ConstraintKind::at_least)
    allowed.min = numbers[0];
  else  // a limit beyond the domain leaves it whole
    allowed.max = std::min(numbers[0], field.maximum);
  const auto within = [&allowed](double n) { return n >= allowed.min && n <= allowed.max; };
  if (allowed.only.empty() ? allowed.min > allowed.max
                           : std::none_of(allowed.only.begin(), allowed.only.end(), within))
    return ConstraintError{say("error.search.nothing_left", name), say("error.search.nothing_left.remedy")};
  return std::nullopt;
}

SpaceChoices::SpaceChoices(const Scenario& s, const PlanSpace& space) : SpaceChoices(s, space, bare_plan(s)) {}

SpaceChoices::SpaceChoices(const Scenario& s, const PlanSpace& space, const Plan& own)
    : s_(s), space_(space), setting_(bare_plan(s)) {
  for (const PlanDimension& dimension : plan_dimensions()) {
    if (dimension.setting == nullptr) continue;
    std::vector<double> values = values_tried(dimension, space, own);
    const auto mine = std::ranges::find(values, dimension.get(setting_));
    if (places(dimension)) {
      if (mine != values.begin()) places_ = places_tried(space, own);
    } else if (mine != values.begin()) {
      values.erase(mine, values.end());
      earlier_.push_back({&dimension, std::move(values)});
    }
    if (dimension.setting->offered != nullptr && dimension.get(setting_) != dimension.get(own))
      others_.push_back(&dimension);
  }
  // Few meshes divide 8960 chips.
  const int chips = shared_chips(s.cluster);
  chip_counts = even_chip_counts(s);
  chip_counts.push_back(chips);
  if (const double present = mesh_chips(s.parallelism); present < chips)
    chip_counts.push_back(static_cast<int>(present));
  std::ranges::sort(chip_counts, std::greater<>());
  chip_counts.erase(std::unique(chip_counts.begin(), chip_counts.end()), chip_counts.end());
  for (const int count : chip_counts)
    for (const int d : divisors(count)) data_divisors.push_back(d);
  std::sort(data_divisors.begin(), data_divisors.end());
  data_divisors.erase(std::unique(data_divisors.begin(), data_divisors.end()), data_divisors.end());
  const std::vector<int> experts = s.model.is_moe() ? divisors(s.model.moe.n_routed_experts) : std::vector<int>{1};
  for (const int count : chip_counts)
    for (const int tensor : divisors(count)) {
      if (!space.tensor.allows(tensor)) continue;
      for (const int context : divisors(count / tensor)) {
        if (!space.context.allows(context)) continue;
        for (const int expert : experts) {
          if (!space.expert.allows(expert)) continue;
          Plan mesh = setting_;
          mesh.tensor = tensor, mesh.context = context, mesh.expert = expert;
          mesh.data = count / tensor / context;  // ranks that data, fsdp and pipeline have to share
          groups.push_back({mesh});
          tensors.push_back(tensor);
        }
      }
    }
  std::sort(tensors.begin(), tensors.end());
  tensors.erase(std::unique(tensors.begin(), tensors.end()), tensors.end());
  for (const int b : divisors(s.workload.global_batch_sequences))
    if (space.microbatch.allows(b)) microbatches.push_back(b);
  for (const CheckpointFacts& facts : kCheckpointFacts)
    if (space.policy.allows(static_cast<int>(facts.policy))) policies.push_back(facts.policy);
  for (const bool on : {false, true}) {
    if (space.offload_optimizer.allows(on)) offload_optimizer.push_back(on);
    if (space.offload_activations.allows(on)) offload_activations.push_back(on);
  }
  for (const Earlier& earlier : earlier_)
    if (earlier.of->setting->reads == PlanSetting::Reads::offload)
      std::erase_if(offload_optimizer, [&](bool on) {
        Plan plan = setting_;
        plan.offload_optimizer = on;
        return !told_apart(plan, earlier);
      });
}

std::vector<bool> SpaceChoices::sequence_parallel(int tensor) const {
  if (tensor == 1 && space_.sequence_parallel.allows(s_.parallelism.sequence_parallel))
    return {s_.parallelism.sequence_parallel};  // there is nothing to split
  std::vector<bool> out;
  for (const bool on : {false, true})
    if (space_.sequence_parallel.allows(on)) out.push_back(on);
  return out;
}

std::vector<int> SpaceChoices::zero_stages(int fsdp, int context) const {
  std::vector<int> out;
  for (int zero = 0; zero <= 3; ++zero) {
    if (!space_.zero_stage.allows(zero)) continue;
    if (fsdp > 1 && zero == 0 && !space_.zero_stage.allows(1)) out.push_back(zero);
    if (fsdp > 1 && zero == 0) continue;  // ranks that share nothing are data ranks
    out.push_back(zero);
    if (fsdp * context == 1) break;  // there is nothing to share with
  }
  Plan plan = setting_;
  plan.fsdp = fsdp, plan.context = context;
  for (const Earlier& earlier : earlier_)
    if (earlier.of->setting->reads == PlanSetting::Reads::zero_stage)
      std::erase_if(out, [&](int zero) {
        plan.zero_stage = static_cast<std::uint8_t>(zero);
        return !told_apart(plan, earlier);
      });
  return out;
}

bool SpaceChoices::told_apart(const Plan& plan, const Earlier& earlier) const {
  const auto comes_to = [&](double value) { return earlier.of->setting->comes_to(s_, plan, value); };
  const double mine = comes_to(earlier.of->get(setting_));
  return std::ranges::none_of(earlier.values, [&](double value) { return comes_to(value) == mine; });
}

bool SpaceChoices::has_mesh(const Plan& plan) const {
  const auto differs = [&](const Earlier& earlier) {
    return earlier.of->setting->reads != PlanSetting::Reads::mesh || told_apart(plan, earlier);
  };
  const auto offered = [&](const PlanDimension* of) { return of->setting->offered(s_, plan, of->get(setting_)); };
  return std::ranges::all_of(earlier_, differs) && std::ranges::all_of(others_, offered) && places_first(plan);
}

bool SpaceChoices::places_first(const Plan& plan) const {
  if (!places_) return true;
  Plan mine = plan;
  mine.on = setting_.on;
  return first_placed_as(s_, *places_, mine) == mine.on;
}

bool SpaceChoices::has_schedule(const Plan& plan) const {
  return std::ranges::all_of(earlier_, [&](const Earlier& earlier) {
    return earlier.of->setting->reads != PlanSetting::Reads::schedule || told_apart(plan, earlier);
  });
}

std::vector<SpaceChoices::Chunking> SpaceChoices::chunkings(int pipeline) const {
  if (pipeline == 1) return {{s_.pipeline.schedule, 1}};
  std::vector<Chunking> out;
  const int held = s_.model.n_layers / pipeline;
  for (const ScheduleKind kind : kSchedules) {
    if (!space_.schedule.allows(static_cast<int>(kind))) continue;
    if (!varies_chunks(kind)) {
      const int v = default_virtual_stages(kind);
      if (space_.virtual_stages.allows(v)) out.push_back({kind, v});
      continue;
    }
    // Chunks of equal length where the layers divide; else few of them, of which two may hold the embedding and the
    // head alone.
    const bool even = s_.model.n_layers % pipeline == 0;
    const int least = default_virtual_stages(kind);
    for (int v = least; v <= std::max(least, even ? held : std::min(8, (s_.model.n_layers + 2) / pipeline)); ++v)
      if (space_.virtual_stages.allows(v) && (!even || held % v == 0)) out.push_back({kind, v});
  }
  return out;
}

std::optional<Rejection> SpaceChoices::reject_group(const Plan& plan) const {
  const TransformerShape& m = s_.model;
  if (model_fault(m)) return Rejection::model;
  if (!splits_heads(m, plan.tensor)) return Rejection::heads;
  if (s_.parallelism.context_method == ContextMethod::ulysses && plan.context > most_ulysses_ranks(m, plan.tensor))
    return Rejection::heads;
  if (!space_.tensor_across_nodes && crosses_nodes(s_.cluster, plan.tensor)) return Rejection::tensor_nodes;
  if (s_.workload.sequence_length % plan.context != 0) return Rejection::sequence;
  return std::nullopt;
}

// Tensor ranks that do not split an expert hold other experts: as diagnose() has it.
std::optional<Rejection> SpaceChoices::reject_mesh(const Plan& plan) const {
  if (plan.pipeline > s_.model.n_layers) return Rejection::layers;
  if (s_.model.is_moe()) {
    const int inside = s_.parallelism.expert_tensor > 0 ? s_.parallelism.expert_tensor : plan.tensor;
    if (inside > plan.tensor || plan.tensor % inside != 0) return Rejection::experts;
    const std::int64_t carved = plan.tensor / inside;
    const std::int64_t ranks = data_ranks(plan) * plan.context * carved;
    if (plan.expert % carved != 0 || (plan.expert > 1 && ranks % plan.expert != 0)) return Rejection::experts;
  }
  if (s_.workload.global_batch_sequences % data_ranks(plan) != 0) return Rejection::batch;
  return std::nullopt;
}

bool SpaceChoices::reject_sequence_parallel(int tensor, bool on) const {
  const int inside = s_.parallelism.expert_tensor;
  return !on && s_.model.is_moe() && inside > 0 && inside < tensor;
}

std::optional<Plan> SpaceChoices::as_searched(Plan plan) const {
  const auto has = [](const auto& list, const auto& x) {
    return std::find(list.begin(), list.end(), x) != list.end();
  };
  const auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& g) {
    return g.mesh.tensor == plan.tensor && g.mesh.context == plan.context && g.mesh.expert == plan.expert &&
           g.mesh.data == data_ranks(plan) * plan.pipeline;
  });
  if (group == groups.end() || !space_.data.allows(plan.data) || !space_.fsdp.allows(plan.fsdp) ||
      !space_.pipeline.allows(plan.pipeline) || !has(microbatches, plan.microbatch_sequences) ||
      !has(policies, plan.policy) || !has(offload_optimizer, plan.offload_optimizer) ||
      !has(offload_activations, plan.offload_activations))
    return std::nullopt;
  const std::vector<SpaceChoices::Chunking> chunks = chunkings(plan.pipeline);
  if (plan.pipeline == 1) plan.schedule = chunks[0].kind, plan.virtual_stages = chunks[0].virtual_stages;
  if (!std::any_of(chunks.begin(), chunks.end(), [&](const Chunking& c) {
        return c.kind == plan.schedule && c.virtual_stages == plan.virtual_stages;
      }))
    return std::nullopt;
  const std::vector<int> zeros = zero_stages(plan.fsdp, plan.context);
  if (plan.fsdp * plan.context == 1 && !zeros.empty()) plan.zero_stage = static_cast<std::uint8_t>(zeros[0]);
  const std::vector<bool> sequence = sequence_parallel(plan.tensor);
  if (plan.tensor == 1 && !sequence.empty()) plan.sequence_parallel = sequence[0];
  if (!has(zeros, int{plan.zero_stage}) || !has(sequence, plan.sequence_parallel)) return std::nullopt;
  if (!same_settings(plan, setting_) || !has_mesh(plan) || !has_schedule(plan)) return std::nullopt;
  return plan;
}

std::optional<Plan> as_searched(const Scenario& s, const PlanSpace& space, Plan plan) {
  const Plan own = bare_plan(s);
  for (const PlanDimension& dimension : plan_dimensions()) {
    if (dimension.setting == nullptr || places(dimension)) continue;
    const auto comes_to = [&](double value) { return dimension.setting->comes_to(s, plan, value); };
    const std::vector<double> values = values_tried(dimension, space, own);
    const double wanted = comes_to(dimension.get(plan));
    const auto found = std::ranges::find_if(values, [&](double value) { return comes_to(value) == wanted; });
    if (found == values.end()) return std::nullopt;
    dimension.set(plan, *found);
  }
  const auto on = first_placed_as(s, places_tried(space, own), plan);
  if (!on) return std::nullopt;
  plan.on = *on;
  const Scenario with = with_settings_of(s, plan);
  return SpaceChoices(with, space, own).as_searched(plan);
}

std::size_t SpaceChoices::cell_of(int tensor, std::size_t pipeline_at) const {
  const auto at = std::lower_bound(tensors.begin(), tensors.end(), tensor) - tensors.begin();
  return static_cast<std::size_t>(at) * data_divisors.size() + pipeline_at;
}

}  // namespace roofscape::engine
