// Projector mode: one figure over the whole window with its title, its takeaway and the numbers of the verdict.
#pragma once

#include <cstddef>

#include "app/panels/figure_cell.h"

namespace roofscape::app {

struct ProjectorState {
  bool open = false;
  std::size_t figure = 0;  // of the table of figures
};

engine::Scenario projector_panel(PanelContext& ctx, const widgets::Rect& window, std::size_t figure,
                                 FiguresState& figures, engine::Scenario scenario);

}  // namespace roofscape::app
