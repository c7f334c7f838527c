// Models, or chips, beside one another: a table over the grid of figures, sorted by a click on a column's head and
// searched by words. A click on a row takes its model or chip into the scenario.
#pragma once

#include "app/panels/panel_context.h"
#include "app/session/preset_table_view.h"

namespace roofscape::app {

engine::Scenario preset_table_panel(PanelContext& ctx, const widgets::Rect& r, PresetTableView& view,
                                    engine::Scenario scenario);

}  // namespace roofscape::app
