#include "engine/studies/schedule_comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "engine/inputs/inputs.h"
#include "engine/scenario/mesh_size.h"
#include "engine/training/bubble.h"
#include "engine/training/stage_time.h"

namespace roofscape::engine {
namespace {

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();
// A point or schedule whose operations are not run costs about as much as so many.
constexpr std::int64_t kOpsOfAnEvaluation = 2'000;

std::int64_t op_count(const ScheduleShape& shape) {
  const std::int64_t each = splits_backward(shape.kind) ? 3 : 2;
  return each * shape.microbatches * shape.stages * passes_per_device(shape);
}

void set_schedule(Scenario& s, const ScheduleShape& shape) {
  s.pipeline.schedule = shape.kind;
  s.pipeline.virtual_stages = shape.virtual_stages;
}

bool has_layers(const Scenario& s, const ScheduleShape& shape) {
  return layers_suffice(layer_split(s), shape.kind, shape.stages, passes_per_device(shape));
}

// What evaluate() has of a pipeline of that shape before its order is run; nothing where the schedule is illegal.
struct Before {
  Inputs<double> in;
  StageTime<double> stage;
};
std::optional<Before> before_the_order(Scenario& s, const ScheduleShape& shape, PipelineReport& pipeline) {
  set_schedule(s, shape);
  s.workload.global_batch_sequences = static_cast<int>(batch_granule(s) * shape.microbatches);
  Before out;
  out.in = make_inputs<double>(s, nullptr);
  const LayerTime<double> layer = layer_time(out.in, layer_key(s), s.parallelism.context_method);
  stage_times(out.in, layer, stage_key(s), pipeline, out.stage);
  if (!pipeline.status.legal()) return std::nullopt;
  return out;
}

ScheduleShape of_microbatches(const Scenario& scenario, const ScheduleShape& shape, int microbatches) {
  return schedule_shape(scenario.pipeline, shape.kind, shape.stages, microbatches, shape.virtual_stages);
}

}  // namespace

ScheduleShape shape_under(const Scenario& scenario, ScheduleKind kind) {
  const ScheduleShape shape = stage_key(scenario).shape;
  if (kind == shape.kind) return shape;
  const bool keeps_chunks = varies_chunks(kind) && shape.virtual_stages >= 2;
  return schedule_shape(scenario.pipeline, kind, shape.stages, shape.microbatches,
                        keeps_chunks ? shape.virtual_stages : default_virtual_stages(kind));
}

Scenario scenario_under(const Scenario& scenario, ScheduleKind kind) {
  Scenario other = scenario;
  set_schedule(other, shape_under(scenario, kind));
  return other;
}

ScheduleComparison::ScheduleComparison(const Scenario& scenario, std::shared_ptr<ScheduleReports> kept,
                                       std::int64_t most_ops)
    : edited_(scenario),
      shape_(stage_key(scenario).shape),
      most_ops_(most_ops),
      variants_(kScheduleKinds),
      kept_(std::move(kept)) {
  order_.push_back(shape_.kind);
  for (const ScheduleKind kind : kSchedules) {
    if (kind != shape_.kind) order_.push_back(kind);
    ScheduleVariant& v = variants_[static_cast<std::size_t>(kind)];
    v.shape = shape_under(scenario, kind);
    v.status = check_schedule(v.shape);
    v.own = kind == shape_.kind;
    v.known = !v.status.legal();
  }
}

bool ScheduleComparison::advance(std::int64_t& ops) {
  for (; next_ < order_.size() && ops > 0; ++next_) {
    ScheduleVariant& v = variants_[static_cast<std::size_t>(order_[next_])];
    if (v.known) continue;
    v.known = true;
    std::shared_ptr<Report>& report = kept_->reports[static_cast<std::size_t>(order_[next_])];
    if (report == nullptr) report = std::make_shared<Report>();
    set_schedule(edited_, v.shape);
    evaluate(edited_, kept_->scratch, *report);
    v.report = report;
    ops -= kOpsOfAnEvaluation;
    const QuantityValues& q = report->quantities;
    v.memory_bytes = q.value_or(Q::memory_total, 0);
    if (report->has_errors()) continue;
    ops -= op_count(v.shape);
    v.step_time_s = q.value_or(Q::step_time, 0);
    v.idle_fraction = q.value_or(Q::pipeline_bubble_fraction, 0);
    v.makespan = ticks_of(q.value_or(Q::pipeline_makespan, 0));
    if (op_count(v.shape) > most_ops_) {
      report->pipeline = {};
      report->pipeline.shape = v.shape;
    }
  }
  return done();
}

std::vector<ScheduleVariant> compare_schedules(const Scenario& scenario) {
  ScheduleComparison all(scenario);
  std::int64_t unlimited = kUnlimited;
  all.advance(unlimited);
  return all.variants();
}

int microbatches_to_show(const ScheduleShape& plan) {
  const std::int64_t wanted =
      std::min<std::int64_t>(std::max(std::int64_t{8} * plan.stages, std::int64_t{2} * plan.microbatches), 1 << 20);
  int most = 2;
  while (most < wanted) most *= 2;
  return most;
}

int least_microbatches_to_show(int most) { return std::max(1, most / 256); }

BubbleStudy::BubbleStudy(const Scenario& scenario, int most, std::shared_ptr<OrderSpans> spans, std::int64_t most_ops)
    : edited_(scenario), shape_(stage_key(scenario).shape), most_(most), spans_(std::move(spans)) {
  std::set<int> wanted{shape_.microbatches};
  for (int m = least_microbatches_to_show(most); m > 0 && m <= most; m *= 2) wanted.insert(m);
  const std::int64_t granule = batch_granule(scenario);
  for (const ScheduleKind kind : kSchedules) {
    BubbleCurve curve;
    curve.shape = shape_under(scenario, kind);
    curve.own = kind == shape_.kind;
    std::set<int> legal;
    for (const int m : wanted) {
      const ScheduleShape shape = of_microbatches(scenario, curve.shape, m);
      const ScheduleStatus status = check_schedule(shape);
      if (status.legal())
        legal.insert(m);
      else if (status.field == ShapeField::microbatches && status.above > m && status.above <= most)
        legal.insert(status.above);
    }
    std::erase_if(legal, [&](int m) { return granule * m > std::numeric_limits<int>::max(); });
    if (!has_layers(scenario, curve.shape)) legal.clear();
    for (const int m : legal) {
      Task task{of_microbatches(scenario, curve.shape, m)};
      task.ops = op_count(task.shape);
      tasks_.push_back(task);
    }
    curves_.push_back(std::move(curve));
  }
  // Stages take equally long whatever the batch is, so one of its numbers tells whether a curve has a closed form.
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (i == 0 || tasks_[i].shape.kind != tasks_[i - 1].shape.kind)
      before_the_order(edited_, tasks_[i].shape, pipeline_);
    if (closed_form_time(tasks_[i].shape, pipeline_.times)) tasks_[i].ops = 0;
  }
  std::erase_if(tasks_, [&](const Task& task) {
    return task.ops > (task.shape.microbatches == shape_.microbatches ? 8 * most_ops : most_ops);
  });
  const auto rank = [this](const Task& task) { return task.shape == shape_ ? -1 : task.ops; };
  std::stable_sort(tasks_.begin(), tasks_.end(), [&](const Task& a, const Task& b) { return rank(a) < rank(b); });
}

