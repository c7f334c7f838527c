// A canvas that writes down the verbs of a figure, one a line in the order in which they are called: a bar with the kind
// of its hatch, a line, a marker, a label with its anchor, a clip, a tag. Coordinates are rounded to 0.1; of a curve a
// few points are kept; the tag of a bar stands in its line. Goldens of figures are these lines: how a hatch or a dash is
// drawn has tests of its own.
#pragma once

#include <string>

#include "widgets/canvas/canvas.h"

namespace roofscape::widgets::testing {

class VerbCanvas final : public Canvas {
 public:
  VerbCanvas(const FontStack& fonts, float em, const Rect& bounds) : Canvas(fonts, em, bounds) {}

  const std::string& lines() const { return lines_; }

 private:
  void on_line(std::span<const Point> points, const Stroke& stroke, bool arrow) override;
  void on_polygon(std::span<const Point> points, const Fill& fill) override;
  void on_rect(const Rect& r, const Fill& fill, float radius) override;
  void on_frame(const Rect& r, const Stroke& stroke, float radius) override;
  void on_marker(Point centre, Marker marker, float size, const Fill& fill) override;
  void on_text(Point anchor, std::string_view utf8, const TextStyle& style, const Rect& clip) override;
  void on_tag(const TagRegion& tag) override;
  void raw_push_clip(const Rect& r) override;
  void raw_pop_clip() override;
  void raw_stroke(std::span<const Point>, bool, Colour, float) override {}
  void raw_fill(std::span<const Point>, Colour) override {}
  void raw_text(Point, std::string_view, float, Weight, Colour, float) override {}

  std::string lines_;
  std::string last_bar_;          // its rectangle
  std::size_t last_bar_end_ = 0;  // where its line ends in lines_
};

}  // namespace roofscape::widgets::testing
