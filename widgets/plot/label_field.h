// LabelField: where labels may stand. It knows the room and what is taken (marks, lines, other labels), and gives a
// new label the first of the places its figure would like that covers nothing. Figures try the telling labels first;
// what finds no place is left to the readout.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "widgets/canvas/canvas.h"

namespace roofscape::widgets {

struct Size {
  float w = 0, h = 0;
};

class LabelField {
 public:
  explicit LabelField(const Rect& room) : room_(room) {}

  void take(const Rect& r) { taken_.push_back(r); }
  // As taken, and a mark that a label beside it would seem to name.
  void take_mark(const Rect& r) { take(r), marks_.push_back(r); }
  // What a line covers, in boxes along it.
  void take_line(Point from, Point to, float width);
  bool is_free(const Rect& r) const;
  // The first of the corners (top left) where a label of this size covers nothing, which is then taken.
  std::optional<Rect> place(Size size, std::span<const Point> corners);
  // Around a mark: to its right, its left, above, below, then the four corners between.
  std::optional<Rect> place_around(const Rect& mark, Size size, float gap);
  // Of those the first that is well nearer to this mark than to any other.
  std::optional<Rect> place_naming(const Rect& mark, Size size, float gap);
  const Rect& room() const { return room_; }

 private:
  Rect room_;
  std::vector<Rect> taken_, marks_;
};

// Lines of text as one label, a block `kLabelLine` em of its text a line.
struct LabelLine {
  std::string text;
  TextStyle style;
};
inline constexpr float kLabelLine = 1.3f;
Size label_size(const Canvas& canvas, std::span<const LabelLine> lines);
void draw_label(Canvas& canvas, const Rect& place, std::span<const LabelLine> lines, HAlign align = HAlign::left);

}  // namespace roofscape::widgets
