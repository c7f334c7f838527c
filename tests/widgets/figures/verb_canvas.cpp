#include "tests/widgets/figures/verb_canvas.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace roofscape::widgets::testing {
namespace {

constexpr std::size_t kMostPoints = 12;  // of a line; of a longer one as many, evenly over it

// Without a minus before zero.
std::string number(float v) {
  const double r = std::round(static_cast<double>(v) * 10) / 10;
  return fmt::format("{:.10g}", r == 0 ? 0.0 : r);
}

std::string colour_text(Colour c) { return c.a == 255 ? to_hex(c) : fmt::format("{}{:02X}", to_hex(c), c.a); }

std::string rect_text(const Rect& r) {
  return fmt::format("{} {} {} {}", number(r.x), number(r.y), number(r.w), number(r.h));
}

std::string radius_text(float radius) { return radius > 0 ? fmt::format(" radius {}", number(radius)) : ""; }

std::string points_text(std::span<const Point> points) {
  std::string out = points.size() > kMostPoints ? fmt::format(" of {}", points.size()) : "";
  const std::size_t shown = std::min(points.size(), kMostPoints);
  for (std::size_t i = 0; i < shown; ++i) {
    const Point& p = points[shown == points.size() ? i : i * (points.size() - 1) / (shown - 1)];
    out += fmt::format(" {},{}", number(p.x), number(p.y));
  }
  return out;
}

std::string stroke_text(const Stroke& s) {
  std::string out = fmt::format("{} {}", colour_text(s.colour), number(s.width));
  for (std::size_t i = 0; i < s.dash.count; ++i)
    out += fmt::format("{}{}", i == 0 ? " dash " : "-", number(s.dash.lengths[i]));
  return out;
}

std::string fill_text(const Fill& f) {
  constexpr std::array<std::string_view, 8> kHatches{"none",     "slash", "backslash", "horizontal",
                                                     "vertical", "cross", "dots",      "sparse_slash"};
  std::string out = f.colour.visible() ? colour_text(f.colour) : "no-colour";
  if (f.hatch != Hatch::none)
    out += fmt::format(" {} {}", kHatches[static_cast<std::size_t>(f.hatch)], colour_text(f.hatch_ink));
  if (f.edge.visible() && f.edge_width > 0) out += fmt::format(" edge {}", colour_text(f.edge));
  return out;
}

}  // namespace

void VerbCanvas::on_line(std::span<const Point> points, const Stroke& stroke, bool arrow) {
  lines_ += fmt::format("{} {}{}\n", arrow ? "arrow" : "line", stroke_text(stroke), points_text(points));
}

void VerbCanvas::on_polygon(std::span<const Point> points, const Fill& fill) {
  lines_ += fmt::format("polygon {}{}\n", fill_text(fill), points_text(points));
}

void VerbCanvas::on_rect(const Rect& r, const Fill& fill, float radius) {
  last_bar_ = rect_text(r);
  lines_ += fmt::format("bar {} {}{}", fill_text(fill), last_bar_, radius_text(radius));
  last_bar_end_ = lines_.size();
  lines_ += "\n";
}

void VerbCanvas::on_frame(const Rect& r, const Stroke& stroke, float radius) {
  lines_ += fmt::format("frame {} {}{}\n", stroke_text(stroke), rect_text(r), radius_text(radius));
}

void VerbCanvas::on_marker(Point centre, Marker marker, float size, const Fill& fill) {
  constexpr std::array<std::string_view, 3> kMarkers{"circle", "diamond", "square"};
  lines_ += fmt::format("{} {} {} {},{}\n", kMarkers[static_cast<std::size_t>(marker)], number(size), fill_text(fill),
                        number(centre.x), number(centre.y));
}

void VerbCanvas::on_text(Point anchor, std::string_view utf8, const TextStyle& style, const Rect&) {
  constexpr std::array<std::string_view, 3> kAcross{"left", "centre", "right"};
  constexpr std::array<std::string_view, 4> kDown{"baseline", "top", "middle", "bottom"};
  std::string turned;
  if (style.vertical) turned = " upwards";
  if (style.angle != 0) turned = fmt::format(" at {}", number(style.angle));
  if (style.halo.visible()) turned += fmt::format(" halo {}", colour_text(style.halo));
  lines_ += fmt::format(
      "label {} {}{} {} {}{} {},{} \"{}\"\n", colour_text(style.colour), number(style.em > 0 ? style.em : em()),
      style.weight == Weight::bold ? " bold" : "", kAcross[static_cast<std::size_t>(style.halign)],
      kDown[static_cast<std::size_t>(style.valign)], turned, number(anchor.x), number(anchor.y), utf8);
}

void VerbCanvas::on_tag(const TagRegion& tag) {
  const std::string name = fmt::format("tag {}{}", tag.id, tag.index >= 0 ? fmt::format("[{}]", tag.index) : "");
  const std::string place = rect_text(tag.rect);
  if (place == last_bar_) {
    lines_.insert(last_bar_end_, " " + name);
    last_bar_end_ += name.size() + 1;
  } else {
    lines_ += fmt::format("{} {}\n", name, place);
  }
}

void VerbCanvas::raw_push_clip(const Rect& r) { lines_ += fmt::format("clip {}\n", rect_text(r)); }

void VerbCanvas::raw_pop_clip() { lines_ += "end\n"; }

}  // namespace roofscape::widgets::testing
