// GPipe (Huang et al. 2019): every forward, then every backward. Simple, and keeps the activations of all
// microbatches. 1F1B (Narayanan et al. 2021): a device starts its first backward as soon as it can and then
// alternates, so it never keeps more than p-r microbatches. Eager 1F1B runs twice as many forwards ahead, which hides
// transfers.
#include "engine/pipeline/order_writer.h"

namespace roofscape::engine::orders {

void write_gpipe(const DeviceShape& shape, OrderWriter& out) {
  for (std::uint32_t k = 0; k < shape.microbatches; ++k) out.forward(shape.device, k);
  for (std::uint32_t k = 0; k < shape.microbatches; ++k) out.backward(shape.device, k);
}

void write_one_f_one_b(const DeviceShape& shape, std::uint32_t warm_up, OrderWriter& out) {
  const std::uint32_t m = shape.microbatches;
  const std::uint32_t ahead = std::min(m, warm_up);
  for (std::uint32_t k = 0; k < ahead; ++k) out.forward(shape.device, k);
  for (std::uint32_t k = ahead; k < m; ++k) {
    out.forward(shape.device, k);
    out.backward(shape.device, k - ahead);
  }
  for (std::uint32_t k = m - ahead; k < m; ++k) out.backward(shape.device, k);
}

}  // namespace roofscape::engine::orders
