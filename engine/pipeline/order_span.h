// The makespan of any schedule for a search, which asks only how long a plan takes, again and again: what simulate()
// gives for the schedule's order, to the last tick. A long step is not run as a whole. Between warm-up and drain a
// device repeats the same few operations for other microbatches; once two repetitions of all devices differ by
// nothing but a constant, all that follow do, and what is left of them is a multiplication. That is looked for in a
// step of few microbatches; where it is not found, and for schedules without such a middle (ZB-H1 in chunks,
// interleaved), the whole step is run; GPipe and breadth first, and 1F1B, without writing an order
// (breadth_first_run.h, one_f_one_b_run.h).
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "engine/pipeline/breadth_first_run.h"
#include "engine/pipeline/one_f_one_b_run.h"
#include "engine/pipeline/pipeline_time.h"

namespace roofscape::engine {

// The middle of a schedule's lists: on device r, behind its first `before(r)` operations, groups of `length` that
// differ by the microbatch alone. A step of first_microbatches + n microbatches_each has n of them on every device.
struct RepeatedMiddle {
  int stages = 1;
  int length = 0;
  int first_microbatches = 0, microbatches_each = 1;
  int (*before_device)(int stages, int device) = nullptr;
  int before(int device) const { return before_device(stages, device); }
  int repetitions(int microbatches) const { return (microbatches - first_microbatches) / microbatches_each; }
};
std::optional<RepeatedMiddle> repeated_middle(const ScheduleShape& shape);

// Keeps what it was asked last, and the orders it ran. Belongs to one thread.
class OrderSpans {
 public:
  // The shape must be legal, and the times must fit it (check_times).
  StepSpan span(const ScheduleShape& shape, const PipelineTimes& times);
  // Operations run so far, all steps together.
  std::size_t operations_run() const { return operations_run_; }

 private:
  struct Known {
    ScheduleShape shape;
    PipelineTimes times;
    StepSpan step;
  };
  StepSpan run(const ScheduleShape& shape, const PipelineTimes& times);
  std::optional<StepSpan> run_repeated(const ScheduleShape& shape, const PipelineTimes& times);
  int reach(const ScheduleShape& shape, const RepeatedMiddle& middle);

  PipelineCache cache_;
  BreadthFirstScratch breadth_first_;
  OneFOneBScratch one_f_one_b_;
  std::vector<Known> known_;
  std::size_t next_ = 0;
  std::vector<std::pair<ScheduleShape, int>> reaches_;
  std::vector<int> repetition_;  // by operation
  std::size_t operations_run_ = 0;
};

}  // namespace roofscape::engine
