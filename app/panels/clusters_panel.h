// Which cluster: in the place of the grid one row for each of several clusters, with its best plan. A click on a row
// puts the scenario on it, with that plan, as one step of undo.
#pragma once

#include "app/panels/panel_context.h"
#include "app/session/search_view.h"

namespace roofscape::app {

engine::Scenario clusters_panel(PanelContext& ctx, const widgets::Rect& r, SearchView& search,
                                engine::Scenario scenario);

}  // namespace roofscape::app
