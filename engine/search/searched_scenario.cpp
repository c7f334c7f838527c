#include "engine/search/searched_scenario.h"

#include <algorithm>

#include "engine/scenario/mesh_size.h"
#include "engine/search/decoding_plan.h"
#include "engine/search/plan.h"

namespace roofscape::engine {
namespace {

Scenario searched_training(Scenario s) {
  Plan plan = bare_plan(s);
  // Plans of one stage keep the scenario's schedule, those of one tensor rank its sequence parallelism.
  plan.schedule = s.pipeline.schedule;
  plan.sequence_parallel = s.parallelism.sequence_parallel;
  // A plan that leaves chips idle adds meshes of as many chips as it has (SpaceChoices).
  const auto chips = static_cast<double>(chip_count(s.cluster));
  plan.data = static_cast<int>(std::min(mesh_chips(s.parallelism), chips));
  apply(s, plan);
  const Workload of = s.workload;
  s.workload = {};
  s.workload.kind = of.kind;
  s.workload.global_batch_sequences = of.global_batch_sequences;
  s.workload.sequence_length = of.sequence_length;
  s.workload.train_tokens = of.train_tokens;
  s.serving = {};
  return s;
}

Scenario searched_serving(Scenario s) {
  DecodingPlan plan;
  // Chips that decode are those of the mesh where prefill has its own, else those of the cluster.
  if (s.serving.disaggregated) plan.data = decoding_chips(s);
  apply(s, plan);
  return s;
}

}  // namespace

Scenario searched_scenario(const Scenario& s) {
  Scenario out = s.serves() ? searched_serving(s) : searched_training(s);
  out.name.clear();
  out.source.clear();
  out.stamp = {};
  out.assumptions.stated_mfu = Assumptions{}.stated_mfu;
  return out;
}

}  // namespace roofscape::engine
