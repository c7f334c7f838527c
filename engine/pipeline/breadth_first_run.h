// GPipe and breadth-first schedules run with any stage times, without an order: what simulate() gives for the schedule's
// order, to the last tick. All forwards of a virtual stage come before all of the next, so the stages are run one after
// the other, the forwards from the first to the last and the backwards back, and nothing is kept but when the results of
// each microbatch arrive, and of a timeline when each operation starts.
#pragma once

#include <vector>

#include "engine/pipeline/one_f_one_b_run.h"

namespace roofscape::engine {

// Working memory, kept between calls by whoever calls often.
struct BreadthFirstScratch {
  std::vector<Tick> arrives;  // by microbatch
  std::vector<Tick> free;     // by device
};

bool runs_breadth_first(const ScheduleShape& shape);
// The shape must be legal, and the times must fit it (check_times).
StepSpan breadth_first_span(const ScheduleShape& shape, const PipelineTimes& times, BreadthFirstScratch& scratch);
// The same with the timeline; without `starts`, of that the totals alone.
void breadth_first_timeline(const ScheduleShape& shape, const PipelineTimes& times, bool starts,
                            BreadthFirstScratch& scratch, Timeline& out);

}  // namespace roofscape::engine
