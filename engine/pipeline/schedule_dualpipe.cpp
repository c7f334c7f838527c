// DualPipe (DeepSeek-V3 technical report 2024): microbatches enter the pipeline at both ends, each device holds a
// stage of either direction, and in the steady state a forward of one direction runs overlapped with a backward of
// the other, so that each hides the communication of the other. DualPipeV folds it: half the devices, two stages of
// one direction each.
#include <algorithm>

#include "engine/pipeline/order_rules.h"

namespace roofscape::engine::orders {
namespace {

// One device of either variant. Direction 0 is the one whose way reaches this device early (fed from the nearer end,
// or the first pass of the V); `from_end` counts devices from that end, `half` is the distance to the turning point.
class DualPipeDevice {
 public:
  struct Direction {
    std::uint32_t stage, first_microbatch;
  };
  DualPipeDevice(Direction zero, Direction one, OrderWriter& out) : direction_{zero, one}, out_(out) {}

  void write(std::uint32_t half, std::uint32_t from_end, std::uint32_t microbatches) {
    const std::uint32_t inward = half - 1 - from_end;  // devices between this one and the turning point
    const std::uint32_t pairs = from_end + 1;
    for (std::uint32_t i = 0; i < 2 * inward; ++i) forward(0);
    for (std::uint32_t i = 0; i < pairs; ++i) {
      forward(0);
      forward(1);
    }
    for (std::uint32_t i = 0; i < inward; ++i) {
      weights_[1] = backwards_[1];
      input(1);
      weight(1);
      forward(1);
    }
    for (std::uint32_t i = 0; i < microbatches + pairs - 2 * half; ++i) {
      if (i == 0 && inward == 0) {  // the turning point has nothing to overlap its first backward with
        forward(0);
        backward(1);
      } else {
        overlapped(0, 1);
      }
      overlapped(1, 0);
    }
    for (std::uint32_t i = 0; i < inward; ++i) {
      backward(1);
      overlapped(1, 0);
    }
    // Draining, directions 1 and 0 in turn: from the middle on, weight gradients are put off so that input gradients
    // come early. They are made up for in the order in which they were put off.
    const auto drained = [](std::uint32_t i) { return i % 2 == 0 ? 1 : 0; };
    for (std::uint32_t i = 0; i < pairs; ++i) backward(drained(i));
    weights_[0] = backwards_[0];
    weights_[1] = backwards_[1];
    for (std::uint32_t i = pairs; i < 2 * pairs; ++i) input(drained(i));
    std::uint32_t put_off = pairs;
    const auto next_weight = [&] {
      weight(put_off < 2 * pairs ? drained(put_off) : 0);
      ++put_off;
    };
    for (std::uint32_t i = 0; i < inward; ++i) {
      next_weight();
      input(0);
    }
    for (std::uint32_t i = 0; i < pairs; ++i) next_weight();
  }

 private:
  std::uint32_t stage(int d) const { return direction_[d].stage; }
  std::uint32_t take(std::uint32_t (&counter)[2], int d) { return direction_[d].first_microbatch + counter[d]++; }
  void forward(int d) { out_.forward(stage(d), take(forwards_, d)); }
  void backward(int d) { out_.backward(stage(d), take(backwards_, d)); }
  void input(int d) { out_.backward_input(stage(d), take(backwards_, d)); }
  void weight(int d) { out_.backward_weight(stage(d), take(weights_, d)); }
  void overlapped(int f, int b) {
    const std::uint32_t k = take(forwards_, f);
    out_.overlapped(stage(f), k, stage(b), take(backwards_, b));
  }

