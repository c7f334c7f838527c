#include "app/core/export.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "engine/io/json/files.h"
#include "widgets/canvas/canvas_cairo.h"

namespace roofscape::app {

using engine::say;
namespace {

using widgets::Canvas;

constexpr float kPointsPerMm = 72.0f / 25.4f;
constexpr float kPointsPerPixel = 0.75f;
constexpr double kLeastScale = 0.25, kMostScale = 40;
constexpr float kSlideLines = 33.75f;
constexpr float kBlockFigureHeight = 283.5f;  // points

void draw(Canvas& canvas, const Drawing& drawing) {
  widgets::Fill ground;
  ground.colour = drawing.theme.panel;
  canvas.rect(canvas.bounds(), ground);
  drawing.draw(canvas, canvas.bounds().inset(canvas.em()));
}

}  // namespace

std::optional<FileFormat> format_of(const std::filesystem::path& file) {
  std::string extension = file.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (extension == ".svg") return FileFormat::svg;
  if (extension == ".pdf") return FileFormat::pdf;
  if (extension == ".png") return FileFormat::png;
  return std::nullopt;
}

ExportOptions default_size(const widgets::FigureRow& figure) {
  ExportOptions options;
  options.width = figure.width_pt;
  options.height = figure.height_pt;
  return options;
}

io::Result<FileFormat> parse_format(std::string_view text) {
  constexpr std::array<std::string_view, 3> kNames{"svg", "pdf", "png"};
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == text) return static_cast<FileFormat>(i);
  return io::InputError{
      {}, "--format", say("error.figure.format", io::in_quotes(text)), say("error.figure.format.remedy")};
}

std::string_view extension_of(FileFormat format) {
  constexpr std::array<std::string_view, 3> kExtensions{".svg", ".pdf", ".png"};
  return kExtensions[static_cast<std::size_t>(format)];
}

float slide_em(float height) { return std::max(widgets::kPrintEm, height / kSlideLines); }

std::optional<io::InputError> set_scale(std::string_view text, ExportOptions& options) {
  double scale = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), scale);
  if (problem != std::errc() || end != text.data() + text.size() || !(scale >= kLeastScale) || scale > kMostScale)
    return io::InputError{
        {},
        "--scale",
        say("error.figure.scale", io::in_quotes(text)),
        say("error.figure.scale.remedy", fmt::format("{}", kLeastScale), fmt::format("{}", kMostScale))};
  options.pixels_per_point = scale;
  return std::nullopt;
}

std::optional<io::InputError> set_svg_text(std::string_view text, ExportOptions& options) {
  if (text == "text")
    options.svg_text = widgets::SvgText::text;
  else if (text == "outlines")
    options.svg_text = widgets::SvgText::outlines;
  else
    return io::InputError{
        {}, "--svg-text", say("error.figure.svg_text", io::in_quotes(text)), say("error.figure.svg_text.remedy")};
  return std::nullopt;
}

std::optional<io::InputError> set_size(std::string_view text, ExportOptions& options) {
  const io::InputError error{
      {}, "--size", say("error.figure.size", io::in_quotes(text)), say("error.figure.size.remedy")};
  std::string_view rest = text;
  bool pixels = false;
  if (rest.ends_with("px")) pixels = true;
  if (pixels || rest.ends_with("mm")) rest.remove_suffix(2);
  std::array<double, 2> sides{};
  for (std::size_t i = 0; i < 2; ++i) {
    const std::size_t cut = i == 0 ? rest.find('x') : rest.size();
    if (cut == std::string_view::npos) return error;
    const std::string_view number = rest.substr(0, cut);
    const auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), sides[i]);
    if (problem != std::errc() || end != number.data() + number.size() || !std::isfinite(sides[i])) return error;
    rest.remove_prefix(std::min(cut + 1, rest.size()));
  }
  const double unit = pixels ? kPointsPerPixel : kPointsPerMm;
  const float width = static_cast<float>(sides[0] * unit), height = static_cast<float>(sides[1] * unit);
  constexpr float kSmallest = 20 * kPointsPerMm, kLargest = 2000 * kPointsPerMm;
  for (const float side : {width, height})
    if (!(side >= kSmallest) || side > kLargest) return error;
  if (pixels) {
    options.pixels_per_point = 1 / static_cast<double>(kPointsPerPixel);
    // Pixels are for screens, where a larger picture is one seen whole: its text grows with it. On paper text keeps
    // its size.
    if (options.width > 0 && options.height > 0)
      options.em *= std::max(1.0f, std::min(width / options.width, height / options.height));
  }
  options.width = width;
  options.height = height;
  return std::nullopt;
}

