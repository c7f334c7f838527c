#include "app/session/settle_edit.h"

#include <algorithm>
#include <utility>

#include "engine/evaluate/custom_mode.h"
#include "engine/studies/nearest_plan.h"

namespace roofscape::app {

using engine::Scenario;

namespace {

constexpr std::string_view kMode = "assumptions.mode", kKind = "workload.kind", kApart = "serving.disaggregated";

bool has(const std::vector<std::string_view>& paths, std::string_view path) {
  return std::find(paths.begin(), paths.end(), path) != paths.end();
}

}  // namespace

bool is_mesh_axis(std::string_view path) {
  constexpr std::string_view kPrefill = "serving.prefill.", kMesh = "parallelism.";
  for (const std::string_view group : {kPrefill, kMesh})
    if (path.starts_with(group))
      return std::find(engine::kAxisIds.begin(), engine::kAxisIds.end(), path.substr(group.size())) !=
             engine::kAxisIds.end();
  return false;
}

engine::Axis giving_partner(const engine::Parallelism& plan, engine::Axis preferred) {
  if (plan.degree(preferred) > 1) return preferred;
  const engine::Axis largest =
      *std::max_element(kPartners.begin(), kPartners.end(),
                        [&](engine::Axis a, engine::Axis b) { return plan.degree(a) < plan.degree(b); });
  return plan.degree(largest) > 1 ? largest : preferred;
}

SettledEdit settle_edit(const Scenario& base, const Scenario& now, const Scenario& edited, const EditNature& nature,
                        std::span<const engine::Chip> chips) {
  std::vector<std::string_view> held;
  SettledEdit settled{edited};
  Scenario& wanted = settled.scenario;
  // Lists are values of their own; whether there are any is a field.
  const auto layers = [](const Scenario& s) -> const std::vector<int>& { return s.pipeline.layers_per_stage; };
  for (const engine::Field& field : engine::scenario_fields()) {
    if (field.path == engine::kLayersByHand || field.path == engine::kGivenOrder) continue;
    if (field.get(edited) != field.get(now))
      held.push_back(field.path);
    else if (field.get(base) != field.get(now))
      field.set(wanted, field.get(base));
  }
  if (layers(edited) != layers(now))
    held.push_back("pipeline.layers_per_stage");
  else
    wanted.pipeline.layers_per_stage = layers(base);
  if (!(edited.pipeline.order == now.pipeline.order))
    held.push_back("pipeline.order");
  else
    wanted.pipeline.order = base.pipeline.order;
  if (has(held, kMode) && wanted.assumptions.mode == engine::Mode::custom) engine::start_custom(wanted, chips);
  if (has(held, kKind)) return settled;
  if (wanted == base) return settled;  // the control is back where it was

  engine::NearestPlan plan;
  const bool other_subject = !(edited.cluster == now.cluster) || !(edited.model == now.model);
  if (has(held, kApart) && wanted.serving.disaggregated) {
    plan = engine::nearest_disaggregated(base, wanted);
  } else if (held.size() == 1 && held.front() == nature.path && is_mesh_axis(nature.path)) {
    if (!nature.keep_product) return settled;
    plan = engine::nearest_plan_that_runs(base, wanted, {held, nature.partner, true, nature.typed});
  } else if (held.empty() && !other_subject) {
    return settled;
  } else {
    engine::PlanCheck check;
    if (check.runs(wanted)) return settled;
    // What could not run before is not this edit's doing.
    if (!check.runs(base) && !other_subject) return settled;
    plan = engine::nearest_plan_that_runs(base, wanted,
                                          {held, nature.partner, false, nature.typed || nature.path.empty()});
  }
  settled.runs = plan.runs;
  settled.reached = plan.reached;
  if (!plan.runs) return settled;
  Scenario as_edited = std::exchange(wanted, std::move(plan.scenario));
  for (ScenarioChange& change : scenario_changes(as_edited, wanted))
    if (!has(held, change.what)) settled.also.push_back(std::move(change));
  return settled;
}

}  // namespace roofscape::app
