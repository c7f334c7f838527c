// What of a figure a class could guess on it, for those who write a scene: the bar of the answer, or its axes.
#pragma once

#include <string>
#include <vector>

#include "engine/io/tour/tour.h"
#include "engine/report/report.h"
#include "widgets/canvas/font_stack.h"
#include "widgets/figures/figures.h"

namespace roofscape::app {

struct MarkOffer {
  io::TourMark mark;  // of no kind: on a line below the figure
  std::string name;   // in the language of the figure: "bar: step time"
};

// The line below first; then what of the figure the answer is drawn as. Of an answer that is no quantity of the report
// the bars of the quantities that it names; axes only where the answer lies on them.
std::vector<MarkOffer> mark_offers(const widgets::FontStack& fonts, const widgets::FigureRow& row,
                                   const widgets::FigureInput& input, const widgets::FigureView& view,
                                   const std::string& answer);

// "bar:step.time_s", as a tour's file has it; empty for a mark of no kind.
std::string mark_word(const io::TourMark& mark);

}  // namespace roofscape::app
