// GPipe (Huang et al. 2019): every forward, then every backward. Simple, and keeps the activations of all
// microbatches. 1F1B (Narayanan et al. 2021): a device starts its first backward as soon as it can and then
// alternates, so it never keeps more than p-r microbatches. Eager 1F1B runs twice as many forwards ahead, which hides
// transfers.
#include <algorithm>
#include <numeric>

#include "engine/pipeline/order_rules.h"

namespace roofscape::engine::orders {
namespace {

void write_gpipe(const DeviceShape& shape, OrderWriter& out) {
  for (std::uint32_t k = 0; k < shape.microbatches; ++k) out.forward(shape.device, k);
  for (std::uint32_t k = 0; k < shape.microbatches; ++k) out.backward(shape.device, shape.nth_backward(k));
}

Tick sum(const std::vector<Tick>& times) { return std::accumulate(times.begin(), times.end(), Tick{0}); }

// Exact for any stage times and any transfer: both halves are plain pipelines without feedback, and the slowest stage
// sets the pace of each.
Tick gpipe_time(const ScheduleShape& shape, const PipelineTimes& times) {
  Tick slowest_backward = 0;
  for (std::size_t s = 0; s < times.forward.size(); ++s)
    slowest_backward = std::max(slowest_backward, times.backward_input[s] + times.backward_weight[s]);
  const Tick slowest_forward = *std::max_element(times.forward.begin(), times.forward.end());
  return sum(times.forward) + sum(times.backward_input) + sum(times.backward_weight) +
         (shape.microbatches - 1) * (slowest_forward + slowest_backward) + 2 * hops_along(times, shape.stages);
}

// 1F1B with `times` forwards ahead for each device that follows.
template <int times>
void write_one_f_one_b(const DeviceShape& shape, OrderWriter& out) {
  const std::uint32_t m = shape.microbatches;
  const std::uint32_t ahead = std::min(m, std::uint32_t{times} * (shape.devices - 1 - shape.device));
  for (std::uint32_t k = 0; k < ahead; ++k) out.forward(shape.device, k);
  for (std::uint32_t k = ahead; k < m; ++k) {
    out.forward(shape.device, k);
    out.backward(shape.device, k - ahead);
  }
  for (std::uint32_t k = m - ahead; k < m; ++k) out.backward(shape.device, k);
}

template <int times>
double one_f_one_b_in_flight(const ScheduleShape& shape, int device) {
  return static_cast<double>(std::min(shape.microbatches, times * (shape.stages - 1 - device) + 1));
}

template <int times>
std::optional<RepeatedMiddle> one_f_one_b_middle(const ScheduleShape& shape) {
  return RepeatedMiddle{.length = 2,
                        .first_microbatches = times * (shape.stages - 1),
                        .before = [](const ScheduleShape& of, int r) { return times * (of.stages - 1 - r); }};
}

std::optional<Tick> one_f_one_b_time(const ScheduleShape&, const EvenTimes& t) {
  const Tick plain = (t.m + t.p - 1) * t.s;
  if (t.c == 0) return plain;
  // Every p microbatches the front device waits once for the way to the last device and back.
  if (t.p >= 2 && t.m % t.p == 0) return plain + t.c * (2 * (t.p - 1) * (t.m / t.p) + 2 * (t.p - 2));
  return std::nullopt;
}

std::optional<Tick> eager_time(const ScheduleShape&, const EvenTimes& t) {
  const Tick plain = (t.m + t.p - 1) * t.s;
  if (t.c == 0) return plain;
  if (t.m >= t.p && 2 * t.c <= t.s) return plain + 2 * (t.p - 1) * t.c;
  return std::nullopt;
}

}  // namespace

const OrderRules gpipe{.write = write_gpipe, .in_flight = hold_all, .time = gpipe_time};

const OrderRules one_f_one_b{.write = write_one_f_one_b<1>,
                             .in_flight = one_f_one_b_in_flight<1>,
                             .even_time = one_f_one_b_time,
                             .middle = one_f_one_b_middle<1>};

const OrderRules eager_1f1b{.write = write_one_f_one_b<2>,
                            .in_flight = one_f_one_b_in_flight<2>,
                            .even_time = eager_time,
                            .middle = one_f_one_b_middle<2>};

}  // namespace roofscape::engine::orders
