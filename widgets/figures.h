// The table of figures. The window, the command line and the tests list and draw figures from it: a new figure is one
// row here.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "widgets/figure.h"

namespace roofscape::widgets {

// What a figure is about. One about a training step has nothing to show of a scenario that serves, nor the reverse.
enum class Subject : std::uint8_t { training, serving, any };
// Without it a figure only says that there is nothing to show: a baseline, a pipeline of several stages, or the plans
// that a search finds.
enum class Needs : std::uint8_t { nothing, baseline, stages, search };

struct FigureRow {
  std::string_view name;  // stable: "roofline"
  void (*draw)(Canvas&, const Rect&, const FigureInput&, const FigureView&) = nullptr;
  FigureHead (*head)(const FigureInput&, const FigureView&) = nullptr;
  // What it shows as tab-separated text with a line of names first; numbers in full, in base units.
  std::string (*data)(const FigureInput&, const FigureView&) = nullptr;
  float width_pt = 0, height_pt = 0;  // of an exported file, in points (1/72 inch); text is kPrintEm
  std::span<const FigureOption> options = {};
  Subject subject = Subject::training;
  Needs needs = Needs::nothing;
};

inline constexpr float kPrintEm = 9;  // points

inline constexpr std::size_t kFigureCount = 32;
std::span<const FigureRow> figures();
// The row's functions, or, where the scenario is of another kind than the figure, its title over one sentence that
// says so.
bool shows(const FigureRow& row, const engine::Scenario& scenario);
void draw_figure(const FigureRow& row, Canvas& canvas, const Rect& area, const FigureInput& input,
                 const FigureView& view);
FigureHead figure_head(const FigureRow& row, const FigureInput& input, const FigureView& view);
std::string figure_data(const FigureRow& row, const FigureInput& input, const FigureView& view);

const FigureRow* find_figure(std::string_view name);  // null if there is none

}  // namespace roofscape::widgets
