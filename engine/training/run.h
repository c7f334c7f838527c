// Runs: how long a number of FLOPs takes on a number of chips, and what it costs (scaling book, chapters 4 and 6).
#pragma once

#include "engine/base/scalar.h"
#include "engine/base/time_units.h"

namespace roofscape::engine {

// Seconds of `flops` on `chips` chips of `peak` FLOP/s each at a utilisation between 0 and 1.
template <Scalar S>
S run_seconds(const S& flops, const S& chips, const S& peak, const S& utilisation) {
  return flops / (chips * peak * utilisation);
}
template <Scalar S>
S days_of(const S& seconds) {
  return seconds / constant<S>(kSecondsPerDay, unit::seconds_each);
}
template <Scalar S>
S years_of(const S& seconds) {
  return seconds / constant<S>(kDaysPerYear * kSecondsPerDay, unit::seconds_each);
}
template <Scalar S>
S hours_of(const S& seconds) {
  return seconds / constant<S>(kSecondsPerHour, unit::seconds_each);
}
// MFU or HFU: FLOPs done over what the chips could have done in the time.
template <Scalar S>
S utilisation(const S& flops, const S& chips, const S& peak, const S& seconds) {
  return flops / (chips * peak * seconds);
}
// Bytes of weights, gradients and optimizer state of `parameters`, unsharded; 2 + 0 + 8 is the book's rule.
template <Scalar S>
S training_state_bytes(const S& parameters, const S& weight_bytes, const S& gradient_bytes,
                       const S& optimizer_bytes) {
  return parameters * (weight_bytes + gradient_bytes + optimizer_bytes);
}
// Bytes of k checkpoints of width D a layer for all tokens of a batch, over all chips together.
template <Scalar S>
S checkpoint_bytes(const S& element_bytes, const S& width, const S& tokens, const S& per_layer, const S& layers) {
  return element_bytes * width * tokens * per_layer * layers;
}

}  // namespace roofscape::engine
