#include "app/core/figure_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "engine/io/json/nearest.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/plot/plot.h"

namespace roofscape::app {

using engine::say;
using io::InputError;
namespace {

constexpr double kPointsPerInch = 72, kPointsPerMm = kPointsPerInch / 25.4;
constexpr double kScreenDpi = 96;
constexpr double kLeastScale = 0.25, kMostScale = 40, kLeastDpi = 18, kMostDpi = 2880;
constexpr double kLeastSide = 20 * kPointsPerMm, kMostSide = 2000 * kPointsPerMm;
constexpr double kLeastText = 4, kMostText = 72;  // points
constexpr float kSlideMargin = 0.02f;             // of the height
constexpr float kBlockFigureHeight = 283.5f;      // points
constexpr float kTextSlack = 0.01f;               // points
constexpr float kBeamer = 9;                      // points: labels on a slide of 128 mm, whose text is 11

// Widths as the style files set them. Two columns ("-wide") are layouts of their own.
constexpr std::array<Venue, 18> kVenues{{
    {"aaai", 84.1f, 7.5f, 6},          // two in 7 in
    {"aaai-wide", 177.8f, 7.5f, 6},    // 7 in
    {"acl", 77, 7.5f, 6},              // 7.7 cm
    {"acl-wide", 160, 7.5f, 6},        // 16 cm
    {"beamer", 108, kBeamer, 7},       // text width of 128 x 96 mm
    {"beamer-wide", 140, kBeamer, 7},  // of 160 x 90 mm
    {"cvpr", 83.3f, 7.5f, 6},          // two in 6.875 in
    {"cvpr-wide", 174.6f, 7.5f, 6},    // 6.875 in
    {"iclr", 139.7f, 8, 6},            // 5.5 in
    {"icml", 82.5f, 7.5f, 6},          // 3.25 in
    {"icml-wide", 171.5f, 7.5f, 6},    // 6.75 in
    {"ieee", 88.9f, 8, 6},             // 3.5 in
    {"ieee-wide", 181.9f, 8, 6},       // 7.16 in
    {"jmlr", 152.4f, 8, 6},            // 6 in
    {"nature", 89, 7, 5},              // 5 to 7 points
    {"nature-wide", 183, 7, 5},
    {"neurips", 139.7f, 8, 6},  // 5.5 in
    {"usenix", 84.7f, 8, 6},    // 3.33 in
}};

// The number a text begins with, which is cut off it.
std::optional<double> take_number(std::string_view& text) {
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || !std::isfinite(value)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}
std::optional<double> number(std::string_view text) {
  const auto value = take_number(text);
  return text.empty() ? value : std::nullopt;
}

enum class LengthUnit : std::uint8_t { none, mm, cm, in, pt, px };

LengthUnit take_unit(std::string_view& text) {
  constexpr std::array<std::string_view, 5> kNames{"mm", "cm", "in", "pt", "px"};
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (text.starts_with(kNames[i])) {
      text.remove_prefix(kNames[i].size());
      return static_cast<LengthUnit>(i + 1);
    }
  return LengthUnit::none;
}

double points(double value, LengthUnit unit, double pixel_dpi) {
  constexpr std::array<double, 5> kPoints{0, kPointsPerMm, 10 * kPointsPerMm, kPointsPerInch, 1};
  return value * (unit == LengthUnit::px ? kPointsPerInch / pixel_dpi : kPoints[static_cast<std::size_t>(unit)]);
}

io::Result<double> read_dpi(std::string_view text) {
  const auto dpi = number(text);
  if (dpi && *dpi >= kLeastDpi && *dpi <= kMostDpi) return *dpi;
  return InputError{{},
                    "--dpi",
                    say("error.figure.dpi", io::in_quotes(text)),
                    say("error.figure.dpi.remedy", fmt::format("{}", kLeastDpi), fmt::format("{}", kMostDpi))};
}

}  // namespace

ExportOptions default_size(const widgets::FigureRow& figure) {
  ExportOptions options;
  options.width = figure.width_pt;
  options.height = figure.height_pt;
  return options;
}

ExportOptions block_figure_size() {
  ExportOptions options;
  options.width = widgets::kColumnWidth;
  options.height = kBlockFigureHeight;
  return options;
}

std::span<const Venue> venues() { return kVenues; }

float wall_em(float width, float height) { return std::min(height / kWallLines, width / kWallColumns); }

float slide_margin(float height) { return height * kSlideMargin; }

void make_slide(ExportOptions& form) {
  form.em = std::max(widgets::kPrintEm, wall_em(form.width, form.height)), form.margin = slide_margin(form.height);
}

std::optional<InputError> set_size(std::string_view text, ExportOptions& options, double dpi) {
  const InputError malformed{
      {}, "--size", say("error.figure.size", io::in_quotes(text)), say("error.figure.size.remedy")};
  std::array<double, 2> sides{};
  std::array<LengthUnit, 2> units{};
  std::size_t count = 0;
  std::string_view rest = text;
  do {
    if (count > 0) rest.remove_prefix(1);
    if (count == 2) return malformed;
    const auto side = take_number(rest);
    if (!side) return malformed;
    sides[count] = *side;
    units[count++] = take_unit(rest);
  } while (rest.starts_with('x'));
  if (!rest.empty()) return malformed;
  if (units[count - 1] == LengthUnit::none)
    return InputError{
        {}, "--size", say("error.figure.size.unit", io::in_quotes(text)), say("error.figure.size.unit.remedy", text)};
  if (units[0] == LengthUnit::none) units[0] = units[1];
  const bool pixels = units[0] == LengthUnit::px;
  if (count == 2 && pixels != (units[1] == LengthUnit::px)) return malformed;
  const double pixel_dpi = dpi > 0 ? dpi : kScreenDpi;
  for (std::size_t i = 0; i < count; ++i) {
    sides[i] = points(sides[i], units[i], pixel_dpi);
    if (!(sides[i] >= kLeastSide) || sides[i] > kMostSide) return malformed;
  }
  const float width = static_cast<float>(sides[0]), height = static_cast<float>(sides[1]);
  if (pixels) {
    options.pixels_per_point = pixel_dpi / kPointsPerInch;
    // Pixels are for screens, where a larger picture is one seen whole: its text grows with it. On paper text keeps
    // its size.
    if (dpi <= 0 && options.width > 0 && options.height > 0) {
      const float wider = width / options.width, higher = height / options.height;
      options.em *= std::max(1.0f, count == 2 ? std::min(wider, higher) : wider);
    }
  }
  options.width = width;
  options.height = height;
  return std::nullopt;
}

std::optional<InputError> set_scale(std::string_view text, ExportOptions& options) {
  const auto scale = number(text);
  if (!scale || !(*scale >= kLeastScale) || *scale > kMostScale)
    return InputError{
        {},
        "--scale",
        say("error.figure.scale", io::in_quotes(text)),
        say("error.figure.scale.remedy", fmt::format("{}", kLeastScale), fmt::format("{}", kMostScale))};
  options.pixels_per_point = *scale;
  return std::nullopt;
}

std::optional<InputError> set_svg_text(std::string_view text, ExportOptions& options) {
  if (text == "text")
    options.svg_text = widgets::SvgText::text;
  else if (text == "outlines")
    options.svg_text = widgets::SvgText::outlines;
  else
    return InputError{
        {}, "--svg-text", say("error.figure.svg_text", io::in_quotes(text)), say("error.figure.svg_text.remedy")};
  return std::nullopt;
}

std::optional<InputError> set_text_size(std::string_view text, ExportOptions& options) {
  std::string_view rest = text;
  const auto value = take_number(rest);
  const LengthUnit unit = take_unit(rest);
  const double size = value ? points(*value, unit, kScreenDpi) : 0;
  if (!rest.empty() || unit == LengthUnit::none || unit == LengthUnit::px || !(size >= kLeastText) ||
      size > kMostText)
    return InputError{
        {},
        "--text-size",
        say("error.figure.text_size", io::in_quotes(text)),
        say("error.figure.text_size.remedy", fmt::format("{}", kLeastText), fmt::format("{}", kMostText))};
  options.em = static_cast<float>(size) / widgets::kSmallText;
  return std::nullopt;
}

std::optional<InputError> set_head(std::string_view text, ExportOptions& options) {
  widgets::HeadParts parts{false, false, false};
  for (std::string_view rest = text; text != "none";) {
    const std::size_t comma = rest.find(',');
    const std::string_view word = rest.substr(0, comma);
    if (word == "title")
      parts.title = true;
    else if (word == "takeaway")
      parts.takeaway = true;
    else if (word == "context")
      parts.context = true;
    else
      return InputError{{}, "--head", say("error.figure.head", io::in_quotes(word)), say("error.figure.head.remedy")};
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  options.head = parts;
  return std::nullopt;
}

std::optional<InputError> set_venue(std::string_view id, ExportOptions& options) {
  std::vector<std::string_view> ids;
  for (const Venue& venue : kVenues) {
    ids.push_back(venue.id);
    if (venue.id != id) continue;
    options.width = static_cast<float>(venue.width_mm * kPointsPerMm);
    options.height = 0;
    options.em = venue.label_pt / widgets::kSmallText;
    return std::nullopt;
  }
  return InputError{
      {}, "--venue", say("error.figure.venue", io::in_quotes(id)), say("error.figure.venue.remedy", io::listed(ids))};
}

io::Result<ExportOptions> form_of(ExportOptions form, const FormWords& asked, std::string_view theme) {
  const auto one_of = [](const char* option, std::string_view other) {
    return InputError{{}, option, say("error.figure.both", other), say("error.cli.leave_out")};
  };
  if (asked.bare && !asked.head.empty()) return one_of("--head", "--bare");
  if (!asked.dpi.empty() && !asked.scale.empty()) return one_of("--scale", "--dpi");
  double dpi = 0;
  if (!asked.dpi.empty()) {
    const auto read = read_dpi(asked.dpi);
    if (!read) return read.error();
    dpi = read.value();
    form.pixels_per_point = dpi / kPointsPerInch;
  }
  if (asked.bare) form.head = {false, false, false};
  if (!asked.head.empty())
    if (const auto error = set_head(asked.head, form)) return *error;
  if (!form.head.all()) form.height = 0;  // without its head a figure needs less
  if (!asked.venue.empty())
    if (const auto error = set_venue(asked.venue, form)) return *error;
  if (!asked.size.empty()) {
    const float em = form.em;
    if (const auto error = set_size(asked.size, form, dpi)) return *error;
    if (!asked.venue.empty()) form.em = em;  // a venue says how large its text is
    if (asked.size.ends_with("px") && !asked.scale.empty())
      return InputError{{}, "--scale", say("error.figure.scale.pixels"), say("error.figure.scale.pixels.remedy")};
  }
  if (!asked.scale.empty())
    if (const auto error = set_scale(asked.scale, form)) return *error;
  if (!asked.svg_text.empty())
    if (const auto error = set_svg_text(asked.svg_text, form)) return *error;
  form.svg_tooltips = asked.svg_tooltips;
  if (theme.starts_with("projector")) {
    if (form.height == 0) form.height = form.width * 9 / 16;
    make_slide(form);
  }
  if (!asked.text_size.empty())
    if (const auto error = set_text_size(asked.text_size, form)) return *error;
  for (const Venue& venue : kVenues)
    if (venue.id == asked.venue && widgets::kCaptionText * form.em < venue.least_pt - kTextSlack)
      return InputError{
          {},
          "--text-size",
          say("error.figure.venue.text", asked.venue, fmt::format("{:g}", venue.least_pt)),
          say("error.figure.venue.text.remedy",
              fmt::format("{:g}",
                          std::ceil(10 * venue.least_pt * widgets::kSmallText / widgets::kCaptionText) / 10))};
  return form;
}

}  // namespace roofscape::app
