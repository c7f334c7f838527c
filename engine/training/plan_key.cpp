#include "engine/training/plan_key.h"

namespace roofscape::engine {

PlanKey plan_key(const Scenario& s) {
  PlanKey key;
  key.flops = s.assumptions.flops;
  key.policy = s.checkpointing.policy;
  key.zero_stage = s.parallelism.zero_stage;
  key.keep_gathered = s.parallelism.keep_gathered;
  key.stores_gradients = s.precision.gradients != Dtype::none;
  key.offload_optimizer = s.offload.optimizer;
  key.offload_activations = s.offload.activations;
  key.has_optimizer = s.precision.optimizer != OptimizerKind::none;
  key.tied_embeddings = s.model.tied_embeddings;
  return key;
}

}  // namespace roofscape::engine
