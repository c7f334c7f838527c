// The list of the best plans of a search as words: what tells one from another, what each comes to, and how far
// measurements of plans like it have been from their predictions. The window, the command line and copied data have
// their columns from here.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/frameworks/framework.h"
#include "engine/scenario/scenario.h"
#include "engine/search/search.h"
#include "engine/search/serving_search.h"
#include "engine/studies/evidence.h"
#include "widgets/plot/text_table.h"

namespace roofscape::widgets::search {

struct PlanColumn {
  std::string_view id;
  std::string heading;
  bool number = true;   // set to the right
  bool result = false;  // what the plan comes to; else what is chosen
  bool spare = false;   // may be left out where there is little room: no two plans are told apart by it
};

// How the MFU of a row is written; above 100 % it has a mark, which above_one_words() explain.
std::string mfu_text(double mfu);
inline constexpr std::string_view kAboveOne = "\u2020";
// Empty where no row has the mark.
std::string above_one_words(const TextTable& texts, std::span<const std::vector<std::string>> rows);

struct PlanTable {
  std::vector<PlanColumn> columns;
  std::vector<std::vector<std::string>> rows;  // the best in their order; a cell for each column
  std::vector<std::string> present;            // the scenario's own plan; empty: it has no price
};

// `evidence`: of the scenario's mode; null: there is none, or not yet, and no column of it. A degree that is one in
// every row has no column, nor has a choice that means nothing in all of them.
PlanTable plan_table(const TextTable& texts, const engine::Scenario& scenario, engine::Objective objective,
                     const engine::SearchResult& result, const engine::Evidence* evidence);
PlanTable plan_table(const TextTable& texts, const engine::Scenario& scenario, engine::ServingObjective objective,
                     const engine::ServingSearchResult& result, const engine::Evidence* evidence);

// The band of a plan of the scenario: that of the scenario with the plan applied.
engine::ErrorBand band_of(const engine::Scenario& scenario, const engine::Plan& plan,
                          const engine::Evidence& evidence, engine::EvidenceKind kind);
engine::ErrorBand band_of(const engine::Scenario& scenario, const engine::DecodingPlan& plan,
                          const engine::Evidence& evidence, engine::EvidenceKind kind);

// "Megatron-LM, JAX".
std::string framework_names(std::span<const engine::Framework> frameworks);

}  // namespace roofscape::widgets::search
