// SearchWishes: what a person wants of a search. A wish says of one choice of a plan whether it is free, kept as the plan
// has it, limited or fixed; it follows the plan, so the same wishes make a request of any scenario.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "engine/search/search.h"

namespace roofscape::app {

enum class WishKind : std::uint8_t { any, as_plan, at_most, only };
struct Wish {
  WishKind kind = WishKind::any;
  int value = 0;  // of at_most and only
  friend bool operator==(const Wish&, const Wish&) = default;
};

// A choice of a plan that wishes can be about.
struct SearchDimension {
  std::string_view id;
  std::array<engine::Allowed engine::PlanSpace::*, 2> allowed{};  // the second may be null
  std::array<std::string_view, 2> fields{};  // paths of the scenario, one for each
  bool of_experts = false;                   // only where the model has any
};
inline constexpr std::size_t kSearchDimensions = 13;
std::span<const SearchDimension> search_dimensions();

struct SearchWishes {
  engine::Objective objective = engine::Objective::step_time;
  double min_free = 0;  // share of HBM
  bool tensor_across_nodes = false;
  std::array<Wish, kSearchDimensions> wishes{};
  bool limits() const { return *this != SearchWishes{objective, 0, tensor_across_nodes, {}}; }  // whether plans are left out
  friend bool operator==(const SearchWishes&, const SearchWishes&) = default;
};

engine::SearchRequest request_of(const engine::Scenario& scenario, const SearchWishes& wishes);
// The wishes a list offers for a dimension, the free one first.
std::vector<Wish> offered_wishes(const engine::Scenario& scenario, const SearchDimension& dimension);

}  // namespace roofscape::app
