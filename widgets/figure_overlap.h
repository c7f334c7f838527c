// The overlap figure: the compute and communication streams of three layers, forward and backward, and what of the
// communication is exposed. Option `strategy`: the plan's own, or a plain one on the same chips.
#pragma once

#include "engine/studies/layer_overlap.h"
#include "widgets/figure.h"

namespace roofscape::widgets {

void draw_overlap(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view);
FigureHead overlap_head(const FigureInput& input, const FigureView& view);
std::string overlap_data(const FigureInput& input, const FigureView& view);

inline constexpr std::array kOverlapOptions{FigureOption{"strategy", engine::kStrategyIds}};

}  // namespace roofscape::widgets
