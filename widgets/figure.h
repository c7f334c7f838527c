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
};

// The phrase after a figure's title: its takeaway, computed ("0.9 GB free on stage 1").
struct FigureHead {
  std::string title, takeaway;
};

}  // namespace roofscape::widgets
