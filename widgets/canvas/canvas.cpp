#include "widgets/canvas/canvas.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace roofscape::widgets {
namespace {

// Below these (in scale-1 pixels) a pattern would be noise.
constexpr float kHatchMinWidth = 5, kHatchMinHeight = 9;
constexpr float kMostEdge = 0.125f;  // of a width: an edge is never all there is of a block
constexpr float kMinArea = 1e-9f;

bool all_finite(std::span<const Point> points) {
  for (const Point& p : points)
    if (!is_finite(p)) return false;
  return true;
}

bool is_finite(const Rect& r) {
  return std::isfinite(r.x) && std::isfinite(r.y) && std::isfinite(r.w) && std::isfinite(r.h);
}

Rect box_of(std::span<const Point> points) {
  Point low = points[0], high = points[0];
  for (const Point& p : points) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y)};
  }
  return {low.x, low.y, high.x - low.x, high.y - low.y};
}

// Twice the signed area; positive is clockwise on screen, where y grows downwards.
float signed_area(std::span<const Point> p) {
  float sum = 0;
  for (std::size_t i = 0, j = p.size() - 1; i < p.size(); j = i++) sum += p[j].x * p[i].y - p[i].x * p[j].y;
  return sum;
}

// Narrows [t0, t1] of the line a + t d to the inside of a clockwise convex polygon; false if nothing is left.
bool cut_to_polygon(Point a, Point d, std::span<const Point> p, float& t0, float& t1) {
  for (std::size_t i = 0, j = p.size() - 1; i < p.size(); j = i++) {
    const Point e = p[i] - p[j];
    const float inside = e.x * (a.y - p[j].y) - e.y * (a.x - p[j].x);  // >= 0: inside this edge
    const float slope = e.x * d.y - e.y * d.x;
    if (std::abs(slope) < 1e-12f) {
      if (inside < 0) return false;
      continue;
    }
    const float t = -inside / slope;
    if (slope > 0)
      t0 = std::max(t0, t);
    else
      t1 = std::min(t1, t);
    if (t0 >= t1) return false;
  }
  return true;
}

bool cut_to_rect(Point a, Point d, const Rect& r, float& t0, float& t1) {
  const std::array<Point, 4> corners{Point{r.x, r.y}, {r.right(), r.y}, {r.right(), r.bottom()}, {r.x, r.bottom()}};
  return cut_to_polygon(a, d, corners, t0, t1);
}

bool inside_by(Point q, std::span<const Point> p, float margin) {
  for (std::size_t i = 0, j = p.size() - 1; i < p.size(); j = i++) {
    const Point e = p[i] - p[j];
    const float length = std::hypot(e.x, e.y);
    if (length > 0 && (e.x * (q.y - p[j].y) - e.y * (q.x - p[j].x)) / length < margin) return false;
  }
  return true;
}

float distance_to(Point p, const Rect& r) {
  const float dx = std::max({r.x - p.x, 0.0f, p.x - r.right()}), dy = std::max({r.y - p.y, 0.0f, p.y - r.bottom()});
  return std::hypot(dx, dy);
}

void rounded_corners(const Rect& r, float radius, std::vector<Point>& out) {
  constexpr int kSteps = 4;
  const float k = std::min({radius, r.w / 2, r.h / 2});
  const Point centres[] = {
      {r.right() - k, r.y + k}, {r.right() - k, r.bottom() - k}, {r.x + k, r.bottom() - k}, {r.x + k, r.y + k}};
  out.clear();
  for (int corner = 0; corner < 4; ++corner)
    for (int i = 0; i <= kSteps; ++i) {
      const float a =
          (static_cast<float>(corner - 1) + static_cast<float>(i) / kSteps) * (std::numbers::pi_v<float> / 2);
      out.push_back(centres[corner] + Point{std::cos(a), std::sin(a)} * k);
    }
}

bool draws(std::span<const Point> points, const Stroke& stroke) {
  return points.size() >= 2 && stroke.colour.visible() && stroke.width > 0 && all_finite(points);
}

}  // namespace

Canvas::Canvas(const FontStack& fonts, float em, const Rect& bounds) : fonts_(fonts), em_(em), bounds_(bounds) {
  clips_.push_back(bounds);
}

void Canvas::restart(float em, const Rect& bounds) {
  em_ = em;
  bounds_ = bounds;
  opacity_ = 1;
  clips_.assign(1, bounds);
  tags_.clear();
}

// Strokes
// ------------------------------------------------------------------------------------------------------------