std::optional<io::InputError> choose(const widgets::FigureRow& figure, std::string_view assignment,
                                     widgets::FigureView& view) {
  const std::size_t cut = assignment.find('=');
  const std::string_view key = assignment.substr(0, cut);
  std::vector<std::string_view> keys;
  for (const widgets::FigureOption& option : figure.options) {
    keys.push_back(option.key);
    if (option.key != key) continue;
    const std::string_view wanted = cut == std::string_view::npos ? std::string_view{} : assignment.substr(cut + 1);
    if (widgets::choose(figure, key, wanted, view.choices)) return std::nullopt;
    return io::InputError{{},
                          "--with",
                          say("error.figure.choice", io::in_quotes(assignment), figure.name),
                          say("error.figure.choice.remedy", key, fmt::format("{}", fmt::join(option.choices, ", ")))};
  }
  return io::InputError{
      {},
      "--with",
      say("error.figure.option", figure.name, io::in_quotes(key)),
      keys.empty() ? say("error.figure.option.none") : say("error.figure.option.remedy", io::listed(keys))};
}

io::Result<std::string> drawing_bytes(const Drawing& drawing, FileFormat format, const ExportOptions& wanted,
                                      const widgets::FontStack& fonts) {
  if (format == FileFormat::svg) {
    widgets::SvgOptions options;
    options.title = drawing.head.title;
    options.description = drawing.head.takeaway;
    options.text = wanted.svg_text;
    widgets::SvgCanvas canvas(fonts, wanted.em, wanted.width, wanted.height, options);
    draw(canvas, drawing);
    return canvas.finish();
  }
  widgets::PdfOptions options;
  options.title = drawing.head.title;
  options.author = "Roofscape";
  const auto canvas = format == FileFormat::pdf
                          ? widgets::CairoCanvas::pdf(fonts, wanted.em, wanted.width, wanted.height, options)
                          : widgets::CairoCanvas::png(fonts, wanted.em, wanted.width, wanted.height,
                                                      wanted.pixels_per_point, drawing.theme.panel);
  canvas->set_tagging(widgets::Tagging::none);  // these formats hold no readouts
  draw(*canvas, drawing);
  std::string bytes = canvas->finish();
  if (bytes.empty())
    return io::InputError{{}, {}, say("error.figure.undrawn", canvas->error()), say("error.figure.undrawn.remedy")};
  return bytes;
}

std::optional<io::InputError> export_drawing(const Drawing& drawing, const std::filesystem::path& file,
                                             const ExportOptions& wanted, const widgets::FontStack& fonts) {
  const auto format = format_of(file);
  if (!format)
    return io::InputError{file.string(), {}, say("error.figure.extension"), say("error.figure.extension.remedy")};
  auto bytes = drawing_bytes(drawing, *format, wanted, fonts);
  if (!bytes) {
    io::InputError error = bytes.error();
    error.file = file.string();
    return error;
  }
  return io::write_file_atomically(file, bytes.value());
}

Drawing drawing_of(const widgets::FigureRow& figure, const widgets::FigureInput& input,
                   const widgets::FigureView& shown) {
  widgets::FigureView view = shown;
  view.print = true;
  return {widgets::figure_head(figure, input, shown), input.theme,
          [&figure, &input, view](Canvas& canvas, const widgets::Rect& area) {
            widgets::draw_figure(figure, canvas, area, input, view);
          }};
}

Drawing drawing_of(const widgets::BlockFigure& figure) {
  return {widgets::block_figure_head(figure), figure.theme, [figure](Canvas& canvas, const widgets::Rect& area) {
            widgets::draw_block_figure(canvas, area, figure, true);
          }};
}

ExportOptions block_figure_size() {
  ExportOptions options;
  options.width = widgets::kColumnWidth;
  options.height = kBlockFigureHeight;
  return options;
}

io::Result<std::string> figure_bytes(const widgets::FigureRow& figure, const widgets::FigureInput& input,
                                     FileFormat format, const ExportOptions& options, const widgets::FontStack& fonts,
                                     const widgets::FigureView& view) {
  return drawing_bytes(drawing_of(figure, input, view), format, options, fonts);
}

std::optional<io::InputError> export_figure(const widgets::FigureRow& figure, const widgets::FigureInput& input,
                                            const std::filesystem::path& file, const ExportOptions& options,
                                            const widgets::FontStack& fonts, const widgets::FigureView& view) {
  return export_drawing(drawing_of(figure, input, view), file, options, fonts);
}

}  // namespace roofscape::app
