// A lower bound of the makespan: for each device, the earliest start of its first operation + its work + what has to
// follow. The first operation of device r is always the forward of microbatch 0 on the first stage it holds.
#include <algorithm>
#include <numeric>

#include "engine/pipeline/pipeline_time.h"

namespace roofscape::engine {
namespace {

using Kind = ScheduleKind;

struct BoundInput {
  const ScheduleShape& shape;
  const PipelineTimes& times;
  std::size_t p, m;
  Tick transfer;
  Tick ticks(std::size_t count) const { return static_cast<Tick>(count); }
  Tick stage_work(std::size_t s) const {
    return times.forward[s] + times.backward_input[s] + times.backward_weight[s];
  }
};

std::size_t second_chunk_of_v(const BoundInput& in, std::size_t device) { return 2 * in.p - 1 - device; }

// Weight gradients that the order puts behind the last input gradient of a device; never fewer than that.
Tick weights_at_end(const BoundInput& in, std::size_t r) {
  const std::vector<Tick>& w = in.times.backward_weight;
  switch (in.shape.kind) {
    case Kind::zb_h1:
      return in.ticks(std::min(in.m, r + 1)) * w[r];
    case Kind::zb_h2:
      return in.ticks(std::min(in.m, 2 * r + 1)) * w[r];
    case Kind::zb_v: {
      const Tick second = w[second_chunk_of_v(in, r)];
      if (in.m < 2 * in.p - 1) return in.ticks(in.m) * (w[r] + second);
      return in.ticks(r + 1) * w[r] + in.ticks(r) * second;
    }
    default:
      return 0;
  }
}

// Looped and V placements: device r starts with stage r and its last input gradient is that of stage r.
Tick one_way_bound(const BoundInput& in) {
  const bool split = splits_backward(in.shape.kind);
  const std::size_t stages = in.times.forward.size();
  Tick head = 0, tail = 0, bound = 0;
  for (std::size_t r = 0; r < in.p; ++r) {
    Tick work = 0;
    if (in.shape.kind == Kind::zb_v) {
      work = in.stage_work(r) + in.stage_work(second_chunk_of_v(in, r));
    } else {
      for (std::size_t s = r; s < stages; s += in.p) work += in.stage_work(s);
    }
    work *= in.ticks(in.m);
    bound = std::max(bound, head + work);
    if (!split)
      bound = std::max(bound, head + work + tail);
    else if (r > 0)  // device 0 still has to do the weight gradient of the input gradient that arrives last
      bound = std::max(bound, head + work - weights_at_end(in, r) + tail + in.times.backward_weight[0]);
    head += in.times.forward[r] + in.transfer;
    tail += in.times.backward_input[r] + (split ? 0 : in.times.backward_weight[r]) + in.transfer;
  }
  // One microbatch all the way forth and back; a V changes from the first to the second chunk inside a device.
  Tick way = std::accumulate(in.times.forward.begin(), in.times.forward.end(), Tick{0}) +
             std::accumulate(in.times.backward_input.begin(), in.times.backward_input.end(), Tick{0});
  if (split)
    way += in.times.backward_weight[0];
  else
    way += std::accumulate(in.times.backward_weight.begin(), in.times.backward_weight.end(), Tick{0});
  const std::size_t hops = stages - (in.shape.kind == Kind::zb_v ? 2 : 1);
  return std::max(bound, way + 2 * in.ticks(hops) * in.transfer);
}

// The DualPipe family: how often a device overlaps is part of the order (schedule_dualpipe.cpp), so its work is
// known.
Tick dualpipe_bound(const BoundInput& in) {
  const bool folded = in.shape.kind == Kind::dualpipe_v;
  const std::size_t half = folded ? in.p : in.p / 2, per_direction = folded ? in.m : in.m / 2;
  const auto overlapped_instead = [&in](std::size_t forward, std::size_t backward) -> Tick {
    if (in.times.overlapped.empty() || in.times.overlapped[forward] == 0) return 0;
    return in.times.overlapped[forward] - in.times.forward[forward] - in.times.backward_input[backward] -
           in.times.backward_weight[backward];
  };
  Tick bound = 0;
  for (const bool from_far_end : {false, true}) {
    if (folded && from_far_end) break;
    Tick head = 0;
    for (std::size_t i = 0; i < half; ++i) {
      const std::size_t own = from_far_end ? in.p + i : i;
      const std::size_t other = from_far_end ? in.p - 1 - i : 2 * in.p - 1 - i;
      const std::size_t both = per_direction + i + 1 - 2 * half, inward = half - 1 - i;
      const Tick work = in.ticks(per_direction) * (in.stage_work(own) + in.stage_work(other)) +
                        in.ticks(both - (inward == 0 ? 1 : 0)) * overlapped_instead(own, other) +
                        in.ticks(both + inward) * overlapped_instead(other, own);
      bound = std::max(bound, head + work);
      head += in.times.forward[own] + in.transfer;
    }
  }
  return bound;
}

}  // namespace

Tick pipeline_lower_bound(const ScheduleShape& shape, const PipelineTimes& times) {
  if (!check_schedule(shape)) return 0;
  const auto stages = static_cast<std::size_t>(virtual_stage_count(shape));
  if (check_times(times, stages, static_cast<std::uint32_t>(shape.microbatches)) != SimulationOutcome::finished)
    return 0;
  const BoundInput in{shape, times, static_cast<std::size_t>(shape.stages),
                      static_cast<std::size_t>(shape.microbatches), shape.stages > 1 ? times.transfer : 0};
  return overlaps_forward_backward(shape.kind) ? dualpipe_bound(in) : one_way_bound(in);
}

}  // namespace roofscape::engine
