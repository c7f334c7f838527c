// What the waterfalls of seconds have in common, of a training step and of a decoding step: their axis and columns,
// how what costs no time looks, and how a baseline is told.
#pragma once

#include "widgets/figures/common/bar_rows.h"
#include "widgets/figures/common/figure.h"
#include "widgets/figures/training/figure_pipeline_parts.h"

namespace roofscape::widgets {

// What a part takes; 0 where the report lacks it.
inline double seconds_of(const engine::Report& report, engine::Q part) { return report.quantities.value_or(part, 0); }

// To `end_s` seconds, shown in `unit`, with columns for the time of a row and its share.
BarAxis time_bar_axis(const TextTable& texts, double end_s, const TimeUnit& unit);

// A fill of what is hidden under other work: faded, without an edge.
Fill hidden_fill(const Theme& theme, Fill fill, const FigureView& view);

// The rows of a readout that set seconds beside those of the baseline.
void add_baseline_time(Readout& readout, const TextTable& texts, double seconds, double base_seconds);

}  // namespace roofscape::widgets
