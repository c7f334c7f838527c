// One figure with its head: the title is a list of all figures, at the right stand maximise and the menu of what can
// be chosen, copied and exported. Everything comes from the table of figures.
#pragma once

#include "app/panels/panel.h"

namespace roofscape::app {

// The place of a figure that fills the grid.
inline constexpr std::size_t kMaximised = kCellCount;
// The places of the two figures over a list of plans.
inline constexpr std::size_t kSearchLeft = kCellCount + 1, kSearchRight = kCellCount + 2;

// Draws a figure into `cell`; says what is pointed at and opens the derivation of what was clicked. `place` is the
// cell of the arrangement it stands in, or kMaximised.
void figure_cell(PanelContext& ctx, const widgets::Rect& cell, std::size_t figure, std::size_t place,
                 engine::Scenario& scenario);

// The picture alone, in `area`, with hover, click and the reason where there is no picture.
void figure_picture(PanelContext& ctx, const widgets::Rect& area, std::size_t figure, widgets::FigureView view,
                    engine::Scenario& scenario);
// What a figure is drawn from: the present scenario, or the last one that could be drawn.
widgets::FigureInput figure_input(const PanelContext& ctx);
// How it is looked at, before pointing and tools.
widgets::FigureView figure_view(const PanelContext& ctx, std::size_t figure);

// A cell's title, under which a list of all figures opens. Returns its right end.
float cell_title(PanelContext& ctx, const widgets::Rect& head, std::string_view id, std::string_view title,
                 std::size_t place);
// Puts a figure (or the numbers) into a cell; one that already shows it takes what was there.
void put_into_cell(ViewState& view, std::size_t place, std::string_view name);

// The menu of a figure: its choices, then maximise, copy and export. `anchor`: where it opens.
void open_figure_menu(PanelContext& ctx, std::size_t figure, const widgets::Rect& anchor);
void take_figure_menu(PanelContext& ctx, std::size_t figure);

// The stage or operation a tag of a figure stands for; none where it is neither.
std::optional<int> stage_of_tag(std::string_view id, int index);
std::optional<int> operation_of_tag(std::string_view id, int index);

}  // namespace roofscape::app
