// Zero bubble schedules (Qi et al. 2023; V placement Qi et al. 2024): the backward is split into the input gradient
// B, which the neighbour waits for, and the weight gradient W, which nobody waits for and which therefore fills
// bubbles.
//   ZB-H1: the warm-up of 1F1B; W lags r behind B on device r, so every device keeps at most p microbatches.
//   ZB-H2: about twice the warm-up, so no device waits between its first and its last operation; 2p-1 microbatches.
//   ZB-V:  two chunks in a V (device r holds r and 2p-1-r): the same without the extra memory.
#include "engine/pipeline/order_writer.h"

namespace roofscape::engine::orders {

void write_zb_h1(const DeviceShape& shape, OrderWriter& out) {
  const std::uint32_t p = shape.devices, v = shape.chunks, r = shape.device;
  const std::uint32_t passes = shape.microbatches * v;
  const std::uint32_t ahead = std::min(passes, (v - 1) * p + p - 1 - r);
  const std::uint32_t lag = std::min(passes, r);
  ChunkSequence forwards(shape.microbatches, v, p);
  ChunkSequence inputs = forwards, weights = forwards;
  const auto forward = [&] {
    out.forward(forwards.chunk() * p + r, forwards.microbatch());
    forwards.advance();
  };
  const auto weight = [&] {
    out.backward_weight((v - 1 - weights.chunk()) * p + r, weights.microbatch());
    weights.advance();
  };
  for (std::uint32_t i = 0; i < ahead; ++i) forward();
  for (std::uint32_t i = 0; i < passes; ++i) {
    if (i + ahead < passes) forward();
    out.backward_input((v - 1 - inputs.chunk()) * p + r, inputs.microbatch());
    inputs.advance();
    if (i >= lag) weight();
  }
  for (std::uint32_t i = 0; i < lag; ++i) weight();
}

void write_zb_h2(const DeviceShape& shape, OrderWriter& out) {
  const std::uint32_t m = shape.microbatches, r = shape.device;
  const std::uint32_t ahead = std::min(m, 2 * (shape.devices - r) - 1);
  const std::uint32_t lag = std::min(m, 2 * r);
  for (std::uint32_t k = 0; k < ahead; ++k) out.forward(r, k);
  for (std::uint32_t k = 0; k < m; ++k) {
    out.backward_input(r, k);
    if (k >= lag) out.backward_weight(r, k - lag);
    if (k + ahead < m) out.forward(r, k + ahead);
  }
  for (std::uint32_t k = m - lag; k < m; ++k) out.backward_weight(r, k);
}

// Written for at least 2p-1 microbatches; of a shorter step the microbatches that do not exist are left out.
void write_zb_v(const DeviceShape& shape, OrderWriter& out) {
  const std::uint32_t p = shape.devices, r = shape.device, exists = shape.microbatches;
  const std::uint32_t m = std::max(exists, 2 * p - 1);
  const std::uint32_t stage[2] = {r, 2 * p - 1 - r};
  std::uint32_t f[2] = {0, 0}, b[2] = {0, 0}, w[2] = {0, 0};
  const auto forward = [&](int chunk) {
    if (f[chunk] < exists) out.forward(stage[chunk], f[chunk]);
    ++f[chunk];
  };
  const auto input = [&](int chunk) {
    if (b[chunk] < exists) out.backward_input(stage[chunk], b[chunk]);
    ++b[chunk];
  };
  const auto weight = [&](int chunk) {
    if (w[chunk] < exists) out.backward_weight(stage[chunk], w[chunk]);
    ++w[chunk];
  };
  for (std::uint32_t i = 0; i < 2 * (p - r) - 1; ++i) forward(0);
  for (std::uint32_t i = 0; i < r; ++i) {
    forward(1);
    forward(0);
  }
  for (std::uint32_t i = 0; i < p - r; ++i) {
    forward(1);
    input(1);
    weight(1);
  }
  while (f[1] < m) {
    if (f[0] < m) forward(0);
    input(0);
    weight(0);
    forward(1);
    input(1);
    weight(1);
  }
  for (std::uint32_t i = 0; i < r; ++i) {
    input(0);
    input(1);
  }
  for (std::uint32_t i = 0; i < p - r; ++i) {
    input(0);
    weight(0);
  }
  while (w[1] < m) weight(1);
  while (w[0] < m) weight(0);
}

}  // namespace roofscape::engine::orders
