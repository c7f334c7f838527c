// Bar rows: named horizontal bars under one another over one axis, with their numbers in columns at the right.
// Waterfalls and breakdowns are made of them. Lengths are those of the canvas; values those of the axis.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "widgets/canvas/canvas.h"
#include "widgets/canvas/theme.h"
#include "widgets/plot/plot.h"
#include "widgets/plot/scale.h"

namespace roofscape::widgets {

struct BarPart {
  double from = 0, to = 0;
  Fill fill;
  int lane = 0;            // of BarAxis::lanes, from above
  std::string label = {};  // in it, where it has room
};

struct BarRow {
  std::string name, value, second;  // `second`: of the last column
  std::string brief = {};           // where the name has no room; empty: its beginning
  std::vector<BarPart> parts;
  std::optional<BarPart> ghost;  // the baseline's place: a dashed outline
  std::optional<BarPart> under;  // a measured run's: a lower bar below the others
  bool bold = false;
  bool joined = false;          // its end is where the next row begins that is not aside
  std::optional<double> joint;  // where the joint to the next row stands, if not at the end of the last part
  bool aside = false;           // no step of the waterfall; under a rule where it follows the others
  double weight = 0;            // where not all rows have room, those of least weight go
};

struct BarAxis {
  double to = 1;
  ScaleKind kind = ScaleKind::linear;
  double from = 0;                 // more than zero on a logarithmic axis, where bars begin at its start
  std::string title;               // with the unit
  std::string value, second;       // heads of the columns; both empty: no line of heads
  bool keeps_second = false;       // names are cut before the last column goes
  int lanes = 1;                   // bars of a row under each other
  double unit = 1;                 // of one on the axis in base units
  std::vector<KeyEntry> key = {};  // in the line of heads
};

struct BarRowsPlot {
  Rect plot;
  Scale x;
  float pitch = 0, bar_height = 0, lane_height = 0;
  std::vector<float> tops;  // by row; negative where it had no room
  bool has_row(std::size_t row) const { return tops[row] >= 0; }
  Rect band(std::size_t row, const Rect& area) const { return {area.x, tops[row], area.w, pitch}; }
  Rect bar(std::size_t row, const BarPart& part) const;
};

BarRowsPlot draw_bar_rows(Canvas& canvas, const Theme& theme, const Rect& area, std::span<const BarRow> rows,
                          const BarAxis& axis);

}  // namespace roofscape::widgets
