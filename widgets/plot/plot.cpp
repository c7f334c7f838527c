#include "widgets/plot/plot.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/base/utf8.h"

namespace roofscape::widgets {
namespace {

// In scale-1 pixels, as the visual spec states them.
constexpr float kTick = 4, kMinorTick = 2, kLabelGap = 4, kHeadHeight = 34;
constexpr float kMinorOpacity = 0.7f;
constexpr const char *kUpArrow = "\u2191 ", *kRightArrow = " \u2192", *kEllipsis = "\u2026";

float small_em(const Canvas& c) { return c.em() * kSmallText; }

TextStyle small_style(const Canvas& c, Colour colour, HAlign h = HAlign::left, VAlign v = VAlign::baseline) {
  TextStyle style;
  style.em = small_em(c);
  style.colour = colour;
  style.halign = h;
  style.valign = v;
  return style;
}

float line_height(const Canvas& c, float em) { return em * (c.metrics().ascent() + c.metrics().descent()); }

Stroke axis_stroke(const Canvas& c, const Theme& t) { return {t.axis, t.axis_width * c.em(), {}}; }

float widest(const Canvas& c, const std::vector<Tick>& ticks) {
  const TextStyle style = small_style(c, {});
  float w = 0;
  for (const Tick& t : ticks) w = std::max(w, c.text_width(t.label, style));
  return w;
}

bool has_hangul(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = engine::next_codepoint(text, at);
    if ((c >= 0x1100 && c < 0x1200) || (c >= 0x3130 && c < 0x3190) || (c >= 0xAC00 && c < 0xD7B0)) return true;
  }
  return false;
}

}  // namespace

TextStyle small_text(const Canvas& canvas, Colour colour, HAlign halign, Weight weight) {
  TextStyle style;
  style.em = kSmallText * canvas.em();
  style.weight = weight;
  style.halign = halign;
  style.valign = VAlign::middle;
  style.colour = colour;
  return style;
}

TextStyle head_style(const Canvas& canvas, const Theme& theme, std::string_view text) {
  TextStyle style;
  style.colour = theme.ink;
  // Bold syllables fill in at these sizes, so Korean heads stand out by size.
  const bool hangul = has_hangul(text);
  style.weight = hangul ? Weight::regular : Weight::bold;
  style.em = canvas.em() * (hangul ? 1.25f : kHeadText);
  return style;
}

TextStyle stacked_title_style(const Canvas& canvas, const Theme& theme, std::string_view title) {
  TextStyle style = head_style(canvas, theme, title);
  style.em *= 1.1f;
  return style;
}

void draw_check_mark(Canvas& canvas, const Rect& box, const Stroke& stroke) {
  const auto at = [&box](float x, float y) { return Point{box.x + x * box.w, box.y + y * box.h}; };
  canvas.polyline({at(0.2f, 0.52f), at(0.42f, 0.74f), at(0.8f, 0.28f)}, stroke);
}

std::string ellipsize(const Canvas& canvas, std::string_view text, const TextStyle& style, float room) {
  if (canvas.text_width(text, style) <= room) return std::string(text);
  const float em = style.em > 0 ? style.em : canvas.em();
  std::string_view kept = canvas.metrics().fit(text, em, room - canvas.text_width(kEllipsis, style), style.weight);
  if (kept.empty()) return {};
  // At a word, unless that would lose most of it (Korean and identifiers have few gaps).
  if (const std::size_t gap = kept.find_last_of(' '); gap != std::string_view::npos && gap * 2 > kept.size())
    kept = kept.substr(0, gap);
  while (!kept.empty() && (kept.back() == ' ' || kept.back() == ',' || kept.back() == ';' || kept.back() == ':'))
    kept.remove_suffix(1);
  return std::string(kept) + kEllipsis;
}

