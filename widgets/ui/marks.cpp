#include "widgets/ui/marks.h"

#include <array>
#include <cmath>
#include <numbers>

#include "engine/base/utf8.h"
#include "widgets/plot/plot.h"

namespace roofscape::widgets {

Colour mark_colour(const Theme& theme, Mark mark) {
  switch (mark) {
    case Mark::error:
      return theme.err;
    case Mark::warning:
      return theme.warn;
    case Mark::note:
      return theme.ink2;
    case Mark::good:
      return theme.ok;
  }
  return theme.ink;
}

void draw_mark(Canvas& canvas, const Theme& theme, Point c, float size, Mark mark) {
  const Colour colour = mark_colour(theme, mark);
  const float r = size / 2, stroke = std::max(1.0f, size * 0.12f);
  const auto at = [&](float x, float y) { return Point{c.x + x * r, c.y + y * r}; };
  switch (mark) {
    case Mark::error: {
      std::array<Point, 8> octagon;
      for (std::size_t i = 0; i < octagon.size(); ++i) {
        const float a = (static_cast<float>(i) + 0.5f) * std::numbers::pi_v<float> / 4;
        octagon[i] = {c.x + r * 1.05f * std::cos(a), c.y + r * 1.05f * std::sin(a)};
      }
      canvas.polygon(octagon, {.colour = colour});
      const Colour inside = text_on(colour);
      canvas.line(at(-0.38f, -0.38f), at(0.38f, 0.38f), {inside, stroke, {}});
      canvas.line(at(-0.38f, 0.38f), at(0.38f, -0.38f), {inside, stroke, {}});
      break;
    }
    case Mark::warning: {
      canvas.polygon({at(0, -0.95f), at(1.05f, 0.9f), at(-1.05f, 0.9f)}, {.colour = colour});
      const Colour inside = text_on(colour);
      canvas.line(at(0, -0.32f), at(0, 0.32f), {inside, stroke * 1.2f, {}});
      canvas.marker(at(0, 0.62f), Marker::circle, stroke * 1.5f, {.colour = inside});
      break;
    }
    case Mark::note: {
      std::array<Point, 24> ring;
      for (std::size_t i = 0; i < ring.size(); ++i) {
        const float a = static_cast<float>(i) * 2 * std::numbers::pi_v<float> / static_cast<float>(ring.size());
        ring[i] = {c.x + r * 0.95f * std::cos(a), c.y + r * 0.95f * std::sin(a)};
      }
      canvas.polygon(ring, {.edge = colour, .edge_width = stroke});
      canvas.line(at(0, -0.1f), at(0, 0.5f), {colour, stroke, {}});
      canvas.marker(at(0, -0.42f), Marker::circle, stroke * 1.3f, {.colour = colour});
      break;
    }
    case Mark::good:
      canvas.polyline({at(-0.85f, 0.05f), at(-0.25f, 0.65f), at(0.9f, -0.6f)}, {colour, stroke * 1.5f, {}});
      break;
  }
}

void draw_icon(Canvas& canvas, Point c, float size, Icon icon, Colour colour) {
  const float r = size / 2;
  const Stroke ink{colour, std::max(1.0f, size * 0.1f), {}};
  const auto at = [&](float x, float y) { return Point{c.x + x * r, c.y + y * r}; };
  switch (icon) {
    case Icon::chevron_down:
      canvas.polyline({at(-0.6f, -0.3f), at(0, 0.3f), at(0.6f, -0.3f)}, ink);
      break;
    case Icon::chevron_left:
      canvas.polyline({at(0.3f, -0.6f), at(-0.3f, 0), at(0.3f, 0.6f)}, ink);
      break;
    case Icon::chevron_right:
      canvas.polyline({at(-0.3f, -0.6f), at(0.3f, 0), at(-0.3f, 0.6f)}, ink);
      break;
    case Icon::maximise:
      canvas.line(at(-0.65f, -0.65f), at(0.65f, 0.65f), ink);
      canvas.polyline({at(-0.8f, -0.1f), at(-0.8f, -0.8f), at(-0.1f, -0.8f)}, ink);
      canvas.polyline({at(0.8f, 0.1f), at(0.8f, 0.8f), at(0.1f, 0.8f)}, ink);
      break;
    case Icon::restore:
      canvas.line(at(-0.8f, -0.8f), at(-0.2f, -0.2f), ink);
      canvas.polyline({at(-0.15f, -0.75f), at(-0.15f, -0.15f), at(-0.75f, -0.15f)}, ink);
      canvas.line(at(0.8f, 0.8f), at(0.2f, 0.2f), ink);
      canvas.polyline({at(0.15f, 0.75f), at(0.15f, 0.15f), at(0.75f, 0.15f)}, ink);
      break;
    case Icon::download:
      canvas.line(at(0, -0.85f), at(0, 0.3f), ink);
      canvas.polyline({at(-0.45f, -0.12f), at(0, 0.35f), at(0.45f, -0.12f)}, ink);
      canvas.polyline({at(-0.8f, 0.4f), at(-0.8f, 0.85f), at(0.8f, 0.85f), at(0.8f, 0.4f)}, ink);
      break;
    case Icon::close:
      canvas.line(at(-0.55f, -0.55f), at(0.55f, 0.55f), ink);
      canvas.line(at(-0.55f, 0.55f), at(0.55f, -0.55f), ink);
      break;
    case Icon::sun:
      canvas.marker(c, Marker::circle, r * 0.9f, {.colour = colour});
      for (int i = 0; i < 8; ++i) {
        const float a = static_cast<float>(i) * std::numbers::pi_v<float> / 4;
        canvas.line(at(0.68f * std::cos(a), 0.68f * std::sin(a)), at(std::cos(a), std::sin(a)), ink);
      }
      break;
    case Icon::moon: {
      std::vector<Point> edge;
      for (int i = 0; i <= 12; ++i) {
        const float a = -2.2f + 3.6f * static_cast<float>(i) / 12;
        edge.push_back(at(-0.1f + 0.85f * std::cos(a + 1.9f), 0.85f * std::sin(a + 1.9f)));
      }
      for (int i = 0; i <= 8; ++i) {
        const float t = static_cast<float>(i) / 8;
        const Point a = edge[12], b = edge[0];
        const float bulge = 0.62f * r * std::sin(t * std::numbers::pi_v<float>);
        edge.push_back({a.x + (b.x - a.x) * t - bulge * 0.8f, a.y + (b.y - a.y) * t + bulge * 0.35f});
      }
      canvas.polyline(edge, ink);
      break;
    }
    case Icon::path:  // a way through three rows
      canvas.polyline(
          {at(-0.9f, -0.7f), at(-0.3f, -0.7f), at(-0.1f, 0), at(0.3f, 0), at(0.5f, 0.7f), at(0.95f, 0.7f)}, ink);
      break;
    case Icon::trace:  // steps up and down on a base line
      canvas.line(at(-0.9f, 0.85f), at(0.9f, 0.85f), ink);
      canvas.polyline({at(-0.8f, 0.5f), at(-0.4f, 0.5f), at(-0.4f, -0.1f), at(0, -0.1f), at(0, -0.7f),
                       at(0.4f, -0.7f), at(0.4f, 0.2f), at(0.85f, 0.2f)},
                      ink);
      break;
    case Icon::play:
      canvas.polygon({at(-0.5f, -0.8f), at(0.8f, 0), at(-0.5f, 0.8f)}, {.colour = colour});
      break;
    case Icon::pause:
      for (const float x : {-0.65f, 0.2f})
        canvas.rect({c.x + x * r, c.y - 0.75f * r, 0.45f * r, 1.5f * r}, {.colour = colour});
      break;
    case Icon::more:
      for (const float x : {-0.75f, 0.0f, 0.75f})
        canvas.marker(at(x, 0), Marker::circle, r * 0.4f, {.colour = colour});
      break;
    case Icon::plus:
      canvas.line(at(-0.7f, 0), at(0.7f, 0), ink);
      canvas.line(at(0, -0.7f), at(0, 0.7f), ink);
      break;
    case Icon::chain:  // two links
      canvas.frame({c.x - r * 0.95f, c.y - r * 0.4f, r * 1.05f, r * 0.8f}, ink, r * 0.4f);
      canvas.frame({c.x - r * 0.1f, c.y - r * 0.4f, r * 1.05f, r * 0.8f}, ink, r * 0.4f);
      break;
    case Icon::pencil:  // its point at the lower left
      canvas.polyline({at(-0.85f, 0.85f), at(-0.7f, 0.25f), at(0.45f, -0.9f), at(0.9f, -0.45f), at(-0.25f, 0.7f),
                       at(-0.85f, 0.85f)},
                      ink);
      canvas.line(at(0.15f, -0.6f), at(0.6f, -0.15f), ink);
      break;
  }
}

void draw_brand(Canvas& canvas, const Theme& theme, const Rect& r) {
  const float w = std::max(1.5f, r.h * 0.14f);
  canvas.polyline({{r.x, r.bottom()}, {r.x + r.w * 0.5f, r.y + w / 2}, {r.right(), r.y + w / 2}}, {theme.ink, w, {}});
}

std::vector<std::string_view> wrapped_lines(const Canvas& canvas, std::string_view text, const TextStyle& style,
                                            float width) {
  std::vector<std::string_view> lines;
  const float em = style.em > 0 ? style.em : canvas.em();
  while (!text.empty()) {
    std::string_view line = canvas.metrics().fit(text, em, width, style.weight);
    if (const auto newline = text.find('\n'); newline != std::string_view::npos && newline <= line.size()) {
      lines.push_back(text.substr(0, newline));
      text.remove_prefix(newline + 1);
      continue;
    }
    if (line.size() == text.size()) {
      lines.push_back(line);
      break;
    }
    auto space = text.rfind(' ', line.size());
    while (space != std::string_view::npos && space > 0 && !line_may_end(text, space))
      space = text.rfind(' ', space - 1);
    if (space != std::string_view::npos && space > 0) line = text.substr(0, space);
    if (line.empty()) {  // not even one character fits: take one and go on
      std::size_t at = 0;
      engine::next_codepoint(text, at);
      line = text.substr(0, at);
    }
    lines.push_back(line);
    text.remove_prefix(line.size());
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  }
  return lines;
}

float prose_height(const TextStyle& style, std::size_t lines) {
  return static_cast<float>(lines) * style.em * FontStack::kLineHeight;
}

float draw_prose(Canvas& canvas, Point top_left, std::string_view text, const TextStyle& style, float width) {
  const auto lines = wrapped_lines(canvas, text, style, width);
  const float step = style.em * FontStack::kLineHeight;
  float y = top_left.y + step / 2;
  for (const std::string_view line : lines) {
    TextStyle s = style;
    s.valign = VAlign::middle;
    canvas.text({top_left.x, y}, line, s);
    y += step;
  }
  return static_cast<float>(lines.size()) * step;
}

}  // namespace roofscape::widgets
