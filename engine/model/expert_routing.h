// How far a router spreads a token over the nodes that its experts are on.
#pragma once

#include <algorithm>

#include "engine/inputs/inputs.h"

namespace roofscape::engine {

// (1 - 1/n)^k by halving, each power with its name: the chance that none of k experts is on one of n nodes, each
// expert as likely on any (scaling book, chapter 12).
template <Scalar S>
S node_missed(const S& nodes, int choices) {
  const S one = constant<S>(1);
  const auto power = [&](const auto& self, int k) -> S {
    if (k == 1) return named(Q::node_missed, 1, one - one / nodes);
    const S half = self(self, k / 2);
    const S square = k / 2 == 1 || k % 2 == 0 ? S(half * half) : named(Q::node_missed, k - 1, half * half);
    return named(Q::node_missed, k, k % 2 == 0 ? square : square * named(Q::node_missed, 1, one - one / nodes));
  };
  return power(power, choices);
}

// Of the copies of a token that an exchange sends to its experts, the share that goes between nodes: each node that
// has one or more of its experts gets the token once and passes it on inside, as dispatchers do (DeepSeek-V3, 2024,
// section 3.2.2). Of n nodes k experts are expected on n (1 - (1 - 1/n)^k); a router that is limited to groups of
// experts, which are dealt to the nodes, reaches no more nodes than its groups are on (section 2.1.2).
template <Scalar S>
S copies_across_nodes(const ModelDims<S>& model, const AxisLinks& experts, const S& copies) {
  const S one = constant<S>(1);
  if (experts.tier != LinkTier::fabric) return one;
  const S nodes = input_leaf<S>(trace_of(copies), Q::expert_nodes, -1, experts.across_nodes,
                                "nodes that the expert ranks are on");
  const int choices = std::max(1, static_cast<int>(value_of(model.experts_per_token)));
  S hit = named(Q::nodes_hit, nodes * (one - node_missed(nodes, choices)));
  if (model.is.expert_groups) hit = min(hit, model.groups_per_token * max(nodes / model.n_expert_groups, one));
  return min(copies, hit) / copies;
}

}  // namespace roofscape::engine
