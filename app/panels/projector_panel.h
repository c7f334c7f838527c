// Projector mode: one figure over the whole window with its title, its takeaway and the numbers of the verdict.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/panels/figure_cell.h"

namespace roofscape::app {

struct ProjectorState {
  bool open = false;
  std::size_t figure = 0;             // of the table of figures
  std::optional<std::size_t> beside;  // another one at its right, where the window has the room
};

// What was changed since the scenario was loaded: "tensor 8, batch 512". Empty: nothing.
std::string changes_in_words(const PanelContext& ctx);

// Where the controls stand under the figure.
widgets::Rect projector_dock(const PanelContext& ctx, const widgets::Rect& window, std::size_t controls);
// `deck`: the figures one goes through. `controls`: how many stand under the figure. `digits`: what was typed of a number to go to.
engine::Scenario projector_panel(PanelContext& ctx, const widgets::Rect& window, const ProjectorState& state,
                                 std::span<const std::size_t> deck, std::size_t controls, std::string_view digits,
                                 FiguresState& figures, engine::Scenario scenario);

}  // namespace roofscape::app
