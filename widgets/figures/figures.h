// The table of figures, put together from the rows of the figures that widgets/CMakeLists.txt lists. The window, the
// command line and the tests list and draw figures from it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "widgets/figures/common/figure_row.h"

namespace roofscape::widgets {

inline constexpr float kPrintEm = 9;  // points

// Counted in the list that CMake writes.
#define ROOFSCAPE_FIGURE(name) +1
inline constexpr std::size_t kFigureCount = 0
#include "widgets/figures/figure_list.def"
    ;
#undef ROOFSCAPE_FIGURE
std::span<const FigureRow> figures();
// The diagnostic for which this figure has nothing to show: the plan cannot run, and the figure is of its run. Null:
// it can be drawn.
const engine::Diagnostic* cannot_show(const FigureRow& row, const engine::Report& report);
// "This plan cannot run: more chips than there are."
std::string cannot_run_text(const engine::Diagnostic& why, const TextTable& texts);
// The row's functions, or, where the scenario is of another kind than the figure or the plan cannot run, its title
// over one sentence that says so.
bool shows(const FigureRow& row, const engine::Scenario& scenario);
void draw_figure(const FigureRow& row, Canvas& canvas, const Rect& area, const FigureInput& input,
                 const FigureView& view);
FigureHead figure_head(const FigureRow& row, const FigureInput& input, const FigureView& view);
std::string figure_data(const FigureRow& row, const FigureInput& input, const FigureView& view);

const FigureRow* find_figure(std::string_view name);  // null if there is none
std::size_t figure_index(const FigureRow& row);       // in figures()

// Sets the option with this key to the choice with this id; false where the figure has no such option or choice.
bool choose(const FigureRow& row, std::string_view key, std::string_view choice, FigureChoices& choices);

}  // namespace roofscape::widgets
