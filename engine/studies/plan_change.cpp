#include "engine/studies/plan_change.h"

#include <cmath>
#include <utility>

#include "engine/scenario/mesh_size.h"

namespace roofscape::engine {
namespace {

bool same_mesh(const Parallelism& a, const Parallelism& b) {
  return a.tensor == b.tensor && a.pipeline == b.pipeline && a.context == b.context && a.expert == b.expert &&
         a.expert_tensor == b.expert_tensor && a.zero_stage == b.zero_stage &&
         a.sequence_parallel == b.sequence_parallel;
}

}  // namespace

std::optional<PlanChange> change_between(const Scenario& a, const Scenario& b) {
  if (a.serves() || b.serves()) return std::nullopt;
  if (!(a.model == b.model) || a.cluster.chip.id != b.cluster.chip.id) return std::nullopt;
  if (a.offload.activations != b.offload.activations) return std::nullopt;
  const bool chips = mesh_chips(a.parallelism) != mesh_chips(b.parallelism);
  const bool mesh =
      !same_mesh(a.parallelism, b.parallelism) ||
      (!chips && (a.parallelism.data != b.parallelism.data || a.parallelism.fsdp != b.parallelism.fsdp));
  // One stage has no schedule.
  const bool schedule =
      a.parallelism.pipeline > 1 && b.parallelism.pipeline > 1 &&
      (a.pipeline.schedule != b.pipeline.schedule || a.pipeline.virtual_stages != b.pipeline.virtual_stages);
  const bool length = a.workload.sequence_length != b.workload.sequence_length;
  const bool recomputation =
      a.checkpointing.policy != b.checkpointing.policy || a.checkpointing.blocks != b.checkpointing.blocks;
  const bool format = a.precision.compute != b.precision.compute;
  // The batch goes with the chips, if each has the same, and with the length, if a step has as many tokens.
  const auto tokens_of = [](const Scenario& s) {
    return static_cast<double>(s.workload.global_batch_sequences) * s.workload.sequence_length;
  };
  const double ratio = tokens_of(b) / tokens_of(a);
  const double chip_ratio =
      static_cast<double>(mesh_chips(b.parallelism)) / static_cast<double>(mesh_chips(a.parallelism));
  const bool same_tokens = std::abs(ratio - 1) < 1e-9, with_chips = chips && std::abs(ratio / chip_ratio - 1) < 1e-9;
  const bool micro = a.pipeline.microbatch_sequences != b.pipeline.microbatch_sequences;
  const bool batch = (!same_tokens && !with_chips) || (micro && !length);
  const std::pair<bool, PlanChange> changes[] = {
      {schedule, PlanChange::schedule}, {mesh, PlanChange::mesh},     {recomputation, PlanChange::recomputation},
      {batch, PlanChange::batch},       {length, PlanChange::length}, {format, PlanChange::format},
      {chips, PlanChange::chips}};
  std::optional<PlanChange> only;
  for (const auto& [changed, change] : changes) {
    if (!changed) continue;
    if (only) return std::nullopt;
    only = change;
  }
  return only;
}

std::optional<PairRecord::Like> PairRecord::like(const Scenario& from, const Scenario& to) const {
  const auto change = change_between(from, to);
  if (!change) return std::nullopt;
  const PairSummary& pairs = by_change[static_cast<std::size_t>(*change)];
  if (pairs.apart < kFewestPairs) return std::nullopt;
  return Like{*change, pairs};
}

}  // namespace roofscape::engine
