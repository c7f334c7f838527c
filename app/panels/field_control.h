// The control of one field of the scenario: slider, choice or switch, made from the field table (domain, unit), the
// texts (label, about) and the diagnostics that name its path.
#pragma once

#include "app/panels/panel_context.h"

namespace roofscape::app {

// A column of rows, top to bottom.
struct Column {
  float x = 0, y = 0, width = 0;
};

// The label of a row, in the rail's label column.
inline constexpr float kLabelWidth = 112;

struct FieldLook {
  std::optional<widgets::Fill> swatch = {};  // the colour of a mesh axis
  bool off = false;                          // at its neutral value
  float label_width = kLabelWidth;
  bool tall = false;  // on the wall
};

// Each adds a row to the column with a menu under a right click (back to the value as opened, pin to the wall) and writes what was edited into `scenario`. Unknown paths, and fields that the kind
// of workload does not read, add nothing.
void field_slider(PanelContext& ctx, Column& column, engine::Scenario& scenario, std::string_view path,
                  widgets::SliderRange range, const FieldLook& look = {});
void field_choice(PanelContext& ctx, Column& column, engine::Scenario& scenario, std::string_view path,
                  bool label_above = false);
void field_segments(PanelContext& ctx, Column& column, engine::Scenario& scenario, std::string_view path);
void field_switch(PanelContext& ctx, Column& column, engine::Scenario& scenario, std::string_view path);

// The control of a field on the wall, whatever its kind: its label over it, large. `range` is that of a number.
void field_tall(PanelContext& ctx, const widgets::Rect& r, engine::Scenario& scenario, std::string_view path,
                const widgets::SliderRange& range);

// A row whose field does not apply: its label steps back and the reason stands in the place of the control.
void field_unavailable(PanelContext& ctx, Column& column, std::string_view path, std::string_view reason,
                       const std::optional<widgets::Fill>& swatch = {});

// Ranges in use: the track, while the domain comes from the table.
widgets::SliderRange powers(double from, double to);
widgets::SliderRange integers(double from, double to);
widgets::SliderRange shares();  // from none to all

}  // namespace roofscape::app
