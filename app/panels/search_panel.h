// The search of plans: in the place of the grid two figures over the best plans, in the place of the right rail what
// is searched, why plans drop out and why the second is not the first.
#pragma once

#include "app/panels/panel.h"

namespace roofscape::app {

engine::Scenario search_panel(PanelContext& ctx, const widgets::Rect& r, engine::Scenario scenario);
void search_rail(PanelContext& ctx, const widgets::Rect& r);

}  // namespace roofscape::app