void Canvas::line(Point from, Point to, const Stroke& stroke) {
  const std::array<Point, 2> points{from, to};
  polyline(points, stroke);
}

void Canvas::polyline(std::span<const Point> points, const Stroke& stroke) {
  if (draws(points, stroke)) on_line(points, stroke, false);
  stroke_points(points, false, stroke);
}

void Canvas::stroke_points(std::span<const Point> points, bool closed, const Stroke& stroke) {
  if (!draws(points, stroke)) return;
  float period = 0;
  for (std::size_t i = 0; i < stroke.dash.count; ++i) period += stroke.dash.lengths[i];
  if (!(period > 0)) {
    raw_stroke(points, closed, shade(stroke.colour), stroke.width);
    return;
  }
  float phase = 0;
  const std::size_t segments = closed ? points.size() : points.size() - 1;
  for (std::size_t i = 0; i < segments; ++i) {
    const Point a = points[i], b = points[(i + 1) % points.size()];
    dash_segment(a, b, stroke, period, phase);
  }
}

// Draws the dashes of one segment. Only the part inside the clip is walked: a curve zoomed a million times would have
// millions of dashes.
void Canvas::dash_segment(Point a, Point b, const Stroke& stroke, float period, float& phase) {
  const float length = distance(a, b);
  if (!(length > 0)) return;
  const Point d = (b - a) * (1 / length);
  const float start_phase = phase;
  phase = std::fmod(phase + length, period);
  float t0 = 0, t1 = length;
  if (!cut_to_rect(a, d, clip_rect().inset(-stroke.width), t0, t1)) return;
  // An odd pattern would swap its dashes and gaps each time round; patterns are written in pairs.
  const std::size_t count = stroke.dash.count;
  float t = t0 - std::fmod(start_phase + t0, period);  // start of the pattern that t0 falls in
  while (t < t1) {
    const float pattern = t;
    for (std::size_t i = 0; i < count && t < t1; ++i) {
      const float next = t + stroke.dash.lengths[i];
      if (i % 2 == 0 && next > t0) {
        const std::array<Point, 2> dash{a + d * std::max(t, t0), a + d * std::min(next, t1)};
        if (dash[0] != dash[1]) raw_stroke(dash, false, shade(stroke.colour), stroke.width);
      }
      t = next;
    }
    if (!(t > pattern)) return;  // dashes too small to advance at this magnitude
  }
}

void Canvas::arrow(Point from, Point to, const Stroke& stroke, float head) {
  const std::array<Point, 2> shaft{from, to};
  if (draws(shaft, stroke)) on_line(shaft, stroke, true);
  stroke_points(shaft, false, stroke);
  const float length = distance(from, to);
  if (!(length > 0)) return;
  const float size = std::min(head > 0 ? head : em_ / 2, length);
  const Point back = (from - to) * (size / length), side{-back.y * 0.5f, back.x * 0.5f};
  // The tip reaches half a line beyond `to` because of the mitre; the barbs are drawn as one stroke.
  const std::array<Point, 3> barbs{to + back + side, to, to + back - side};
  stroke_points(barbs, false, {stroke.colour, stroke.width, {}});
}

// Fills
// --------------------------------------------------------------------------------------------------------------

void Canvas::polygon(std::span<const Point> points, const Fill& fill) {
  if (fill_polygon(points, fill)) on_polygon(points, fill);
}

// Whether there was something to fill.
bool Canvas::fill_polygon(std::span<const Point> points, const Fill& fill) {
  if (points.size() < 3 || !all_finite(points)) return false;
  const Rect box = box_of(points);
  const float area = signed_area(points);
  if (!(std::abs(area) > kMinArea) || !box.intersects(clip_rect())) return false;
  std::vector<Point> turned;
  if (area < 0) {
    turned.assign(points.rbegin(), points.rend());
    points = turned;
  }
  if (fill.colour.visible()) raw_fill(points, shade(fill.colour));
  if (fill.hatch != Hatch::none) hatch_polygon(points, box, fill);
  if (fill.edge.visible() && fill.edge_width > 0) raw_stroke(points, true, shade(fill.edge), fill.edge_width);
  return true;
}

