// The tools in the head of the pipeline figure (critical path, memory over time, playback) and what the pointer does
// in it: zoom about the cursor, pan, fit. All of it is view state: nothing here changes the scenario.
#pragma once

#include "app/panels/panel.h"

namespace roofscape::app {

// The toggles, from `right` to the left, in the line at `middle`. Returns where they begin.
float pipeline_toggles(PanelContext& ctx, float right, float middle);

// Zooms, pans and fits `span` (shares of the whole time) by this frame's input on the figure's plot.
void pipeline_gestures(PanelContext& ctx, const widgets::Rect& plot, const widgets::ItemState& state,
                       std::pair<double, double>& span);

// Moves the time cursor on while it plays and asks for the next frame; `span` follows it.
void run_playback(PanelContext& ctx, std::pair<double, double>& span);

// What the tools ask the figure to show.
void show_tools(const ViewState& view, widgets::FigureView& figure);

}  // namespace roofscape::app
