// The workbench: the building blocks as a list with search, and the chosen one live. It lies over the grid of
// figures; the scenario is not touched.
#pragma once

#include "app/panels/panel_context.h"
#include "app/session/workbench.h"

namespace roofscape::app {

void workbench_panel(PanelContext& ctx, const widgets::Rect& r, Workbench& bench);

}  // namespace roofscape::app
