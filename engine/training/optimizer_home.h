// Where the optimizer's state is and its update runs: on the chip, on the host, or on either for a share of the
// parameters (Twin-Flow of ZeRO-Offload++, Megatron-Core's hybrid device optimizer).
#pragma once

#include "engine/inputs/inputs.h"
#include "engine/training/plan_key.h"

namespace roofscape::engine {

inline bool updates_on_host(const PlanKey& key) { return key.has_optimizer && key.offload_optimizer; }

template <Scalar S>
bool updates_on_chip(const Inputs<S>& in, const PlanKey& key) {
  return key.has_optimizer && (!key.offload_optimizer || in.splits_optimizer);
}

// Of what there is of the optimizer, in bytes, parameters or seconds; the chip's only where it updates any.
template <Scalar S>
S chip_share(const Inputs<S>& in, const PlanKey& key, const S& whole) {
  return key.offload_optimizer ? (constant<S>(1) - in.offload_fraction) * whole : whole;
}
template <Scalar S>
S host_share(const Inputs<S>& in, const S& whole) {
  return in.splits_optimizer ? in.offload_fraction * whole : whole;
}

}  // namespace roofscape::engine
