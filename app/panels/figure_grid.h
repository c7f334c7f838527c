// The grid of figures: four, two one above the other, or one, each in a cell whose content a person chooses; or one
// figure over all of it.
#pragma once

#include <array>

#include "app/panels/figure_cell.h"
#include "app/session/default_cells.h"
#include "app/session/layout.h"

namespace roofscape::app {

struct GridState {
  std::array<int, 2> pair{};  // of a grid of two: which of the upper and of the lower cells
  int single = 0;             // of a grid of one: which cell
};

engine::Scenario figure_grid(PanelContext& ctx, const Layout& layout, GridState& state, Cells& cells,
                             FiguresState& figures, engine::Scenario scenario);

}  // namespace roofscape::app
