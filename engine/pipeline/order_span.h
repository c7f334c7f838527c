// How long the step of any schedule takes, for a search, which asks nothing else, again and again; and the timeline of a
// long one: what simulate() gives for the schedule's order, to the last tick. A long step is not run as a whole. Between
// warm-up and drain a device repeats the same operations for other microbatches; once two repetitions of all devices
// differ by nothing but a constant, all that follow do, and what is left of them is a multiplication. That is looked for
// in a step of few microbatches; where it is not found, and for schedules without such a middle (ZB-H1 in chunks), the
// whole step is run; GPipe and breadth first, and 1F1B, without writing an order (breadth_first_run.h,
// one_f_one_b_run.h).
#pragma once

#include <cstddef>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/pipeline/breadth_first_run.h"
#include "engine/pipeline/critical_chain.h"
#include "engine/pipeline/one_f_one_b_run.h"
#include "engine/pipeline/pipeline_time.h"

namespace roofscape::engine {

// From so many operations on it costs less to find how a step repeats itself than to run all of them one by one.
inline constexpr std::size_t kLongStep = std::size_t{1} << 15;

// The middle of a schedule's lists: on device r, behind its first `before(r)` operations, groups of `length` that
// differ by the microbatch alone. A step of first_microbatches + n microbatches_each has n of them on every device.
struct RepeatedMiddle {
  int length = 0;
  int first_microbatches = 0, microbatches_each = 1;
  int (*before)(const ScheduleShape&, int device) = nullptr;
  int repetitions(int microbatches) const { return (microbatches - first_microbatches) / microbatches_each; }
};
std::optional<RepeatedMiddle> repeated_middle(const ScheduleShape& shape);

// Keeps what it was asked last, and the orders it ran. Belongs to one thread.
class OrderSpans {
 public:
  // The shape must be legal, and the times must fit it (check_times).
  StepSpan span(const ScheduleShape& shape, const PipelineTimes& times);
  // What no step of the shape with these times goes below, by what has decided the steps that were run: 0 where none
  // was, or none whose order is kept.
  Tick least_makespan(const ScheduleShape& shape, const PipelineTimes& times) const;
  bool knows(const ScheduleShape& shape) const { return chains_.contains(shape); }  // more than that
  // What has decided the other's steps, of shapes that none is known of.
  void learn(const OrderSpans& other);
  // What simulate() fills of a timeline, with or without when each operation starts. False: the step does not repeat
  // itself, or not for long, so that its order has to be run as a whole, and `out` means nothing.
  bool fill_timeline(const ScheduleShape& shape, const PipelineTimes& times, Timeline& out);
  bool fill_totals(const ScheduleShape& shape, const PipelineTimes& times, Timeline& out);
  // Operations run so far, all steps together.
  std::size_t operations_run() const { return operations_run_; }

 private:
  struct Known {
    ScheduleShape shape;
    PipelineTimes times;
    StepSpan step;
  };
  // A step of few microbatches, from which the whole step follows: what its last period of repetitions adds (period_)
  // comes that much more often. Its timeline is the cache's.
  struct Settled {
    RepeatedMiddle middle;
    ScheduleShape few;
    int repetitions = 0, period = 0;  // of that step
    Tick periods_left = 0;            // that the whole step has more
  };
  struct Chains {
    std::vector<ChainCounts> all;
    std::size_t next = 0;
  };
  // A step in the timeline of the cache: with a plan that is kept, or without one.
  void run(const ScheduleShape& shape, const PipelineTimes& times);
  void run_without_plan(const ScheduleShape& shape, const PipelineTimes& times);
  bool worth_a_plan(const ScheduleShape& shape);
  // Of the step that was run last. `settled`: it was that one, and the shape's own is longer.
  void keep_chain(const ScheduleShape& shape, const PipelineTimes& times, const Settled* settled, Tick makespan);
  RepeatedPath repeated_path(const Settled& settled, const Orders& orders) const;
  std::optional<Settled> settle(const ScheduleShape& shape, const PipelineTimes& times);
  void sum_period(const Settled& settled);
  void add_totals(const Settled& settled, Timeline& out) const;
  int reach(const ScheduleShape& shape, const RepeatedMiddle& middle);

  PipelineCache cache_;
  BreadthFirstScratch breadth_first_;
  OneFOneBScratch one_f_one_b_;
  std::vector<Known> known_;
  std::size_t next_ = 0;
  std::unordered_map<ScheduleShape, Chains, ShapeHash> chains_;
  std::size_t chains_bytes_ = 0;
  std::vector<CriticalStep> path_;
  std::unordered_map<ScheduleShape, int, ShapeHash> runs_;  // of orders that have no plan
  std::vector<std::pair<ScheduleShape, int>> reaches_;
  std::vector<int> repetition_;  // by operation
  // A period of the step that settled last.
  struct Period {
    Tick lasts = 0;
    PartTotals totals;
  };
  Period period_;
  std::vector<OpRange> in_period_;  // by device
  Timeline totals_;                 // without starts
  std::size_t operations_run_ = 0;
};

struct PipelineTimeResult {
  ScheduleStatus schedule;                                // why there is no makespan: the shape is illegal
  SimulationOutcome times = SimulationOutcome::finished;  //   or the times do not fit
  StepSpan step;                                          // in_transfer is not known of a closed form
  bool closed_form = false;
  bool ok() const { return schedule.legal() && times == SimulationOutcome::finished; }
};
// How long a step takes: a closed form where there is one, otherwise by `spans`.
PipelineTimeResult pipeline_time(const ScheduleShape& shape, const PipelineTimes& times, OrderSpans& spans);

}  // namespace roofscape::engine
