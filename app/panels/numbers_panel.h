// The numbers behind the pictures, as a cell of the grid: tokens per chip against the limits of the network, and the
// sizes of the job.
#pragma once

#include <optional>
#include <string_view>

#include "app/panels/figure_cell.h"

namespace roofscape::app {

// `picture`: whether a tall cell may show the network figure below, which stands nowhere else. Returns the name of
// the figure that was chosen for the cell, if one was.
std::optional<std::string_view> numbers_panel(PanelContext& ctx, const widgets::Rect& cell, FiguresState& figures,
                                              bool picture, engine::Scenario& scenario);

}  // namespace roofscape::app
