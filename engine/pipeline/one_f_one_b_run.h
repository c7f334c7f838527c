// The makespan of 1F1B and interleaved 1F1B with any stage times, without an order: what simulate() gives for the
// schedule's order, to the last tick, for searches that ask only how long a plan takes. In these two schedules it is
// known beforehand in which sequence operations can be run so that everything one waits for comes before it: first
// all warm-ups, then pairs of a forward and a backward along lines on which no pair waits for another, then the last
// backwards. So nothing is looked up, nothing is written but the results that are on their way, and devices do not
// wait for each other's loops.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/pipeline/simulate.h"

namespace roofscape::engine {

struct StepSpan {
  Tick makespan = 0;
  Tick in_transfer = 0;  // as Timeline::in_transfer
};

// Working memory, kept between calls by whoever calls often.
struct OneFOneBScratch {
  std::vector<Tick> forward, backward;  // results on their way: when they arrive, [device][index in a ring]
  std::vector<Tick> free;               // by device
  std::vector<Tick> hop_before;         // from the device before, and to the first from the last
  std::vector<Tick> whole_backward;     // by virtual stage
  std::vector<Tick> known, known_line;  // states of the devices at earlier lines
  // Interleaved, by forward, for two repetitions: first virtual stage of its chunk.
  std::vector<std::uint32_t> chunk;
  // By line of a repetition: how many lines later one comes whose forwards, or backwards, are not like those of the line
  // before it; and whether those of a line are not.
  std::vector<std::uint32_t> forwards_alike, backwards_alike;
  std::vector<std::uint8_t> differs;
};

// Whether one_f_one_b_span runs this shape: 1F1B, or interleaved in groups of as many microbatches as stages.
bool runs_without_order(const ScheduleShape& shape);

// The shape must be legal, and the times must fit it (check_times).
StepSpan one_f_one_b_span(const ScheduleShape& shape, const PipelineTimes& times, OneFOneBScratch& scratch);

}  // namespace roofscape::engine
