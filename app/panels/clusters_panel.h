// Which cluster: in the place of the grid the figure of the answers over a list of them, one row for each cluster, with
// its best plan. A click on either puts the scenario on it, with that plan, as one step of undo.
#pragma once

#include "app/panels/figure_cell.h"
#include "app/panels/panel_context.h"
#include "app/session/search_view.h"

namespace roofscape::app {

engine::Scenario clusters_panel(PanelContext& ctx, const widgets::Rect& r, SearchView& search, FiguresState& figures,
                                engine::Scenario scenario);

}  // namespace roofscape::app
