// SearchView: how a search is looked at, and what was found. A part of the window's view: never undone.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "app/search_job.h"
#include "app/search_wishes.h"
#include "widgets/figure.h"

namespace roofscape::app {

struct SearchView {
  bool open = false;  // the search stands in the place of the grid and the right rail
  SearchWishes wishes;
  std::array<std::string, 2> figures{"mesh-map", "frontier"};
  int shown_figure = 1;  // of the two, where there is room for one

  // Of the job, taken at the beginning of a frame.
  std::shared_ptr<const Found> found;
  SearchJob::State state = SearchJob::State::idle;
  double progress = 0;
  widgets::SearchSeen seen;  // of `found`, for figures
  bool stale = false;        // `found` belongs to another scenario or other wishes

  std::optional<engine::Plan> hovered, next_hovered;  // pointed at in the frame before, and in this one
  enum class Ask : std::uint8_t { none, cancel, again };
  Ask ask = Ask::none;  // of the job, done at the end of the frame
};

}  // namespace roofscape::app
