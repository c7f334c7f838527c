// The network figure of a plan that serves: transfers of a decoding step against its work, over the batch.
#pragma once

#include <string>

#include "widgets/figures/common/figure.h"
#include "widgets/figures/common/figure_head.h"

namespace roofscape::widgets {

FigureHead serving_network_head(const FigureInput&);
void draw_serving_network(Canvas&, const Rect&, const FigureInput&, const FigureView&);
std::string serving_network_data(const FigureInput&);

}  // namespace roofscape::widgets
