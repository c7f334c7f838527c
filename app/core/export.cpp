#include "app/core/export.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/core/figure_page.h"
#include "engine/io/export/figure_data.h"
#include "engine/io/json/files.h"
#include "engine/io/scenario/figure_file.h"
#include "widgets/canvas/canvas_cairo.h"
#include "widgets/canvas/canvas_ink.h"
#include "widgets/canvas/canvas_record.h"
#include "widgets/figures/common/empty_state.h"
#include "widgets/figures/common/figure_head.h"

namespace roofscape::app {

using engine::say;
namespace {

using widgets::Canvas;
using widgets::Rect;

constexpr std::array<std::string_view, 6> kFormats{"svg", "pdf", "png", "html", "csv", "json"};
constexpr std::array<std::string_view, 6> kExtensions{".svg", ".pdf", ".png", ".html", ".csv", ".json"};

constexpr float kMargin = 72 / 25.4f, kBareMargin = kMargin / 2;  // points
// A head as large as most are, in em: what a figure's own height has beside its picture.
constexpr float kUsualHead = 7.8f;
// A picture of another width is as much flatter or higher as this power of the ratio.
constexpr float kNarrower = 0.35f, kWider = 0.6f;
constexpr float kMostMoved = 1.5f;  // em
// A picture that is lower, em, takes the place of its head; that it gets but so much higher is not worth a part of it.
constexpr float kLeastPicture = 5, kNoHigher = 0.5f;

void draw(Canvas& canvas, const Drawing& drawing, const ExportOptions& form) {
  canvas.rect(canvas.bounds(), {.colour = drawing.theme.panel});
  drawing.draw(canvas, drawing_area(drawing, form, canvas.metrics()), form.head);
}

// How high what is drawn under that head is, words left out; 0: there are words alone. What says that there is nothing
// to show is as high as its page.
float picture_height(const Drawing& drawing, const ExportOptions& form, const widgets::HeadParts& head,
                     const widgets::FontStack& fonts) {
  widgets::RecordCanvas canvas(fonts, form.em, {0, 0, form.width, form.height});
  drawing.draw(canvas, canvas.bounds(), head);
  float top = form.height, bottom = 0;
  for (const widgets::Primitive& p : canvas.primitives()) {
    if (p.group == widgets::kEmptyState) return form.height;
    if (p.kind != widgets::Primitive::Kind::stroke && p.kind != widgets::Primitive::Kind::fill) continue;
    for (const widgets::Point& point : p.points) top = std::min(top, point.y), bottom = std::max(bottom, point.y);
  }
  return std::max(0.0f, bottom - top);
}

struct Page {
  ExportOptions form;
  bool has_picture = true;
};

// With the height chosen where that is open, and of the head what leaves a page so small room for a picture.
Page settled(const Drawing& drawing, const ExportOptions& asked, const widgets::FontStack& fonts) {
  ExportOptions form = asked;
  if (form.height == 0) {
    form.height = chosen_height(drawing, form, fonts);
    return {form};
  }
  using widgets::HeadParts;
  HeadParts head = form.head;
  float highest = picture_height(drawing, form, head, fonts);
  for (const auto part : {&HeadParts::context, &HeadParts::takeaway, &HeadParts::title}) {
    if (highest >= kLeastPicture * form.em) break;
    if (!(head.*part)) continue;
    head.*part = false;
    const float height = picture_height(drawing, form, head, fonts);
    if (height > highest + kNoHigher * form.em) highest = height, form.head = head;
  }
  return {form, highest > 0};
}

std::string svg_of_frame(const Drawing& drawing, const ExportOptions& form, const widgets::FontStack& fonts,
                         std::string prefix) {
  widgets::SvgOptions options;
  options.description = drawing.head.takeaway;
  options.tooltips = true;
  options.text = form.svg_text;
  options.prefix = std::move(prefix);
  widgets::SvgCanvas canvas(fonts, form.em, form.width, form.height, options);
  draw(canvas, drawing, form);
  return canvas.finish();
}

}  // namespace

std::optional<FileFormat> format_of(const std::filesystem::path& file) {
  std::string extension = file.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  const auto found = std::find(kExtensions.begin(), kExtensions.end(), extension);
  if (found == kExtensions.end()) return std::nullopt;
  return static_cast<FileFormat>(found - kExtensions.begin());
}

io::Result<FileFormat> parse_format(std::string_view text) {
  const auto found = std::find(kFormats.begin(), kFormats.end(), text);
  if (found != kFormats.end()) return static_cast<FileFormat>(found - kFormats.begin());
  return io::InputError{
      {}, "--format", say("error.figure.format", io::in_quotes(text)), say("error.figure.format.remedy")};
}

std::string_view extension_of(FileFormat format) { return kExtensions[static_cast<std::size_t>(format)]; }

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

// The page it is tried on is so wide that no sentence takes two lines.
std::string empty_state_of(const Drawing& drawing, const widgets::FontStack& fonts) {
  widgets::RecordCanvas canvas(fonts, drawing.own.em, {0, 0, 8 * drawing.own.width, drawing.own.height});
  drawing.draw(canvas, canvas.bounds(), drawing.own.head);
  for (const widgets::TextRun& run : canvas.texts())
    if (run.group == widgets::kEmptyState) return run.text.substr(0, run.text.find_last_not_of('.') + 1);
  return {};
}

bool has_room(const Drawing& drawing, const ExportOptions& asked, const widgets::FontStack& fonts) {
  return asked.height == 0 || settled(drawing, asked, fonts).has_picture;
}

float chosen_height(const Drawing& drawing, const ExportOptions& form, const widgets::FontStack& fonts) {
  const float ratio = form.width / form.em / (drawing.own.width / widgets::kPrintEm);
  const float own = drawing.own.height / widgets::kPrintEm - kUsualHead;
  constexpr float kEndless = 1e5f;
  widgets::InkCanvas canvas(fonts, form.em, {0, 0, form.width, kEndless});
  float picture = drawing.own_height ? drawing.own_height(canvas, form.width) : 0;
  if (picture == 0) picture = form.em * own * std::pow(ratio, ratio < 1 ? kNarrower : kWider);
  const float head = widgets::draw_printed_head(canvas, canvas.bounds(), drawing.theme, drawing.head, form.head).y;
  return std::round(picture + head);
}

Rect drawing_area(const Drawing& drawing, const ExportOptions& form, const widgets::FontStack& fonts) {
  const float margin = !form.head.any() ? kBareMargin : form.margin > 0 ? form.margin : kMargin;
  const Rect page{0, 0, form.width, form.height}, wanted = page.inset(margin);
  const float most = kMostMoved * form.em;
  // What ends farther in is in the middle of the page on purpose.
  const auto moved = [most](float by) { return std::abs(by) <= most ? by : 0; };
  Rect area = page;
  for (int round = 0; round < 2; ++round) {  // a plot's ends move a little when its area does
    widgets::InkCanvas canvas(fonts, form.em, page);
    drawing.draw(canvas, area, form.head);
    if (!canvas.ink()) break;
    const Rect ink = *canvas.ink();
    area = widgets::rect_between(area.x + moved(wanted.x - ink.x), area.y + moved(wanted.y - ink.y),
                                 area.right() + moved(wanted.right() - ink.right()),
                                 area.bottom() + moved(wanted.bottom() - ink.bottom()));
  }
  // In a wider area words wrap later, and may pass the page then, at whose edge they are cut.
  widgets::InkCanvas canvas(fonts, form.em, page);
  drawing.draw(canvas, area, form.head);
  if (canvas.ink() && canvas.ink()->right() > page.right() - 0.01f) area.w = page.right() - area.x;
  return area;
}

std::string frame_svg(const Drawing& drawing, const ExportOptions& asked, const widgets::FontStack& fonts,
                      std::string prefix) {
  return svg_of_frame(drawing, settled(drawing, asked, fonts).form, fonts, std::move(prefix));
}

io::Result<std::string> drawing_bytes(const Drawing& drawing, FileFormat format, const ExportOptions& asked,
                                      const widgets::FontStack& fonts) {
  if (format == FileFormat::csv) return io::csv_of_table(drawing.table());
  if (format == FileFormat::json)
    return io::figure_data_json(
        {drawing.head.title, drawing.head.takeaway, drawing.head.context, drawing.table(), drawing.record});
  const auto [wanted, has_picture] = settled(drawing, asked, fonts);
  if (!has_picture)
    return io::InputError{{}, "--size", say("error.figure.no_room"), say("error.figure.no_room.remedy")};
  if (format == FileFormat::html) {
    const PageFrame frame{{}, svg_of_frame(drawing, wanted, fonts, {})};
    return figure_page({drawing.head.title, {}, drawing.record, drawing.theme, drawing.language}, {&frame, 1});
  }
  if (format == FileFormat::svg) {
    widgets::SvgOptions options;
    options.title = drawing.head.title;
    options.description = drawing.head.takeaway;
    options.tooltips = wanted.svg_tooltips;
    options.text = wanted.svg_text;
    options.keyword = io::kFigureKeyword;
    options.metadata = drawing.record;
    widgets::SvgCanvas canvas(fonts, wanted.em, wanted.width, wanted.height, options);
    draw(canvas, drawing, wanted);
    return canvas.finish();
  }
  widgets::PdfOptions options;
  options.title = drawing.head.title;
  options.author = "Roofscape";
  options.keywords = drawing.record;
  const auto canvas =
      format == FileFormat::pdf
          ? widgets::CairoCanvas::pdf(fonts, wanted.em, wanted.width, wanted.height, options)
          : widgets::CairoCanvas::png(fonts, wanted.em, wanted.width, wanted.height, wanted.pixels_per_point,
                                      drawing.theme.panel, {std::string(io::kFigureKeyword), drawing.record});
  canvas->set_tagging(widgets::Tagging::none);  // these formats hold no readouts
  draw(*canvas, drawing, wanted);
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
                   const widgets::FigureView& shown, const io::PresetLibrary* library) {
  widgets::FigureView view = shown;
  view.print = true;
  Drawing out{widgets::figure_head(figure, input, shown), input.theme, default_size(figure),
              [&figure, &input, view](Canvas& canvas, const Rect& area, const widgets::HeadParts& parts) {
                widgets::FigureView with = view;
                with.head = parts;
                widgets::draw_figure(figure, canvas, area, input, with);
              },
              [&figure, &input, view] { return widgets::figure_data(figure, input, view); }};
  out.language = input.texts.text("language.code");
  if (figure.own_height != nullptr)
    out.own_height = [&figure, &input, view](const Canvas& canvas, float width) {
      return figure.own_height(canvas, width, input, view);
    };
  if (out.head.context.empty()) out.head.context = widgets::context_line(input);
  if (library != nullptr) {
    io::FigureRecord record{std::string(figure.name),
                            {},
                            input.scenario,
                            input.baseline != nullptr ? &input.baseline->scenario : nullptr};
    for (std::size_t i = 0; i < figure.options.size(); ++i)
      if (view.choices[i] != 0)
        record.choices.emplace_back(figure.options[i].key, figure.options[i].choices[view.choices[i]]);
    out.record = io::figure_record(record, *library);
  }
  return out;
}

Drawing drawing_of(const widgets::BlockFigure& figure) {
  Drawing out{widgets::block_figure_head(figure), figure.theme, block_figure_size(),
              [figure](Canvas& canvas, const Rect& area, const widgets::HeadParts& parts) {
                widgets::draw_block_figure(canvas, area, figure, true, parts);
              },
              [figure] { return widgets::block_figure_data(figure); }};
  out.language = figure.texts.text("language.code");
  return out;
}

}  // namespace roofscape::app
