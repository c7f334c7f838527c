#include "engine/pipeline/order_check.h"

#include <algorithm>

namespace roofscape::engine {
namespace {

bool lists_fit(const Orders& orders) {
  if (orders.route_length == 0 || orders.first.size() < 2 || orders.device_of.size() % orders.route_length != 0)
    return false;
  if (orders.first.front() != 0 || orders.first.back() != orders.ops.size()) return false;
  if (!std::is_sorted(orders.first.begin(), orders.first.end())) return false;
  return std::all_of(orders.device_of.begin(), orders.device_of.end(),
                     [&](std::uint16_t device) { return device < orders.devices(); });
}

bool can_be_joined(Op first, Op second) {
  return first.kind() == OpKind::forward && second.kind() == OpKind::backward && !second.joined_with_next();
}

}  // namespace

SimulationStatus check_order(const Orders& orders) {
  const auto malformed = [](std::uint32_t device, std::uint32_t op) {
    return SimulationStatus{SimulationOutcome::malformed_order, device, op, Op{}};
  };
  if (!lists_fit(orders)) return malformed(0, 0);
  const std::size_t stages = orders.device_of.size();
  for (std::uint32_t device = 0; device < orders.devices(); ++device) {
    const std::uint32_t end = orders.first[device + 1];
    for (std::uint32_t i = orders.first[device]; i < end; ++i) {
      const Op op = orders.ops[i];
      if (op.stage() >= stages || op.microbatch() >= orders.microbatches || orders.device_of[op.stage()] != device ||
          (op.joined_with_next() && (i + 1 == end || !can_be_joined(op, orders.ops[i + 1]))))
        return malformed(device, i);
    }
  }
  return {};
}

bool has_pairs(const Orders& orders) {
  bool any = false;
  for (const Op op : orders.ops) any |= op.joined_with_next();  // without a branch for each
  return any;
}

}  // namespace roofscape::engine
