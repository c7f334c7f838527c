// The choices of a search of scenarios that serve, as one small value: the mesh that decodes, and the batch. What it
// does not name stays as in the scenario.
#pragma once

#include "engine/scenario/scenario.h"

namespace roofscape::engine {

struct DecodingPlan {
  int data = 1, tensor = 1, expert = 1, pipeline = 1;
  int batch = 1;  // sequences, all replicas together
  friend auto operator<=>(const DecodingPlan&,
                          const DecodingPlan&) = default;  // a fixed order, for equals in a ranking
};
// fsdp counts as data: nothing is sharded over it where nothing is trained.
DecodingPlan decoding_plan_of(const Scenario&);
void apply(Scenario&, const DecodingPlan&);
// Chips that a search shares out among replicas, tensor ranks and stages: those of the cluster, or of the mesh where
// prefill has chips of its own; of one context rank.
int decoding_chips(const Scenario&);
// The same that a plan has; and with all context ranks of its scenario.
constexpr double decoding_chips(const DecodingPlan& plan) {
  return static_cast<double>(plan.data) * plan.tensor * plan.pipeline;
}
inline double decoding_chips(const DecodingPlan& plan, const Scenario& s) {
  return decoding_chips(plan) * s.parallelism.context;
}

}  // namespace roofscape::engine
