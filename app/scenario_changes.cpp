#include "app/scenario_changes.h"

namespace roofscape::app {

std::vector<ScenarioChange> scenario_changes(const engine::Scenario& before, const engine::Scenario& now) {
  std::vector<ScenarioChange> all;
  const bool other_model = before.model.name != now.model.name;
  if (other_model) all.push_back({nullptr, "model", before.model.name, now.model.name});
  if (before.cluster.chip.name != now.cluster.chip.name)
    all.push_back({nullptr, "cluster", before.cluster.chip.name, now.cluster.chip.name});
  for (const engine::Field& field : engine::scenario_fields()) {
    if (other_model && field.path.starts_with("model.")) continue;
    if (field.get(before) != field.get(now)) all.push_back({&field, std::string(field.path), {}, {}});
  }
  return all;
}

}  // namespace roofscape::app
