// Pieces that panels are drawn from: lines between parts, heads of sections, a line of text to type in.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/panels/panel_context.h"

namespace roofscape::app {

void separator(PanelContext& ctx, float x0, float x1, float y);
void vertical_separator(PanelContext& ctx, float x, float y0, float y1);
// Bold section title at the left, small text at the right; returns the height.
float section_head(PanelContext& ctx, widgets::Point top_left, float width, std::string_view title,
                   std::string_view note = {}, std::optional<widgets::Mark> mark = {});
// A line of text to be typed in; what was accepted, if something was. `hint` stands there while it is empty.
std::optional<std::string> typed_line(PanelContext& ctx, const widgets::Rect& r, std::string_view id,
                                      const std::string& now, std::string_view hint);

// The entry of a list that is a preset: found by its name, its id and its aliases.
widgets::Option preset_option(const io::Preset& preset, std::string detail = {}, bool separated = false);

}  // namespace roofscape::app
