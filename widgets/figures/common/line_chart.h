// A chart of lines, mostly over logarithmic axes, as several figures are: axes, regions, lines labelled at their ends, dots
// with their number, the present value. A figure says what there is; where labels stand so that none covers another,
// and which are left out where there is no room, is decided here.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "widgets/figures/common/figure.h"
#include "widgets/plot/plot.h"

namespace roofscape::widgets {

struct ChartPoint {
  double x = 0, y = 0;
};

struct ChartLine {
  std::vector<ChartPoint> points;  // in order along the line; a value that is not finite or off the axes is not drawn
  Stroke stroke;                   // of no colour: only its name is drawn
  std::string label;               // at its end; empty: none
  std::string brief = {};          // the label where it would take much of the width; empty: cut
  std::string along;               // a name that stands over the line's first segment and runs with it
  bool faint = false;              // names of dots may stand on it
  bool named = false;              // drawn only where the name along it has room, and under no other name
  Weight weight = Weight::regular;
  bool essential = false;  // its label is the last to go where there is no room
  bool arrow = false;      // from its first point to its last, with a head
  std::string tag;         // id of the regions along the line; empty: none
  std::function<Readout(const ChartPoint&)> readout;
};

struct ChartDot {
  ChartPoint at;
  std::string text;        // bold, beside it; empty: none
  std::string brief = {};  // the name where the whole one has no room
  std::string tag;
  Readout readout;
  Colour colour = kTransparent;
  float size = 0;  // diameter at scale 1; 0: that of the theme's markers
  bool bold = true;
  Marker marker = Marker::circle;
  // Where the name belongs: wherever it covers least, over the dot, at its right, or beside it on no line if anywhere.
  enum class Side : std::uint8_t { any, over, right, near } side = Side::any;
  bool failed = false;  // nothing is reached at this x: a cross at the foot of the plot, whatever the y
  bool hollow = false;
};

// A region over part of the x axis, or of the y axis.
struct ChartBand {
  double from = 0, to = 0;
  float tint = 0;  // of ink
  std::string label;
  bool across = false;     // over part of the y axis
  bool on_top = false;     // its name stands at the top rather than at the bottom
  std::string brief = {};  // the label where the whole one would stand on a line
};

struct Chart {
  std::string x_title, y_title;  // with the unit
  double x_from = 1, x_to = 10, y_from = 1, y_to = 10;
  ScaleKind x_kind = ScaleKind::log2, y_kind = ScaleKind::log10;
  bool x_even = false;  // numbers of the x axis in even steps, for an axis of about a decade
  TickLabels x_labels = TickLabels::plain, y_labels = TickLabels::plain;
  double x_unit = 1, y_unit = 1;  // of one on the axis in base units
  std::vector<ChartBand> bands;
  std::vector<ChartLine> lines;  // the first is drawn over the others
  std::vector<ChartDot> dots;
  struct Now {
    double x = 0;
    std::string pill;
  };
  std::optional<Now> now;
  std::string note;      // a sentence at the foot of the figure, wrapped
  bool letters = false;  // a dot whose name has no place clear of lines gets a letter, and the note says which it is
};

// Where the baseline stands, as a hollow dot with its name; the axes reach as far. Nothing without a baseline, or where
// one of its numbers is not known.
void add_baseline(Chart& chart, const FigureInput& input, ChartPoint at);

void draw_line_chart(Canvas& canvas, const Rect& area, const Theme& theme, const Chart& chart);

// The chart on the axes that its figure is held at, if it is.
Chart on_held_axes(Chart chart, const FigureInput& input, std::string_view figure);

// Ends of a logarithmic axis with some room around the data, at least `least_ratio` apart.
std::pair<double, double> log_range(double low, double high, double least_ratio = 100);

}  // namespace roofscape::widgets
