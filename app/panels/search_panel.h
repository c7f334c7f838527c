// The search of plans: in the place of the grid two figures over the list of the best plans. A click on a plan, here
// or in a figure, makes it the present one, as one step of undo.
#pragma once

#include "app/panels/figure_cell.h"
#include "app/session/search_view.h"

namespace roofscape::app {

engine::Scenario search_panel(PanelContext& ctx, const widgets::Rect& r, SearchView& search, FiguresState& figures,
                              engine::Scenario scenario);

}  // namespace roofscape::app
