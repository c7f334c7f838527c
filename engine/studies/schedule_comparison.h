// The same step under every schedule: the work of the scenario's stages, run by each order of pipeline/schedule.h.
// Where a schedule cuts the layers into other chunks than the plan does, the work of each piece is spread evenly over
// its chunks. A schedule that cannot run these microbatches on these stages keeps the rule it breaks.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/pipeline/pipeline_time.h"
#include "engine/report/report.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

// What a step of a pipeline has to do, whatever its schedule.
struct StepWork {
  ScheduleShape shape;  // of the plan: its own schedule, stages and microbatches
  // Of one microbatch, in the order it passes the layers; equally many for each device.
  std::vector<Tick> forward, backward_input, backward_weight;
  std::vector<Tick> recompute;  // part of backward_input; empty where it is not known
  Tick transfer = 0;
  bool blocking_send = false;
  friend bool operator==(const StepWork&, const StepWork&) = default;
};

// From a report of the scenario. Where its own schedule is illegal and so has no times, those of 1F1B on the same
// stages. Nothing where there is no pipeline.
std::optional<StepWork> step_work(const Scenario& scenario, const Report& report);
// The same without a substitute: nothing where the plan's own schedule is illegal.
std::optional<StepWork> step_work(const Report& report);

// The plan's own shape for its own schedule; for others as many chunks as the plan has where the schedule takes any
// number, else the schedule's default.
ScheduleShape shape_under(const StepWork& work, ScheduleKind kind);
// The scenario with that schedule, its layers dealt out anew where it has other chunks.
Scenario scenario_under(const Scenario& scenario, ScheduleKind kind);
PipelineTimes times_under(const StepWork& work, const ScheduleShape& shape);
// By virtual stage, as in PipelineReport.
std::vector<Tick> recompute_under(const StepWork& work, const ScheduleShape& shape);

struct ScheduleVariant {
  PipelineReport pipeline;  // no step end: it is the same for all. Not drawn where it is illegal or too long to draw
  Tick makespan = 0;        // 0: illegal
  double idle_fraction = 0;
  std::vector<Tick> idle;  // by device; only where drawn
  bool own = false;        // the plan's schedule
  bool known = false;      // simulated, or found illegal
  bool legal() const { return makespan > 0; }
};
// All kinds in the order of the enum. Up to `most_ops` operations are kept to be drawn.
std::vector<ScheduleVariant> compare_schedules(const StepWork& work, std::int64_t most_ops = std::int64_t{1} << 19);

// The same a few schedules at a time, so that a window can show those it has: the plan's own first.
class ScheduleComparison {
 public:
  // A cache that outlives the study makes the next one of the same shapes cheap: only times are new.
  explicit ScheduleComparison(StepWork work, std::shared_ptr<PipelineCache> cache = std::make_shared<PipelineCache>(),
                              std::int64_t most_ops = std::int64_t{1} << 19);
  // Goes on while `ops` is above 0, and takes from it the operations simulated. True when all are done.
  bool advance(std::int64_t& ops);
  bool done() const { return next_ == order_.size(); }
  const StepWork& work() const { return work_; }
  // By ScheduleKind. Those to come have makespan 0 and are not `known`.
  const std::vector<ScheduleVariant>& variants() const { return variants_; }

 private:
  StepWork work_;
  std::int64_t most_ops_;
  std::vector<ScheduleKind> order_;
  std::size_t next_ = 0;
  std::vector<ScheduleVariant> variants_;
  std::shared_ptr<PipelineCache> cache_;
};

struct BubblePoint {
  int microbatches = 1;
  double idle_fraction = 0;
  Tick makespan = 0;
};
struct BubbleCurve {
  ScheduleShape shape;  // of the plan's number of microbatches, which may be illegal
  std::vector<BubblePoint> points;
  bool own = false;
};
// Powers of two between which the curves of a plan are worth seeing: up to beyond its own number, where bubbles are
// small, from 1 or eight octaves below that.
int microbatches_to_show(const StepWork& work);
int least_microbatches_to_show(int most);
// Every schedule at the powers of two up to `most` microbatches and at the plan's number; where one of them is
// illegal, at the next legal number above it. A point with more than `most_ops` operations (at the plan's number
// eight times as many) is left out unless it has a closed form.
std::vector<BubbleCurve> bubble_curves(const StepWork& work, int most, std::int64_t most_ops = std::int64_t{1} << 17);

// The same a few points at a time: the plan's own number of microbatches under its own schedule first, then short
// steps before long ones.
class BubbleStudy {
 public:
  BubbleStudy(StepWork work, int most, std::shared_ptr<PipelineCache> cache = std::make_shared<PipelineCache>(),
              std::int64_t most_ops = std::int64_t{1} << 17);
  // As in ScheduleComparison.
  bool advance(std::int64_t& ops);
  bool done() const { return next_ == tasks_.size(); }
  const StepWork& work() const { return work_; }
  int most() const { return most_; }
  const std::vector<BubbleCurve>& curves() const { return curves_; }  // by ScheduleKind; points ascend

 private:
  struct Task {
    ScheduleShape shape;
    std::int64_t ops = 0;  // 0: there is a closed form
  };
  StepWork work_;
  int most_;
  std::vector<Task> tasks_;
  std::size_t next_ = 0;
  std::vector<PipelineTimes> times_;  // by ScheduleKind
  std::vector<BubbleCurve> curves_;
  std::shared_ptr<PipelineCache> cache_;
};

}  // namespace roofscape::engine