void Canvas::rect(const Rect& r, const Fill& fill, float radius) {
  if (!is_finite(r) || r.empty() || !r.intersects(clip_rect())) return;
  on_rect(r, fill, radius);
  std::array<Point, 4> corners{Point{r.x, r.y}, {r.right(), r.y}, {r.right(), r.bottom()}, {r.x, r.bottom()}};
  std::span<const Point> outline = corners;
  if (radius > 0) {
    rounded_corners(r, radius, scratch_);
    outline = scratch_;
  }
  if (fill.colour.visible()) raw_fill(outline, shade(fill.colour));
  if (fill.hatch != Hatch::none) hatch_polygon(outline, r, fill);
  if (fill.edge.visible() && fill.edge_width > 0)
    stroke_frame(r, {fill.edge, std::min({fill.edge_width, r.w * kMostEdge, r.h * kMostEdge}), {}}, radius);
}

void Canvas::frame(const Rect& r, const Stroke& stroke, float radius) {
  if (!is_finite(r) || r.empty() || !r.intersects(clip_rect())) return;
  on_frame(r, stroke, radius);
  stroke_frame(r, stroke, radius);
}

void Canvas::stroke_frame(const Rect& r, const Stroke& stroke, float radius) {
  const Rect in = r.inset(stroke.width / 2);
  if (radius > 0) {
    rounded_corners(in, std::max(radius - stroke.width / 2, 0.01f), scratch_);
    stroke_points(scratch_, true, stroke);
    return;
  }
  const std::array<Point, 4> corners{
      Point{in.x, in.y}, {in.right(), in.y}, {in.right(), in.bottom()}, {in.x, in.bottom()}};
  stroke_points(corners, true, stroke);
}

void Canvas::marker(Point c, Marker marker, float size, const Fill& fill) {
  if (!widgets::is_finite(c) || !std::isfinite(size) || !(size > 0)) return;
  constexpr float kPi = std::numbers::pi_v<float>;
  constexpr std::size_t kMost = 64;
  std::array<Point, kMost> outline;
  std::size_t n = 4;
  const float half = size * std::sqrt(kPi) / 4;  // half the side of the square with the area of the circle
  if (marker == Marker::square) {
    outline[0] = {c.x - half, c.y - half};
    outline[1] = {c.x + half, c.y - half};
    outline[2] = {c.x + half, c.y + half};
    outline[3] = {c.x - half, c.y + half};
  } else if (marker == Marker::diamond) {
    const float k = half * std::numbers::sqrt2_v<float>;
    outline[0] = {c.x, c.y - k};
    outline[1] = {c.x + k, c.y};
    outline[2] = {c.x, c.y + k};
    outline[3] = {c.x - k, c.y};
  } else {
    // Relative to the em so that all destinations have the same corners.
    const float relative = size / em_ * 15;
    n = static_cast<std::size_t>(std::clamp(8 + relative * 1.2f, 12.0f, static_cast<float>(kMost)));
    for (std::size_t i = 0; i < n; ++i) {
      const float a = 2 * kPi * static_cast<float>(i) / static_cast<float>(n);
      outline[i] = c + Point{std::cos(a), std::sin(a)} * (size / 2);
    }
  }
  if (fill_polygon(std::span<const Point>(outline.data(), n), fill)) on_marker(c, marker, size, fill);
}

void Canvas::hatch_polygon(std::span<const Point> points, const Rect& box, const Fill& fill) {
  const bool piece = !fill.hatch_area.empty();
  const Rect& whole = piece ? fill.hatch_area : box;
  if (!fill.hatch_ink.visible() || whole.w < px(kHatchMinWidth) || whole.h < px(kHatchMinHeight)) return;
  const HatchPlace place{box, {whole.x, whole.y}, piece};
  const float width = fill.hatch_width > 0 ? fill.hatch_width : px(1);
  const auto pitch = [&](float usual) { return std::max(fill.pitch > 0 ? fill.pitch : px(usual), px(0.5f)); };
  constexpr float kDiagonal = std::numbers::sqrt2_v<float> / 2;
  const Colour ink = fill.hatch_ink;
  switch (fill.hatch) {
    case Hatch::none:
      break;
    case Hatch::slash:
      hatch_lines(points, place, {kDiagonal, -kDiagonal}, pitch(5), ink, width);
      break;
    case Hatch::sparse_slash:
      hatch_lines(points, place, {kDiagonal, -kDiagonal}, pitch(7), ink, width);
      break;
    case Hatch::backslash:
      hatch_lines(points, place, {kDiagonal, kDiagonal}, pitch(5), ink, width);
      break;
    case Hatch::horizontal:
      hatch_lines(points, place, {1, 0}, pitch(5), ink, width);
      break;
    case Hatch::vertical:
      hatch_lines(points, place, {0, 1}, pitch(5), ink, width);
      break;
    case Hatch::cross:
      hatch_lines(points, place, {kDiagonal, -kDiagonal}, pitch(7), ink, width);
      hatch_lines(points, place, {kDiagonal, kDiagonal}, pitch(7), ink, width);
      break;
    case Hatch::dots:
      hatch_dots(points, place, pitch(5), ink, width * 1.4f);
      break;
  }
}

