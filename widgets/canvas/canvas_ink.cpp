#include "widgets/canvas/canvas_ink.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace roofscape::widgets {

void InkCanvas::reach(std::span<const Point> points, float beyond) {
  const Rect& clip = clip_rect();
  for (const Point& p : points) {
    const float left = confined(p.x - beyond, clip.x, clip.right()),
                right = confined(p.x + beyond, clip.x, clip.right());
    const float top = confined(p.y - beyond, clip.y, clip.bottom()),
                bottom = confined(p.y + beyond, clip.y, clip.bottom());
    ink_ = ink_ ? rect_between(std::min(ink_->x, left), std::min(ink_->y, top), std::max(ink_->right(), right),
                               std::max(ink_->bottom(), bottom))
                : rect_between(left, top, right, bottom);
  }
}

void InkCanvas::raw_stroke(std::span<const Point> points, bool, Colour, float width) { reach(points, width / 2); }

void InkCanvas::raw_fill(std::span<const Point> points, Colour) { reach(points, 0); }

void InkCanvas::raw_text(Point at, std::string_view utf8, float em, Weight weight, Colour, float angle) {
  const Point along{std::cos(angle), std::sin(angle)}, down{-along.y, along.x};
  const float width = metrics().width(utf8, em, weight), up = metrics().cap_height(weight) * em,
              below = metrics().descent(weight) * em;
  const Point end = at + along * width;
  const std::array<Point, 4> box{at - down * up, end - down * up, end + down * below, at + down * below};
  reach(box, 0);
}

}  // namespace roofscape::widgets
