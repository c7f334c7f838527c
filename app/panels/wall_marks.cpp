#include "app/panels/wall_marks.h"

#include <algorithm>
#include <cmath>

namespace roofscape::app {

using namespace widgets;

namespace {

constexpr double kInkStays_s = 1.5, kInkFades_s = 0.4;                               // after the last of it was drawn
constexpr float kInkWidth = 0.16f, kPointer = 0.45f, kSpot = 5, kLeastStep = 0.15f;  // em
constexpr int kSpotSides = 720;

void follow(PanelContext& ctx, const Rect& window, std::vector<WallMarks::Stroke>& strokes) {
  const Point at = ctx.ui.io.pointer();
  if (!ctx.ui.io.input().down[0] || !window.contains(at)) return;
  const Point share{(at.x - window.x) / window.w, (at.y - window.y) / window.h};
  if (ctx.ui.io.pressed_now() || strokes.empty()) strokes.push_back({share});
  WallMarks::Stroke& stroke = strokes.back();
  const float dx = (share.x - stroke.back().x) * window.w, dy = (share.y - stroke.back().y) * window.h;
  if (std::hypot(dx, dy) > kLeastStep * ctx.ui.em()) stroke.push_back(share);
}

void draw(PanelContext& ctx, const Rect& window, const std::vector<WallMarks::Stroke>& strokes, Colour colour) {
  const float width = kInkWidth * ctx.ui.em();
  for (const WallMarks::Stroke& stroke : strokes) {
    std::vector<Point> points;
    for (const Point& p : stroke) points.push_back({window.x + p.x * window.w, window.y + p.y * window.h});
    if (points.size() == 1)
      ctx.ui.canvas.marker(points[0], Marker::circle, 1.5f * width, {.colour = colour});
    else
      ctx.ui.canvas.polyline(points, {colour, width, {}});
  }
}

// All but a circle about the pointer is dimmed: one ring, wide enough to reach past the window from anywhere in it. Its ends
// meet at a slight angle, the slighter the more sides it has.
void draw_spotlight(PanelContext& ctx, const Rect& window, Point at) {
  const float width = 2 * (window.w + window.h), radius = kSpot * ctx.ui.em() + width / 2;
  const auto clip = ctx.ui.canvas.clip(window);
  std::vector<Point> ring;
  for (int side = 0; side <= kSpotSides; ++side) {
    const float angle = 6.2831853f * static_cast<float>(side) / kSpotSides;
    ring.push_back({at.x + radius * std::cos(angle), at.y + radius * std::sin(angle)});
  }
  ctx.ui.canvas.polyline(ring, {faded(ctx.ui.theme.win, 0.75f), width, {}});
}

}  // namespace

void wall_marks(PanelContext& ctx, const Rect& window, WallMarks& marks) {
  if (!marks.any()) return;
  const double now = ctx.ui.io.input().now_s;
  const Colour colour = ctx.ui.theme.stroke(Hue::vermilion);
  if (marks.draws()) {
    follow(ctx, window, marks.tool == WallMarks::Tool::ink ? marks.ink : marks.pen);
    ctx.ui.io.set_cursor(Cursor::arrow);
  }
  if (ctx.ui.io.input().down[0] && marks.tool == WallMarks::Tool::ink) marks.drawn_s = now;
  if (!marks.ink.empty()) {
    const double left = marks.drawn_s + kInkStays_s + kInkFades_s - now;
    if (left <= 0) {
      marks.ink.clear();
    } else {
      const float alpha = static_cast<float>(std::min(1.0, left / kInkFades_s));
      draw(ctx, window, marks.ink, faded(colour, alpha));
      ctx.ui.io.wake_after(left > kInkFades_s ? left - kInkFades_s : 0);
    }
  }
  draw(ctx, window, marks.pen, colour);
  const Point at = ctx.ui.io.pointer();
  if (!window.contains(at)) return;
  if (marks.tool == WallMarks::Tool::spotlight) draw_spotlight(ctx, window, at);
  if (marks.tool == WallMarks::Tool::pointer) {
    ctx.ui.canvas.marker(at, Marker::circle, kPointer * ctx.ui.em(), {.colour = colour});
    ctx.ui.canvas.marker(at, Marker::circle, 2.4f * kPointer * ctx.ui.em(), {.colour = faded(colour, 0.3f)});
  }
}

}  // namespace roofscape::app
