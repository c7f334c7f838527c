// Looped chunks: device r holds virtual stages r, r+p, r+2p, ... so a microbatch passes every device v times and the
// pipeline fills v times faster. Depth first (interleaved 1F1B, Narayanan et al. 2021, Megatron-LM) sends a group of
// microbatches through all chunks before the next group; breadth first (Lamy-Poirier 2023) sends all microbatches
// through a chunk before the next chunk.
#include "engine/pipeline/order_writer.h"

namespace roofscape::engine::orders {

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
    for (std::uint32_t k = 0; k < shape.microbatches; ++k) out.backward(stage, k);
  }
}

}  // namespace roofscape::engine::orders
