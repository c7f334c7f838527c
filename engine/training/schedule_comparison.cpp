#include "engine/training/schedule_comparison.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "engine/evaluate.h"
#include "engine/pipeline/pipeline_time.h"

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
  const bool any = kind == ScheduleKind::interleaved_1f1b || kind == ScheduleKind::looped_bfs;
  if (!any || shape.virtual_stages < 2) shape.virtual_stages = default_virtual_stages(kind);
  return shape;
}

PipelineTimes times_under(const StepWork& work, const ScheduleShape& shape) {
  PipelineTimes times;
  const auto route = static_cast<std::size_t>(shape.stages) * static_cast<std::size_t>(passes_per_device(shape));
  times.forward = cut_anew(work.forward, route);
  times.backward_input = cut_anew(work.backward_input, route);
  times.backward_weight = cut_anew(work.backward_weight, route);
  times.transfer = work.transfer;
  times.blocking_send = work.blocking_send;
  const auto positions = static_cast<std::size_t>(virtual_stage_count(shape));
  for (auto* part : {&times.forward, &times.backward_input, &times.backward_weight})
    for (std::size_t i = route; i < positions; ++i) {  // the second direction passes the same layers
      const Tick same = (*part)[i - route];
      part->push_back(same);
    }
  return times;
}

std::vector<ScheduleVariant> compare_schedules(const StepWork& work, std::int64_t most_ops) {
  std::vector<ScheduleVariant> out(kScheduleKinds);
  PipelineCache cache;
  for (int k = 0; k < kScheduleKinds; ++k) {
    ScheduleVariant& v = out[static_cast<std::size_t>(k)];
    PipelineReport& p = v.pipeline;
    p.shape = shape_under(work, static_cast<ScheduleKind>(k));
    p.status = check_schedule(p.shape);
    v.own = p.shape.kind == work.shape.kind;
    if (!p.status.legal()) continue;
    p.times = times_under(work, p.shape);
    if (op_count(p.shape) > most_ops) {
      const PipelineTimeResult result = pipeline_time(p.shape, p.times, cache);
      if (!result.ok()) continue;
      v.makespan = result.makespan;
    } else {
      make_orders(p.shape, p.orders);
      if (!simulate(p.orders, p.times, cache.scratch, p.timeline).finished()) {
        p.timeline = {};
        continue;
      }
      peak_microbatches(p.orders, KeptUntil::weight_gradient, p.peak_microbatches);
      idle_per_device(p.timeline, v.idle);
      v.makespan = p.timeline.makespan;
    }
    v.idle_fraction = idle_of(p.shape, p.times, v.makespan);
  }
  return out;
}

int microbatches_to_show(const StepWork& work) {
  const std::int64_t wanted = std::min<std::int64_t>(std::max(std::int64_t{8} * work.shape.stages, std::int64_t{2} * work.shape.microbatches), 1 << 20);
  int most = 2;
  while (most < wanted) most *= 2;
  return most;
}

int least_microbatches_to_show(int most) { return std::max(1, most / 256); }

std::vector<BubbleCurve> bubble_curves(const StepWork& work, int most, std::int64_t most_ops) {
  std::set<int> wanted{work.shape.microbatches};
  for (int m = least_microbatches_to_show(most); m > 0 && m <= most; m *= 2) wanted.insert(m);
  std::vector<BubbleCurve> out;
  PipelineCache cache;
  for (int k = 0; k < kScheduleKinds; ++k) {
    BubbleCurve curve;
    curve.shape = shape_under(work, static_cast<ScheduleKind>(k));
    curve.own = curve.shape.kind == work.shape.kind;
    std::set<int> legal;
    for (const int m : wanted) {
      ScheduleShape shape = curve.shape;
      shape.microbatches = m;
      const ScheduleStatus status = check_schedule(shape);
      if (status.legal()) legal.insert(m);
      else if (status.field == ShapeField::microbatches && status.above > m && status.above <= most) legal.insert(status.above);
    }
    if (!legal.empty()) {
      const PipelineTimes times = times_under(work, curve.shape);
      for (const int m : legal) {
        ScheduleShape shape = curve.shape;
        shape.microbatches = m;
        const std::int64_t limit = m == work.shape.microbatches ? 8 * most_ops : most_ops;
        if (op_count(shape) > limit && !closed_form_time(shape, times)) continue;
        const PipelineTimeResult result = pipeline_time(shape, times, cache);
        if (result.ok()) curve.points.push_back({m, idle_of(shape, times, result.makespan), result.makespan});
      }
    }
    out.push_back(std::move(curve));
  }
  return out;
}

}  // namespace roofscape::engine
