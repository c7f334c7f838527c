#include "engine/studies/schedule_comparison.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "engine/evaluate/evaluate.h"
#include "engine/pipeline/timeline_analysis.h"

namespace roofscape::engine {
namespace {

std::int64_t op_count(const ScheduleShape& shape) {
  const std::int64_t each = splits_backward(shape.kind) ? 3 : 2;
  return each * shape.microbatches * shape.stages * passes_per_device(shape);
}

// `parts` pieces of work cut anew into `count` equal ones. The sum stays what it was.
std::vector<Tick> cut_anew(const std::vector<Tick>& parts, std::size_t count) {
  std::vector<Tick> out(count);
  const auto n = static_cast<Tick>(count);
  Tick whole = 0, before = 0;
  std::size_t done = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t end = (i + 1) * parts.size();
    while (done < end / count) whole += parts[done++];
    const auto rest = static_cast<Tick>(end % count);
    const Tick part = rest > 0 ? parts[done] : 0;
    const Tick until = whole + part / n * rest + part % n * rest / n;
    out[i] = until - before;
    before = until;
  }
  return out;
}

// Work of a mean device, over the makespan, is what does not idle.
double idle_of(const ScheduleShape& shape, const PipelineTimes& times, Tick makespan) {
  double work = 0;
  for (const auto* part : {&times.forward, &times.backward_input, &times.backward_weight})
    for (const Tick t : *part) work += static_cast<double>(t);
  const double directions = virtual_stage_count(shape) / (1.0 * shape.stages * passes_per_device(shape));
  const double busy = work / directions * shape.microbatches / shape.stages;
  return makespan > 0 ? std::max(0.0, 1 - busy / static_cast<double>(makespan)) : 0;
}

}  // namespace

std::optional<StepWork> step_work(const Report& report) {
  const PipelineReport& p = report.pipeline;
  if (p.shape.stages < 2 || !p.status.legal()) return std::nullopt;
  const auto route = static_cast<std::size_t>(p.shape.stages) * static_cast<std::size_t>(passes_per_device(p.shape));
  StepWork work;
  work.shape = p.shape;
  const auto take = [route](const std::vector<Tick>& all, std::vector<Tick>& out) {
    if (all.size() < route) return false;
    out.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(route));
    return true;
  };
  if (!take(p.times.forward, work.forward) || !take(p.times.backward_input, work.backward_input) ||
      !take(p.times.backward_weight, work.backward_weight))
    return std::nullopt;
  if (!take(p.recompute, work.recompute)) work.recompute.clear();
  work.transfer = p.times.transfer;
  work.blocking_send = p.times.blocking_send;
  return work;
}

std::optional<StepWork> step_work(const Scenario& scenario, const Report& report) {
  const ScheduleShape& shape = report.pipeline.shape;
  if (shape.stages < 2) return std::nullopt;
  if (auto work = step_work(report)) return work;
  Scenario other = scenario;
  other.pipeline.schedule = ScheduleKind::one_f_one_b;
  other.pipeline.virtual_stages = 1;
  auto work = step_work(evaluate(other));
  if (!work || work->shape.stages != shape.stages) return std::nullopt;
  work->shape = shape;
  return work;
}

ScheduleShape shape_under(const StepWork& work, ScheduleKind kind) {
  if (kind == work.shape.kind) return work.shape;
  ScheduleShape shape = work.shape;
  shape.kind = kind;
  shape.group_size = 0;
  if (!varies_chunks(kind) || shape.virtual_stages < 2) shape.virtual_stages = default_virtual_stages(kind);
  return shape;
}

Scenario scenario_under(const Scenario& scenario, ScheduleKind kind) {
  StepWork plan;
  plan.shape = {scenario.pipeline.schedule, scenario.parallelism.pipeline, 1, scenario.pipeline.virtual_stages, 0};
  Scenario other = scenario;
  other.pipeline.schedule = kind;
  other.pipeline.virtual_stages = shape_under(plan, kind).virtual_stages;
  return other;
}

namespace {

// The pieces of a route cut for another schedule; a second direction passes the same layers.
std::vector<Tick> cut_under(const std::vector<Tick>& pieces, const ScheduleShape& shape) {
  const auto route = static_cast<std::size_t>(shape.stages) * static_cast<std::size_t>(passes_per_device(shape));
  std::vector<Tick> out = cut_anew(pieces, route);
  for (std::size_t i = route; i < static_cast<std::size_t>(virtual_stage_count(shape)); ++i) {
    const Tick same = out[i - route];
    out.push_back(same);
  }
  return out;
}

}  // namespace

PipelineTimes times_under(const StepWork& work, const ScheduleShape& shape) {
  PipelineTimes times;
  times.forward = cut_under(work.forward, shape);
  times.backward_input = cut_under(work.backward_input, shape);
  times.backward_weight = cut_under(work.backward_weight, shape);
  times.transfer = work.transfer;
  times.blocking_send = work.blocking_send;
  return times;
}

std::vector<Tick> recompute_under(const StepWork& work, const ScheduleShape& shape) {
  if (work.recompute.empty()) return {};
  // Rounding may leave a piece a tick above the backward it belongs to.
  std::vector<Tick> out = cut_under(work.recompute, shape);
  const std::vector<Tick> most = cut_under(work.backward_input, shape);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = std::min(out[i], most[i]);
  return out;
}

