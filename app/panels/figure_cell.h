// One figure with its head: the title is a list of all figures, at the right stand maximise and the menu of what can
// be chosen, copied and exported. Everything comes from the table of figures.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/panels/panel_context.h"
#include "app/panels/pipeline_tools.h"
#include "widgets/figures/figures.h"

namespace roofscape::app {

// How figures are looked at, wherever they stand.
struct FiguresState {
  std::optional<std::size_t> maximised;          // over the whole grid
  std::optional<std::size_t> focused;            // pointed at last: what export and copy mean
  std::vector<std::pair<double, double>> spans;  // by figure: the visible part of its x axis
  std::vector<widgets::FigureChoices> choices;   // by figure: of its options
  PipelineTools pipeline;
  bool reason_said = false;  // in this frame: why there is no present picture

  FiguresState() : spans(widgets::figures().size(), {0.0, 1.0}), choices(widgets::figures().size()) {}
};

// Where a figure stands: in a cell of the grid, which may show the numbers instead, over all of it, over a list of plans,
// or where no other can be chosen.
enum class FigurePlace : std::uint8_t { cell, maximised, search, fixed };

// Draws a figure into `cell`; says what is pointed at and opens the derivation of what was clicked. Returns the name
// of the figure (or kNumbersCell) that was chosen for the place, if one was.
std::optional<std::string_view> figure_cell(PanelContext& ctx, const widgets::Rect& cell, FiguresState& state,
                                            std::size_t figure, FigurePlace place, engine::Scenario& scenario);

// The picture alone, in `area`, with hover, click and the reason where there is no picture.
void figure_picture(PanelContext& ctx, const widgets::Rect& area, FiguresState& state, std::size_t figure,
                    widgets::FigureView view, engine::Scenario& scenario);
// What a figure is drawn from: the present scenario, or the last one that could be drawn.
widgets::FigureInput figure_input(const PanelContext& ctx);
// What stands in the takeaway's place where the present plan has no picture: that it is the last valid one, if there is one.
std::string caption_without_picture(const PanelContext& ctx);
// How it is looked at, before pointing and tools.
widgets::FigureView figure_view(const PanelContext& ctx, const FiguresState& state, std::size_t figure);

// The stage or operation a tag of a figure stands for; none where it is neither.
std::optional<int> stage_of_tag(std::string_view id, int index);
std::optional<int> operation_of_tag(std::string_view id, int index);

}  // namespace roofscape::app
