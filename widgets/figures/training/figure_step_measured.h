// The step figure beside a measured run whose kernels are known: a row for each line of the sum that leads from the
// predicted step to the measured one. For figure_step.cpp.
#pragma once

#include <string>

#include "widgets/figures/common/figure.h"

namespace roofscape::widgets {

// Whether there are measured kernels to set beside the parts of the step.
bool has_measured_terms(const FigureInput& input);
void draw_measured_terms(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view);
std::string measured_terms_data(const FigureInput& input);

}  // namespace roofscape::widgets