  Direction direction_[2];
  OrderWriter& out_;
  std::uint32_t forwards_[2] = {0, 0}, backwards_[2] = {0, 0}, weights_[2] = {0, 0};
};

void write_dualpipe(const DeviceShape& shape, OrderWriter& out) {
  const std::uint32_t p = shape.devices, r = shape.device, per_direction = shape.microbatches / 2;
  // Stage r of the way from device 0, and stage p-1-r of the way from device p-1 (numbered from p on).
  const DualPipeDevice::Direction down{r, 0}, up{2 * p - 1 - r, per_direction};
  const bool near_zero = r < p / 2;
  DualPipeDevice device(near_zero ? down : up, near_zero ? up : down, out);
  device.write(p / 2, near_zero ? r : p - 1 - r, per_direction);
}

void write_dualpipe_v(const DeviceShape& shape, OrderWriter& out) {
  const std::uint32_t p = shape.devices, r = shape.device;
  DualPipeDevice device({r, 0}, {2 * p - 1 - r, 0}, out);
  device.write(p, r, shape.microbatches);
}

double dualpipe_in_flight(const ScheduleShape& shape, int) { return static_cast<double>(shape.stages + 1); }

double dualpipe_v_in_flight(const ScheduleShape& shape, int) { return static_cast<double>(2 * shape.stages + 1) / 2; }

// Where a device is: the distance from the end that feeds it first, and the devices between it and the turning point.
struct Place {
  int from_end, inward;
};
template <bool folded>
Place place_of(const ScheduleShape& shape, int device) {
  const int half = folded ? shape.stages : shape.stages / 2;
  const int from_end = device < half ? device : shape.stages - 1 - device;
  return {from_end, half - 1 - from_end};
}

// While pairs run nothing is put off. Before them an input gradient is followed by its weight gradient; in the drain
// they are put off from the middle on.
template <bool folded>
HeldMoments dualpipe_moments(const ScheduleShape& shape, int device) {
  const auto [from_end, inward] = place_of<folded>(shape, device);
  const int half = from_end + 1 + inward, passes = passes_per_device(shape);
  const auto held = [passes](int all, int postponed) {
    return HeldMicrobatches{static_cast<double>(all) / passes, static_cast<double>(postponed) / passes};
  };
  HeldMoments out{held(2 * half + 1, 0)};
  if (inward > 0) out.push_back(held(2 * half, 1));
  if (from_end > 0 || inward == 0) out.push_back(held(half, from_end + 1));
  return out;
}

// As DualPipeDevice::write joins them.
template <bool folded>
void dualpipe_pairs(const ScheduleShape& shape, int virtual_stage, std::span<std::int64_t> counts) {
  const int p = shape.stages, device = virtual_stage < p ? virtual_stage : 2 * p - 1 - virtual_stage;
  const auto [from_end, inward] = place_of<folded>(shape, device);
  const int half = from_end + 1 + inward, per_direction = folded ? shape.microbatches : shape.microbatches / 2;
  const int both = per_direction + from_end + 1 - 2 * half;
  const bool early = (virtual_stage < p) == (device < half);  // of the direction whose way reaches it early
  counts[0] = early ? both - (inward == 0 ? 1 : 0) : both + inward;
}

// DeepSeek-V3's bubble, with g stages along the way and n microbatches through each of a device's stages times two.
template <bool folded>
std::optional<Tick> dualpipe_time(const ScheduleShape&, const EvenTimes& t) {
  if (t.c != 0 || t.f != t.b || t.b != t.w) return std::nullopt;
  const Tick g = folded ? 2 * t.p : t.p, n = folded ? 2 * t.m : t.m;
  const Tick overlapped = t.overlapped > 0 ? t.overlapped : t.s;
  if (overlapped < t.b + t.w) return std::nullopt;  // then the drain, not the overlapped pairs, sets the pace
  return (n - g - 1) * overlapped + (g + 1) * t.s + (g / 2 - 1) * (overlapped + t.b + t.w - 3 * t.w);
}

template <bool folded>
std::optional<RepeatedMiddle> dualpipe_middle(const ScheduleShape& shape) {
  const auto before = [](const ScheduleShape& of, int r) {
    const int p = of.stages, half = folded ? p : p / 2;
    const int from_end = r < half ? r : p - 1 - r, inward = half - 1 - from_end;
    // The first two pairs count as warm-up: one device has no overlap in them.
    return 2 * inward + 2 * (from_end + 1) + 3 * inward + 4;
  };
  return RepeatedMiddle{
      .length = 4, .first_microbatches = 2 * shape.stages, .microbatches_each = folded ? 1 : 2, .before = before};
}

// How often a device overlaps is part of the order, so its work is known.
template <bool folded>
Tick dualpipe_lower_bound(const ScheduleShape& shape, const PipelineTimes& times) {
  const auto p = static_cast<std::size_t>(shape.stages), m = static_cast<std::size_t>(shape.microbatches);
  const auto ticks = [](std::size_t count) { return static_cast<Tick>(count); };
  const auto stage_work = [&times](std::size_t s) {
    return times.forward[s] + times.backward_input[s] + times.backward_weight[s];
  };
  const Tick transfer = shape.stages > 1 ? times.shortest_hop() : 0;
  const std::size_t half = folded ? p : p / 2, per_direction = folded ? m : m / 2;
  const auto overlapped_instead = [&times](std::size_t forward, std::size_t backward) -> Tick {
    if (times.overlapped.empty() || times.overlapped[forward] == 0) return 0;
    return times.overlapped[forward] - times.forward[forward] - times.backward_input[backward] -
           times.backward_weight[backward];
  };
  Tick bound = 0;
  for (const bool from_far_end : {false, true}) {
    if (folded && from_far_end) break;
    Tick head = 0;
    for (std::size_t i = 0; i < half; ++i) {
      const std::size_t own = from_far_end ? p + i : i;
      const std::size_t other = from_far_end ? p - 1 - i : 2 * p - 1 - i;
      const std::size_t both = per_direction + i + 1 - 2 * half, inward = half - 1 - i;
      const Tick work = ticks(per_direction) * (stage_work(own) + stage_work(other)) +
                        ticks(both - (inward == 0 ? 1 : 0)) * overlapped_instead(own, other) +
                        ticks(both + inward) * overlapped_instead(other, own);
      bound = std::max(bound, head + work);
      head += times.forward[own] + transfer;
    }
  }
  return bound;
}

}  // namespace

const OrderRules dualpipe{.write = write_dualpipe,
                          .in_flight = dualpipe_in_flight,
                          .moments = dualpipe_moments<false>,
                          .pairs = dualpipe_pairs<false>,
                          .even_time = dualpipe_time<false>,
                          .middle = dualpipe_middle<false>,
                          .lower_bound = dualpipe_lower_bound<false>};

const OrderRules dualpipe_v{.write = write_dualpipe_v,
                            .in_flight = dualpipe_v_in_flight,
                            .moments = dualpipe_moments<true>,
                            .pairs = dualpipe_pairs<true>,
                            .even_time = dualpipe_time<true>,
                            .middle = dualpipe_middle<true>,
                            .lower_bound = dualpipe_lower_bound<true>};

}  // namespace roofscape::engine::orders
