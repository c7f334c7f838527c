// The figure of the block on the workbench, with what it is over and what it shows as choices.
#pragma once

#include "app/panels/panel_context.h"
#include "app/session/workbench.h"

namespace roofscape::app {

// From `top_left` down; returns where it ends: there at once where the inputs are refused.
float workbench_figure(PanelContext& ctx, widgets::Point top_left, float width, Workbench& bench,
                       const Workbench::Kept& kept);

}  // namespace roofscape::app
