// InkCanvas: draws nothing and knows how far the ink of a drawing reaches, so that a file can end at a stated margin
// around it.
#pragma once

#include <optional>

#include "widgets/canvas/canvas.h"

namespace roofscape::widgets {

class InkCanvas final : public Canvas {
 public:
  InkCanvas(const FontStack& fonts, float em, const Rect& bounds) : Canvas(fonts, em, bounds) {
    set_tagging(Tagging::none);
  }
  // Of all that is visible, cut to its clips; of a text from the capitals' height to the descent. Nothing: no ink.
  const std::optional<Rect>& ink() const { return ink_; }

 private:
  void raw_stroke(std::span<const Point> points, bool closed, Colour colour, float width) override;
  void raw_fill(std::span<const Point> points, Colour colour) override;
  void raw_text(Point baseline, std::string_view utf8, float em, Weight weight, Colour colour, float angle) override;
  void raw_push_clip(const Rect&) override {}
  void raw_pop_clip() override {}
  void reach(std::span<const Point> points, float beyond);

  std::optional<Rect> ink_;
};

}  // namespace roofscape::widgets
