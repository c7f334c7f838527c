#include "engine/pipeline/pipeline_time.h"

#include <algorithm>

#include "engine/pipeline/order_rules.h"

namespace roofscape::engine {
namespace {

constexpr std::size_t kCachedBytes = std::size_t{16} << 20;  // a larger plan is kept alone
constexpr std::size_t kCachedShapes = 128;

bool all_equal(const std::vector<Tick>& times) {
  return std::all_of(times.begin(), times.end(), [&](Tick t) { return t == times.front(); });
}

}  // namespace

std::size_t ShapeHash::operator()(const ScheduleShape& shape) const {
  std::size_t hash = 0;
  for (const int part : {static_cast<int>(shape.kind), shape.stages, shape.microbatches, shape.virtual_stages,
                         shape.group_size, static_cast<int>(shape.backward_order)})
    hash = hash * 1000003 + static_cast<std::size_t>(part);
  return hash;
}

const Orders& PipelineCache::orders(const ScheduleShape& shape) {
  if (shape_of_orders_ != shape) {
    make_orders(shape, orders_);
    shape_of_orders_ = shape;
  }
  return orders_;
}

const RunPlan& PipelineCache::plan(const ScheduleShape& shape) {
  if (const auto found = by_shape_.find(shape); found != by_shape_.end()) {
    entries_.splice(entries_.begin(), entries_, found->second);
    return entries_.front().plan;
  }
  // Full: the entry used longest ago gives its place, and its memory.
  if (bytes_ >= kCachedBytes || entries_.size() >= kCachedShapes) {
    bytes_ -= entries_.back().plan.bytes();
    by_shape_.erase(entries_.back().shape);
    entries_.splice(entries_.begin(), entries_, std::prev(entries_.end()));
  } else {
    entries_.emplace_front();
  }
  Entry& entry = entries_.front();
  entry.shape = shape;
  by_shape_.emplace(shape, entries_.begin());
  make_run_plan(orders(shape), scratch.planning, entry.plan);
  bytes_ += entry.plan.bytes();
  while (bytes_ > kCachedBytes && entries_.size() > 1) {
    bytes_ -= entries_.back().plan.bytes();
    by_shape_.erase(entries_.back().shape);
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
  if (times.blocking_send && times.longest_hop() > 0) return std::nullopt;
  const orders::OrderRules& rules = orders::rules_of(shape);
  if (rules.time != nullptr) return rules.time(shape, times);
  if (rules.even_time == nullptr || times.node_devices > 1) return std::nullopt;
  if (!all_equal(times.forward) || !all_equal(times.backward_input) || !all_equal(times.backward_weight) ||
      !all_equal(times.overlapped))
    return std::nullopt;
  const Tick f = times.forward[0], b = times.backward_input[0], w = times.backward_weight[0];
  const orders::EvenTimes even{shape.stages,
                               shape.microbatches,
                               shape.virtual_stages,
                               f,
                               b,
                               w,
                               f + b + w,
                               transfer,
                               times.overlapped.empty() ? 0 : times.overlapped[0]};
  return rules.even_time(shape, even);
}

}  // namespace roofscape::engine
