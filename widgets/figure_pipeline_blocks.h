// The blocks of the pipeline figure: operations of a schedule on their rows, in as much detail as there is room for.
// Cost: at most proportional to what is visible; where blocks are too small for that, to the pixels.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "widgets/figure.h"
#include "widgets/palette.h"
#include "widgets/stage_rows.h"

namespace roofscape::widgets::gantt {

enum class Detail : std::uint8_t {
  blocks,  // every operation
  runs,    // operations of one kind that follow each other are one bar; runs under a pixel, bars split by height
  shares,  // bars split by height: the share of time of each kind in a few pixels of time
};

struct Gantt {
  const engine::PipelineReport& pipeline;
  StageRows rows;
  double from = 0, to = 0;      // visible time in ticks
  double px_per_tick = 0;
  double step_end = 0;          // ticks after the makespan
  Detail detail = Detail::blocks;
  int chunks = 1;
  std::vector<std::uint8_t> chunk_of;             // by virtual stage
  bool overlaps = false;                          // the schedule has overlapped pairs
  std::vector<double> durations;                  // by Op::stage_and_kind; of operations that are not overlapped
  std::array<std::array<Fill, 16>, 4> fills{};    // by engine::OpKind and chunk (later ones share the last)
  Fill idle, end;
  std::array<bool, 4> numbered{};                 // by engine::OpKind: every microbatch number fits

  float at(double tick) const;                    // clamped to a little outside the plot
  const Fill& fill(engine::Op op) const;
};

// The report must outlive the Gantt.
Gantt make_gantt(const Canvas& canvas, const Theme& theme, const engine::PipelineReport& pipeline, const StageRows& rows,
                 double from, double to);
void draw_blocks(Canvas& canvas, const FigureInput& input, const Gantt& gantt);

inline constexpr double kTicksPerSecond = 1e12;

}  // namespace roofscape::widgets::gantt
