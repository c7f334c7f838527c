// What a person wants of a search: the objective, and constraints. A constraint says of one choice of a plan whether
// it is free, kept as the plan has it, limited or fixed; it follows the plan, so the same preferences make a request
// of any scenario. Plans that train and plans that serve have preferences of their own. They are kept with the session
// as words (to_words).
#pragma once

#include <array>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/cluster_preferences.h"
#include "engine/search/plan_dimensions.h"
#include "engine/search/search.h"
#include "engine/search/serving_search.h"

namespace roofscape::app {

struct Constraint {
  enum class Kind : std::uint8_t { any, as_plan, at_most, only };
  Kind kind = Kind::any;
  double value = 0;  // of at_most and only
  friend bool operator==(const Constraint&, const Constraint&) = default;
};

// A choice of a plan that a constraint can be about.
struct ConstrainedDimension {
  std::string_view id;
  std::array<std::string_view, 2>
      paths{};  // of the scenario's fields whose values and words it has; the second may be empty
  bool (*applies_to)(const engine::Scenario&) = nullptr;  // whether plans may differ in it; null: always
  bool is_setting = false;                                // stays as the plan has it unless others are asked for
  bool applies(const engine::Scenario& scenario) const { return applies_to == nullptr || applies_to(scenario); }
  Constraint usual() const { return {is_setting ? Constraint::Kind::as_plan : Constraint::Kind::any, 0}; }
};
struct SearchDimension : ConstrainedDimension {
  std::array<const engine::PlanDimension*, 2> of{};  // one for each path
};
struct ServingDimension : ConstrainedDimension {
  engine::Allowed engine::ServingRequest::*allowed = nullptr;
};
inline constexpr std::size_t kSearchDimensions = 27, kServingDimensions = 5;
std::span<const SearchDimension> search_dimensions();
std::span<const ServingDimension> serving_dimensions();
std::array<Constraint, kSearchDimensions> usual_constraints();

struct ServingPreferences {
  engine::ServingObjective objective = engine::ServingObjective::throughput;
  bool slow_end = false;       // ranked by the slow end of the error band (studies/robust_search.h)
  double min_free = 0;         // share of HBM
  bool keeps_promises = true;  // only plans within workload.slo
  std::array<Constraint, kServingDimensions> constraints{};
  bool limits() const {
    return *this != ServingPreferences{objective, slow_end, 0, keeps_promises, {}};
  }  // whether plans are left out
  friend bool operator==(const ServingPreferences&, const ServingPreferences&) = default;
};

struct SearchPreferences {
  engine::Objective objective = engine::Objective::step_time;
  bool slow_end = false;  // as of serving
  double min_free = 0;    // share of HBM
  bool tensor_across_nodes = false;
  std::array<Constraint, kSearchDimensions> constraints = usual_constraints();
  ServingPreferences serving;
  ClusterPreferences clusters;  // of another question, and no limit of this one
  bool limits() const;          // whether plans are left out
  friend bool operator==(const SearchPreferences&, const SearchPreferences&) = default;
};

void keep_settings(SearchPreferences&);  // as the plan has them, all of them

engine::SearchRequest request_of(const engine::Scenario& scenario, const SearchPreferences& preferences);
engine::ServingRequest request_of(const engine::Scenario& scenario, const ServingPreferences& preferences);
// Whether plans can be ranked by the slow end of a band: not by memory, nor in a mode that nothing is measured against.
bool offers_slow_end(const SearchPreferences& preferences, const engine::Scenario& scenario);
// The constraints a list offers for a dimension, the free one first.
std::vector<Constraint> offered_constraints(const engine::Scenario& scenario, const ConstrainedDimension& dimension);

// Whether plans are left out of the search of this kind of workload; and the same preferences without: what they are
// ranked by stays.
bool limits(const SearchPreferences& preferences, engine::WorkloadKind kind);
SearchPreferences without_limits(SearchPreferences preferences, engine::WorkloadKind kind);

// As words by name, for a file: "tensor": "at most 8", "schedule": "1f1b", "fsdp": "as plan". What is as by default
// is left out; what cannot be understood is read as the default.
using PreferenceWords = std::map<std::string, std::string, std::less<>>;
PreferenceWords to_words(const SearchPreferences& preferences);
SearchPreferences preferences_from(const PreferenceWords& words);

}  // namespace roofscape::app
