// How far a router that is limited to groups of experts spreads a token (DeepSeek-V3, 2024, sections 2.1.2 and 3.2.2).
#pragma once

#include "engine/inputs/inputs.h"

namespace roofscape::engine {

// Of the copies of a token that an exchange sends to its experts, the share that goes between nodes. Where a token's
// experts lie in few groups, and so on few nodes, each of these gets one copy, which is passed on inside; else every
// copy goes its own way, and the share is 1. Groups are dealt to the nodes that the experts span.
template <Scalar S>
S copies_across_nodes(const ModelDims<S>& model, const AxisLinks& experts, const S& copies) {
  if (!model.is.expert_groups || experts.across_nodes <= 1) return constant<S>(1);
  const S nodes_a_group =
      max(constant<S>(static_cast<double>(experts.across_nodes)) / model.n_expert_groups, constant<S>(1));
  return min(copies, model.groups_per_token * nodes_a_group) / copies;
}

}  // namespace roofscape::engine
