// The compare figure of plans that serve: time to first token, time per token and memory of a chip, each with both
// plans under one another on one axis, part by part.
#pragma once

#include <string>

#include "widgets/figures/common/figure.h"
#include "widgets/figures/common/figure_head.h"

namespace roofscape::widgets {

// Whether both plans decode, which is what there is to compare.
bool compares_serving(const FigureInput&);
// Into a head that has its title and context.
void say_serving_comparison(const FigureInput&, FigureHead&);
void draw_serving_comparison(Canvas&, Rect, const FigureInput&, const FigureView&);
std::string serving_comparison_data(const FigureInput&);

}  // namespace roofscape::widgets
