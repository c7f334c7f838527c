#include "widgets/plot/label_field.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace roofscape::widgets {
namespace {

// To its right, its left, above, below, then the corners between.
std::array<Point, 8> corners_around(const Rect& mark, Size size, float gap) {
  const float left = mark.x - gap - size.w, right = mark.right() + gap, above = mark.y - gap - size.h,
              below = mark.bottom() + gap;
  const float x = mark.centre().x - size.w / 2, y = mark.centre().y - size.h / 2;
  return {Point{right, y}, {left, y},     {x, above},     {x, below},
          {right, above},  {left, above}, {right, below}, {left, below}};
}

float distance(const Rect& a, const Rect& b) {
  const float across = std::max({a.x - b.right(), b.x - a.right(), 0.0f});
  const float along = std::max({a.y - b.bottom(), b.y - a.bottom(), 0.0f});
  return std::hypot(across, along);
}

}  // namespace

void LabelField::take_line(Point from, Point to, float width) {
  const Point run = to - from;
  const bool straight = std::abs(run.x) < width || std::abs(run.y) < width;
  const float length = std::hypot(run.x, run.y);
  const int pieces = straight ? 1 : std::clamp(static_cast<int>(length / std::max(width * 2, 4.0f)), 1, 64);
  for (int i = 0; i < pieces; ++i) {
    const Point a = from + run * (static_cast<float>(i) / static_cast<float>(pieces));
    const Point b = from + run * (static_cast<float>(i + 1) / static_cast<float>(pieces));
    taken_.push_back(rect_between(std::min(a.x, b.x) - width / 2, std::min(a.y, b.y) - width / 2,
                                  std::max(a.x, b.x) + width / 2, std::max(a.y, b.y) + width / 2));
  }
}

bool LabelField::is_free(const Rect& r) const {
  if (r.x < room_.x || r.y < room_.y || r.right() > room_.right() || r.bottom() > room_.bottom()) return false;
  return std::none_of(taken_.begin(), taken_.end(), [&](const Rect& t) { return t.intersects(r); });
}

std::optional<Rect> LabelField::place(Size size, std::span<const Point> corners) {
  for (const Point& corner : corners) {
    const Rect r{corner.x, corner.y, size.w, size.h};
    if (!is_free(r)) continue;
    take(r);
    return r;
  }
  return std::nullopt;
}

std::optional<Rect> LabelField::place_around(const Rect& mark, Size size, float gap) {
  return place(size, corners_around(mark, size, gap));
}

std::optional<Rect> LabelField::place_naming(const Rect& mark, Size size, float gap) {
  constexpr float kNearer = 3;  // times; at a corner the label's own mark is 1.4 gaps away
  std::vector<Point> corners;
  for (const Point& corner : corners_around(mark, size, gap)) {
    const Rect label{corner.x, corner.y, size.w, size.h};
    const bool names = std::none_of(marks_.begin(), marks_.end(), [&](const Rect& other) {
      return !(other == mark) && distance(label, other) < kNearer * gap;
    });
    if (names) corners.push_back(corner);
  }
  return place(size, corners);
}

Size label_size(const Canvas& canvas, std::span<const LabelLine> lines) {
  Size size;
  for (const LabelLine& line : lines) {
    size.w = std::max(size.w, canvas.text_width(line.text, line.style));
    size.h += kLabelLine * (line.style.em > 0 ? line.style.em : canvas.em());
  }
  return size;
}

void draw_label(Canvas& canvas, const Rect& place, std::span<const LabelLine> lines, HAlign align) {
  float y = place.y;
  for (const LabelLine& line : lines) {
    TextStyle style = line.style;
    style.halign = align;
    style.valign = VAlign::middle;
    const float pitch = kLabelLine * (style.em > 0 ? style.em : canvas.em());
    const float x = align == HAlign::left ? place.x : align == HAlign::right ? place.right() : place.centre().x;
    canvas.text({x, y + pitch / 2}, line.text, style);
    y += pitch;
  }
}

}  // namespace roofscape::widgets
