// Figures into files: one of the table (widgets/figures/figures.h), or that of a building block, as SVG, PDF, PNG or a
// page of HTML, and its table as CSV or JSON. The window and the command line use the same functions, and a figure is the same function as
// on the screen. What form a file has is said by figure_form.h.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "app/core/figure_form.h"
#include "engine/io/json/result.h"
#include "engine/io/presets/preset_library.h"
#include "widgets/figures/blocks/block_figure.h"
#include "widgets/figures/figures.h"

namespace roofscape::app {

enum class FileFormat : std::uint8_t { svg, pdf, png, html, csv, json };
inline constexpr bool is_picture(FileFormat format) { return format <= FileFormat::html; }
std::optional<FileFormat> format_of(const std::filesystem::path& file);  // by its extension, either case
// "svg", "pdf", "png", "html", "csv" or "json".
io::Result<FileFormat> parse_format(std::string_view text);
std::string_view extension_of(FileFormat format);  // ".svg"

// Takes "tier=dcn" into the view: an option of the figure and one of its choices. Errors name what there is.
std::optional<io::InputError> choose(const widgets::FigureRow& figure, std::string_view assignment,
                                     widgets::FigureView& view);

// What a file shows, whatever it is a picture of.
struct Drawing {
  widgets::FigureHead head;  // whole: with what the figure is of
  const widgets::Theme& theme;
  ExportOptions own;  // the size it has by itself
  std::function<void(widgets::Canvas&, const widgets::Rect&, const widgets::HeadParts&)> draw;
  std::function<std::string()> table;  // tab-separated text with a line of names first
  std::string record = {};             // what its files say of themselves (io/scenario/figure_file.h)
  // The height of its picture at this width where it has a layout of its own there; 0, or empty: it has none.
  std::function<float(const widgets::Canvas&, float width)> own_height = {};
  std::string language = "en";  // of its words, as pages name it
};

// What it says where there is nothing to draw, without the full stop; empty: it draws something.
std::string empty_state_of(const Drawing& drawing, const widgets::FontStack& fonts);

// Whether anything but words is drawn on a page of that size, with as little head as it takes.
bool has_room(const Drawing& drawing, const ExportOptions& options, const widgets::FontStack& fonts);

// The height of a drawing where its form leaves that open: its own in the proportion of its width, less flat the
// narrower it is, under as many lines of head as there are.
float chosen_height(const Drawing& drawing, const ExportOptions& options, const widgets::FontStack& fonts);

// The area on the page in which the drawing's ink ends at the margin: text has room above its capitals, and axes for
// labels that reach over their ends, which would otherwise add to it. The form's height is chosen.
widgets::Rect drawing_area(const Drawing& drawing, const ExportOptions& form, const widgets::FontStack& fonts);

// The bytes of a file. A picture has the theme's ground and a margin of 1 mm around its ink, of half that without a
// head. On a page too small for head and picture the head gives way: what the figure is of, then its sentence, then its
// title. Errors: nothing has room; the drawing library failed (out of memory).
io::Result<std::string> drawing_bytes(const Drawing& drawing, FileFormat format, const ExportOptions& options,
                                      const widgets::FontStack& fonts);
// A drawing for a page that holds several: with its readouts, and `prefix` before all its ids.
std::string frame_svg(const Drawing& drawing, const ExportOptions& options, const widgets::FontStack& fonts,
                      std::string prefix);
// Written atomically. Returns what went wrong, or nothing.
std::optional<io::InputError> export_drawing(const Drawing& drawing, const std::filesystem::path& file,
                                             const ExportOptions& options, const widgets::FontStack& fonts);

// A figure of the table as a drawing; `view` says what is shown beyond the default. Figure and input must outlive it.
Drawing drawing_of(const widgets::FigureRow& figure, const widgets::FigureInput& input,
                   const widgets::FigureView& view = {}, const io::PresetLibrary* library = nullptr);
// The figure of a building block, and its own size.
Drawing drawing_of(const widgets::BlockFigure& figure);

}  // namespace roofscape::app
