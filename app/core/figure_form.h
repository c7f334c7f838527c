// The form of a figure's file: its size, type, resolution and what of its head it carries, and how each is typed on a
// command line. Sizes are in points (1/72 inch) once read.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/io/json/result.h"
#include "widgets/canvas/canvas_svg.h"
#include "widgets/figures/blocks/block_figure.h"
#include "widgets/figures/figures.h"

namespace roofscape::app {

struct ExportOptions {
  float width = 0;
  float height = 0;                      // 0: what the figure needs at this width
  float em = widgets::kPrintEm;          // labels are kSmallText of it
  double pixels_per_point = 300.0 / 72;  // PNG only
  widgets::SvgText svg_text = widgets::SvgText::text;
  bool svg_tooltips = false;  // what a mark says when pointed at, as invisible rectangles on top
  widgets::HeadParts head = {};
  float margin = 0;  // points; 0: that of a file for print
};

// The figure's own size, and that of the figure of a building block.
ExportOptions default_size(const widgets::FigureRow& figure);
ExportOptions block_figure_size();

// What a person asked of a form, as typed; empty: nothing.
struct FormWords {
  std::string size = {}, dpi = {}, scale = {}, venue = {}, head = {}, text_size = {}, svg_text = {};
  bool bare = false, svg_tooltips = false;
};
// `form`, the figure's own, changed by what was asked for. Errors name the option and the remedy.
io::Result<ExportOptions> form_of(ExportOptions form, const FormWords& asked, std::string_view theme);

// "84mm" (the figure chooses its height), "170x110mm", "3.25x2.5in", "1280x720px"; mm, cm, in, pt or px, and no size
// without a unit. A pixel is one of a PNG: 1/96 inch, or one part of `dpi` where that is given (else 0). In pixels
// without `dpi` the text grows with a picture that is larger than `options` had it. Leaves the rest of `options` as it
// is.
std::optional<io::InputError> set_size(std::string_view text, ExportOptions& options, double dpi = 0);
// "2": pixels of a PNG for each point.
std::optional<io::InputError> set_scale(std::string_view text, ExportOptions& options);
// "text" or "outlines".
std::optional<io::InputError> set_svg_text(std::string_view text, ExportOptions& options);
// "8pt": of labels; mm are taken too.
std::optional<io::InputError> set_text_size(std::string_view text, ExportOptions& options);
// "title,takeaway", of title, takeaway and context; "none".
std::optional<io::InputError> set_head(std::string_view text, ExportOptions& options);

// The columns that conferences, journals and slides have, with the size of labels that suits the text around them.
struct Venue {
  std::string_view id;
  float width_mm, label_pt;
  float least_pt;  // of any text in a figure there
};
std::span<const Venue> venues();
std::optional<io::InputError> set_venue(std::string_view id, ExportOptions& options);

// The em of a figure on a wall, which the back row reads, in the projector and on a slide: 1/24 of its height, less where
// that would leave too few to a line.
inline constexpr float kWallLines = 24, kWallColumns = 34;
float wall_em(float width, float height);

// Text and margin as on a wall, text never under kPrintEm.
void make_slide(ExportOptions& form);
// What stands free around a slide: a wall has no page about it.
float slide_margin(float height);

}  // namespace roofscape::app
