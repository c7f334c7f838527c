// What both layouts of lines over parallel axes share: axes with what occurs on them, their order, the shades of the best
// lines. In one the axes stand side by side (parallel_axes.cpp); where that is too narrow and there is the height, each
// is a row and lines run downwards (parallel_rows.cpp).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "widgets/canvas/palette.h"
#include "widgets/figures/common/parallel_axes.h"

namespace roofscape::widgets::parallel {

// An axis with what occurs on it.
struct Scaled {
  const ParallelAxis* axis = nullptr;
  std::size_t at = 0;          // of a line's values
  std::vector<double> values;  // that occur, ascending; of a continuous one its ends
  // What is marked between the ends.
  std::vector<double> levels() const;
  // From 0 to 1.
  double place(double v) const;
  double place_of(const ParallelLine& l) const;
};
// In the order in which they are drawn: what decides most stands next to what it decides.
std::vector<Scaled> ordered_axes(const ParallelAxes& p);

// "20 GB" of "20.0 GB": of round values.
std::string round_words(std::string words);

// Colours of the best lines. The shades run over them alone: on the scale of all lines they would be one.
class BestShades {
 public:
  BestShades(const Theme& theme, const ParallelAxes& p, const std::vector<Scaled>& axes);
  Colour operator()(const ParallelLine& l) const;

 private:
  LineShades shades_;
  Scaled by_;
  bool low_is_best_;
  double lowest_ = 1, highest_ = 0;  // of the best, as places on their axis
};

// Widths of strokes.
float faint_width(const Canvas& canvas, const Theme& theme);
float bold_width(const Canvas& canvas, const Theme& theme, const ParallelLine& l);  // the very best is thicker
// Of ink: how strong a piece that `n` of the others share is, of `pieces` between two axes.
float faint_ink(int n, std::size_t pieces);

// The axes as rows, with what their lines end at and the note. The height that they take at least on an area this wide;
// whether the area has it: if not, nothing is drawn.
float rows_height(const Canvas& canvas, float width, const FigureInput& input, const ParallelAxes& p);
bool draw_rows(Canvas& canvas, const Rect& area, const FigureInput& input, const ParallelAxes& p,
               const std::vector<Scaled>& axes);

}  // namespace roofscape::widgets::parallel
