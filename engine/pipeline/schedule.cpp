#include "engine/pipeline/schedule.h"

#include "engine/base/kept_memory.h"
#include "engine/pipeline/given_order.h"
#include "engine/pipeline/order_rules.h"

namespace roofscape::engine {

int device_of(const ScheduleShape& shape, int virtual_stage) {
  const int p = shape.stages, position = virtual_stage % p;
  const bool turns = facts_of(shape.kind).placement != StagePlacement::looped;
  return turns && virtual_stage >= p ? p - 1 - position : position;
}

void place_stages(const ScheduleShape& shape, std::vector<std::uint16_t>& devices) {
  devices.resize(static_cast<std::size_t>(virtual_stage_count(shape)));
  for (std::size_t s = 0; s < devices.size(); ++s)
    devices[s] = static_cast<std::uint16_t>(device_of(shape, static_cast<int>(s)));
}

int passes_per_device(const ScheduleShape& shape) { return shape.virtual_stages; }

int virtual_stage_count(const ScheduleShape& shape) {
  return shape.stages * (directions(shape.kind) == 2 ? 2 : shape.virtual_stages);
}

int pair_partners(const ScheduleShape& shape) {
  return facts_of(shape.kind).placement == StagePlacement::looped ? shape.virtual_stages : 1;
}

int pair_partner(const ScheduleShape& shape, int virtual_stage, int nth) {
  if (facts_of(shape.kind).placement != StagePlacement::looped) return virtual_stage_count(shape) - 1 - virtual_stage;
  return nth * shape.stages + virtual_stage % shape.stages;
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
  room_for(out.ops, most);
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
