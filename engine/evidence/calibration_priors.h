// What is known of each parameter of a calibration before any run is looked at: the bounds that physics or software
// sets it, and how far from its start it may be expected. Fitted is a coordinate without bounds, in units of that
// spread: of a share the logit between its bounds, of a size (a time, bytes, a count) the logarithm. So no value can
// stand at a bound, and nearing one costs.
#pragma once

#include <algorithm>
#include <cmath>
#include <string_view>

#include "engine/scenario/calibration.h"

namespace roofscape::evidence {

struct Prior {
  bool share = true;     // else a size
  double least, most;    // bounds
  double spread = 1;     // of the coordinate, one standard deviation
  std::string_view why;  // of the bounds
};

constexpr Prior prior_of(engine::Calibrated parameter) {
  using enum engine::Calibrated;
  switch (parameter) {
    case matmul_efficiency:
    case matmul_efficiency_fp8:
    case matmul_efficiency_fp4:
      return {true, 0.3, 0.98, 0.7, "no library leaves half of a large product's time, none reaches the peak"};
    case memory_efficiency:
    case read_efficiency:
      return {true, 0.4, 0.98, 0.7, "streams reach two thirds or more of HBM, refresh takes a few percent"};
    case cache_efficiency:
      return {true, 0.15, 0.98, 1, "gathered pages"};
    case attention_forward:
    case attention_backward:
      return {true, 0.15, 0.85, 0.7, "fused kernels reach 0.25 to 0.75 of the 16-bit peak"};
    case host_link:
      return {true, 0.5, 0.98, 0.7, "PCI Express packets of 256 bytes carry 26 of headers"};
    case link_efficiency:
      return {true, 0.3, 0.98, 0.7, "protocol and headers; a bus bandwidth below a third is a wrong plan of links"};
    case fabric_efficiency:
      return {true, 0.15, 0.98, 0.8, "shared fabrics reach a quarter and more"};
    case fragmentation:
      return {true, 0, 0.8, 1, "of what comes and goes"};
    case expert_imbalance:
      return {true, 1, 3, 1, "fullest rank over the mean"};
    case wave_share:
    case direct_links:
    case switch_reduction:
    case hidden_data:
    case hidden_fsdp:
    case hidden_tensor:
    case hidden_context:
    case hidden_expert:
    case dequantization:
    case whole_head:
      return {true, 0, 1, 1, "a share"};
    case vector_passes:
      return {false, 0.4, 6, 0.4, "fusion saves a half of the traffic at most"};
    case matmul_depth:
      return {false, 20, 2000, 0.5, "a contraction shorter than a tile's pipeline cannot fill it"};
    case attention_length:
      return {false, 20, 4000, 0.5, "tokens"};
    case reserve:
      return {false, 4e8, 2e10, 0.5, "a context and a communicator take half a gigabyte"};
    case buffer_share:
      return {false, 0.25, 4, 0.4, "of one layer's buffers"};
    case logit_bytes:
      return {false, 2, 16, 0.4, "a logit once in 16 bits, to four times in 32"};
    case score_passes:
      return {false, 2, 20, 0.4, "written once and read once at least"};
    case step_host:
      return {false, 1e-5, 2, 1, "once a step"};
    case straggler:
      return {false, 1e-4, 0.05, 0.7, "of the step"};
    case capacity:
      return {false, 0.9, 1.1, 0.05, "GiB sold as GB"};
    case kernel_gap:
      return {false, 1e-7, 3e-5, 0.5, "a launch"};
    case expert_layer:
      return {false, 3e-6, 4e-3, 1, "a few kernels, or a wait of the host for the counts of tokens"};
    case expert_bias:
      return {false, 0.25, 60, 1.2, "from one read with the activation to many kernels in 32 bits"};
    case eager_kernel:
      return {false, 3e-6, 5e-4, 0.7, "a launch from a host, to one behind a module of Python"};
    case request_host:
      return {false, 1e-3, 0.5, 0.7, "milliseconds of a server written in Python"};
    case issue:
      return {false, 1e-6, 3e-3, 0.7, "kernels of one layer from the host"};
    case expert_issue:
      return {false, 1e-4, 1e-2, 0.7, "the dozens of kernels of routing, dispatch and experts"};
    case wait:
      return {false, 1e-4, 1e-2, 0.7, "the same, and that each has ended"};
    case call_latency:
    case link_latency:
    case fabric_latency:
      return {false, 1e-7, 2e-4, 0.7, "microseconds"};
  }
  return {};
}

// What memory alone feels: no time depends on it.
constexpr bool of_memory_alone(engine::Calibrated parameter) {
  using enum engine::Calibrated;
  return parameter == reserve || parameter == fragmentation || parameter == buffer_share || parameter == logit_bytes;
}

// Of a value strictly between the bounds.
inline double coordinate(const Prior& prior, double value) {
  if (!prior.share) return std::log(value) / prior.spread;
  const double inside = (value - prior.least) / (prior.most - prior.least);
  return std::log(inside / (1 - inside)) / prior.spread;
}
inline double value_at(const Prior& prior, double coordinate) {
  const double x = coordinate * prior.spread;
  if (!prior.share) return std::clamp(std::exp(x), prior.least, prior.most);
  return prior.least + (prior.most - prior.least) / (1 + std::exp(-x));
}
// Whether a start leaves the value room on both sides.
inline bool has_room(const Prior& prior, double start) {
  const double margin = prior.share ? 0.02 * (prior.most - prior.least) : 0;
  return start >= prior.least + margin && start <= prior.most - margin;
}

}  // namespace roofscape::evidence
