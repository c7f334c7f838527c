#include "widgets/plot/build_up_canvas.h"

#include <algorithm>

namespace roofscape::widgets {

BuildUpCanvas::BuildUpCanvas(Canvas& on, BuildStep step)
    : Canvas(on.metrics(), on.em(), on.bounds()), on_(on), step_(step) {
  set_tagging(Tagging::none);
  set_frames(&drawn_);
}

void BuildUpCanvas::on_group(std::string_view id, int) {
  ++depth_;
  if (id == "axes" && !axes_) axes_ = depth_;
}

void BuildUpCanvas::on_group_end() {
  if (axes_ == depth_) axes_.reset();
  --depth_;
}

void BuildUpCanvas::on_text(Point anchor, std::string_view utf8, const TextStyle& style, const Rect&) {
  // Names of rows stand left of a plot, titles over it and under it; at its right and inside it are values.
  const Point at = text_bounds(anchor, utf8, style).centre();
  const bool beside = std::all_of(drawn_.begin(), drawn_.end(), [&](const DrawnFrame& frame) {
    return at.x < frame.plot.x || ((at.y < frame.plot.y || at.y > frame.plot.bottom()) && at.x < frame.plot.right());
  });
  if (shows(part(beside && !drawn_.empty() ? BuildStep::axes : BuildStep::all))) on_.text(anchor, utf8, style);
}

void BuildUpCanvas::on_line(std::span<const Point> points, const Stroke& stroke, bool arrow) {
  if (!shows(part(BuildStep::lines)) || points.empty()) return;
  if (arrow)
    on_.arrow(points.front(), points.back(), stroke);
  else
    on_.polyline(points, stroke);
}

void BuildUpCanvas::on_polygon(std::span<const Point> points, const Fill& fill) {
  if (shows(part(BuildStep::lines))) on_.polygon(points, fill);
}

void BuildUpCanvas::on_rect(const Rect& r, const Fill& fill, float radius) {
  if (shows(part(BuildStep::lines))) on_.rect(r, fill, radius);
}

void BuildUpCanvas::on_frame(const Rect& r, const Stroke& stroke, float radius) {
  if (shows(part(BuildStep::lines))) on_.frame(r, stroke, radius);
}

void BuildUpCanvas::on_marker(Point centre, Marker marker, float size, const Fill& fill) {
  if (shows(part(BuildStep::all))) on_.marker(centre, marker, size, fill);
}

}  // namespace roofscape::widgets
