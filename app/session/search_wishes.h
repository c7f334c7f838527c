// What a person wants of a search. A wish says of one choice of a plan whether it is free, kept as the plan has it,
// limited or fixed; it follows the plan, so the same wishes make a request of any scenario. Plans that train and
// plans that serve have wishes of their own. They are kept with the session as words (to_words).
#pragma once

#include <array>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/search/search.h"
#include "engine/search/serving_search.h"

namespace roofscape::app {

enum class WishKind : std::uint8_t { any, as_plan, at_most, only };
struct Wish {
  WishKind kind = WishKind::any;
  int value = 0;  // of at_most and only
  friend bool operator==(const Wish&, const Wish&) = default;
};

// A choice of a plan that wishes can be about.
struct WishDimension {
  std::string_view id;
  std::array<std::string_view, 2> fields{};  // paths of the scenario; the second may be empty
  bool of_experts = false;                   // only where the model has any
};
struct SearchDimension : WishDimension {
  std::array<engine::Allowed engine::PlanSpace::*, 2> allowed{};  // one for each field
};
struct ServingDimension : WishDimension {
  engine::Allowed engine::ServingRequest::*allowed = nullptr;
};
inline constexpr std::size_t kSearchDimensions = 13, kServingDimensions = 5;
std::span<const SearchDimension> search_dimensions();
std::span<const ServingDimension> serving_dimensions();

struct ServingWishes {
  engine::ServingObjective objective = engine::ServingObjective::throughput;
  double min_free = 0;         // share of HBM
  bool keeps_promises = true;  // only plans within workload.slo
  std::array<Wish, kServingDimensions> wishes{};
  bool limits() const {
    return *this != ServingWishes{objective, 0, keeps_promises, {}};
  }  // whether plans are left out
  friend bool operator==(const ServingWishes&, const ServingWishes&) = default;
};

struct SearchWishes {
  engine::Objective objective = engine::Objective::step_time;
  double min_free = 0;  // share of HBM
  bool tensor_across_nodes = false;
  std::array<Wish, kSearchDimensions> wishes{};
  ServingWishes serving;
  bool limits() const {
    return *this != SearchWishes{objective, 0, tensor_across_nodes, {}, serving};
  }  // whether plans are left out
  friend bool operator==(const SearchWishes&, const SearchWishes&) = default;
};

engine::SearchRequest request_of(const engine::Scenario& scenario, const SearchWishes& wishes);
engine::ServingRequest request_of(const engine::Scenario& scenario, const ServingWishes& wishes);
// The wishes a list offers for a dimension, the free one first.
std::vector<Wish> offered_wishes(const engine::Scenario& scenario, const WishDimension& dimension);

// Whether plans are left out of the search of this kind of workload; and the same wishes without: what they are
// ranked by stays.
bool limits(const SearchWishes& wishes, engine::WorkloadKind kind);
SearchWishes without_limits(SearchWishes wishes, engine::WorkloadKind kind);

// As words by name, for a file: "tensor": "at most 8", "schedule": "1f1b", "fsdp": "as plan". What is as by default
// is left out; what cannot be understood is read as the default.
using WishWords = std::map<std::string, std::string, std::less<>>;
WishWords to_words(const SearchWishes& wishes);
SearchWishes wishes_from(const WishWords& words);

}  // namespace roofscape::app
