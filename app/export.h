// Figures into files: one of the table (widgets/figures.h) as SVG, PDF or PNG. The window and the command line use the
// same functions, and a figure is the same function as on the screen.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "engine/io/result.h"
#include "widgets/figures.h"

namespace roofscape::app {

enum class FileFormat : std::uint8_t { svg, pdf, png };
std::optional<FileFormat> format_of(const std::filesystem::path& file);  // by its extension, either case

// Size in points (1/72 inch).
struct ExportSize {
  float width = 0, height = 0;
  double pixels_per_point = 300.0 / 72;  // PNG only
};
ExportSize default_size(const widgets::FigureRow& figure);
// "170x110mm", "1280x720px" (96 an inch, one pixel of a PNG each); without a unit millimetres.
io::Result<ExportSize> parse_size(std::string_view text);

// Takes "tier=dcn" into the view: an option of the figure and one of its choices. Errors name what there is.
std::optional<io::InputError> choose(const widgets::FigureRow& figure, std::string_view assignment, widgets::FigureView& view);

// The bytes of the file; `view` says what is shown beyond the default. Errors: the drawing library failed (out of memory).
io::Result<std::string> figure_bytes(const widgets::FigureRow& figure, const widgets::FigureInput& input, FileFormat format,
                                     const ExportSize& size, const widgets::FontStack& fonts, const widgets::FigureView& view = {});

// Draws and writes atomically. Returns what went wrong, or nothing.
std::optional<io::InputError> export_figure(const widgets::FigureRow& figure, const widgets::FigureInput& input,
                                            const std::filesystem::path& file, const ExportSize& size,
                                            const widgets::FontStack& fonts, const widgets::FigureView& view = {});

}  // namespace roofscape::app
