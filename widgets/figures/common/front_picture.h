// A search of plans as a picture of two costs: the plans as a cloud, their Pareto front as steps, the best by number,
// the present one with the way to the best. What the axes are is the figure's.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "widgets/figures/common/figure.h"
#include "widgets/plot/plot.h"

namespace roofscape::widgets {

struct FrontDot {
  double x = 0, y = 0;  // on the axes
  bool good = true;     // it fits
};

struct FrontPicture {
  ScaleKind x_kind = ScaleKind::linear, y_kind = ScaleKind::linear;
  double x_from = 0, x_to = 1, y_from = 0, y_to = 1;
  std::string x_title, y_title;
  TickLabels y_labels = TickLabels::plain;

  // In the order of their indices: the best, those of the front, the cloud, the present one.
  std::vector<FrontDot> best, front, cloud;  // the front by rising x
  std::optional<FrontDot> present, baseline;
  bool falls = true;     // the front comes from above
  float dot = 2.8f;      // size of the cloud's dots at scale 1
  double front_end = 0;  // x up to which its last plan can be had
  std::string tag;
  std::function<Readout(std::size_t index)> readout;

  // What cannot be had to the right of it.
  struct Limit {
    double x = 0;
    std::string text;
    Colour colour = kTransparent;
  };
  std::optional<Limit> limit;
  struct Note {
    FrontDot at;
    std::string text;
  };
  std::optional<Note> note;             // a plan of the front worth naming
  std::string present_text, gain_text;  // beside the present plan; the gain only where there is room for an arrow
  std::optional<FrontDot> hovered;
};

void draw_front(Canvas& canvas, const Rect& area, const FigureInput& input, const FrontPicture& picture);

}  // namespace roofscape::widgets
