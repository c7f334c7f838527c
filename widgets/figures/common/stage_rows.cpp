#include "widgets/figures/common/stage_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "widgets/canvas/number_format.h"

namespace roofscape::widgets {
namespace {

constexpr float kHeader = 26;             // of the line above the rows
constexpr float kNumberGap = 10;          // between stage numbers and bars
constexpr float kStageBarShare = 0.744f;  // of the pitch
constexpr float kMostStagePitch = 110;    // two stages do not need half a screen each
constexpr float kMostStageBar = 60;
constexpr float kLeastGapPitch = 4;  // rows closer than this touch
constexpr float kTint = 0.11f;
constexpr float kNumberPitch = 1.1f;  // em

TextStyle number_style(const Canvas& canvas, Colour colour, Weight weight) {
  TextStyle s;
  s.em = kSmallText * canvas.em();
  s.weight = weight;
  s.halign = HAlign::right;
  s.valign = VAlign::middle;
  s.colour = colour;
  return s;
}

}  // namespace

float small_line(const Canvas& canvas) {
  return (canvas.metrics().ascent() + canvas.metrics().descent()) * kSmallText * canvas.em();
}

float number_line(const Canvas& canvas) { return kNumberPitch * kSmallText * canvas.em(); }

std::string_view row_word(const engine::ScheduleShape& shape) {
  const bool several = shape.virtual_stages > 1 || engine::directions(shape.kind) > 1;
  return shape.stages > 1 && several ? "figure.device" : "figure.stage";
}

StageRows stage_rows(const Canvas& canvas, const TextTable& texts, const Rect& area, int stages, const PlotAxis& x,
                     bool compact, std::string_view word, float more_header) {
  StageRows rows;
  rows.word = word;
  rows.area = area;
  rows.count = std::max(1, stages);
  const TextStyle bold = number_style(canvas, {}, Weight::bold);
  const float widest = std::max(canvas.text_width(texts.text(word), number_style(canvas, {}, Weight::regular)),
                                canvas.text_width(format_count(rows.count - 1), bold));
  Rect rest = area;
  rest.cut_left(std::min(widest + canvas.px(kNumberGap), area.w / 3));
  rows.header = rest.cut_top(canvas.px(kHeader) + more_header);
  PlotAxis bare;  // the rows have numbers instead of a vertical axis
  bare.grid = bare.line = false;
  const Rect framed = plot_rect(canvas, rest, {x, bare});
  rows.plot = rect_between(rest.x, rest.y, std::max(rest.x, framed.right()), std::max(rest.y, framed.bottom()));
  const auto n = static_cast<float>(rows.count);
  rows.pitch = std::min(rows.plot.h / n, canvas.px(kMostStagePitch));
  rows.plot.h = rows.pitch * n;
  rows.bar_height = rows.pitch < canvas.px(kLeastGapPitch)
                        ? rows.pitch
                        : std::min(rows.pitch * kStageBarShare, canvas.px(kMostStageBar));
  constexpr std::array kSteps{1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000};
  const float line = number_line(canvas);
  rows.label_every = kSteps.back();
  for (auto it = kSteps.rbegin(); it != kSteps.rend(); ++it)
    if (static_cast<float>(*it) * rows.pitch >= line) rows.label_every = *it;
  if (compact && rows.count > 8) rows.label_every = std::max(rows.label_every, 3);
  return rows;
}

void draw_stage_tint(Canvas& canvas, const Theme& theme, const StageRows& rows, std::optional<int> hovered) {
  if (!hovered || *hovered < 0 || *hovered >= rows.count) return;
  Fill tint;
  tint.colour = faded(theme.ink, kTint);
  canvas.rect(rows.band(*hovered), tint);
}

void draw_stage_numbers(Canvas& canvas, const Theme& theme, const TextTable& texts, const StageRows& rows,
                        std::optional<int> hovered) {
  const float right = rows.plot.x - canvas.px(kNumberGap);
  if (!rows.word.empty()) {
    const TextStyle word = number_style(canvas, theme.ink3, Weight::regular);
    const float last = std::min(rows.header.h, canvas.px(kHeader));  // of the header's lines
    if (canvas.text_width(texts.text(rows.word), word) <= right - rows.area.x + canvas.px(0.5f))
      canvas.text({right, rows.header.bottom() - last / 2}, texts.text(rows.word), word);
  }
  const float line = number_line(canvas);
  for (int stage = 0; stage < rows.count; ++stage) {
    const bool here = hovered == stage;
    // The hovered stage always has its number; those it would touch give way.
    if (!here && stage % rows.label_every != 0) continue;
    if (!here && hovered && std::abs(static_cast<float>(*hovered - stage)) * rows.pitch < line) continue;
    const Rect band = rows.band(stage);
    canvas.text({right, band.y + band.h / 2}, format_count(stage),
                number_style(canvas, here ? theme.ink : theme.ink2, here ? Weight::bold : Weight::regular));
  }
}

}  // namespace roofscape::widgets
