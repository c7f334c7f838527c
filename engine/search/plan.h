// A plan: the choices a search makes, as one small value. What it does not name stays as in the scenario.
#pragma once

#include <compare>
#include <cstdint>

#include "engine/scenario/scenario.h"

namespace roofscape::engine {

struct Plan {
  int data = 1, fsdp = 1, tensor = 1, context = 1, pipeline = 1, expert = 1;
  int microbatch_sequences = 1, virtual_stages = 1;
  std::uint8_t zero_stage = 3;
  bool sequence_parallel = true;
  ScheduleKind schedule = ScheduleKind::one_f_one_b;
  CheckpointPolicy policy = CheckpointPolicy::block;
  bool offload_optimizer = false, offload_activations = false;
  // Settings (plan_dimensions.h): a search leaves them as the scenario has them unless it is asked to try others.
  KeepGathered keep_gathered = KeepGathered::microbatch;
  ContextMethod context_method = ContextMethod::ring;
  int expert_tensor = 0, group_size = 0;
  int embedding_as_layers = 0, head_as_layers = 0;
  AxisArray<TorusAxes> on{};  // torus axes, as Placement::on
  RankOrder rank_order = RankOrder::automatic;
  double optimizer_fraction = 1;
  friend bool operator==(const Plan&, const Plan&) = default;
};
// A total order, for plans that are equal in all that is ranked. What is easier to run comes first: without offload,
// the earlier checkpointing policy, the lower ZeRO stage, with sequence parallelism, the smaller microbatch. Then the
// smaller data, fsdp, tensor, context, pipeline and expert, fewer virtual stages, the earlier schedule, and offload of
// activations before that of the optimizer. Last the settings, each in the order of its values.
std::strong_ordering operator<=>(const Plan&, const Plan&);
Plan plan_of(const Scenario&);
void apply(Scenario&, const Plan&);
// One chip, with the settings of the scenario.
Plan bare_plan(const Scenario&);
// Microbatches of a step of `batch_sequences`; 0 where the sequences do not divide over the ranks.
int microbatches_of(const Plan&, int batch_sequences);
// With what a plan does not choose: the group size, an order that was given.
ScheduleShape shape_of(const Plan&, int microbatches, const PipelinePlan&);

}  // namespace roofscape::engine
