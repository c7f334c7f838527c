// What the schedules figure shows and where its parts are: which schedules have room, the rows of each, the columns of
// numbers beside them and the notes under them. Drawing is in figure_schedules.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/pipeline/timeline_detail.h"
#include "engine/studies/schedule_comparison.h"
#include "widgets/figures/common/figure.h"
#include "widgets/figures/common/stage_rows.h"
#include "widgets/figures/training/figure_pipeline_parts.h"
#include "widgets/plot/plot.h"
#include "widgets/plot/scale.h"

namespace roofscape::widgets::schedules {

inline constexpr float kBar = 46;  // of the longest bar of held microbatches
inline constexpr float kNumberColumnGap = 16;
inline constexpr float kHeadGap = 6;       // before the head of a column
inline constexpr float kRowNumberGap = 8;  // between the numbers of rows and their bars

// All schedules of a step, and the levels of those that are too long to draw without.
struct ComparedSchedules {
  ComparedSchedules(const engine::Scenario& scenario, std::shared_ptr<engine::ScheduleReports> kept)
      : all(scenario, std::move(kept)) {}
  engine::ScheduleComparison all;
  std::array<std::optional<engine::TimelineDetail>, engine::kScheduleKinds> levels;

  const engine::ScheduleShape& shape() const { return all.shape(); }
  const engine::TimelineDetail& levels_of(const engine::PipelineReport& p) {
    auto& own = levels[static_cast<std::size_t>(p.shape.kind)];
    if (!own) engine::make_detail(p.orders, p.times, p.timeline, own.emplace());
    return *own;
  }
};
// Null where there is no pipeline. In a window it may not be finished yet.
ComparedSchedules* comparison_of(const FigureInput& input);
const engine::ScheduleVariant& variant(const ComparedSchedules& c, engine::ScheduleKind kind);

// A column of numbers at the right of the rows.
struct Column {
  std::string head;
  float right = 0, width = 0;
};

struct SchedulesLayout {
  bool wide = false;
  bool each = false;  // numbers of every device; else one for all
  std::vector<const engine::ScheduleVariant*> shown;
  std::vector<StageRows> rows;  // by schedule shown; `header` is where the name stands
  Rect header, plot;
  std::string word;  // what the numbers of the rows count
  float name_right = 0;
  Column idle, held;
  std::vector<std::string> notes, brief_notes;  // with the reasons of what cannot run, and without
  Rect foot;
  double from = 0, to = 1;  // visible time in ticks
  TimeUnit unit{};
  Frame frame;
  Scale x;
};

// Where the baseline's schedule ends, in ticks; 0: it has none.
double baseline_end(const FigureInput& input);
// The same on the axis, if it is in sight.
std::optional<float> baseline_x(const FigureInput& input, const SchedulesLayout& l);

std::string idle_text(const FigureInput& input, const engine::ScheduleVariant& v);
// The one that takes least, of several the plan's own; null if none can run.
const engine::ScheduleVariant* fastest(const ComparedSchedules& c);
// Which schedules to draw: the plan's own, the fastest, then the most telling ones; in the order of these.
std::vector<const engine::ScheduleVariant*> choose(const ComparedSchedules& c, std::size_t count);

// `key_rows_wanted`: lines of the key over the rows. Nothing is shown where there is no room for one.
SchedulesLayout lay_out(const Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view,
                        const ComparedSchedules& c, int key_rows_wanted);

}  // namespace roofscape::widgets::schedules
