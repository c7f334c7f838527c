// A figure as one page of HTML that needs no network and no program: the SVG with its readouts, which show where it is
// pointed at, and for a figure at several values of a field a slider over them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "widgets/canvas/theme.h"

namespace roofscape::app {

// The figure at one value. `svg` has tags (SvgOptions::tooltips), and ids that no other frame has.
struct PageFrame {
  std::string label;  // the value, as typed
  std::string svg;
};

struct FigurePage {
  std::string title;
  std::string varied;  // the field that the frames differ in; empty: there is one frame
  std::string record;  // JSON, what the page says of itself (io/scenario/figure_file.h); empty: nothing
  widgets::Theme theme;
  std::string language;  // of its words, as HTML names it: "en"
};

std::string figure_page(const FigurePage& page, std::span<const PageFrame> frames);

}  // namespace roofscape::app
