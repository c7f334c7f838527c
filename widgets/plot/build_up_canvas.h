// BuildUpCanvas: a figure as a lecturer builds it up on the wall, part by part: its axes with the names beside them, then its
// lines and areas, then all of it. What belongs to a later part is left out; the rest goes to the canvas under it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "widgets/canvas/canvas.h"
#include "widgets/plot/plot.h"

namespace roofscape::widgets {

enum class BuildStep : std::uint8_t { axes, lines, all };

class BuildUpCanvas final : public Canvas {
 public:
  // `on` must outlive this.
  BuildUpCanvas(Canvas& on, BuildStep step);

 private:
  bool shows(BuildStep part) const { return part <= step_; }
  // Of what is drawn now, unless it is of the axes.
  BuildStep part(BuildStep own) const { return axes_ ? BuildStep::axes : own; }

  void on_group(std::string_view id, int index) override;
  void on_group_end() override;
  void on_text(Point anchor, std::string_view utf8, const TextStyle& style, const Rect& clip) override;
  void on_line(std::span<const Point> points, const Stroke& stroke, bool arrow) override;
  void on_polygon(std::span<const Point> points, const Fill& fill) override;
  void on_rect(const Rect& r, const Fill& fill, float radius) override;
  void on_frame(const Rect& r, const Stroke& stroke, float radius) override;
  void on_marker(Point centre, Marker marker, float size, const Fill& fill) override;
  void raw_stroke(std::span<const Point>, bool, Colour, float) override {}
  void raw_fill(std::span<const Point>, Colour) override {}
  void raw_text(Point, std::string_view, float, Weight, Colour, float) override {}
  void raw_push_clip(const Rect& r) override { clips_.push_back(on_.clip(r)); }
  void raw_pop_clip() override { clips_.pop_back(); }

  Canvas& on_;
  BuildStep step_;
  std::vector<DrawnFrame> drawn_;
  std::vector<Clip> clips_;
  int depth_ = 0;
  std::optional<int> axes_;  // at what depth the axes began that are being drawn
};

// Draws on `canvas` as far as the step.
template <class Draw>
void draw_up_to(BuildStep step, Canvas& canvas, const Draw& draw) {
  if (step == BuildStep::all) return draw(canvas);
  BuildUpCanvas part(canvas, step);
  draw(part);
}

}  // namespace roofscape::widgets
