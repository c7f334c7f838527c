// What a training step goes into, by resource: the parts of the step (kStepParts) put together, the largest first.
// Every sentence about where the step goes is made of it, so that verdict, figures and command line say the same.
#pragma once

#include "engine/base/fixed_list.h"
#include "engine/report/report.h"

namespace roofscape::engine {

// compute: matmul, attention and recomputation. hbm: exposed traffic and the optimizer's pass, which of Muon is mostly
// products and then part of compute. mesh_axis: exposed
// transfers of one axis; pipeline: hops that a stage waits for. bubble, host, offload: their own part.
struct StepShare {
  BoundKind kind = BoundKind::compute;
  Axis axis = Axis::data;  // mesh_axis only
  double seconds = 0;
  double share = 0;       // of the step
  FixedList<Q, 4> parts;  // of the step, that it is the sum of
};
using StepShares = FixedList<StepShare, 5 + kAxisCount>;

// Whether the optimizer's part of a step is arithmetic for the most part.
constexpr bool updates_by_products(double products_s, double optimizer_s) { return 2 * products_s > optimizer_s; }

// Empty where there is no step. Groups that take no time are left out; the rest add up to the step.
StepShares step_shares(const Report&);

// The share of the step that is arithmetic, recomputation included.
double compute_share(const Report&);

}  // namespace roofscape::engine
