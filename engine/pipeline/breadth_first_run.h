// GPipe and breadth-first schedules run with any stage times, without an order: what simulate() gives for the schedule's
// order, to the last tick. All forwards of a virtual stage come before all of the next, so the stages are run one after
// the other, the forwards from the first to the last and the backwards back, and nothing is kept but when the results of
// the microbatches arrive, and of a timeline when each operation starts. A stage's passes last equally long, so that its
// results are a few runs, each equally far apart, however many microbatches there are: it is these that are counted with.
#pragma once

#include <vector>

#include "engine/pipeline/one_f_one_b_run.h"

namespace roofscape::engine {

// Passes one after the other whose results arrive equally far apart.
struct PassRun {
  Tick first = 0, apart = 0, count = 0;
  Tick last() const { return first + (count - 1) * apart; }
  Tick after() const { return first + count * apart; }
};

// Working memory, kept between calls by whoever calls often.
struct BreadthFirstScratch {
  std::vector<PassRun> arrives, sent;
  std::vector<Tick> free;  // by device
};

bool runs_breadth_first(const ScheduleShape& shape);
// The shape must be legal, and the times must fit it (check_times).
StepSpan breadth_first_span(const ScheduleShape& shape, const PipelineTimes& times, BreadthFirstScratch& scratch);
// The same with the timeline; without `starts`, of that the totals alone.
void breadth_first_timeline(const ScheduleShape& shape, const PipelineTimes& times, bool starts,
                            BreadthFirstScratch& scratch, Timeline& out);

}  // namespace roofscape::engine
