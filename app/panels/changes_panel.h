// What differs from the baseline, each change with its way back.
#pragma once

#include "app/panels/panel_context.h"

namespace roofscape::app {

// Drawn where there is a baseline. Returns the height its content took.
float changes_panel(PanelContext& ctx, const widgets::Rect& r, engine::Scenario& scenario);

}  // namespace roofscape::app
