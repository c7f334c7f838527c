// Looped chunks: device r holds virtual stages r, r+p, r+2p, ... so a microbatch passes every device v times and the
// pipeline fills v times faster. Depth first (interleaved 1F1B, Narayanan et al. 2021, Megatron-LM) sends a group of
// microbatches through all chunks before the next group; breadth first (Lamy-Poirier 2023) sends all microbatches
// through a chunk before the next chunk. With one more forward ahead, a forward of the depth-first order needs nothing
// of the backward beside it, and both run as one overlapped operation (Megatron-LM).
#include <algorithm>

#include "engine/pipeline/order_rules.h"

namespace roofscape::engine::orders {
namespace {

constexpr std::int64_t kMostInARepetition = std::int64_t{1} << 20;  // longer ones are not looked for

template <bool pairs>
void write_interleaved(const DeviceShape& shape, OrderWriter& out) {
  const std::uint32_t p = shape.devices, v = shape.chunks, r = shape.device;
  const std::uint32_t passes = shape.microbatches * v;
  const std::uint32_t ahead = std::min(passes, 2 * (p - 1 - r) + (v - 1) * shape.group + (pairs ? 1 : 0));
  ChunkSequence forwards(shape.microbatches, v, shape.group);
  ChunkSequence backwards = forwards;
  const auto forward = [&] {
    out.forward(forwards.chunk() * p + r, forwards.microbatch());
    forwards.advance();
  };
  const auto backward = [&] {
    out.backward((v - 1 - backwards.chunk()) * p + r, backwards.microbatch());
    backwards.advance();
  };
  for (std::uint32_t i = 0; i < ahead; ++i) forward();
  for (std::uint32_t i = ahead; i < passes; ++i) {
    if constexpr (pairs) {
      out.overlapped(forwards.chunk() * p + r, forwards.microbatch(), (v - 1 - backwards.chunk()) * p + r,
                     backwards.microbatch());
      forwards.advance();
      backwards.advance();
    } else {
      forward();
      backward();
    }
  }
  for (std::uint32_t i = 0; i < ahead; ++i) backward();
}

void write_breadth_first(const DeviceShape& shape, OrderWriter& out) {
  for (std::uint32_t chunk = 0; chunk < shape.chunks; ++chunk) {
    const std::uint32_t stage = chunk * shape.devices + shape.device;
    for (std::uint32_t k = 0; k < shape.microbatches; ++k) out.forward(stage, k);
  }
  for (std::uint32_t chunk = shape.chunks; chunk-- > 0;) {
    const std::uint32_t stage = chunk * shape.devices + shape.device;
    for (std::uint32_t k = 0; k < shape.microbatches; ++k) out.backward(stage, shape.nth_backward(k));
  }
}

// Forwards ahead of the first backward of a device.
template <bool pairs>
std::int64_t forwards_ahead(const ScheduleShape& shape, int device) {
  const std::int64_t v = shape.virtual_stages, after = shape.stages - 1 - device;
  return 2 * after + (v - 1) * group_size_of(shape) + (pairs ? 1 : 0);
}

template <bool pairs>
double interleaved_in_flight(const ScheduleShape& shape, int device) {
  return held_passes(shape, forwards_ahead<pairs>(shape, device) + 1);
}

// A repetition is a group's way through all chunks. On device r it begins r pairs later than the warm-up ends, so that
// nothing waits for a later repetition: a group that comes back to the first device is p - 1 pairs further on the last.
template <bool pairs>
std::optional<RepeatedMiddle> interleaved_middle(const ScheduleShape& shape) {
  const std::int64_t group = group_size_of(shape), passes = group * shape.virtual_stages;
  const std::int64_t warm_up = forwards_ahead<pairs>(shape, 0), left = shape.microbatches % group;
  const std::int64_t groups_first = (warm_up + passes - 1) / passes;
  if (2 * passes > kMostInARepetition) return std::nullopt;
  return RepeatedMiddle{.length = static_cast<int>(2 * passes),
                        .first_microbatches = static_cast<int>(groups_first * group + left),
                        .microbatches_each = static_cast<int>(group),
                        .before = [](const ScheduleShape& of, int r) {
                          return static_cast<int>(forwards_ahead<pairs>(of, r)) + 2 * r;
                        }};
}

// The n-th pair joins forward n + ahead of the device with its backward n. A group passes a chunk in one run, so the
// forwards of a chunk are a run per group, over which the backwards come in runs of their own.
void interleaved_pairs(const ScheduleShape& shape, int virtual_stage, std::span<std::int64_t> counts) {
  const std::int64_t p = shape.stages, v = shape.virtual_stages, m = shape.microbatches, g = group_size_of(shape);
  const std::int64_t ahead = forwards_ahead<true>(shape, static_cast<int>(virtual_stage % p)),
                     chunk = virtual_stage / p;
  const auto in_group = [&](std::int64_t first) { return std::min(g, m - first); };
  std::int64_t alike = 1;
  for (std::int64_t first = 0; first < m; first += alike * g) {
    const std::int64_t run = first * v + chunk * in_group(first) - ahead, end = run + in_group(first);
    // Once all of its forwards are joined, a full group is as the next.
    alike = run >= 0 ? std::max<std::int64_t>(1, (m - first) / g) : 1;
    for (std::int64_t at = std::max<std::int64_t>(run, 0); at < end;) {
      const std::int64_t behind = at / (g * v) * g, length = in_group(behind);
      const std::int64_t nth = (at - behind * v) / length, next = behind * v + (nth + 1) * length;
      counts[static_cast<std::size_t>(v - 1 - nth)] += alike * (std::min(end, next) - at);
      at = next;
    }
  }
}

// No device is done before the first microbatch came to it and it did all it has to do.
Tick paired_bound(const ScheduleShape& shape, const PipelineTimes& times) {
  std::vector<Tick> work(static_cast<std::size_t>(shape.stages), 0);
  add_work(shape, times, work);
  Tick head = 0, bound = 0;
  for (std::size_t r = 0; r < work.size(); ++r) {
    bound = std::max(bound, head + work[r]);
    const auto device = static_cast<std::uint32_t>(r);
    head += times.forward[r] + (shape.stages > 1 ? times.hop(device, device + 1) : 0);
  }
  return bound;
}

std::optional<Tick> interleaved_time(const ScheduleShape& shape, const EvenTimes& t) {
  if (group_size_of(shape) != shape.stages) return std::nullopt;
  const Tick plain = (t.m * t.v + t.p - 1) * t.s;
  if (t.c == 0) return plain;
  if (t.m >= 2 * t.p && 2 * t.c <= t.s && t.c <= std::min(t.f, t.b + t.w)) return plain + 2 * (t.v * t.p - 1) * t.c;
  return std::nullopt;
}

std::optional<Tick> breadth_first_time(const ScheduleShape&, const EvenTimes& t) {
  if (t.c == 0) return ((t.v - 1) * std::max(t.m, t.p) + t.m + t.p - 1) * t.s;
  if (t.m >= t.p && t.c <= (t.m - t.p) * std::min(t.f, t.b + t.w) / t.p)
    return (t.m * t.v + t.p - 1) * t.s + 2 * (t.p - 1) * t.c;
  return std::nullopt;
}

}  // namespace

const OrderRules interleaved_1f1b{.write = write_interleaved<false>,
                                  .in_flight = interleaved_in_flight<false>,
                                  .even_time = interleaved_time,
                                  .middle = interleaved_middle<false>};

const OrderRules overlapped_1f1b{.write = write_interleaved<true>,
                                 .in_flight = interleaved_in_flight<true>,
                                 .pairs = interleaved_pairs,
                                 .middle = interleaved_middle<true>,
                                 .lower_bound = paired_bound};

const OrderRules looped_bfs{.write = write_breadth_first, .in_flight = hold_all, .even_time = breadth_first_time};

}  // namespace roofscape::engine::orders
