// The tools in the head of the pipeline figure (critical path, memory over time, playback) and what the pointer does
// in it: zoom about the cursor, pan, fit. Nothing here changes the scenario.
#pragma once

#include <optional>
#include <utility>

#include "app/panels/panel_context.h"

namespace roofscape::app {

struct PipelineTools {
  bool critical_path = false, memory_trace = false, playing = false;
  std::optional<double> cursor;                 // share of the time that playback has reached
  double shown_s = 20;                          // seconds the whole step takes on the screen
  double last_s = 0;                            // clock of the frame before
  std::pair<double, double> span_before{0, 1};  // visible part when a drag began

  void play_or_stop();
  void leave_playback();  // and its cursor
  // What the tools ask the figure to show.
  void show_in(widgets::FigureView& figure) const;
};

// The toggles, from `right` to the left, in the line at `middle`. Returns where they begin.
float pipeline_toggles(PanelContext& ctx, PipelineTools& tools, float right, float middle);

// Zooms, pans and fits `span` (shares of the whole time) by this frame's input on the figure's plot.
void pipeline_gestures(PanelContext& ctx, PipelineTools& tools, const widgets::Rect& plot,
                       const widgets::ItemState& state, std::pair<double, double>& span);

// Moves the time cursor on while it plays and asks for the next frame; `span` follows it.
void run_playback(PanelContext& ctx, PipelineTools& tools, std::pair<double, double>& span);

}  // namespace roofscape::app
