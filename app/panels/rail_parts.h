// What the sections of the left rail share, and those that stand in files of their own. Each draws its rows into the
// column and writes what was edited into the scenario.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/panels/field_control.h"
#include "widgets/canvas/palette.h"

namespace roofscape::app {

// One line, however long it is: what follows must not move.
void caption(PanelContext& ctx, Column& column, std::string_view id, const std::string& text);
void begin_section(PanelContext& ctx, Column& column, std::string_view key, std::string_view note = {},
                   std::optional<widgets::Mark> mark = {});
// The swatch of a mesh axis: too small for a hatch; the name stands beside it.
widgets::Fill axis_swatch(const PanelContext& ctx, widgets::StepPart look);

// What the plan is of: the model and the cluster.
void model_section(PanelContext& ctx, Column& column, engine::Scenario& scenario);
void cluster_section(PanelContext& ctx, Column& column, engine::Scenario& scenario);
// How it lies on the chips: the degrees of the mesh, and the axes of the torus they take.
void mesh_section(PanelContext& ctx, Column& column, MeshEditing& mesh, engine::Scenario& scenario);
// Who runs the plan; the tip says which rule keeps the others from it.
void runners_row(PanelContext& ctx, Column& column, const engine::Scenario& scenario);

}  // namespace roofscape::app
