// What the two pictures of the topology figure share: the axes of the mesh as rows with their words.
#pragma once

#include <string>
#include <vector>

#include "widgets/canvas/palette.h"
#include "widgets/figures/common/figure.h"

namespace roofscape::widgets::topology {

inline constexpr float kColumnGap = 14;  // of the table of rows

struct AxisRow {
  const engine::AxisPlacement* placement = nullptr;
  StepPart look = StepPart::data;
  std::string name;   // "fsdp 1024"
  std::string links;  // "2 torus axes", "fabric, 128 nodes"
  std::string rate;   // "360 GB/s", or that nothing moves
};
// Axes of more than one rank, the nearest ranks first: tensor, expert, context, fsdp, data, pipeline.
std::vector<AxisRow> axis_rows(const FigureInput& input);

// The id the engine explains an axis's bandwidth under.
std::string tag_of(const AxisRow& row);
Readout readout_of(const FigureInput& input, const AxisRow& row);

void draw_torus(Canvas& canvas, const Rect& area, const FigureInput& input, const std::vector<AxisRow>& rows);
void draw_switched(Canvas& canvas, const Rect& area, const FigureInput& input, const std::vector<AxisRow>& rows);

}  // namespace roofscape::widgets::topology