Rect draw_head(Canvas& canvas, const Theme& theme, Rect area, const Head& head) {
  TextStyle title =
      head.stacked ? stacked_title_style(canvas, theme, head.title) : head_style(canvas, theme, head.title);
  TextStyle phrase;
  phrase.colour = theme.ink2;
  if (head.stacked) {
    phrase.em = canvas.em();
    phrase.colour = theme.ink;
    for (const auto& [words, style] : {std::pair{&head.title, &title}, {&head.takeaway, &phrase}}) {
      if (words->empty()) continue;
      const float top = area.y;
      area.cut_top(line_height(canvas, style->em));
      canvas.text({area.x, top + canvas.metrics().ascent() * style->em}, ellipsize(canvas, *words, *style, area.w),
                  *style);
    }
    return area;
  }
  const Rect strip = area.cut_top(canvas.px(kHeadHeight));
  // One baseline, though a Korean title is larger than its phrase.
  const float base = strip.y + strip.h / 2 + canvas.metrics().cap_height() * canvas.em() / 2, gap = canvas.px(12);
  const std::string shown = ellipsize(canvas, head.title, title, strip.w);
  canvas.text({strip.x, base}, shown, title);
  const float left = strip.x + canvas.text_width(shown, title) + gap;
  const std::string words = ellipsize(canvas, head.takeaway, phrase, strip.right() - left);
  if (!words.empty()) canvas.text({left, base}, words, phrase);
  return area;
}

Rect plot_rect(const Canvas& canvas, const Rect& area, const Frame& frame) {
  const float small = small_em(canvas), height = line_height(canvas, small);
  const float tick = canvas.px(kTick + kLabelGap);
  Rect plot = area;
  plot.cut_top(frame.y.title.empty() ? height / 2 : height + canvas.px(8));
  plot.cut_bottom((frame.x.ticks.empty() ? 0 : tick + height) + (frame.x.title.empty() ? 0 : height));
  plot.cut_left(frame.y.ticks.empty() ? 0 : widest(canvas, frame.y.ticks) + tick);
  // Half of the last label hangs over the end of the axis.
  if (!frame.x.ticks.empty()) plot.cut_right(widest(canvas, frame.x.ticks) / 2);
  return plot;
}

