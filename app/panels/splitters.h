// The lines between rails, columns and rows can be dragged; a double click puts one back where it was.
#pragma once

#include "app/panels/panel_context.h"
#include "app/session/layout.h"

namespace roofscape::app {

// Before the panels, so that a press on a line is the line's. `divided`: the grid has inner lines, as no figure lies
// over all of it.
void run_splitters(PanelContext& ctx, const Layout& layout, const LayoutRequest& request, bool divided,
                   Arrangement& arrangement);
// After them: the line that is pointed at or held.
void draw_splitters(PanelContext& ctx, const Layout& layout, const LayoutRequest& request, bool divided);

}  // namespace roofscape::app
