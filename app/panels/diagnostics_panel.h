// What is wrong or worth knowing, with the suggested change as a button that says what it will do.
#pragma once

#include "app/panels/panel_context.h"

namespace roofscape::app {

// Returns the height its content took.
float diagnostics_panel(PanelContext& ctx, const widgets::Rect& r, engine::Scenario& scenario);

}  // namespace roofscape::app