bool BubbleStudy::advance(std::int64_t& ops) {
  for (; next_ < tasks_.size() && ops > 0; ++next_) {
    const Task& task = tasks_[next_];
    std::optional<Before> step = before_the_order(edited_, task.shape, pipeline_);
    ops -= kOpsOfAnEvaluation;
    if (!step) continue;
    const std::size_t before = spans_->operations_run();
    const PipelineTimeResult result = pipeline_time(task.shape, pipeline_.times, *spans_);
    ops -= static_cast<std::int64_t>(spans_->operations_run() - before);
    if (!result.ok()) continue;
    step->stage.makespan = static_cast<double>(result.step.makespan) * kTickSeconds;
    Bubble<double> idle;
    bubble(step->in, step->stage, idle);
    if (!std::isfinite(idle.bubble_fraction)) continue;
    const BubblePoint point{task.shape.microbatches, idle.bubble_fraction, result.step.makespan};
    std::vector<BubblePoint>& points = curves_[static_cast<std::size_t>(task.shape.kind)].points;
    points.insert(
        std::upper_bound(points.begin(), points.end(), point,
                         [](const BubblePoint& a, const BubblePoint& b) { return a.microbatches < b.microbatches; }),
        point);
  }
  return done();
}

std::vector<BubbleCurve> bubble_curves(const Scenario& scenario, int most) {
  BubbleStudy all(scenario, most);
  std::int64_t unlimited = kUnlimited;
  all.advance(unlimited);
  return all.curves();
}

}  // namespace roofscape::engine