void draw_frame(Canvas& canvas, const Theme& theme, const Rect& plot, const Scale& x, const Scale& y,
                const Frame& frame) {
  const auto axes = canvas.group("axes");
  if (canvas.frames() != nullptr) canvas.frames()->push_back({plot, x, y, frame, {}, {}});
  const Stroke axis = axis_stroke(canvas, theme), grid{theme.grid, theme.grid_width * canvas.em(), {}};
  Stroke minor = axis;
  minor.colour = faded(axis.colour, kMinorOpacity);
  const auto inside = [](float v, float low, float high) { return v >= low - 0.01f && v <= high + 0.01f; };

  std::optional<Canvas::Group> lines(canvas.group("grid"));
  for (const Tick& t : frame.x.ticks) {
    const float px = x(t.value);
    if (frame.x.grid && t.major && inside(px, plot.x, plot.right()))
      canvas.line({px, plot.y}, {px, plot.bottom()}, grid);
  }
  for (const Tick& t : frame.y.ticks) {
    const float py = y(t.value);
    if (frame.y.grid && t.major && inside(py, plot.y, plot.bottom()))
      canvas.line({plot.x, py}, {plot.right(), py}, grid);
  }
  lines.reset();
  if (frame.x.line) canvas.line({plot.x, plot.bottom()}, {plot.right(), plot.bottom()}, axis);
  if (frame.y.line) canvas.line({plot.x, plot.y}, {plot.x, plot.bottom()}, axis);

  const float label_gap = canvas.px(kLabelGap), tick = canvas.px(kTick), short_tick = canvas.px(kMinorTick);
  const TextStyle x_label = small_style(canvas, theme.ink2, HAlign::centre, VAlign::top);
  const TextStyle y_label = small_style(canvas, theme.ink2, HAlign::right, VAlign::middle);
  float free_from = -1e30f;
  const bool rising = x.begin() <= x.end();
  for (std::size_t i = 0; i < frame.x.ticks.size(); ++i) {
    const Tick& t = frame.x.ticks[rising ? i : frame.x.ticks.size() - 1 - i];
    const float px = x(t.value);
    if (!inside(px, plot.x, plot.right())) continue;
    if (frame.x.line)
      canvas.line({px, plot.bottom()}, {px, plot.bottom() + (t.major ? tick : short_tick)}, t.major ? axis : minor);
    const float half = canvas.text_width(t.label, x_label) / 2;
    if (!t.major || t.label.empty() || px - half < free_from) continue;
    canvas.text({px, plot.bottom() + tick + label_gap * 0.5f}, t.label, x_label);
    free_from = px + half + small_em(canvas) * 0.5f;
  }
  float free_to = 1e30f;
  const bool downwards = y.begin() < y.end();
  for (std::size_t i = 0; i < frame.y.ticks.size(); ++i) {
    const Tick& t = frame.y.ticks[downwards ? frame.y.ticks.size() - 1 - i : i];
    const float py = y(t.value);
    if (!inside(py, plot.y, plot.bottom())) continue;
    if (frame.y.line) canvas.line({plot.x, py}, {plot.x - (t.major ? tick : short_tick), py}, t.major ? axis : minor);
    const float half = canvas.metrics().cap_height() * small_em(canvas) / 2;
    if (!t.major || t.label.empty() || py + half > free_to) continue;
    canvas.text({plot.x - tick - label_gap, py}, t.label, y_label);
    free_to = py - half - small_em(canvas) * 0.3f;
  }

  const TextStyle title = small_style(canvas, theme.ink3);
  if (!frame.y.title.empty()) {
    const float start = plot.x - (frame.y.ticks.empty() ? 0 : widest(canvas, frame.y.ticks) * 0.8f + tick);
    const std::string text = kUpArrow + frame.y.title;
    canvas.text({start, plot.y - canvas.px(8) - canvas.metrics().descent() * title.em},
                ellipsize(canvas, text, title, canvas.bounds().right() - start), title);
  }
  if (!frame.x.title.empty()) {
    TextStyle right = title;
    right.halign = HAlign::right;
    right.valign = VAlign::top;
    const float below = frame.x.ticks.empty() ? 0 : tick + label_gap * 0.5f + line_height(canvas, title.em);
    const float room = plot.right() - canvas.clip_rect().x - canvas.text_width(kRightArrow, right);
    canvas.text({plot.right(), plot.bottom() + below}, ellipsize(canvas, frame.x.title, right, room) + kRightArrow,
                right);
  }
}

Colour ground_at(const Theme& theme, Point at, std::span<const Tint> tints) {
  Colour ground = theme.panel;
  for (const Tint& tint : tints) {
    bool left = true, right = true;  // of all its edges: inside, whichever way its corners run
    for (std::size_t i = 0, n = tint.corners.size(); i < n; ++i) {
      const Point from = tint.corners[i], edge = tint.corners[(i + 1) % n] - from, to = at - from;
      const float side = edge.x * to.y - edge.y * to.x;
      left = left && side >= 0, right = right && side <= 0;
    }
    if (left || right)
      ground =
          mix(ground, {tint.colour.r, tint.colour.g, tint.colour.b, 255}, static_cast<float>(tint.colour.a) / 255);
  }
  return ground;
}

void haloed_text(Canvas& canvas, const Theme& theme, Point anchor, std::string_view text, const TextStyle& style,
                 std::span<const Tint> tints) {
  TextStyle haloed = style;
  haloed.halo = ground_at(theme, canvas.text_bounds(anchor, text, style).centre(), tints);
  canvas.text(anchor, text, haloed);
}

}  // namespace roofscape::widgets
