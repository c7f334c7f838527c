// What training frameworks and model hubs call the models that presets hold. For the .cpp files of engine/io.
#pragma once

#include <optional>
#include <string_view>

#include "engine/io/import/launch_plan.h"
#include "engine/scenario/scenario.h"

namespace roofscape::io {

// The preset of a torchtitan model and flavor ("llama3", "70B"); empty: not known.
std::string_view torchtitan_model(std::string_view name, std::string_view flavor);
// The preset of a MaxText model_name; empty: not known.
std::string_view maxtext_model(std::string_view name);

// What a repository or folder name of the Hugging Face hub says: "meta-llama/Llama-3.1-70B-Instruct-FP8".
struct HubModel {
  std::string_view preset;  // empty: not known
  std::string_view called;  // the part of the name that says how its weights are stored; empty: none
  std::optional<engine::Dtype> weights = {};  // as the name says they are stored, or as this model is published
};
HubModel hub_model(std::string_view name);
// The same as the model of a plan, with a warning where it is not known.
HubModel take_hub_model(LaunchPlan& plan, const Stated<std::string>& name);

}  // namespace roofscape::io
