// Edits that more than one place makes: the rail, the editor, the palette and a file that is dropped.
#pragma once

#include <string>
#include <string_view>

#include "engine/scenario.h"

namespace roofscape::app {

// Puts another model into the scenario. A scenario that is called after its model is called after the new one then:
// "LLaMA-3 70B on one v5p pod" must not stand over Qwen3.
inline void put_model(engine::Scenario& scenario, const engine::TransformerShape& model) {
  const std::string& was = scenario.model.name;
  if (!was.empty() && !model.name.empty() && scenario.name.starts_with(was))
    scenario.name.replace(0, was.size(), model.name);
  scenario.model = model;
}

// A scenario that is called after its model and where it runs, "Qwen3-32B on one v5p pod", is called after where it
// runs now: the name of the cluster, or of the chip where that alone was changed.
inline void name_after_cluster(engine::Scenario& scenario, std::string name) {
  constexpr std::string_view kOn = " on ", kOne = "One ";
  const std::string start = scenario.model.name + std::string(kOn);
  if (scenario.model.name.empty() || name.empty() || !scenario.name.starts_with(start)) return;
  if (name.starts_with(kOne)) name[0] = 'o';
  scenario.name = start + name;
}

// Puts another cluster, of this name, into the scenario.
inline void put_cluster(engine::Scenario& scenario, const engine::Cluster& cluster, const std::string& name) {
  scenario.cluster = cluster;
  name_after_cluster(scenario, name);
}

}  // namespace roofscape::app
