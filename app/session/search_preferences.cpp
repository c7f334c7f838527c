#include "app/session/search_preferences.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "engine/scenario/scenario_fields.h"

namespace roofscape::app {

using engine::Allowed;
using engine::Scenario;
using engine::ServingRequest;

namespace {

constexpr std::size_t kBest = 30, kSample = 1500;
constexpr int kMostOffered = 64;  // of a degree
constexpr int kLeastBatchOffered = 16, kMostBatchOffered = 4096;

bool has_experts(const Scenario& s) { return s.model.is_moe(); }
bool is_torus(const Scenario& s) { return s.cluster.chip.interconnect == engine::Interconnect::torus; }

// In the order of the rail. Both offloads are asked for by one constraint.
const std::array<SearchDimension, kSearchDimensions>& dimensions() {
  const auto one = [](std::string_view name) {
    const engine::PlanDimension* of = engine::find_plan_dimension(name);
    return SearchDimension{{.id = name, .paths = {of->path}, .is_setting = of->setting != nullptr}, {of}};
  };
  static const std::array<SearchDimension, kSearchDimensions> kDimensions = [&one] {
    SearchDimension offload = one("offload_optimizer");
    offload.id = "offload";
    offload.of[1] = engine::find_plan_dimension("offload_activations");
    offload.paths[1] = offload.of[1]->path;
    SearchDimension expert = one("expert"), expert_tensor = one("expert_tensor"), expert_on = one("expert_on");
    expert.applies_to = expert_tensor.applies_to = has_experts;
    expert_on.applies_to = [](const Scenario& s) { return is_torus(s) && has_experts(s); };
    SearchDimension rank_order = one("rank_order");
    rank_order.applies_to = [](const Scenario& s) { return !is_torus(s); };
    const auto on_torus = [&one](std::string_view name) {
      SearchDimension dimension = one(name);
      dimension.applies_to = is_torus;
      return dimension;
    };
    return std::array{one("data"),
                      one("fsdp"),
                      one("tensor"),
                      one("context"),
                      expert,
                      one("pipeline"),
                      one("schedule"),
                      one("virtual_stages"),
                      one("microbatch"),
                      one("zero_stage"),
                      one("sequence_parallel"),
                      one("policy"),
                      offload,
                      one("optimizer_fraction"),
                      one("context_method"),
                      one("keep_gathered"),
                      expert_tensor,
                      one("group_size"),
                      one("embedding_as_layers"),
                      one("head_as_layers"),
                      rank_order,
                      on_torus("data_on"),
                      on_torus("fsdp_on"),
                      on_torus("tensor_on"),
                      on_torus("context_on"),
                      expert_on,
                      on_torus("pipeline_on")};
  }();
  return kDimensions;
}
constexpr std::array<ServingDimension, kServingDimensions> kServing{{
    {{"data", {"parallelism.data"}}, &ServingRequest::data},
    {{"tensor", {"parallelism.tensor"}}, &ServingRequest::tensor},
    {{"expert", {"parallelism.expert"}, has_experts}, &ServingRequest::expert},
    {{"pipeline", {"parallelism.pipeline"}}, &ServingRequest::pipeline},
    {{"batch", {"workload.batch"}}, &ServingRequest::batch},
}};

Allowed just(double value) { return {value, value, {value}}; }

void narrow(Allowed& allowed, const Constraint& constraint, double own) {
  switch (constraint.kind) {
    case Constraint::Kind::any:
      break;
    case Constraint::Kind::as_plan:
      allowed = just(own);
      break;
    case Constraint::Kind::at_most:
      allowed.max = std::min(allowed.max, constraint.value);
      break;
    case Constraint::Kind::only:
      allowed = just(constraint.value);
      break;
  }
}

// The values of a setting that are tried.
std::vector<double> tried(const engine::PlanSetting& setting, const Constraint& constraint, double own) {
  if (constraint.kind == Constraint::Kind::only) return {constraint.value};
  if (constraint.kind != Constraint::Kind::any) return {};
  std::vector<double> values(setting.worth_trying.begin(), setting.worth_trying.end());
  values.push_back(own);
  return values;
}

double own_value(const Scenario& scenario, std::string_view path) { return engine::find_field(path)->get(scenario); }

}  // namespace

std::span<const SearchDimension> search_dimensions() { return dimensions(); }

std::array<Constraint, kSearchDimensions> usual_constraints() {
  std::array<Constraint, kSearchDimensions> out;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = dimensions()[i].usual();
  return out;
}

void keep_settings(SearchPreferences& preferences) {
  for (std::size_t i = 0; i < kSearchDimensions; ++i)
    if (dimensions()[i].is_setting) preferences.constraints[i] = dimensions()[i].usual();
}

engine::SearchRequest request_of(const Scenario& scenario, const SearchPreferences& preferences) {
  engine::SearchRequest request;
  request.space = engine::space_of(scenario);
  request.objective = preferences.objective;
  request.limit = kBest;
  request.sample = kSample;
  request.merge_alike = true;
  request.cells = true;
  request.space.min_free = preferences.min_free;
  request.space.tensor_across_nodes = preferences.tensor_across_nodes;
  for (std::size_t i = 0; i < kSearchDimensions; ++i) {
    const Constraint& constraint = preferences.constraints[i];
    const SearchDimension& dimension = dimensions()[i];
    if (!dimension.applies(scenario)) continue;
    for (const engine::PlanDimension* of : dimension.of) {
      if (of == nullptr) continue;
      const double own = own_value(scenario, of->path);
      if (of->setting != nullptr)
        request.space.*of->setting->values = tried(*of->setting, constraint, own);
      else
        narrow(request.space.*of->allowed, constraint, own);
    }
  }
  return request;
}

ServingRequest request_of(const Scenario& scenario, const ServingPreferences& preferences) {
  ServingRequest request = engine::serving_request_of(scenario);
  if (!preferences.keeps_promises) request.most_token_s = request.most_ttft_s = 0;
  request.objective = preferences.objective;
  request.limit = kBest;
  request.sample = kSample;
  request.merge_alike = true;
  request.min_free = preferences.min_free;
  const engine::DecodingPlan own = engine::decoding_plan_of(scenario);
  for (std::size_t i = 0; i < kServingDimensions; ++i) {
    const ServingDimension& dimension = kServing[i];
    if (!dimension.applies(scenario)) continue;
    // fsdp counts as data.
    narrow(request.*dimension.allowed, preferences.constraints[i],
           dimension.id == "data" ? own.data : own_value(scenario, dimension.paths[0]));
  }
  return request;
}

bool offers_slow_end(const SearchPreferences& preferences, const Scenario& scenario) {
  const bool by_memory = scenario.serves() ? preferences.serving.objective == engine::ServingObjective::memory
                                           : preferences.objective == engine::Objective::memory;
  return !by_memory && scenario.assumptions.mode != engine::Mode::custom;
}

namespace {

// Settings of which others are tried stay so: they leave no plan out.
SearchPreferences without_limits(SearchPreferences preferences) {
  preferences.min_free = 0;
  for (std::size_t i = 0; i < kSearchDimensions; ++i)
    if (preferences.constraints[i].kind != Constraint::Kind::any)
      preferences.constraints[i] = dimensions()[i].usual();
  return preferences;
}

}  // namespace

bool limits(const SearchPreferences& preferences, engine::WorkloadKind kind) {
  return kind == engine::WorkloadKind::serving ? preferences.serving.limits() : preferences.limits();
}

SearchPreferences without_limits(SearchPreferences preferences, engine::WorkloadKind kind) {
  if (kind == engine::WorkloadKind::serving)
    preferences.serving = {
        preferences.serving.objective, preferences.serving.slow_end, 0, preferences.serving.keeps_promises, {}};
  else
    preferences = without_limits(preferences);
  return preferences;
}

bool SearchPreferences::limits() const { return *this != without_limits(*this); }

std::span<const ServingDimension> serving_dimensions() { return kServing; }

std::vector<Constraint> offered_constraints(const Scenario& scenario, const ConstrainedDimension& dimension) {
  std::vector<Constraint> out{{Constraint::Kind::any, 0}};
  const engine::Field* field = engine::find_field(dimension.paths[0]);
  const bool number = field->kind != engine::FieldKind::choice && field->kind != engine::FieldKind::boolean;
  if (dimension.id == "offload") {
    out.push_back({Constraint::Kind::only, 0});
  } else if (dimension.id == "zero_stage") {
    for (double stage = 0; stage <= 3; ++stage) out.push_back({Constraint::Kind::only, stage});
  } else if (dimension.id == "batch") {
    for (double n = kLeastBatchOffered; n <= kMostBatchOffered; n *= 4) out.push_back({Constraint::Kind::at_most, n});
  } else if (dimension.is_setting) {
    for (const double value : engine::find_plan_dimension(dimension.id)->setting->worth_trying)
      out.push_back({Constraint::Kind::only, value});
  } else if (number) {
    const int most = std::min<int>(kMostOffered, static_cast<int>(engine::chip_count(scenario.cluster)));
    out.push_back({Constraint::Kind::only, 1});
    for (double n = 2; n <= most; n *= 2) out.push_back({Constraint::Kind::at_most, n});
  } else {
    // Of choices those that fit the scenario.
    const Allowed allowed = engine::space_of(scenario).*engine::find_plan_dimension(dimension.id)->allowed;
    const int count = field->kind == engine::FieldKind::boolean ? 2 : static_cast<int>(field->choices.size());
    for (int i = 0; i < count; ++i)
      if (allowed.allows(i)) out.push_back({Constraint::Kind::only, static_cast<double>(i)});
  }
  return out;
}

namespace {

constexpr std::string_view kAsPlan = "as plan", kAtMost = "at most ", kAny = "any", kYes = "yes", kNo = "no",
                           kServingWord = "serving.", kSlowEnd = "slow end";

std::string number_words(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}
std::optional<double> number_of(std::string_view words) {
  double value = 0;
  const auto [end, error] = std::from_chars(words.data(), words.data() + words.size(), value);
  if (error != std::errc{} || end != words.data() + words.size()) return std::nullopt;
  return value;
}

std::string constraint_words(const ConstrainedDimension& dimension, const Constraint& constraint) {
  if (constraint.kind == Constraint::Kind::as_plan) return std::string(kAsPlan);
  if (constraint.kind == Constraint::Kind::any) return std::string(kAny);
  const engine::Field* field = engine::find_field(dimension.paths[0]);
  std::string value = number_words(constraint.value);
  if (field->kind == engine::FieldKind::boolean)
    value = constraint.value != 0 ? kYes : kNo;
  else if (field->kind == engine::FieldKind::choice &&
           static_cast<std::size_t>(constraint.value) < field->choices.size())
    value = field->choices[static_cast<std::size_t>(constraint.value)];
  return constraint.kind == Constraint::Kind::at_most ? std::string(kAtMost) + value : value;
}

Constraint constraint_of(const ConstrainedDimension& dimension, std::string_view words) {
  if (words == kAsPlan) return {Constraint::Kind::as_plan, 0};
  if (words == kAny) return {Constraint::Kind::any, 0};
  const engine::Field* field = engine::find_field(dimension.paths[0]);
  Constraint constraint{Constraint::Kind::only, 0};
  if (words.starts_with(kAtMost)) {
    constraint.kind = Constraint::Kind::at_most;
    words.remove_prefix(kAtMost.size());
  }
  std::optional<double> value;
  if (field->kind == engine::FieldKind::boolean) {
    if (words == kYes || words == kNo) value = words == kYes ? 1 : 0;
  } else if (field->kind == engine::FieldKind::choice) {
    const auto found = std::find(field->choices.begin(), field->choices.end(), words);
    if (found != field->choices.end()) value = static_cast<double>(found - field->choices.begin());
  } else {
    value = number_of(words);
  }
  const bool ordered = field->kind != engine::FieldKind::boolean && field->kind != engine::FieldKind::choice;
  if (!value || !engine::in_domain(*field, *value) || (constraint.kind == Constraint::Kind::at_most && !ordered))
    return dimension.usual();
  constraint.value = *value;
  return constraint;
}

// The constraints of one kind of workload, each name after `prefix`.
template <class Dimensions, class Constraints>
void put_constraints(const Dimensions& dimensions, const Constraints& constraints, std::string_view prefix,
                     PreferenceWords& out) {
  for (std::size_t i = 0; i < dimensions.size(); ++i)
    if (constraints[i] != dimensions[i].usual())
      out[std::string(prefix) + std::string(dimensions[i].id)] = constraint_words(dimensions[i], constraints[i]);
}
template <class Dimensions, class Constraints>
void take_constraints(const Dimensions& dimensions, const PreferenceWords& words, std::string_view prefix,
                      Constraints& out) {
  for (std::size_t i = 0; i < dimensions.size(); ++i)
    if (const auto found = words.find(std::string(prefix) + std::string(dimensions[i].id)); found != words.end())
      out[i] = constraint_of(dimensions[i], found->second);
}

template <class Objective>
void take_objective(const PreferenceWords& words, const std::string& key, const engine::EnumTable<Objective>& ids,
                    Objective& out) {
  const auto found = words.find(key);
  if (found == words.end()) return;
  if (const auto id = ids.parse(found->second)) out = *id;
}
void take_free(const PreferenceWords& words, const std::string& key, double& out) {
  const auto found = words.find(key);
  if (found == words.end()) return;
  if (const auto value = number_of(found->second); value && *value >= 0 && *value < 1) out = *value;
}

}  // namespace

PreferenceWords to_words(const SearchPreferences& preferences) {
  PreferenceWords out;
  const SearchPreferences usual;
  if (preferences.objective != usual.objective) out["rank by"] = engine::kObjectiveIds[preferences.objective];
  if (preferences.slow_end) out[std::string(kSlowEnd)] = kYes;
  if (preferences.min_free != usual.min_free) out["free"] = number_words(preferences.min_free);
  if (preferences.tensor_across_nodes) out["tensor across nodes"] = kYes;
  put_constraints(dimensions(), preferences.constraints, {}, out);
  const std::string serving(kServingWord);
  if (preferences.serving.objective != usual.serving.objective)
    out[serving + "rank by"] = engine::kServingObjectiveIds[preferences.serving.objective];
  if (preferences.serving.slow_end) out[serving + std::string(kSlowEnd)] = kYes;
  if (preferences.serving.min_free != usual.serving.min_free)
    out[serving + "free"] = number_words(preferences.serving.min_free);
  if (!preferences.serving.keeps_promises) out[serving + "promises"] = kNo;
  put_constraints(kServing, preferences.serving.constraints, kServingWord, out);
  put_words(preferences.clusters, out);
  return out;
}

SearchPreferences preferences_from(const PreferenceWords& words) {
  SearchPreferences out;
  const std::string serving(kServingWord);
  const auto says = [&words](const std::string& key, std::string_view what) {
    const auto found = words.find(key);
    return found != words.end() && found->second == what;
  };
  take_objective(words, "rank by", engine::kObjectiveIds, out.objective);
  out.slow_end = says(std::string(kSlowEnd), kYes);
  take_free(words, "free", out.min_free);
  out.tensor_across_nodes = says("tensor across nodes", kYes);
  take_constraints(dimensions(), words, {}, out.constraints);
  take_objective(words, serving + "rank by", engine::kServingObjectiveIds, out.serving.objective);
  out.serving.slow_end = says(serving + std::string(kSlowEnd), kYes);
  take_free(words, serving + "free", out.serving.min_free);
  out.serving.keeps_promises = !says(serving + "promises", kNo);
  take_constraints(kServing, words, kServingWord, out.serving.constraints);
  out.clusters = cluster_preferences_from(words);
  return out;
}

}  // namespace roofscape::app
