#include "engine/pipeline/order_rules.h"

#include <algorithm>
#include <array>

namespace roofscape::engine {

const orders::OrderRules& orders::rules_of(const ScheduleShape& shape) {
  if (shape.order) return overlaps_forward_backward(shape.kind) ? by_list_with_pairs : by_list;
  static constexpr std::array<const OrderRules*, kScheduleKinds> kRules{
#define SCHEDULE(name, ...) &name,
#include "engine/pipeline/schedules.def"
#undef SCHEDULE
  };
  return *kRules[static_cast<std::size_t>(shape.kind)];
}

double peak_in_flight(const ScheduleShape& shape, int device) {
  return orders::rules_of(shape).in_flight(shape, device);
}

HeldMoments held_moments(const ScheduleShape& shape, int device) {
  const auto rule = orders::rules_of(shape).moments;
  return rule != nullptr ? rule(shape, device) : HeldMoments{{peak_in_flight(shape, device), 0}};
}

void overlapped_pairs(const ScheduleShape& shape, int virtual_stage, std::span<std::int64_t> counts) {
  std::fill(counts.begin(), counts.end(), 0);
  if (const auto rule = orders::rules_of(shape).pairs; rule != nullptr) rule(shape, virtual_stage, counts);
}

std::optional<WorkBeforeReturn> work_before_return(const ScheduleShape& shape) {
  const auto rule = orders::rules_of(shape).before_return;
  return rule != nullptr ? rule(shape) : std::nullopt;
}

}  // namespace roofscape::engine
