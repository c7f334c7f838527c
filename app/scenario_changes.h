// What differs between two scenarios, field by field: for the list of changes since a baseline was pinned.
#pragma once

#include <string>
#include <vector>

#include "engine/scenario_fields.h"

namespace roofscape::app {

struct ScenarioChange {
  const engine::Field* field = nullptr;  // null: the model or the chip as a whole, named by `what`
  std::string what;                      // path: "parallelism.tensor", "model", "cluster"
  std::string before, now;               // names, where field is null
};

// A model or chip of another name is one change; else every field of it that differs.
std::vector<ScenarioChange> scenario_changes(const engine::Scenario& before, const engine::Scenario& now);

}  // namespace roofscape::app