ScheduleComparison::ScheduleComparison(StepWork work, std::shared_ptr<PipelineCache> cache, std::int64_t most_ops)
    : work_(std::move(work)), most_ops_(most_ops), variants_(kScheduleKinds), cache_(std::move(cache)) {
  order_.push_back(work_.shape.kind);
  for (const ScheduleKind kind : kSchedules) {
    if (kind != work_.shape.kind) order_.push_back(kind);
    ScheduleVariant& v = variants_[static_cast<std::size_t>(kind)];
    v.pipeline.shape = shape_under(work_, kind);
    v.pipeline.status = check_schedule(v.pipeline.shape);
    v.own = kind == work_.shape.kind;
    v.known = !v.pipeline.status.legal();
  }
}

bool ScheduleComparison::advance(std::int64_t& ops) {
  for (; next_ < order_.size() && ops > 0; ++next_) {
    ScheduleVariant& v = variants_[static_cast<std::size_t>(order_[next_])];
    PipelineReport& p = v.pipeline;
    if (v.known) continue;
    v.known = true;
    p.times = times_under(work_, p.shape);
    ops -= op_count(p.shape);
    if (op_count(p.shape) > most_ops_) {
      const PipelineTimeResult result = pipeline_time(p.shape, p.times, *cache_);
      if (!result.ok()) continue;
      v.makespan = result.makespan;
    } else {
      make_orders(p.shape, p.orders);
      if (!simulate(cache_->plan(p.shape), p.times, cache_->scratch, p.timeline).finished()) {
        p.timeline = {};
        continue;
      }
      p.recompute = recompute_under(work_, p.shape);
      peak_microbatches(p.orders, KeptUntil::weight_gradient, p.peak_microbatches);
      idle_per_device(p.timeline, v.idle);
      v.makespan = p.timeline.makespan;
    }
    v.idle_fraction = idle_of(p.shape, p.times, v.makespan);
  }
  return done();
}

std::vector<ScheduleVariant> compare_schedules(const StepWork& work, std::int64_t most_ops) {
  ScheduleComparison all(work, std::make_shared<PipelineCache>(), most_ops);
  std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
  all.advance(unlimited);
  return all.variants();
}

int microbatches_to_show(const StepWork& work) {
  const std::int64_t wanted = std::min<std::int64_t>(
      std::max(std::int64_t{8} * work.shape.stages, std::int64_t{2} * work.shape.microbatches), 1 << 20);
  int most = 2;
  while (most < wanted) most *= 2;
  return most;
}

int least_microbatches_to_show(int most) { return std::max(1, most / 256); }

BubbleStudy::BubbleStudy(StepWork work, int most, std::shared_ptr<PipelineCache> cache, std::int64_t most_ops)
    : work_(std::move(work)), most_(most), cache_(std::move(cache)) {
  std::set<int> wanted{work_.shape.microbatches};
  for (int m = least_microbatches_to_show(most); m > 0 && m <= most; m *= 2) wanted.insert(m);
  times_.resize(kScheduleKinds);
  for (const ScheduleKind kind : kSchedules) {
    BubbleCurve curve;
    curve.shape = shape_under(work_, kind);
    curve.own = curve.shape.kind == work_.shape.kind;
    std::set<int> legal;
    for (const int m : wanted) {
      ScheduleShape shape = curve.shape;
      shape.microbatches = m;
      const ScheduleStatus status = check_schedule(shape);
      if (status.legal())
        legal.insert(m);
      else if (status.field == ShapeField::microbatches && status.above > m && status.above <= most)
        legal.insert(status.above);
    }
    PipelineTimes& times = times_[static_cast<std::size_t>(kind)];
    if (!legal.empty()) times = times_under(work_, curve.shape);
    for (const int m : legal) {
      Task task{curve.shape};
      task.shape.microbatches = m;
      const std::int64_t limit = m == work_.shape.microbatches ? 8 * most_ops : most_ops;
      if (!closed_form_time(task.shape, times)) task.ops = op_count(task.shape);
      if (task.ops <= limit) tasks_.push_back(task);
    }
    curves_.push_back(std::move(curve));
  }
  const auto rank = [this](const Task& task) { return task.shape == work_.shape ? 0 : task.ops; };
  std::stable_sort(tasks_.begin(), tasks_.end(), [&](const Task& a, const Task& b) { return rank(a) < rank(b); });
}

bool BubbleStudy::advance(std::int64_t& ops) {
  for (; next_ < tasks_.size() && ops > 0; ++next_) {
    const Task& task = tasks_[next_];
    const auto kind = static_cast<std::size_t>(task.shape.kind);
    const PipelineTimeResult result = pipeline_time(task.shape, times_[kind], *cache_);
    ops -= task.ops;
    if (!result.ok()) continue;
    const BubblePoint point{task.shape.microbatches, idle_of(task.shape, times_[kind], result.makespan),
                            result.makespan};
    std::vector<BubblePoint>& points = curves_[kind].points;
    points.insert(
        std::upper_bound(points.begin(), points.end(), point,
                         [](const BubblePoint& a, const BubblePoint& b) { return a.microbatches < b.microbatches; }),
        point);
  }
  return done();
}

std::vector<BubbleCurve> bubble_curves(const StepWork& work, int most, std::int64_t most_ops) {
  BubbleStudy all(work, most, std::make_shared<PipelineCache>(), most_ops);
  std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
  all.advance(unlimited);
  return all.curves();
}

}  // namespace roofscape::engine
