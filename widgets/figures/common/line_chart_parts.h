// What the parts of a line chart share: where everything stands, and what lies over what.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "widgets/canvas/canvas.h"
#include "widgets/figures/common/figure.h"
#include "widgets/figures/common/line_chart.h"
#include "widgets/plot/plot.h"
#include "widgets/plot/scale.h"

namespace roofscape::widgets::chart {

struct Placed {
  Rect plot;
  Scale x, y;
  std::vector<std::vector<Point>> traces;      // of the lines, on the canvas: labels ask for them hundreds of times
  std::vector<std::pair<Point, Point>> stubs;  // from lines that stop early towards their names
  Frame frame;
  float title_y = 0;
  std::vector<const ChartLine*> labelled;
  std::vector<std::string> labels;  // cut to the room
  std::vector<std::string> note;    // by line
  float note_y = 0;
};

Point place_of(const Placed& l, const ChartPoint& p);
TextStyle label_style(const Canvas& canvas, Colour colour, Weight weight);
// What covers a place: lines that cross it. Fewer is better.
int crossings(const Placed& l, const Chart& chart, const Rect& box);
// Of them the curves at least this wide that do not give way.
int lines_through(const Placed& l, const Chart& chart, const Rect& box, float least_width);

// Where the name of each dot stands: where it covers least. Empty boxes are names without a place. What dots, ends of
// lines and names take is added to `taken`.
struct PlacedName {
  Rect box;
  bool away = false;   // with a leader
  bool brief = false;  // the shorter name
};
std::vector<PlacedName> place_names(const Canvas& canvas, const Theme& theme, const Chart& chart, const Placed& l,
                                    std::vector<Rect>& taken);
// Whether a dot that is drawn has a name that found no place.
bool name_missing(const Chart& chart, const std::vector<PlacedName>& names, std::size_t i);
void draw_dots(Canvas& canvas, const Theme& theme, const Chart& chart, const Placed& l, std::span<const Tint> tints,
               const std::vector<PlacedName>& names);

// Where the name that runs along each line stands: over its first segment, where no other text is. Nothing where there
// is no room, and unless the line is essential where another would run through the name (`crossed`). Essential ones first.
struct AlongPlace {
  Point anchor;
  bool crossed = false;
};
std::vector<std::optional<AlongPlace>> place_names_along(const Canvas& canvas, const Chart& chart, const Placed& l,
                                                         const std::vector<PlacedName>& names,
                                                         std::vector<Rect>& taken);
void draw_name_along(Canvas& canvas, const Theme& theme, const Placed& l, const ChartLine& line, Point anchor);

// Where all of a chart stands. Points into the chart's lines. No names where the plot has no room.
struct Arranged {
  Placed placed;
  std::vector<PlacedName> names;                 // of the dots
  std::vector<std::optional<AlongPlace>> along;  // of the lines
  std::vector<Rect> taken;                       // by all of these
};
Arranged arrange(const Canvas& canvas, const Rect& area, const Theme& theme, const Chart& chart);

// Whether names of this chart may give way to letters; and the same with letters, which the chart and its note have then.
bool takes_letters(const Chart& chart);
Arranged arrange_with_letters(const Canvas& canvas, const Rect& area, const Theme& theme, Chart& chart);

}  // namespace roofscape::widgets::chart
