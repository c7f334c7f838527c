// How long kernels take, from their local shapes (calibrated and custom mode). A matrix multiplication runs at
//   eta_mm C * k / (k + k_half) / (1 + f_wave (1/u - 1)),
// k the contraction, u the share of a whole number of waves of 128 x 128 tiles over the multiprocessors that the
// output fills; or at the rate at which its operands cross HBM. Attention runs at its own efficiency of the 16-bit
// peak, times T / (T + T_half); where scores are written to HBM it is two products and the passes over the scores.
// Everything else is bytes over HBM bandwidth. Every kernel starts t_gap after the one before. The backward pass of a
// product is the product for its input and the one for its weights, each with its own shape.
#pragma once

#include <array>

#include "engine/inputs/inputs.h"
#include "engine/model/checkpointing.h"
#include "engine/model/layer_operations.h"
#include "engine/model/parameters.h"

namespace roofscape::engine {

template <Scalar S>
struct ProductShape {
  S rows, in, out, count;  // `count` products of that shape in one kernel
};

// Products of a layer that are told apart: of one operation the MLPs of dense layers, of shared and of routed
// experts, and of each the forward and both gradients. As an index of quantities; explain() names it.
enum class ProductPart : std::uint8_t { layer, shared, experts };
enum class ProductPass : std::uint8_t { forward, input, weights };
constexpr int product_index(OperationKind kind, ProductPart part, ProductPass pass) {
  return (static_cast<int>(part) * 3 + static_cast<int>(pass)) * kOperationCount + static_cast<int>(kind);
}

// Behind those, the products of Newton-Schulz: of a kind of matrices the Gram matrix, its square, and what is added.
constexpr int kLayerProducts = 9 * kOperationCount;
constexpr int muon_product_index(int matrix, int product) { return kLayerProducts + matrix * 3 + product; }
// And those of adapters: of what stands beside an operation the way to the rank and the way from it.
constexpr int kAdapterProducts = kLayerProducts + 64;
constexpr int adapter_product_index(OperationKind kind, ProductPart part, int product, ProductPass pass) {
  return kAdapterProducts + product * kLayerProducts + product_index(kind, part, pass);
}

// Seconds of one product, in floats of fewer than 16 bits where `narrow` says (none: in 16 bits); `index` is what it is
// named for (-1: nothing).
template <Scalar S>
S product_time(const Inputs<S>&, const ProductShape<S>&, const S& weight_bytes, Dtype narrow, int index);
extern template double product_time<double>(const Inputs<double>&, const ProductShape<double>&, const double&, Dtype,
                                            int);
extern template Traced product_time<Traced>(const Inputs<Traced>&, const ProductShape<Traced>&, const Traced&, Dtype,
                                            int);

// How many times as long attention takes per FLOP with heads of this width as with heads 128 wide. On a GPU, beside the
// two products of each score stands its exponential, however narrow the head: FlashAttention-3 (Shah et al. 2024, figure
// 5) reaches 497 and 648 TFLOP/s on H100 with heads 64 and 128 wide. Wider ones gain in the forward pass alone, which is
// left out. The matrix units of a TPU are 128 wide.
constexpr double kCommonHead = 128;
constexpr double kExponentialWidth = 60;  // of a head whose products take as long as the rest of its scores
template <Scalar S>
S attention_width_ramp(const Inputs<S>& in, const S& width) {
  const S common = constant<S>(kCommonHead), one = constant<S>(1), rest = constant<S>(kExponentialWidth);
  if (in.calibration.lanes) return named(Q::attention_width_ramp, ceil(width / common) * common / width);
  return named(Q::attention_width_ramp, max((one + rest / width) / (one + rest / common), one));
}

// Seconds of attention without scores in HBM: `flops` of the forward pass over sequences of so many tokens, by heads of
// this width; where queries and keys have another than values, of their mean.
template <Scalar S>
struct AttentionTime {
  S forward{}, backward{};
};
constexpr double kAttentionBackward = 2.5;  // five products where the forward has two (Dao 2022)
template <Scalar S>
AttentionTime<S> attention_time(const Inputs<S>& in, const S& flops, const S& tokens, const S& width) {
  const CalibrationInputs<S>& c = in.calibration;
  const S ramp =
      named(Q::attention_ramp, (tokens + c[Calibrated::attention_length]) / tokens * attention_width_ramp(in, width));
  const S& peak = c.peak_16;
  return {flops * ramp / (peak * c[Calibrated::attention_forward]) + c[Calibrated::kernel_gap],
          constant<S>(kAttentionBackward) * flops * ramp / (peak * c[Calibrated::attention_backward]) +
              c[Calibrated::kernel_gap]};
}

// Kernels of a layer that are no product, forward: two norms, two residuals, rotation, activation.
constexpr double vector_kernels(OperationKind kind) {
  switch (kind) {
    case OperationKind::norms:
    case OperationKind::residual:
      return 2;
    case OperationKind::rope:
    case OperationKind::activation:
      return 1;
    default:
      return 0;
  }
}
// Seconds of so many of them that move `bytes` together.
template <Scalar S>
S vector_time(const Inputs<S>& in, const S& bytes, double kernels) {
  return in.calibration[Calibrated::vector_passes] * bytes / in.calibration.hbm +
         constant<S>(kernels) * in.calibration[Calibrated::kernel_gap];
}

// Seconds of one layer, one microbatch, one chip.
template <Scalar S>
struct LayerKernels {
  // By operation: products of a layer and attention, forward and both gradients.
  std::array<S, kOperationCount> forward{}, backward{};
  bool vectors_again = false;                       // vector operations are computed again
  S attention_flops{}, attention_flops_backward{};  // that attention executes, whatever the stated convention
  S matmul_forward{}, matmul_backward{};            // backward: both gradients, nothing computed again
  S attention_forward{}, attention_backward{};
  S vector_forward{}, vector_backward{};  // backward with what is computed again
  S issue{};                              // what the host takes for the kernels of the forward pass
  S again{};                              // products and attention computed again
  S weight_gradient{};                    // of adapters, where these are trained; part of matmul_backward
  S head_forward{}, head_backward{};      // of the output head: products
  S head_vector_forward{}, head_vector_backward{};
  S embedding_forward{}, embedding_backward{};
};
template <Scalar S>
LayerKernels<S> layer_kernels(const Inputs<S>&, const Parameters<S>&, const LayerKey&, const LayerOperations<S>&,
                              const S& t, const S& recompute_times);
extern template LayerKernels<double> layer_kernels<double>(const Inputs<double>&, const Parameters<double>&,
                                                           const LayerKey&, const LayerOperations<double>&,
                                                           const double&, const double&);
extern template LayerKernels<Traced> layer_kernels<Traced>(const Inputs<Traced>&, const Parameters<Traced>&,
                                                           const LayerKey&, const LayerOperations<Traced>&,
                                                           const Traced&, const Traced&);

}  // namespace roofscape::engine
