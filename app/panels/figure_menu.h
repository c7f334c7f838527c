// The lists of a figure's head: which figure stands here, and what it shows.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "app/panels/figure_cell.h"

namespace roofscape::app {

// A cell's title, under which a list of all figures opens, with the numbers where `numbers` says so.
struct CellTitle {
  float right = 0;                         // where it ends
  std::optional<std::string_view> chosen;  // from the list: a figure, or kNumbersCell
};
CellTitle cell_title(PanelContext& ctx, const widgets::Rect& head, std::string_view id, std::string_view title,
                     bool numbers);
// The title alone.
CellTitle fixed_title(PanelContext& ctx, const widgets::Rect& head, std::string_view title);

// The menu of a figure: its choices, then maximise, copy and export. `anchor`: where it opens.
void open_figure_menu(PanelContext& ctx, const FiguresState& state, std::size_t figure, const widgets::Rect& anchor);
void take_figure_menu(PanelContext& ctx, FiguresState& state, std::size_t figure);

}  // namespace roofscape::app
