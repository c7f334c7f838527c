// The inputs of the block on the workbench, each as a control with what it may be, where its value is from, and its
// way back.
#pragma once

#include "app/panels/panel_context.h"
#include "app/session/workbench.h"

namespace roofscape::app {

// In a column from `top_left` down; returns where it ends. `kept`: what the block answered to them.
float block_inputs(PanelContext& ctx, widgets::Point top_left, float width, Workbench& bench,
                   const Workbench::Kept& kept);

// The track of a number: three powers of ten to either side of what it was first, inside its domain.
widgets::SliderRange input_range(const engine::BlockInput& input, double middle);

}  // namespace roofscape::app
