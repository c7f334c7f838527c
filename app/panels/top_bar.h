// The top bar: name, menus made from the command table, the scenario and the list of others, mode.
#pragma once

#include "app/panels/panel_context.h"

namespace roofscape::app {

engine::Scenario top_bar(PanelContext& ctx, const widgets::Rect& r, engine::Scenario scenario);

}  // namespace roofscape::app
