#include "app/panels/figure_grid.h"

#include <algorithm>
#include <cmath>

#include "app/panels/numbers_panel.h"
#include "app/panels/panel_parts.h"
#include "engine/scenario/mesh_size.h"
#include "widgets/figures/figures.h"

namespace roofscape::app {

using namespace widgets;
using engine::Scenario;

namespace {

bool known(std::string_view name) { return name == kNumbersCell || find_figure(name) != nullptr; }

// What a cell shows. A name that this version of the program does not have gives way to what stands there by default,
// or else to a figure that has something to show of the workload and is nowhere yet.
std::string cell_name(const Cells& cells, const Scenario& scenario, std::size_t place) {
  const Cells standard = default_cells(scenario.workload.kind);
  const auto taken = [&](std::string_view name) {
    return std::find(cells.begin(), cells.end(), name) != cells.end();
  };
  // Nobody asked for a figure that stands there by default: where it has nothing to say of the plan, another does.
  const bool alone = engine::mesh_chips(scenario.parallelism) == 1;
  if (cells == standard && cells[place] == "network" && alone) return "parameters";
  if (known(cells[place])) return cells[place];
  if (known(standard[place]) && !taken(standard[place])) return standard[place];
  std::size_t skip = 0;
  for (std::size_t i = 0; i < place; ++i)
    if (!known(cells[i])) ++skip;
  for (const bool suited : {true, false})
    for (const FigureRow& row : figures())
      if (shows(row, scenario) == suited && !taken(row.name) && skip-- == 0) return std::string(row.name);
  return std::string(kNumbersCell);
}

std::string cell_words(const PanelContext& ctx, const Cells& cells, std::size_t place) {
  const std::string name = cell_name(cells, ctx.session.scenario(), place);
  return std::string(ctx.text(name == kNumbersCell ? "ui.numbers.title" : "command.figure." + name));
}

// Puts a figure (or the numbers) into a cell; one that already shows it takes what was there.
void put_into_cell(Cells& cells, std::size_t place, std::string_view name) {
  if (place >= cells.size() || cells[place] == name) return;
  const auto other = std::find(cells.begin(), cells.end(), name);
  if (other != cells.end())
    std::swap(*other, cells[place]);
  else
    cells[place] = name;
}

void draw_cell(PanelContext& ctx, const Rect& r, std::size_t place, Cells& cells, FiguresState& figures_state,
               Scenario& scenario) {
  const std::string name = cell_name(cells, ctx.session.scenario(), place);
  // The numbers show the network beside them where it stands in no cell of its own.
  const bool network = std::find(cells.begin(), cells.end(), "network") != cells.end();
  const auto chosen = name == kNumbersCell ? numbers_panel(ctx, r, figures_state, !network, scenario)
                                           : figure_cell(ctx, r, figures_state, figure_index(*find_figure(name)),
                                                         FigurePlace::cell, scenario);
  if (chosen) put_into_cell(cells, place, *chosen);
}

// A strip of the cells to choose from over the one that is shown. Takes it from the top of `r`.
int cell_tabs(PanelContext& ctx, Rect& r, std::string_view id, const Cells& cells, std::size_t first,
              std::size_t count, int chosen) {
  ctx.ui.canvas.rect(r, {.colour = ctx.ui.theme.panel});
  const Rect strip = r.cut_top(std::round(ctx.px(34)));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(cell_words(ctx, cells, first + i));
  float width = ctx.px(14);
  for (const std::string& n : names) width += ctx.ui.canvas.text_width(n, ctx.style(ctx.ui.theme.ink)) + ctx.px(24);
  const Rect choice{strip.x + ctx.px(14), strip.y + ctx.px(6), std::min(width, strip.w - ctx.px(28)),
                    std::round(ctx.px(kControlHeight))};
  return std::clamp(segmented(ctx.ui, choice, id, names, chosen), 0, static_cast<int>(count) - 1);
}

}  // namespace

Scenario figure_grid(PanelContext& ctx, const Layout& layout, GridState& state, Cells& cells,
                     FiguresState& figures_state, Scenario scenario) {
  const Rect& grid = layout.grid;
  const auto cell = [&](const Rect& r, std::size_t place) {
    draw_cell(ctx, r, place, cells, figures_state, scenario);
  };
  if (figures_state.maximised && *figures_state.maximised < figures().size()) {
    const auto chosen =
        figure_cell(ctx, grid, figures_state, *figures_state.maximised, FigurePlace::maximised, scenario);
    if (chosen) figures_state.maximised = figure_index(*find_figure(*chosen));
    return scenario;
  }
  if (layout.kind == GridKind::one) {
    Rect r = grid;
    state.single = cell_tabs(ctx, r, "tabs.single", cells, 0, kCellCount, state.single);
    cell(r, static_cast<std::size_t>(state.single));
    return scenario;
  }
  if (layout.kind == GridKind::two) {
    for (std::size_t row = 0; row < 2; ++row) {
      Rect r{grid.x, layout.cells[2 * row].y, grid.w, layout.cells[2 * row].h};
      int& chosen = state.pair[row];
      chosen = cell_tabs(ctx, r, row == 0 ? "tabs.upper" : "tabs.lower", cells, 2 * row, 2, chosen);
      cell(r, 2 * row + static_cast<std::size_t>(chosen));
    }
    separator(ctx, grid.x, grid.right(), layout.cells[2].y);
    return scenario;
  }
  for (std::size_t place = 0; place < kCellCount; ++place) cell(layout.cells[place], place);
  vertical_separator(ctx, layout.cells[1].x, grid.y, grid.bottom());
  separator(ctx, grid.x, grid.right(), layout.cells[2].y);
  return scenario;
}

}  // namespace roofscape::app
