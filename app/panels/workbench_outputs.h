// What the block on the workbench answers: each output with its value and, opened, its derivation.
#pragma once

#include "app/panels/panel_context.h"
#include "app/session/workbench.h"

namespace roofscape::app {

// In a column from `top_left` down; returns where it ends.
float block_outputs(PanelContext& ctx, widgets::Point top_left, float width, Workbench& bench,
                    const Workbench::Kept& kept);

}  // namespace roofscape::app
