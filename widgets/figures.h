// The table of figures. The window, the command line and the tests list and draw figures from it: a new figure is one
// row here.
#pragma once

#include <span>
#include <string_view>

#include "widgets/figure.h"

namespace roofscape::widgets {

struct FigureRow {
  std::string_view name;  // stable: "roofline"
  void (*draw)(Canvas&, const Rect&, const FigureInput&, const FigureView&) = nullptr;
  FigureHead (*head)(const FigureInput&, const FigureView&) = nullptr;
  // What it shows as tab-separated text with a line of names first; numbers in full, in base units.
  std::string (*data)(const FigureInput&, const FigureView&) = nullptr;
  float width_pt = 0, height_pt = 0;  // of an exported file, in points (1/72 inch); text is kPrintEm
  std::span<const FigureOption> options = {};
};

inline constexpr float kPrintEm = 9;  // points

inline constexpr std::size_t kFigureCount = 20;
std::span<const FigureRow> figures();
const FigureRow* find_figure(std::string_view name);  // null if there is none

}  // namespace roofscape::widgets