// Parallel lines at whole multiples of the pitch from the top left corner of the shape, or of the area it is a piece
// of, so that a block keeps its pattern when it moves. Only the part inside the clip is drawn.
void Canvas::hatch_lines(std::span<const Point> points, const HatchPlace& place, Point direction, float pitch,
                         Colour ink, float width) {
  const Rect& box = place.box;
  const Rect seen = intersection(box, clip_rect());
  if (seen.empty()) return;
  const Point normal{-direction.y, direction.x}, origin = place.origin;
  float low = std::numeric_limits<float>::max(), high = -low;
  for (const Point corner : {Point{seen.x, seen.y}, Point{seen.right(), seen.y}, Point{seen.right(), seen.bottom()},
                             Point{seen.x, seen.bottom()}}) {
    const Point v = corner - origin;
    const float n = v.x * normal.x + v.y * normal.y;
    low = std::min(low, n);
    high = std::max(high, n);
  }
  const bool whole = seen == box;
  const float reach = std::abs(box.x - origin.x) + box.w + std::abs(box.y - origin.y) + box.h;
  // A slanted line ends half its width early, or the corners of its square ends would stick out of the block; a
  // straight one keeps as far from the sides. Half a pitch in from the corner: a line on the edge itself would look
  // like a border.
  const bool slanted = direction.x != 0 && direction.y != 0;
  const float shorter = slanted && !place.piece ? width / 2 : 0, aside = slanted || place.piece ? 0 : width / 2;
  for (float k = std::ceil((low + aside) / pitch - 0.5f); (k + 0.5f) * pitch + aside < high; k += 1) {
    const Point at = origin + normal * ((k + 0.5f) * pitch);
    float t0 = -reach, t1 = reach;
    if (!cut_to_polygon(at, direction, points, t0, t1)) continue;
    t0 += shorter;
    t1 -= shorter;
    if (t0 >= t1 || (!whole && !cut_to_rect(at, direction, seen, t0, t1))) continue;
    const std::array<Point, 2> ends{at + direction * t0, at + direction * t1};
    raw_stroke(ends, false, shade(ink), width);
  }
}

// Staggered dots, each whole: a dot cut by the outline would read as a different mark.
void Canvas::hatch_dots(std::span<const Point> points, const HatchPlace& place, float pitch, Colour ink,
                        float width) {
  const Rect& box = place.box;
  const Point origin = place.origin;
  const Rect seen = intersection(box, clip_rect());
  if (seen.empty()) return;
  const float r = width / 2, first_row = std::max(0.0f, std::floor((seen.y - origin.y) / pitch) - 1);
  for (float row = first_row; origin.y + (row + 0.5f) * pitch < seen.bottom() + r; row += 1) {
    const float shift = std::fmod(row, 2.0f) > 0.5f ? 0.5f : 0.0f;
    const float first = std::max(0.0f, std::floor((seen.x - origin.x) / pitch) - 1);
    for (float column = first; origin.x + (column + 0.5f + shift) * pitch < seen.right() + r; column += 1) {
      const Point c{origin.x + (column + 0.5f + shift) * pitch, origin.y + (row + 0.5f) * pitch};
      if (!inside_by(c, points, r)) continue;
      constexpr float kBevel = 0.414f;  // an octagon
      const float b = r * kBevel;
      const std::array<Point, 8> dot{Point{c.x - b, c.y - r}, {c.x + b, c.y - r}, {c.x + r, c.y - b},
                                     {c.x + r, c.y + b},      {c.x + b, c.y + r}, {c.x - b, c.y + r},
                                     {c.x - r, c.y + b},      {c.x - r, c.y - b}};
      raw_fill(dot, shade(ink));
    }
  }
}

// Text
// ---------------------------------------------------------------------------------------------------------------

float Canvas::text_width(std::string_view utf8, const TextStyle& style) const {
  return fonts_.width(utf8, style.em > 0 ? style.em : em_, style.weight);
}

