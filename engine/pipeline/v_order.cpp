#include "engine/pipeline/v_order.h"

#include <algorithm>
#include <array>
#include <deque>
#include <vector>

namespace roofscape::engine {
namespace {

// A device computes six passes of a microbatch, so a block repeats every six.
constexpr std::int64_t kPeriod = 6;

// When a device begins the passes of the first microbatch, in passes. Down the V a microbatch moves on by `down` passes
// a device, up it by one; in between it turns at once. `wait` is what the turn to the backwards takes longer, so that
// no two passes of a device fall on the same beat of the period.
struct Block {
  std::int64_t first_forward, last_forward, last_backward, first_backward;  // by chunk: first down, last up
};
Block block_of(std::int64_t device, std::int64_t devices, VMemory memory) {
  const std::int64_t down = memory == VMemory::half ? 2 : 1;
  // V-Min: down and turn stay on beats of either parity unless the way there and back is a whole number of periods.
  // V-Half: of the beats that differ from all others modulo 3 the one that this number of devices leaves free.
  const std::int64_t wait = memory == VMemory::half ? (devices % 2 == 0 ? 4 : 1) : (devices % 3 == 0 ? 2 : 0);
  const std::int64_t bottom = down * (devices - 1) + 1, top = bottom + devices + wait;
  return {down * device, bottom + devices - 1 - device, top + down * device, top + bottom + devices - 1 - device};
}

struct Placed {
  std::int64_t at;
  Op op;
};

}  // namespace

void make_v_order(int stages, int microbatches, VMemory memory, Orders& out) {
  out = {};
  out.first.push_back(0);
  place_stages({ScheduleKind::zb_v, stages, microbatches, 2, 0}, out.device_of);
  out.microbatches = static_cast<std::uint32_t>(microbatches);
  out.route_length = static_cast<std::uint32_t>(2 * stages);
  out.passes_per_device = 2;
  std::vector<Placed> passes;
  std::deque<Op> weights;  // whose input gradients are done
  for (int device = 0; device < stages; ++device) {
    const auto first = static_cast<std::uint32_t>(device), last = static_cast<std::uint32_t>(2 * stages - 1 - device);
    const Block block = block_of(device, stages, memory);
    passes.clear();
    for (int k = 0; k < microbatches; ++k) {
      const auto microbatch = static_cast<std::uint32_t>(k);
      const std::int64_t later = k * kPeriod;
      passes.push_back({block.first_forward + later, {OpKind::forward, first, microbatch}});
      passes.push_back({block.last_forward + later, {OpKind::forward, last, microbatch}});
      passes.push_back({block.last_backward + later, {OpKind::backward_input, last, microbatch}});
      passes.push_back({block.first_backward + later, {OpKind::backward_input, first, microbatch}});
    }
    std::sort(passes.begin(), passes.end(), [](const Placed& a, const Placed& b) { return a.at < b.at; });
    // Weight gradients on the beats that are left.
    std::int64_t free_from = 0;
    for (const Placed& pass : passes) {
      for (; free_from < pass.at && !weights.empty(); ++free_from) {
        out.ops.push_back(weights.front());
        weights.pop_front();
      }
      out.ops.push_back(pass.op);
      free_from = pass.at + 1;
      if (pass.op.kind() == OpKind::backward_input)
        weights.emplace_back(OpKind::backward_weight, pass.op.stage(), pass.op.microbatch());
    }
    out.ops.insert(out.ops.end(), weights.begin(), weights.end());
    weights.clear();
    out.first.push_back(static_cast<std::uint32_t>(out.ops.size()));
  }
}

}  // namespace roofscape::engine
