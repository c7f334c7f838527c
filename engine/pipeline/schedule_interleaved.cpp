// Looped chunks: device r holds virtual stages r, r+p, r+2p, ... so a microbatch passes every device v times and the
// pipeline fills v times faster. Depth first (interleaved 1F1B, Narayanan et al. 2021, Megatron-LM) sends a group of
// microbatches through all chunks before the next group; breadth first (Lamy-Poirier 2023) sends all microbatches
// through a chunk before the next chunk.
#include <algorithm>

#include "engine/pipeline/order_rules.h"

namespace roofscape::engine::orders {
namespace {

void write_interleaved(const DeviceShape& shape, OrderWriter& out) {
  const std::uint32_t p = shape.devices, v = shape.chunks, r = shape.device;
  const std::uint32_t passes = shape.microbatches * v;
  const std::uint32_t ahead = std::min(passes, 2 * (p - 1 - r) + (v - 1) * shape.group);
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
    forward();
    backward();
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

double interleaved_in_flight(const ScheduleShape& shape, int device) {
  const std::int64_t v = shape.virtual_stages, after = shape.stages - 1 - device;
  return held_passes(shape, 2 * after + (v - 1) * group_size_of(shape) + 1);
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

const OrderRules interleaved_1f1b{
    .write = write_interleaved, .in_flight = interleaved_in_flight, .even_time = interleaved_time};

const OrderRules looped_bfs{.write = write_breadth_first, .in_flight = hold_all, .even_time = breadth_first_time};

}  // namespace roofscape::engine::orders
