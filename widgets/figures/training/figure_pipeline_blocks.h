// The blocks of the pipeline figure: operations of a schedule on their rows, in as much detail as there is room for.
// Cost: proportional to what is drawn, which is bounded by the pixels and by kMostDrawnOps.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "engine/pipeline/timeline_detail.h"
#include "widgets/canvas/palette.h"
#include "widgets/figures/common/figure.h"
#include "widgets/figures/common/stage_rows.h"

namespace roofscape::widgets::gantt {

inline constexpr double kTicksPerSecond = 1e12;
inline constexpr double kMostDrawnOps = 10000;  // in sight: more are drawn as shares

enum class Detail : std::uint8_t {
  blocks,  // every operation
  runs,    // operations of one kind that follow each other are one bar; runs under a pixel, bars split by height
  shares,  // bars split by height: the share of time of each kind in a few pixels of time
};

struct Gantt {
  Gantt(const engine::PipelineReport& report, const StageRows& where, double first, double last)
      : pipeline(report), rows(where), from(first), to(last) {}
  const engine::PipelineReport& pipeline;
  StageRows rows;
  double from = 0, to = 0;  // visible time in ticks
  double px_per_tick = 0;
  double step_end = 0;  // ticks after the makespan
  Detail detail = Detail::blocks;
  int chunks = 1;
  std::vector<std::uint8_t> chunk_of;           // by virtual stage
  bool overlaps = false;                        // the schedule has overlapped pairs
  std::vector<double> durations;                // by Op::stage_and_kind; of operations that are not overlapped
  std::array<std::array<Fill, 16>, 4> fills{};  // by engine::OpKind and chunk (later ones share the last)
  std::array<Fill, 16> again{};                 // recomputation, by chunk
  Fill idle, end;
  std::array<bool, 4> numbered{};  // by engine::OpKind: every microbatch number fits, slight stages aside
  float number_width = 0;          // px that the longest takes
  bool recomputes = false;         // at least one backward computes something again
  bool leads = false;  // where it does, that stands before the rest of the backward; else the two share its height
  double narrowest = std::numeric_limits<double>::infinity();  // px of the shortest operation
  double least_recompute = 0;                                  // ticks that are wide enough for that
  std::string scope;  // before the ids of tags: "schedule.zb-h1/" of a schedule not the plan's
  const engine::TimelineDetail* levels = nullptr;  // of the whole timeline; needed for shares and memory traces

  bool shows_step_end(const Canvas& canvas) const;
  float at(double tick) const;  // clamped to a little outside the plot
  const Fill& fill(engine::Op op) const;
  // Canvas::tag_with under the scope.
  template <class MakeReadout>
  void tag(Canvas& canvas, std::string_view id, int index, const Rect& r, MakeReadout&& make) const {
    if (scope.empty())
      canvas.tag_with(id, index, r, make);
    else if (canvas.keeps_tag(r))
      canvas.tag_with(scope + std::string(id), index, r, make);
  }
  double recompute(engine::Op op) const;    // ticks at the start of an operation that are drawn before its rest
  double again_ticks(engine::Op op) const;  // ticks of it that are computed again
  double again_share(int device) const;     // of the time of its backwards
};

// The report must outlive the Gantt.
Gantt make_gantt(const Canvas& canvas, const Theme& theme, const engine::PipelineReport& pipeline,
                 const StageRows& rows, double from, double to);
void draw_blocks(Canvas& canvas, const FigureInput& input, const Gantt& gantt);
// Whether bars in sight are split by height, which the key has to say.
bool splits_bars(Canvas& canvas, const FigureInput& input, const Gantt& gantt);
// The key of idle time: what its hatch or tint stands on would be lost without a frame.
Fill idle_swatch(const Theme& theme, const Gantt& gantt, float em);
// What the key says of shades and split bars; empty where there are none. `chunks`: the most of a device. `both_ways`: the
// second stage of a device, or of one in another schedule, is one of the other direction.
std::string key_note(const TextTable& texts, int chunks, bool splits, bool both_ways);

// What is made once per timeline, and kept by the studies of the input while it does not change.
const engine::TimelineDetail& levels_of(const FigureInput& input, const engine::PipelineReport& pipeline);
const std::vector<engine::TimedStep>& path_of(const FigureInput& input, const engine::PipelineReport& pipeline);

// ---- what the parts of the figure share ----

std::string kind_name(const FigureInput& input, engine::OpKind kind);
std::string_view tag_of(engine::OpKind kind);
std::string time_text(double ticks);
// Stage, start, end and duration.
void add_times(const FigureInput& input, const Gantt& g, Readout& readout, int row, double from, double to);

// Time of forward, recomputation, backward without that, and weight gradient; what is missing to one is idle.
enum class Spent : std::uint8_t { forward, recompute, backward, weight };
using Times = std::array<double, 4>;
inline double& spent(Times& times, Spent on) { return times[static_cast<std::size_t>(on)]; }
// A bar from `from` to `to` split by height.
void draw_share_bar(Canvas& canvas, const FigureInput& input, const Gantt& gantt, int device, const Times& times,
                    double from, double to);
// The row of a device as share bars over its idle time.
void draw_share_row(Canvas& canvas, const FigureInput& input, const Gantt& gantt, int device);
void tag_idle(Canvas& canvas, const FigureInput& input, const Gantt& gantt, int device, const Rect& r, double from,
              double to);

}  // namespace roofscape::widgets::gantt
