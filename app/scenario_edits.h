// Edits that more than one place makes: the rail, the editor, the palette and a file that is dropped.
#pragma once

#include "engine/scenario.h"

namespace roofscape::app {

// Puts another model into the scenario. A scenario that is called after its model is called after the new one then:
// "LLaMA-3 70B on one v5p pod" must not stand over Qwen3.
inline void put_model(engine::Scenario& scenario, const engine::TransformerShape& model) {
  const std::string& was = scenario.model.name;
  if (!was.empty() && !model.name.empty() && scenario.name.starts_with(was)) scenario.name.replace(0, was.size(), model.name);
  scenario.model = model;
}

}  // namespace roofscape::app
