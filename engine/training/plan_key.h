// What a plan's cost reads of a scenario beside its numbers: conventions and choices.
#pragma once

#include "engine/scenario/scenario.h"

namespace roofscape::engine {

struct PlanKey {
  FlopsConvention flops = FlopsConvention::six_p;
  CheckpointPolicy policy = CheckpointPolicy::block;
  int zero_stage = 3;
  KeepGathered keep_gathered = KeepGathered::microbatch;
  bool stores_gradients = false;
  bool offload_optimizer = false, offload_activations = false;
  bool has_optimizer = true;
  bool tied_embeddings = false;
};
PlanKey plan_key(const Scenario&);

}  // namespace roofscape::engine
