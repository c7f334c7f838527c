// The search of plans: in the place of the grid two figures over the best plans, in the place of the right rail what is
// searched, why plans drop out and why the second is not the first.
#pragma once

#include "app/panels/panel.h"

namespace roofscape::app {

engine::Scenario search_panel(PanelContext& ctx, const widgets::Rect& r, engine::Scenario scenario);
void search_rail(PanelContext& ctx, const widgets::Rect& r);

// What a plan would change of the present numbers, for the text of what is pointed at.
widgets::Readout plan_tip(const PanelContext& ctx, const engine::RankedPlan& plan);

}  // namespace roofscape::app
