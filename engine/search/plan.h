// A plan: the choices a search makes, as one small value. What it does not name stays as in the scenario.
#pragma once

#include <cstdint>

#include "engine/scenario.h"

namespace roofscape::engine {

struct Plan {
  int data = 1, fsdp = 1, tensor = 1, context = 1, pipeline = 1, expert = 1;
  int microbatch_sequences = 1, virtual_stages = 1;
  std::uint8_t zero_stage = 3;
  bool sequence_parallel = true;
  ScheduleKind schedule = ScheduleKind::one_f_one_b;
  CheckpointPolicy policy = CheckpointPolicy::block;
  bool offload_optimizer = false, offload_activations = false;
  friend auto operator<=>(const Plan&, const Plan&) = default;  // a fixed order, for equals in a ranking
};
Plan plan_of(const Scenario&);
void apply(Scenario&, const Plan&);
// Microbatches of a step of `batch_sequences`; 0 where the sequences do not divide over the ranks.
int microbatches_of(const Plan&, int batch_sequences);
ScheduleShape shape_of(const Plan&, int microbatches);

}  // namespace roofscape::engine
