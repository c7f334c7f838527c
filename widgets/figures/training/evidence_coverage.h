// The coverage of the error bands as a picture, a view of the evidence figure: of each kind of number, and of training by
// generation of chips, how many of the published runs lie inside the band that other runs give them. The bar is of runs of
// other models or sources alone, which is what a plan that nobody measured may expect; dashed, of all others. A band says
// nine in ten; where that does not hold, none is shown.
#pragma once

#include <string>

#include "widgets/figures/common/figure.h"

namespace roofscape::widgets {

FigureHead coverage_head(const FigureInput& input, const engine::Evidence& evidence);
void draw_coverage(Canvas& canvas, const Rect& area, const FigureInput& input, const engine::Evidence& evidence);
std::string coverage_data(const FigureInput& input, const engine::Evidence& evidence);

}  // namespace roofscape::widgets
