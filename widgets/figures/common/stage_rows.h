// StageRows: where the rows of pipeline stages are. Memory and pipeline figures take their rows from here, so that in
// two figures of the same height a stage stands at the same height in both and reads straight across.
// Lengths are those of the canvas.
#pragma once

#include <optional>
#include <string_view>

#include "engine/pipeline/schedule.h"
#include "widgets/canvas/canvas.h"
#include "widgets/canvas/theme.h"
#include "widgets/plot/plot.h"
#include "widgets/plot/text_table.h"

namespace roofscape::widgets {

struct StageRows {
  Rect area;        // the whole figure below its head
  Rect header;      // line above the rows: part names, key
  Rect plot;        // all rows, without the stage numbers at their left
  float pitch = 0;  // distance of rows
  float bar_height = 0;
  float bar_shift = 0;  // of the bars from the middle of their rows
  int count = 0;
  int label_every = 1;                     // stages between two numbers
  std::string_view word = "figure.stage";  // key of what a row is; empty: it is said elsewhere

  // Everything at the height of a stage, from edge to edge of the figure.
  Rect band(int stage) const { return {area.x, plot.y + pitch * static_cast<float>(stage), area.w, pitch}; }
  // The place of a stage's bar, over the whole width of the plot.
  Rect bar(int stage) const {
    return {plot.x, plot.y + pitch * static_cast<float>(stage) + (pitch - bar_height) / 2 + bar_shift, plot.w,
            bar_height};
  }
  // Whether the text of every row has room (numbers, totals).
  bool room_for(float text_height) const { return pitch >= text_height; }
};

// Key of what a row of a plan is: a stage, or where it holds several (chunks, or one of either direction) a device.
std::string_view row_word(const engine::ScheduleShape& shape);

// `x` decides how much room the horizontal axis needs; its ticks may belong to a scale of any range. `more_header`: of
// the line above the rows beyond its usual height.
StageRows stage_rows(const Canvas& canvas, const TextTable& texts, const Rect& area, int stages, const PlotAxis& x,
                     bool compact, std::string_view word = "figure.stage", float more_header = 0);

// Height of a line of small text, ascent to descent.
float small_line(const Canvas& canvas);
// Of a column of numbers, which have no descenders and stand closer.
float number_line(const Canvas& canvas);

// The tint of the hovered stage. Drawn before the data.
void draw_stage_tint(Canvas& canvas, const Theme& theme, const StageRows& rows, std::optional<int> hovered);
// The numbers of the rows and the word over them.
void draw_stage_numbers(Canvas& canvas, const Theme& theme, const TextTable& texts, const StageRows& rows,
                        std::optional<int> hovered);

}  // namespace roofscape::widgets
