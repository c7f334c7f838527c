// What all figures share: their input and their view. A figure is one function
//   void draw_<name>(Canvas&, const Rect&, const FigureInput&, const FigureView&)
// that draws a report on any canvas: the window, an exported file, a test. The same words, the same marks, the same tags.
#pragma once

#include <optional>
#include <string>

#include "engine/report.h"
#include "engine/scenario.h"
#include "widgets/canvas.h"
#include "widgets/text_table.h"
#include "widgets/theme.h"

namespace roofscape::widgets {

struct FigureInput {
  const engine::Scenario& scenario;
  const engine::Report& report;
  const TextTable& texts;
  const Theme& theme;
};

// How a figure is looked at. Never part of a Scenario, never undone.
struct FigureView {
  bool print = false;                        // with title and the line that states model, chips and plan
  bool compact = false;                      // small windows: fewer labels (visual spec, section 3)
  std::optional<int> hovered_stage;          // tinted in every figure that has stages
  std::optional<int> hovered_operation;      // index of engine::OperationKind
  // The visible part of the horizontal axis, as fractions of the whole (zoomed and panned in the window).
  double from = 0, to = 1;
  // On demand in the pipeline figure (widgets/figure_pipeline_tools.h).
  bool critical_path = false;
  bool memory_trace = false;
  std::optional<double> cursor;   // the time of playback, as a fraction of the whole
  std::optional<Point> pointer;   // what the operation under it waits for and feeds is drawn
};

// The phrase after a figure's title: its takeaway, computed ("0.9 GB free on stage 1").
struct FigureHead {
  std::string title, takeaway;
  std::string brief = {};  // the takeaway where there is no room for all of it; empty: cut
};

}  // namespace roofscape::widgets
