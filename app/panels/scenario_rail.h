// The left rail: every input of the scenario, by section.
#pragma once

#include "app/panels/panel_context.h"

namespace roofscape::app {

// `mesh`: how its mesh is edited, which has a row of its own.
engine::Scenario scenario_rail(PanelContext& ctx, const widgets::Rect& r, MeshEditing& mesh,
                               engine::Scenario scenario);

}  // namespace roofscape::app
