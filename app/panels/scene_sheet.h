// The sheet in which a scene of a tour gets its words: one that is made of what the window shows, or one that is there.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/panels/panel_context.h"
#include "app/panels/sheet.h"
#include "app/tours/mark_offers.h"

namespace roofscape::app {

struct SceneSheetState {
  enum Box : std::size_t { tour, title, question, answer, sentence };
  static constexpr std::size_t kBoxes = 5;
  std::array<std::string, kBoxes> words;  // `answer`: a formula, such as mfu
  std::size_t box = title;                // the one that is typed into
  std::optional<std::size_t> edits;       // a scene that is there; null: a new one
  std::string file, problem;              // where it goes; why it cannot
  // What of the figure can be guessed on it, for this answer; which of that is.
  std::function<std::vector<MarkOffer>(const widgets::FontStack&, const std::string& answer)> offer;
  std::vector<MarkOffer> offers;
  std::optional<std::string> offered_for;
  io::TourMark mark;
};

// The reply's answer is "scene" once it is accepted.
SheetReply scene_sheet(PanelContext& ctx, const widgets::Rect& window, SceneSheetState& state);

}  // namespace roofscape::app
