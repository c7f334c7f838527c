// What differs between two scenarios, field by field: for the list of changes since a baseline was pinned.
#pragma once

#include <string>
#include <vector>

#include "engine/scenario/scenario_fields.h"

namespace roofscape::app {

struct ScenarioChange {
  const engine::Field* field = nullptr;          // null: what is no field of the table, named by `what`
  std::string what;                              // path: "parallelism.tensor", "model", "cluster"
  std::string before, now;                       // names, where field and figure are null
  const engine::ChipFieldRow* figure = nullptr;  // of a chip that was edited
};

// A model or chip of another name is one change; else every field of it that differs, and every figure of the chip.
std::vector<ScenarioChange> scenario_changes(const engine::Scenario& before, const engine::Scenario& now);

}  // namespace roofscape::app
