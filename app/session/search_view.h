// SearchView: how a search is looked at, and what was found. A part of the window's view: never undone.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "app/session/clusters_view.h"
#include "app/session/search_job.h"
#include "app/session/search_preferences.h"
#include "widgets/figures/common/figure.h"

namespace roofscape::app {

struct SearchView {
  enum class About : std::uint8_t { plans, clusters };
  bool open = false;  // the search stands in the place of the grid and the right rail
  About about = About::plans;
  SearchPreferences preferences;  // of the tab that is shown
  std::array<std::string, 2> figures{"mesh-map", "frontier"};
  std::array<std::string, 2> serving_figures{"serving-map", "frontier"};
  int shown_figure = 1;  // of the two, where there is room for one

  // Of the job, taken at the beginning of a frame.
  std::shared_ptr<const SearchOutcome> latest;  // of whatever was searched last
  std::shared_ptr<const SearchOutcome> found;   // the same, if it is of the kind of workload that is shown
  SearchJob::State state = SearchJob::State::idle;
  double progress = 0;
  widgets::SearchSeen seen;  // of `found`, for figures
  bool stale = false;        // `found` belongs to another scenario or other preferences
  engine::PlanSpace space;   // what of the present scenario is searched, where it trains
  std::size_t settings = 1;  // combinations that are asked for; of more than kMostSettings none is searched

  enum class Ask : std::uint8_t { none, cancel, again };
  Ask ask = Ask::none;  // of the job that is shown, done at the end of the frame

  ClustersView clusters;
  bool shows(About what) const { return open && about == what; }
};

// The two figures of the kind of workload that is shown.
template <class View>
auto& shown_figures(View& view, const engine::Scenario& scenario) {
  return scenario.serves() ? view.serving_figures : view.figures;
}

}  // namespace roofscape::app
