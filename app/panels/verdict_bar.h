// The verdict: does it fit, what bounds it, how well it runs, how long and at what price; and where the step goes, as
// one bar of the parts that add up to it.
#pragma once

#include "app/panels/panel_context.h"

namespace roofscape::app {

engine::Scenario verdict_bar(PanelContext& ctx, const widgets::Rect& r, engine::Scenario scenario);

}  // namespace roofscape::app
