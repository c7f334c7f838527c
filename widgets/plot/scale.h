// Scale: maps values to positions on an axis and back, linearly or by logarithm. Immutable: panning and zooming make
// new ones. The inverse is exact to rounding: value(position(v)) == v within a few units in the last place, and the
// ends of the domain map to the ends of the range exactly.
#pragma once

#include <cstdint>

namespace roofscape::widgets {

enum class ScaleKind : std::uint8_t { linear, log2, log10 };

class Scale {
 public:
  Scale() : Scale(ScaleKind::linear, 0, 1, 0, 1) {}
  // Values `from` to `to` onto positions `begin` to `end` (a y axis has begin below end on screen, so begin > end).
  // An unusable domain is repaired rather than refused: equal or non-finite ends are pulled apart, and a logarithmic
  // domain that reaches zero or below starts nine decades under its end.
  Scale(ScaleKind kind, double from, double to, double begin, double end);

  double position(double value) const;
  double value(double position) const;
  // As float, for drawing; clamped to +-1e6 so that a value off the axis stays drawable.
  float operator()(double value) const;

  ScaleKind kind() const { return kind_; }
  bool logarithmic() const { return kind_ != ScaleKind::linear; }
  double from() const { return from_; }
  double to() const { return to_; }
  double begin() const { return begin_; }
  double end() const { return end_; }
  bool contains(double value) const;

  // The same axis after moving by `delta` positions, or zooming by `factor` (over 1: closer) about a position.
  Scale zoomed(double about_position, double factor) const;
  Scale with_range(double begin, double end) const { return {kind_, from_, to_, begin, end}; }

 private:
  double transform(double value) const;
  double untransform(double t) const;

  ScaleKind kind_;
  double from_, to_, begin_, end_;
  double t_from_, t_to_;  // the ends after the logarithm
};

// The domain widened to round numbers: to 1-2-5 steps on a linear axis, to whole powers on a logarithmic one.
Scale rounded(const Scale& scale, int about_ticks = 5);

}  // namespace roofscape::widgets
