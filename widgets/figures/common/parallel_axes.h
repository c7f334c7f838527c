// Things as lines over parallel axes: a vertical axis for each choice and number, a line for each thing. What they
// are is the figure's.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
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

// What the note says of the best lines in this theme: brighter or darker.
std::string shade_word(const FigureInput& input);
void draw_parallel_axes(Canvas& canvas, const Rect& area, const FigureInput& input, const ParallelAxes& lines);

}  // namespace roofscape::widgets
