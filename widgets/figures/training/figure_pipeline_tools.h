// What the pipeline figure shows on demand: the critical path through its blocks, the memory of each stage over time
// under its row, what the operation under the pointer waits for and feeds, and the time cursor of playback. All of it
// is asked for by FigureView, so that an exported figure can show it too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "widgets/figures/training/figure_pipeline_blocks.h"

namespace roofscape::widgets::gantt {

// The same rows with lower bars, so that a trace has room under each. Unchanged where rows are too low for two.
StageRows rows_with_trace(const Canvas& canvas, StageRows rows);

// The look of a trace: the activations', set off from the backward blocks, which share its hue.
Fill trace_fill(const Theme& theme, float em);
// Whether rows have room for traces.
bool has_traces(const Canvas& canvas, const Gantt& gantt);
// Bytes of activations on each device over time, all rows to one scale. Needs the levels of the Gantt.
void draw_memory_traces(Canvas& canvas, const FigureInput& input, const Gantt& gantt);
// Whether a path in bars runs clear of their numbers, which give way to it if not.
bool has_room_for_path(const Canvas& canvas, const Gantt& gantt);
// The chain of operations that fills the step without a gap, as a line in ink.
void draw_critical_path(Canvas& canvas, const FigureInput& input, const Gantt& gantt);
// The operation at a point, framed, with thin arrows from its inputs and to the operation that takes its result.
void draw_links(Canvas& canvas, const FigureInput& input, const Gantt& gantt, Point pointer);
// A line at a time with the time in a pill under the axis; what comes later steps back.
void draw_time_cursor(Canvas& canvas, const FigureInput& input, const Gantt& gantt, double tick);

// The operation drawn at a point; none between rows, in idle time, or where operations have no blocks of their own.
std::optional<std::uint32_t> op_at(const Gantt& gantt, Point point);
// "forward 5 of stage 2": what an operation waited for.
std::string waited_text(const FigureInput& input, const engine::PipelineReport& pipeline, std::uint32_t op);

}  // namespace roofscape::widgets::gantt
