// Points and rectangles of figures: x grows to the right, y grows downwards. The unit is that of the destination:
// pixels on the screen, points (1/72 inch) in exported files.
#pragma once

#include <algorithm>
#include <cmath>

namespace roofscape::widgets {

struct Point {
  float x = 0, y = 0;
  friend constexpr bool operator==(const Point&, const Point&) = default;
  friend constexpr Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y}; }
  friend constexpr Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y}; }
  friend constexpr Point operator*(Point a, float k) { return {a.x * k, a.y * k}; }
};

// `v`, moved between `low` and `high`; `low` where there is no room between them, which std::clamp leaves undefined.
template <class T>
constexpr T confined(T v, T low, T high) {
  return std::max(low, std::min(v, high));
}

inline float distance(Point a, Point b) { return std::hypot(a.x - b.x, a.y - b.y); }
inline bool is_finite(Point p) { return std::isfinite(p.x) && std::isfinite(p.y); }

struct Rect {
  float x = 0, y = 0, w = 0, h = 0;
  friend constexpr bool operator==(const Rect&, const Rect&) = default;

  constexpr float right() const { return x + w; }
  constexpr float bottom() const { return y + h; }
  constexpr Point centre() const { return {x + w / 2, y + h / 2}; }
  constexpr bool empty() const { return !(w > 0 && h > 0); }
  // Left and top edges belong to it, right and bottom do not, so that neighbours never both contain a point.
  constexpr bool contains(Point p) const { return p.x >= x && p.x < right() && p.y >= y && p.y < bottom(); }
  constexpr bool intersects(const Rect& o) const {
    return x < o.right() && o.x < right() && y < o.bottom() && o.y < bottom();
  }
  // Smaller by `d` on every side (larger if negative); never of negative size.
  constexpr Rect inset(float d) const { return inset(d, d); }
  constexpr Rect inset(float dx, float dy) const {
    return {x + dx, y + dy, std::max(0.0f, w - 2 * dx), std::max(0.0f, h - 2 * dy)};
  }
  constexpr Rect moved(float dx, float dy) const { return {x + dx, y + dy, w, h}; }

  // Cuts a strip off one side: the strip is returned and this rectangle shrinks.
  constexpr Rect cut_top(float d) {
    d = std::min(d, h);
    Rect s{x, y, w, d};
    y += d;
    h -= d;
    return s;
  }
  constexpr Rect cut_bottom(float d) {
    d = std::min(d, h);
    h -= d;
    return {x, y + h, w, d};
  }
  constexpr Rect cut_left(float d) {
    d = std::min(d, w);
    Rect s{x, y, d, h};
    x += d;
    w -= d;
    return s;
  }
  constexpr Rect cut_right(float d) {
    d = std::min(d, w);
    w -= d;
    return {x + w, y, d, h};
  }
};

constexpr Rect rect_between(float left, float top, float right, float bottom) {
  return {left, top, right - left, bottom - top};
}

// The common part; of zero size where they do not meet.
constexpr Rect intersection(const Rect& a, const Rect& b) {
  const float l = std::max(a.x, b.x), t = std::max(a.y, b.y);
  return {l, t, std::max(0.0f, std::min(a.right(), b.right()) - l),
          std::max(0.0f, std::min(a.bottom(), b.bottom()) - t)};
}

}  // namespace roofscape::widgets
