// How a measured run stands beside what is predicted, in every figure that shows one: pale, with an edge in ink. A
// baseline is dashed, and what is predicted has its own colours.
#pragma once

#include <optional>

#include "engine/studies/measured_run.h"
#include "widgets/figures/common/figure.h"
#include "widgets/plot/plot.h"

namespace roofscape::widgets {

Fill measured_fill(const Theme& theme, float em);
KeyEntry measured_key(const FigureInput& input, float em);

// The run against the report of the input; nothing where there is no run.
std::optional<engine::MeasuredComparison> measured_comparison(const FigureInput& input);
// Seconds of a measured step, worked out from rates where no time was stated.
std::optional<double> measured_step(const FigureInput& input);

// What a measured run had allocated, or where that is not known what its allocator had reserved; 0: nothing is known.
double measured_bytes(const FigureInput& input);

// Adds "; measured 6.20 s" to the takeaway of a figure of time, and to its short form; "measured 61.2 GB" to one of memory.
void say_measured_step(const FigureInput& input, FigureHead& head);
void say_measured_bytes(const FigureInput& input, FigureHead& head);

// The row of a readout.
void add_measured_time(Readout& readout, const FigureInput& input, double seconds);

}  // namespace roofscape::widgets
