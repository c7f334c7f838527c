// What the two layouts of the memory figure (one stage, several) share: values in GB, looks, words and readouts.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "widgets/canvas/palette.h"
#include "widgets/figures/common/figure.h"
#include "widgets/plot/plot.h"
#include "widgets/plot/scale.h"

namespace roofscape::widgets::memory {

inline constexpr double kGb = 1e9;

struct Part {
  std::size_t index = 0;  // in engine::kMemoryParts
  MemoryPart look = MemoryPart::weights;
  engine::Q quantity = engine::Q::memory_weights;
};
// In the order of engine::kMemoryParts.
const std::vector<Part>& parts();

struct Sizes {
  double capacity_gb = 0;  // 0: not known
  double most_gb = 0;      // of the fullest stage
  double ghost_gb = 0;     // of the baseline's fullest stage; 0: there is no baseline
  double measured_gb = 0;  // the most that a measured run reserved or allocated; 0: none says
  int fullest = 0;
  int decimals = 1;  // of every total
  bool over(double gb) const { return capacity_gb > 0 && gb > capacity_gb; }
};
Sizes sizes_of(const FigureInput& input);
inline double total_gb(const engine::StageRow& row) { return row.memory_total_bytes / kGb; }

std::string part_name(const FigureInput& input, const Part& part);
std::string bytes_text(double bytes);
std::string capacity_text(double bytes);  // as given: 80 GB, not 80.0 GB
// The same, and where it is not the data sheet's number that one too: "85.5 GB (sold as 80 GB)".
std::string capacity_words(const TextTable& texts, const engine::Chip& chip, double bytes);
PlotAxis gb_axis(const FigureInput& input, const Scale& scale, float width, const Canvas& canvas);
// The end of the axis, so that the capacity with its label and every bar with its total have their room in `width`.
double axis_end(const Canvas& canvas, const FigureInput& input, float width, float total_label_width);

// One stacked bar with its tags: parts up to the capacity, the excess past it in its own look.
void draw_stack(Canvas& canvas, const FigureInput& input, const Rect& bar, const Scale& x, int stage, bool hatches);
// The solid line with its label above `top`. Returns the rectangle of the label; empty where there is no capacity.
Rect draw_capacity(Canvas& canvas, const FigureInput& input, const Scale& x, float label_middle, float top,
                   float bottom);
Rect capacity_label(const Canvas& canvas, const FigureInput& input, const Scale& x, float label_middle);

// A dashed line of the baseline through these points, legible over fills and ground; and what it says.
void draw_ghost_line(Canvas& canvas, const Theme& theme, std::span<const Point> points, bool closed = false);
Readout ghost_readout(const FigureInput& input, double gb);

// What a measured run held: its own bar under those of the stages, below a line that says how much. No height without
// a run that says.
float measured_height(const Canvas& canvas, const FigureInput& input);
void draw_measured_bytes(Canvas& canvas, const FigureInput& input, const Rect& area, const Scale& x);

Readout part_readout(const FigureInput& input, int stage, const Part& part);

// The layout for a single stage.
void draw_single(Canvas& canvas, Rect area, const FigureInput& input, const FigureView& view);

}  // namespace roofscape::widgets::memory
