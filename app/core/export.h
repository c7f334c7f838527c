// Figures into files: one of the table (widgets/figures/figures.h) as SVG, PDF or PNG. The window and the command line use
// the same functions, and a figure is the same function as on the screen.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "engine/io/json/result.h"
#include "widgets/canvas/canvas_svg.h"
#include "widgets/figures/blocks/block_figure.h"
#include "widgets/figures/figures.h"

namespace roofscape::app {

enum class FileFormat : std::uint8_t { svg, pdf, png };
std::optional<FileFormat> format_of(const std::filesystem::path& file);  // by its extension, either case

struct ExportOptions {
  float width = 0, height = 0;           // in points (1/72 inch)
  float em = widgets::kPrintEm;          // size of text, in points
  double pixels_per_point = 300.0 / 72;  // PNG only
  widgets::SvgText svg_text = widgets::SvgText::text;
};
// The figure's own size.
ExportOptions default_size(const widgets::FigureRow& figure);
// "170x110mm", "1280x720px" (96 an inch, one pixel of a PNG each); without a unit millimetres. In pixels the text
// grows with a picture that is larger than `options` had it. Leaves the rest of `options` as it is.
std::optional<io::InputError> set_size(std::string_view text, ExportOptions& options);
// "2": pixels of a PNG for each point.
std::optional<io::InputError> set_scale(std::string_view text, ExportOptions& options);
// "text" or "outlines".
std::optional<io::InputError> set_svg_text(std::string_view text, ExportOptions& options);
// "svg", "pdf" or "png".
io::Result<FileFormat> parse_format(std::string_view text);
std::string_view extension_of(FileFormat format);  // ".svg"
// Text as large as a slide of this height needs (visual spec: one em is 1/33.75 of the height), never under kPrintEm.
float slide_em(float height);

// Takes "tier=dcn" into the view: an option of the figure and one of its choices. Errors name what there is.
std::optional<io::InputError> choose(const widgets::FigureRow& figure, std::string_view assignment,
                                     widgets::FigureView& view);

// What a file shows, whatever it is a picture of. Draws on a ground of the theme's panel, inside a margin.
struct Drawing {
  widgets::FigureHead head;  // title and takeaway, for programs that read the file
  const widgets::Theme& theme;
  std::function<void(widgets::Canvas&, const widgets::Rect&)> draw;
};
io::Result<std::string> drawing_bytes(const Drawing& drawing, FileFormat format, const ExportOptions& options,
                                      const widgets::FontStack& fonts);
// Written atomically. Returns what went wrong, or nothing.
std::optional<io::InputError> export_drawing(const Drawing& drawing, const std::filesystem::path& file,
                                             const ExportOptions& options, const widgets::FontStack& fonts);

// A figure of the table as a drawing; `view` says what is shown beyond the default. All must outlive it.
Drawing drawing_of(const widgets::FigureRow& figure, const widgets::FigureInput& input,
                   const widgets::FigureView& view = {});
// The figure of a building block, and its own size.
Drawing drawing_of(const widgets::BlockFigure& figure);
ExportOptions block_figure_size();

// The bytes of the file; `view` says what is shown beyond the default. Errors: the drawing library failed (out of
// memory).
io::Result<std::string> figure_bytes(const widgets::FigureRow& figure, const widgets::FigureInput& input,
                                     FileFormat format, const ExportOptions& options, const widgets::FontStack& fonts,
                                     const widgets::FigureView& view = {});

// Draws and writes atomically. Returns what went wrong, or nothing.
std::optional<io::InputError> export_figure(const widgets::FigureRow& figure, const widgets::FigureInput& input,
                                            const std::filesystem::path& file, const ExportOptions& options,
                                            const widgets::FontStack& fonts, const widgets::FigureView& view = {});

}  // namespace roofscape::app
