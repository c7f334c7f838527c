#include "engine/pipeline/schedule.h"

#include "engine/pipeline/listed_order.h"
#include "engine/pipeline/order_rules.h"

namespace roofscape::engine {

void place_stages(const ScheduleShape& shape, std::vector<std::uint16_t>& device_of) {
  const int p = shape.stages;
  device_of.resize(static_cast<std::size_t>(virtual_stage_count(shape)));
  const bool turns = facts_of(shape.kind).placement != StagePlacement::looped;
  for (std::size_t s = 0; s < device_of.size(); ++s) {
    const int position = static_cast<int>(s) % p;
    const bool backwards = turns && static_cast<int>(s) >= p;
    device_of[s] = static_cast<std::uint16_t>(backwards ? p - 1 - position : position);
  }
}

int passes_per_device(const ScheduleShape& shape) { return shape.virtual_stages; }

int virtual_stage_count(const ScheduleShape& shape) {
  return shape.stages * (directions(shape.kind) == 2 ? 2 : shape.virtual_stages);
}

void make_orders(const ScheduleShape& shape, Orders& out) {
  out.first.clear();
  out.ops.clear();
  out.device_of.clear();
  out.microbatches = out.route_length = 0;
  out.passes_per_device = 1;
  if (!check_schedule(shape)) return;
  if (shape.order) {
    out = shape.order->orders;
    return;
  }

  const auto p = static_cast<std::uint32_t>(shape.stages), m = static_cast<std::uint32_t>(shape.microbatches);
  const auto v = static_cast<std::uint32_t>(shape.virtual_stages);
  const auto group = static_cast<std::uint32_t>(group_size_of(shape));
  out.microbatches = m;
  out.route_length = p * v;
  out.passes_per_device = v;
  place_stages(shape, out.device_of);

  // A forward, a backward and at most a weight gradient of each microbatch on each of its stages.
  const std::size_t most = std::size_t{p} * v * m * (splits_backward(shape.kind) ? 3 : 2);
  out.ops.resize(most);
  out.first.reserve(std::size_t{p} + 1);
  orders::OrderWriter writer(out);
  const orders::OrderRules& rules = orders::rules_of(shape);
  out.first.push_back(0);
  for (std::uint32_t r = 0; r < p; ++r) {
    rules.write({r, p, m, v, group, shape.backward_order}, writer);
    out.first.push_back(static_cast<std::uint32_t>(writer.size()));
  }
  out.ops.resize(writer.size());
}

}  // namespace roofscape::engine
