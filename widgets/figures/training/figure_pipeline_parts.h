// What the figures of pipelines share: how a schedule is called, why one cannot run, the key of operations, and the
// state of a plan that has no pipeline.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "engine/pipeline/order_span.h"
#include "widgets/figures/common/figure.h"
#include "widgets/plot/plot.h"

namespace roofscape::widgets {

// "interleaved", with its chunks where they are a choice.
std::string schedule_name(const FigureInput& input, const engine::ScheduleShape& shape);

// All schedules, those first that show most of what can differ.
std::span<const engine::ScheduleKind> schedules_by_rank();
// Which rule an illegal shape breaks, and the nearest legal values (empty where there are none). Where the schedule
// is legal all the same, that it could not be simulated.
struct ScheduleReason {
  std::string reason, remedy;
};
ScheduleReason schedule_reason(const FigureInput& input, const engine::ScheduleShape& shape,
                               const engine::ScheduleStatus& status);

// The part of a figure's area that words, button and outlines of one stage take: in a high cell the middle, so that
// they stay together.
Rect one_stage_area(const Canvas& canvas, const Rect& area);
// The middle of the figure: one stage has no pipeline. `advice` says what to do for one; may be empty.
void draw_one_stage(Canvas& canvas, const Rect& area, const FigureInput& input, std::string_view advice = {});
// The middle of the figure: a box with what is wrong and the nearest values that are not.
void draw_schedule_reason(Canvas& canvas, const Rect& area, const FigureInput& input);

// The unit of a time axis that reaches to `seconds`.
struct TimeUnit {
  std::string_view key;
  double seconds;
};
TimeUnit time_unit(double seconds);
PlotAxis time_axis(const Canvas& canvas, const FigureInput& input, const Scale& scale, const TimeUnit& unit,
                   float width);

// How long steps take, kept from edit to edit: most change times and no order.
std::shared_ptr<engine::OrderSpans> order_spans(const FigureInput& input);

// The rows that draw_fitting_key makes of these: one or two; and the height of one.
int key_rows(const Canvas& canvas, float room, std::span<const KeyEntry> entries);
float key_row_height(const Canvas& canvas);
// Swatches and names from `at` on, in one row or two about it, then `note` if it fits too, else `brief_note`. `pitch`: at most
// that of two rows.
void draw_fitting_key(Canvas& canvas, const Theme& theme, Point at, float room, std::span<const KeyEntry> entries,
                      std::string_view note, std::string_view brief_note = {}, float pitch = 0);

}  // namespace roofscape::widgets
