// The lines between rails, columns and rows can be dragged; a double click puts one back where it was.
#pragma once

#include "app/panels/panel.h"

namespace roofscape::app {

// Before the panels, so that a press on a line is the line's. Changes the arrangement of the view.
void run_splitters(PanelContext& ctx, const Layout& layout, const LayoutRequest& request);
// After them: the line that is pointed at or held.
void draw_splitters(PanelContext& ctx, const Layout& layout, const LayoutRequest& request);

}  // namespace roofscape::app
