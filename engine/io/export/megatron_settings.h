// A plan in the words of Megatron Core: one list, which Megatron-LM has as flags and Megatron Bridge as YAML. For the .cpp
// files of engine/io.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/io/export/launch_text.h"

namespace roofscape::io {

struct MegatronSetting {
  std::string_view group;  // "MODEL", "PARALLEL", "TRAINING"
  std::string flag;        // with its value: "--num-layers 80"; empty: Megatron-LM has none
  std::string key, value;  // of Megatron Bridge: "model.num_layers", "80"; empty: it has none
};

// Marks what it says in `text`. Precondition: Megatron Core runs the plan.
std::vector<MegatronSetting> megatron_settings(LaunchText& text, bool for_bridge);

}  // namespace roofscape::io