namespace {
float angle_of(const TextStyle& style) { return style.vertical ? -std::numbers::pi_v<float> / 2 : style.angle; }
}  // namespace

// Where the pen starts, in the coordinates of the anchor turned by the angle.
Point Canvas::baseline_of(Point anchor, float width, const TextStyle& style) const {
  const float em = style.em > 0 ? style.em : em_;
  Point shift;
  if (style.halign == HAlign::centre) shift.x = -width / 2;
  if (style.halign == HAlign::right) shift.x = -width;
  if (style.valign == VAlign::top) shift.y = fonts_.ascent(style.weight) * em;
  if (style.valign == VAlign::middle) shift.y = fonts_.cap_height(style.weight) / 2 * em;
  if (style.valign == VAlign::bottom) shift.y = -fonts_.descent(style.weight) * em;
  const float a = angle_of(style);
  if (a == 0) return anchor + shift;
  const float c = std::cos(a), s = std::sin(a);
  return anchor + Point{shift.x * c - shift.y * s, shift.x * s + shift.y * c};
}

Rect Canvas::text_bounds(Point anchor, std::string_view utf8, const TextStyle& style) const {
  const float em = style.em > 0 ? style.em : em_, width = text_width(utf8, style);
  const float up = fonts_.ascent(style.weight) * em, down = fonts_.descent(style.weight) * em;
  const Point pen = baseline_of(anchor, width, style);
  const float a = angle_of(style);
  if (a == 0) return {pen.x, pen.y - up, width, up + down};
  const Point along{std::cos(a), std::sin(a)}, below{-along.y, along.x};
  const std::array<Point, 4> corners{pen - below * up, pen + along * width - below * up,
                                     pen + along * width + below * down, pen + below * down};
  return box_of(corners);
}

void Canvas::text(Point anchor, std::string_view utf8, const TextStyle& style) {
  if (utf8.empty() || !widgets::is_finite(anchor) || !std::isfinite(style.angle)) return;
  const float em = style.em > 0 ? style.em : em_;
  const float width = style.halign == HAlign::left ? 0 : fonts_.width(utf8, em, style.weight);
  on_text(anchor, utf8, style, clip_rect());
  const Point pen = baseline_of(anchor, width, style);
  if (style.halo.visible()) raw_halo(pen, utf8, em, style.weight, shade(style.halo), angle_of(style), px(kHaloWidth));
  raw_text(pen, utf8, em, style.weight, shade(style.colour), angle_of(style));
}

// Clips and tags
// -----------------------------------------------------------------------------------------------------

Canvas::Clip Canvas::clip(const Rect& r) {
  const Rect inner = is_finite(r) ? intersection(r, clip_rect()) : clip_rect();
  clips_.push_back(inner);
  raw_push_clip(inner);
  return Clip(this);
}

void Canvas::pop_clip() {
  clips_.pop_back();
  raw_pop_clip();
}

void Canvas::set_pointer(Point pointer, float reach) {
  pointer_ = pointer;
  reach_ = reach;
}

bool Canvas::keeps_tag(const Rect& r) const {
  if (tagging_ == Tagging::none || !is_finite(r)) return false;
  if (tagging_ == Tagging::all) return true;
  return distance_to(pointer_, r) <= reach_ && distance_to(pointer_, clip_rect()) <= 0;
}

void Canvas::tag(std::string_view id, const Rect& r) { tag(id, -1, r); }

void Canvas::tag(std::string_view id, int index, const Rect& r, Readout readout) {
  if (keeps_tag(r)) add_tag(id, index, r, std::move(readout));
}

void Canvas::add_tag(std::string_view id, int index, const Rect& r, Readout readout) {
  // A region of no width (a dot, an empty bar) is kept: it still has a place. One outside the clip is not.
  const Rect cut = intersection(r, clip_rect());
  if (cut.empty() && !r.empty()) return;
  if (marked_ && !readout.title.empty() && marked_(id)) readout.title += mark_;
  tags_.push_back({std::string(id), index, cut, std::move(readout)});
  on_tag(tags_.back());
}

const TagRegion* Canvas::hit(Point p, float reach) const {
  const TagRegion* nearest = nullptr;
  float best = reach;
  for (auto it = tags_.rbegin(); it != tags_.rend(); ++it) {
    if (it->rect.contains(p)) return &*it;
    const float d = distance_to(p, it->rect);
    if (d <= best && (!nearest || d < best)) {
      nearest = &*it;
      best = d;
    }
  }
  return nearest;
}

}  // namespace roofscape::widgets
