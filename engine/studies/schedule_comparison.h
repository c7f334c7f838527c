// The step of a scenario under every schedule: what evaluate() says of the scenario with that schedule set, its
// layers dealt out anew where the schedule has other chunks. A schedule that cannot run keeps the rule it breaks.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/evaluate/evaluate.h"
#include "engine/pipeline/order_span.h"
#include "engine/report/report.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

// The plan's own shape for its own schedule; for others as many chunks as the plan has where the schedule takes any
// number, else the schedule's default.
ScheduleShape shape_under(const Scenario& scenario, ScheduleKind kind);
// The scenario with that schedule.
Scenario scenario_under(const Scenario& scenario, ScheduleKind kind);

struct ScheduleVariant {
  ScheduleShape shape;
  ScheduleStatus status;  // of the shape alone: a legal one may still have more chunks than the model has layers
  bool own = false;       // the plan's schedule
  bool known = false;     // evaluated, or found illegal
  // Of that schedule; null until it is known, and where the shape is illegal. Of a step too long to draw it has no
  // timeline.
  std::shared_ptr<const Report> report;
  Tick makespan = 0;  // 0: it cannot run
  double step_time_s = 0, memory_bytes = 0, idle_fraction = 0;
  bool legal() const { return makespan > 0; }
  bool drawn() const { return legal() && report->pipeline.drawn(); }
  const PipelineReport& pipeline() const { return report->pipeline; }
};

// Reports by ScheduleKind and working memory, for the next comparison: while shapes stay, only times are new. A
// comparison that takes them over ends the one before.
struct ScheduleReports {
  std::array<std::shared_ptr<Report>, kScheduleKinds> reports;
  EvaluationScratch scratch;
};

// A few schedules at a time, so that a window can show those it has: the plan's own first.
class ScheduleComparison {
 public:
  // Up to `most_ops` operations are kept to be drawn.
  explicit ScheduleComparison(const Scenario& scenario,
                              std::shared_ptr<ScheduleReports> kept = std::make_shared<ScheduleReports>(),
                              std::int64_t most_ops = std::int64_t{1} << 19);
  // Goes on while `ops` is above 0, and takes from it the operations simulated. True when all are done.
  bool advance(std::int64_t& ops);
  bool done() const { return next_ == order_.size(); }
  const ScheduleShape& shape() const { return shape_; }  // of the plan
  // By ScheduleKind.
  const std::vector<ScheduleVariant>& variants() const { return variants_; }

 private:
  Scenario edited_;
  ScheduleShape shape_;
  std::int64_t most_ops_;
  std::vector<ScheduleKind> order_;
  std::size_t next_ = 0;
  std::vector<ScheduleVariant> variants_;
  std::shared_ptr<ScheduleReports> kept_;
};
// All of them at once, in the order of the enum.
std::vector<ScheduleVariant> compare_schedules(const Scenario& scenario);

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
int microbatches_to_show(const ScheduleShape& plan);
int least_microbatches_to_show(int most);

// Every schedule at the powers of two up to `most` microbatches and at the plan's number; where one of them is
// illegal, at the next legal number above it. A point is what evaluate() says of the scenario with that schedule and
// a batch of so many microbatches; one with more than `most_ops` operations (at the plan's number eight times as
// many) is left out unless it has a closed form. A few points at a time: the plan's own first, then short steps
// before long ones.
class BubbleStudy {
 public:
  // Spans that outlive the study make the next one of the same shapes cheap: only times are new.
  BubbleStudy(const Scenario& scenario, int most, std::shared_ptr<OrderSpans> spans = std::make_shared<OrderSpans>(),
              std::int64_t most_ops = std::int64_t{1} << 17);
  // As in ScheduleComparison.
  bool advance(std::int64_t& ops);
  bool done() const { return next_ == tasks_.size(); }
  const ScheduleShape& shape() const { return shape_; }  // of the plan
  int most() const { return most_; }
  const std::vector<BubbleCurve>& curves() const { return curves_; }  // by ScheduleKind; points ascend

 private:
  struct Task {
    ScheduleShape shape;
    std::int64_t ops = 0;  // 0: there is a closed form
  };
  Scenario edited_;
  ScheduleShape shape_;
  int most_;
  std::vector<Task> tasks_;
  std::size_t next_ = 0;
  std::vector<BubbleCurve> curves_;
  PipelineReport pipeline_;
  std::shared_ptr<OrderSpans> spans_;
};
std::vector<BubbleCurve> bubble_curves(const Scenario& scenario, int most);

}  // namespace roofscape::engine
