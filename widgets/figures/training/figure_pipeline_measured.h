// Lanes of a measured run under the simulated ones of the pipeline figure: what each traced rank did in a step, its
// optimizer where that of the plan begins. A run of which only the step's length is known is one outline.
#pragma once

#include <vector>

#include "widgets/figures/common/figure.h"
#include "widgets/figures/training/figure_pipeline_parts.h"
#include "widgets/plot/scale.h"

namespace roofscape::widgets::gantt {

// What there is room for, and where it stands on the plan's time.
struct MeasuredPlace {
  float height = 0;                // of all of it; 0: there is nothing to draw
  float pitch = 0, key = 0;        // of a lane; the height of the key over them
  std::vector<std::size_t> lanes;  // of the run, those that are drawn
  double from_s = 0, to_s = 0;     // the earliest beginning, at most 0, and the latest end
};
MeasuredPlace place_measured(const Canvas& canvas, const FigureInput& input, const Rect& room);

// In `area`, whose left and right are those of `x` in `unit`.
void draw_measured(Canvas& canvas, const FigureInput& input, const MeasuredPlace& place, const Rect& area,
                   const Scale& x, const TimeUnit& unit);

}  // namespace roofscape::widgets::gantt
