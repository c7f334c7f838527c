#include "engine/pipeline/order_rules.h"

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

std::int64_t overlapped_pairs(const ScheduleShape& shape, int virtual_stage) {
  const auto rule = orders::rules_of(shape).pairs;
  return rule != nullptr ? rule(shape, virtual_stage) : 0;
}

std::optional<WorkBeforeReturn> work_before_return(const ScheduleShape& shape) {
  const auto rule = orders::rules_of(shape).before_return;
  return rule != nullptr ? rule(shape) : std::nullopt;
}

}  // namespace roofscape::engine
