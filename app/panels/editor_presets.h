// The editor's list of presets to start from, with search: models, or clusters and then chips.
#pragma once

#include "app/panels/editor_panel.h"

namespace roofscape::app {

void editor_presets(PanelContext& ctx, widgets::Rect r, EditorState& state, const EditorPreset& preset,
                    engine::Scenario& scenario);

}  // namespace roofscape::app
