// Things as lines over parallel axes: a vertical axis for each choice and number, a line for each thing. What they
// are is the figure's.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "widgets/figures/common/figure.h"

namespace roofscape::widgets {

struct ParallelAxis {
  std::string name;
  std::function<std::string(double)> words;
  bool logarithmic = false;
  bool continuous = false;  // its ends and round values between them are named
};

struct ParallelLine {
  std::size_t index = 0;       // of its tag
  std::vector<double> values;  // one for each axis
};

struct ParallelAxes {
  std::vector<ParallelAxis> axes;
  std::vector<ParallelLine> faint, bright;  // bright: best last, so that it lies on top
  std::optional<ParallelLine> present, hovered;
  std::size_t colour_axis = 0;  // what lines are coloured by
  bool low_is_best = true;      // of it; the best stands out most
  std::string tag;
  std::function<Readout(std::size_t index)> readout;
  std::string note;  // at the foot
};

// What the lines are: "Bold: the 10 best, the darker the faster; thickest: now; thin: 240 that fit." `best` is the key of
// what is said of the best, of their number and whether they are brighter or darker in this theme; nothing where there
// are none.
std::string lines_note(const FigureInput& input, const ParallelAxes& lines, std::string_view best,
                       std::string others);
// In an area too narrow for axes side by side they are rows, if there is the height for all: what that takes; 0: it is
// wide enough.
float parallel_axes_height(const Canvas& canvas, float width, const FigureInput& input, const ParallelAxes& lines);
void draw_parallel_axes(Canvas& canvas, const Rect& area, const FigureInput& input, const ParallelAxes& lines);

}  // namespace roofscape::widgets
