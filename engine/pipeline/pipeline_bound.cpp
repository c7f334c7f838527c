// A lower bound of the makespan: for each device, the earliest start of its first operation + its work + what has to
// follow. The first operation of device r is always the forward of microbatch 0 on the first stage it holds.
#include <algorithm>
#include <numeric>
#include <vector>

#include "engine/pipeline/in_flight.h"
#include "engine/pipeline/order_rules.h"
#include "engine/pipeline/pipeline_time.h"

namespace roofscape::engine {
namespace {

struct BoundInput {
  const ScheduleShape& shape;
  const PipelineTimes& times;
  std::size_t p, m;
  Tick ticks(std::size_t count) const { return static_cast<Tick>(count); }
  Tick stage_work(std::size_t s) const {
    return times.forward[s] + times.backward_input[s] + times.backward_weight[s];
  }
};

std::size_t second_chunk_of_v(const BoundInput& in, std::size_t device) { return 2 * in.p - 1 - device; }

// What comes before a device's work or after it, at least, by the way around to each of its chunks: nothing of a chunk is
// run before the first microbatch has passed all stages before it, forth, or after the last has, back. What the device
// has of the chunks before meanwhile is one group's. By device.
struct WayAround {
  Tick head = 0, tail = 0;
  Tick own = 0, own_back = 0;  // one microbatch through the chunks before
};
std::vector<WayAround> ways_around(const BoundInput& in) {
  std::vector<WayAround> out(in.p);
  if (in.shape.kind != ScheduleKind::interleaved_1f1b || in.shape.order) return out;
  const int group = group_size_of(in.shape), rest = in.shape.microbatches % group;
  const Tick first_group = group, last_group = rest > 0 ? rest : group;
  Tick way = 0, way_back = 0;
  for (std::size_t s = 0; s < in.times.forward.size(); ++s) {
    const Tick forward = in.times.forward[s], backward = in.times.backward_input[s] + in.times.backward_weight[s];
    WayAround& around = out[s % in.p];
    around.head = std::max(around.head, way - first_group * around.own);
    around.tail = std::max(around.tail, way_back - last_group * around.own_back);
    around.own += forward, around.own_back += backward;
    const Tick hop = in.times.hop(static_cast<std::uint32_t>(s % in.p), static_cast<std::uint32_t>((s + 1) % in.p));
    way += forward + hop, way_back += backward + hop;
  }
  return out;
}

// Looped and V placements: device r starts with stage r and its last input gradient is that of stage r.
Tick one_way_bound(const BoundInput& in) {
  const bool split = splits_backward(in.shape.kind), folded = facts_of(in.shape.kind).placement == StagePlacement::v;
  const auto weights_at_end = orders::rules_of(in.shape).weights_at_end;
  const std::size_t stages = in.times.forward.size();
  const std::vector<WayAround> around = ways_around(in);
  Tick head = 0, tail = 0, bound = 0;
  for (std::size_t r = 0; r < in.p; ++r) {
    Tick work = 0;
    if (folded) {
      work = in.stage_work(r) + in.stage_work(second_chunk_of_v(in, r));
    } else {
      for (std::size_t s = r; s < stages; s += in.p) work += in.stage_work(s);
    }
    work *= in.ticks(in.m);
    bound = std::max(bound, head + work);
    bound = std::max(bound, around[r].head + work + around[r].tail);
    if (!split)
      bound = std::max(bound, head + work + tail);
    else if (r > 0 &&
             weights_at_end !=
                 nullptr)  // device 0 still has to do the weight gradient of the input gradient that arrives last
      bound =
          std::max(bound, head + work - weights_at_end(in.shape, in.times, r) + tail + in.times.backward_weight[0]);
    const auto device = static_cast<std::uint32_t>(r);
    const Tick hop = in.times.hop(device, device + 1);
    head += in.times.forward[r] + hop;
    tail += in.times.backward_input[r] + (split ? 0 : in.times.backward_weight[r]) + hop;
  }
  // One microbatch all the way forth and back; a V changes from the first to the second chunk inside a device.
  Tick way = std::accumulate(in.times.forward.begin(), in.times.forward.end(), Tick{0}) +
             std::accumulate(in.times.backward_input.begin(), in.times.backward_input.end(), Tick{0});
  if (split)
    way += in.times.backward_weight[0];
  else
    way += std::accumulate(in.times.backward_weight.begin(), in.times.backward_weight.end(), Tick{0});
  // All devices once for each chunk; between looped chunks back to the first.
  const std::size_t chunks = stages / in.p;
  const Tick wrap = folded ? 0 : in.times.hop(static_cast<std::uint32_t>(in.p - 1), 0);
  const Tick hops = in.ticks(chunks) * hops_along(in.times, in.shape.stages) + in.ticks(chunks - 1) * wrap;
  return std::max(bound, way + 2 * hops);
}

}  // namespace

void orders::add_work(const ScheduleShape& shape, const PipelineTimes& times, std::vector<Tick>& work) {
  const int partners = pair_partners(shape);
  std::vector<std::int64_t> counts(static_cast<std::size_t>(partners));
  const Tick each = shape.microbatches / directions(shape.kind);
  for (int s = 0; s < virtual_stage_count(shape); ++s) {
    const auto stage = static_cast<std::uint32_t>(s);
    Tick& busy = work[static_cast<std::size_t>(device_of(shape, s))];
    busy += each * (times.forward[stage] + duration_of(times, stage, OpKind::backward));
    overlapped_pairs(shape, s, counts);
    for (int n = 0; n < partners; ++n) {
      const auto other = static_cast<std::uint32_t>(pair_partner(shape, s, n));
      busy += counts[static_cast<std::size_t>(n)] * (duration_of_pair(times, stage, other) - times.forward[stage] -
                                                     duration_of(times, other, OpKind::backward));
    }
  }
}

Tick pipeline_lower_bound(const ScheduleShape& shape, const PipelineTimes& times) {
  if (!check_schedule(shape)) return 0;
  const auto stages = static_cast<std::size_t>(virtual_stage_count(shape));
  if (check_times(times, stages, static_cast<std::uint32_t>(shape.microbatches)) != SimulationOutcome::finished)
    return 0;
  const BoundInput in{shape, times, static_cast<std::size_t>(shape.stages),
                      static_cast<std::size_t>(shape.microbatches)};
  const auto own_bound = orders::rules_of(shape).lower_bound;
  return own_bound != nullptr ? own_bound(shape, times) : one_way_bound(in);
}

}  // namespace roofscape::engine
