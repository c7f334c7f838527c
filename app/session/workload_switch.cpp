#include "app/session/workload_switch.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "engine/evaluate/evaluate.h"
#include "engine/scenario/mesh_size.h"

namespace roofscape::app {

using engine::Scenario;
using engine::WorkloadKind;

namespace {

constexpr int kSequencesPerReplica = 32;
constexpr int kTrainingSequences = 1024;

bool divides(int part, int whole) { return whole % part == 0; }

bool same_subject(const Scenario& a, const Scenario& b) { return a.model == b.model && a.cluster == b.cluster; }

engine::Dtype served(engine::Dtype d) {
  return d == engine::Dtype::none || d == engine::Dtype::fp32 ? engine::Dtype::bf16 : d;
}

Scenario as_serving(Scenario s) {
  const int chips = engine::shared_chips(s.cluster);
  const engine::Workload standard;
  if (s.workload.prompt_tokens == standard.prompt_tokens) s.workload.prompt_tokens = s.workload.sequence_length;
  s.precision.compute = served(s.precision.compute);
  s.precision.weights = served(s.precision.weights);
  s.serving.disaggregated = false;
  s.placement = {};
  const int most_experts = s.model.is_moe() ? std::max(1, s.model.moe.n_routed_experts) : 1;
  const auto meshed = [&](int tensor, int expert) {
    Scenario t = s;
    t.parallelism = {};
    t.parallelism.data = std::min(chips / tensor, engine::kMostDataDegree);
    t.parallelism.fsdp = t.parallelism.context = t.parallelism.pipeline = 1;
    t.parallelism.tensor = tensor;
    t.parallelism.expert = expert;
    t.workload.batch = kSequencesPerReplica * t.parallelism.data;
    return t;
  };
  std::optional<Scenario> roomiest;
  double most_room = 0;
  engine::Report report;
  engine::EvaluationScratch scratch;
  for (int tensor = 1; tensor <= std::min(chips, 1024) && divides(tensor, chips); tensor *= 2)
    for (int expert = 1; expert <= most_experts && divides(expert, most_experts) && divides(expert, chips / tensor);
         expert *= 2) {
      Scenario t = meshed(tensor, expert);
      engine::evaluate(t, scratch, report);
      if (report.has_errors()) continue;
      const double room = report.quantities.value_or(engine::Q::memory_free, 0);
      if (room >= 0) return t;
      if (!roomiest || room > most_room) roomiest = std::move(t), most_room = room;
    }
  return roomiest ? std::move(*roomiest) : meshed(1, 1);
}

Scenario as_training(Scenario s) {
  const int chips = engine::shared_chips(s.cluster);
  engine::Parallelism& p = s.parallelism;
  if (const std::int64_t inner = std::int64_t{p.tensor} * p.context * p.pipeline; chips % inner != 0)
    p.tensor = p.context = p.pipeline = 1;
  const int ranks = chips / (p.tensor * p.context * p.pipeline);
  p.data = 1;
  p.fsdp = std::min(ranks, engine::kMostDataDegree);
  if (ranks > p.fsdp) p.data = std::clamp(ranks / p.fsdp, 1, engine::kMostBatchSequences / p.fsdp);
  p.zero_stage = 3;
  p.expert_tensor = 0;
  const int experts = s.model.is_moe() ? std::max(1, s.model.moe.n_routed_experts) : 1;
  while (p.expert > 1 && !(divides(p.expert, p.fsdp * p.context) && divides(p.expert, experts))) --p.expert;
  s.placement = {};
  s.precision = {};
  const int fed = static_cast<int>(engine::data_ranks(p)), rounds = std::max(1, kTrainingSequences / fed);
  if (!divides(fed, s.workload.global_batch_sequences)) s.workload.global_batch_sequences = rounds * fed;
  return s;
}

}  // namespace

Scenario with_workload_kind(const Scenario& now, WorkloadKind kind, const Scenario* before) {
  Scenario s = now;
  if (now.workload.kind == kind) return s;
  s.workload.kind = kind;
  if (before != nullptr && before->workload.kind == kind && same_subject(*before, now)) {
    s.parallelism = before->parallelism;
    s.placement = before->placement;
    s.precision = before->precision;
    s.serving = before->serving;
    s.workload = before->workload;
    return s;
  }
  return kind == WorkloadKind::serving ? as_serving(std::move(s)) : as_training(std::move(s));
}

}  // namespace roofscape::app
