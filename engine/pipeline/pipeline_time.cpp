#include "engine/pipeline/pipeline_time.h"

#include <algorithm>
#include <numeric>

namespace roofscape::engine {
namespace {

constexpr std::size_t kCachedOps = std::size_t{1} << 22;  // 64 MB of plans; a larger one is kept alone
constexpr std::size_t kCachedShapes = 128;                // looked up one after the other

bool all_equal(const std::vector<Tick>& times) {
  return std::all_of(times.begin(), times.end(), [&](Tick t) { return t == times.front(); });
}

Tick sum(const std::vector<Tick>& times) { return std::accumulate(times.begin(), times.end(), Tick{0}); }

// Exact for any stage times and any transfer: both halves are plain pipelines without feedback, and the slowest stage
// sets the pace of each.
Tick gpipe_time(const ScheduleShape& shape, const PipelineTimes& times) {
  Tick slowest_backward = 0;
  for (std::size_t s = 0; s < times.forward.size(); ++s)
    slowest_backward = std::max(slowest_backward, times.backward_input[s] + times.backward_weight[s]);
  const Tick slowest_forward = *std::max_element(times.forward.begin(), times.forward.end());
  return sum(times.forward) + sum(times.backward_input) + sum(times.backward_weight) +
         (shape.microbatches - 1) * (slowest_forward + slowest_backward) + 2 * (shape.stages - 1) * times.transfer;
}

// Even stages: f, b, w of one chunk; s = f + b + w; c the transfer. Derived by following one critical path; each
// range is the one in which the tests find the form equal to the simulation.
struct EvenTimes {
  Tick p, m, v, f, b, w, s, c, overlapped;
};

std::optional<Tick> one_f_one_b_time(const EvenTimes& t) {
  const Tick plain = (t.m + t.p - 1) * t.s;
  if (t.c == 0) return plain;
  // Every p microbatches the front device waits once for the way to the last device and back.
  if (t.p >= 2 && t.m % t.p == 0) return plain + t.c * (2 * (t.p - 1) * (t.m / t.p) + 2 * (t.p - 2));
  return std::nullopt;
}

std::optional<Tick> eager_time(const EvenTimes& t) {
  const Tick plain = (t.m + t.p - 1) * t.s;
  if (t.c == 0) return plain;
  if (t.m >= t.p && 2 * t.c <= t.s) return plain + 2 * (t.p - 1) * t.c;
  return std::nullopt;
}

std::optional<Tick> interleaved_time(const EvenTimes& t, bool default_group) {
  if (!default_group) return std::nullopt;
  const Tick plain = (t.m * t.v + t.p - 1) * t.s;
  if (t.c == 0) return plain;
  if (t.m >= 2 * t.p && 2 * t.c <= t.s && t.c <= std::min(t.f, t.b + t.w)) return plain + 2 * (t.v * t.p - 1) * t.c;
  return std::nullopt;
}

std::optional<Tick> breadth_first_time(const EvenTimes& t) {
  if (t.c == 0) return ((t.v - 1) * std::max(t.m, t.p) + t.m + t.p - 1) * t.s;
  if (t.m >= t.p && t.c <= (t.m - t.p) * std::min(t.f, t.b + t.w) / t.p)
    return (t.m * t.v + t.p - 1) * t.s + 2 * (t.p - 1) * t.c;
  return std::nullopt;
}

std::optional<Tick> zero_bubble_time(ScheduleKind kind, const EvenTimes& t) {
  if (t.c != 0 || t.w > t.f) return std::nullopt;
  const Tick work = t.m * t.v * t.s;
  switch (kind) {
    case ScheduleKind::zb_h1:
      if (t.m < t.p) return std::nullopt;
      return work + (t.p - 1) * (t.f + std::max<Tick>(0, t.b - t.w));
    case ScheduleKind::zb_h2:
      return work + (t.p - 1) * std::max(t.f, t.f + t.b - 2 * t.w);
    case ScheduleKind::zb_v:
      if (t.m < 2 * t.p || t.f > t.b) return std::nullopt;
      return work + (t.p - 1) * std::max(t.b, 2 * (t.b - t.w));
    default:
      return std::nullopt;
  }
}

// DeepSeek-V3's bubble, with g stages along the way and n microbatches through each of a device's stages times two.
std::optional<Tick> dualpipe_time(ScheduleKind kind, const EvenTimes& t) {
  if (t.c != 0 || t.f != t.b || t.b != t.w) return std::nullopt;
  const bool folded = kind == ScheduleKind::dualpipe_v;
  const Tick g = folded ? 2 * t.p : t.p, n = folded ? 2 * t.m : t.m;
  const Tick overlapped = t.overlapped > 0 ? t.overlapped : t.s;
  if (overlapped < t.b + t.w) return std::nullopt;  // then the drain, not the overlapped pairs, sets the pace
  return (n - g - 1) * overlapped + (g + 1) * t.s + (g / 2 - 1) * (overlapped + t.b + t.w - 3 * t.w);
}

}  // namespace

const RunPlan& PipelineCache::plan(const ScheduleShape& shape) {
  for (auto it = entries_.begin(); it != entries_.end(); ++it)
    if (it->shape == shape) {
      entries_.splice(entries_.begin(), entries_, it);
      return entries_.front().plan;
    }
  // Full: the entry used longest ago gives its place, and its memory.
  if (ops_ >= kCachedOps || entries_.size() >= kCachedShapes) {
    ops_ -= entries_.back().plan.ops;
    entries_.splice(entries_.begin(), entries_, std::prev(entries_.end()));
  } else {
    entries_.emplace_front();
  }
  Entry& entry = entries_.front();
  entry.shape = shape;
  make_orders(shape, orders_);
  make_run_plan(orders_, scratch.planning, entry.plan);
  ops_ += entry.plan.ops;
  while (ops_ > kCachedOps && entries_.size() > 1) {
    ops_ -= entries_.back().plan.ops;
    entries_.pop_back();
  }
  return entry.plan;
}

std::optional<Tick> closed_form_time(const ScheduleShape& shape, const PipelineTimes& times) {
  if (!check_schedule(shape)) return std::nullopt;
  const auto stages = static_cast<std::size_t>(virtual_stage_count(shape));
  if (check_times(times, stages, static_cast<std::uint32_t>(shape.microbatches)) != SimulationOutcome::finished)
    return std::nullopt;
  const Tick transfer = shape.stages > 1 ? times.transfer : 0;
  if (times.blocking_send && transfer > 0) return std::nullopt;
  if (shape.kind == ScheduleKind::gpipe) return gpipe_time(shape, times);
  if (!all_equal(times.forward) || !all_equal(times.backward_input) || !all_equal(times.backward_weight) ||
      !all_equal(times.overlapped))
    return std::nullopt;
  const Tick f = times.forward[0], b = times.backward_input[0], w = times.backward_weight[0];
  const EvenTimes even{shape.stages,
                       shape.microbatches,
                       shape.virtual_stages,
                       f,
                       b,
                       w,
                       f + b + w,
                       transfer,
                       times.overlapped.empty() ? 0 : times.overlapped[0]};
  switch (shape.kind) {
    case ScheduleKind::one_f_one_b:
      return one_f_one_b_time(even);
    case ScheduleKind::eager_1f1b:
      return eager_time(even);
    case ScheduleKind::interleaved_1f1b:
      return interleaved_time(even, shape.group_size == 0 || shape.group_size == shape.stages);
    case ScheduleKind::looped_bfs:
      return breadth_first_time(even);
    case ScheduleKind::dualpipe:
    case ScheduleKind::dualpipe_v:
      return dualpipe_time(shape.kind, even);
    default:
      return zero_bubble_time(shape.kind, even);
  }
}

PipelineTimeResult pipeline_time(const ScheduleShape& shape, const PipelineTimes& times, PipelineCache& cache) {
  PipelineTimeResult result;
  result.schedule = check_schedule(shape);
  if (!result.schedule) return result;
  if (const std::optional<Tick> exact = closed_form_time(shape, times)) {
    result.makespan = *exact;
    result.closed_form = true;
    return result;
  }
  result.simulation = simulate(cache.plan(shape), times, cache.scratch, cache.timeline);
  if (result.simulation) result.makespan = cache.timeline.makespan;
  return result;
}

}  // namespace roofscape::engine
