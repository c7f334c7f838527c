// What the list of a search says, of either kind of workload: columns, a row for each of the best plans and one for
// the present plan, all as words. How it is drawn is the panel's.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/panels/list_table.h"
#include "app/panels/panel_context.h"
#include "widgets/figures/search/plan_table.h"

namespace roofscape::app {

struct PlanRow {
  widgets::FoundPlan plan;
  ListRow listed;
};
struct PlanList {
  std::vector<widgets::search::PlanColumn> columns;
  std::vector<PlanRow> rows;       // the best, in order
  std::optional<PlanRow> present;  // none where it has no price
  int present_rank = 0;            // among the rows, from 1; 0: not among them
  std::size_t close = 0;           // of the rows: so many cannot be told from the first; 0: nothing is said of it
  std::string close_words;         // that, in a sentence; empty: nothing
  std::string note;                // of a mark in the rows; empty: none
};
PlanList plan_list(const PanelContext& ctx, const std::shared_ptr<const SearchOutcome>& found);

// What a plan of the list would change of the present numbers.
widgets::Readout plan_tip(const PanelContext& ctx, const SearchOutcome& found, std::size_t row);

widgets::FoundPlan present_plan(const engine::Scenario& scenario);
void adopt(engine::Scenario& scenario, const widgets::FoundPlan& plan);

// "17.6 M plans, 3.2 M fit".
std::string space_words(const PanelContext& ctx, const SearchOutcome& found);
// "17 586 880" up to a million, then "17.6 M".
std::string many(double n);
// Of a list by slow ends that is empty though plans fit: what keeps the scenario's own from having a band.
std::string none_measured_words(const PanelContext& ctx, const std::shared_ptr<const SearchOutcome>& found);
// What plans are ranked by, in words.
std::string ranking_word(const PanelContext& ctx, const SearchOutcome& found);

}  // namespace roofscape::app
