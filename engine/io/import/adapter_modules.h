// Which matrices of a layer the modules stand for that a LoRA configuration names, whoever wrote it: PEFT and what builds on
// it, in the names of each family of models; Megatron-Bridge and NeMo. For the .cpp files of engine/io/import.
#pragma once

#include <string>
#include <string_view>

#include "engine/io/import/document.h"
#include "engine/io/import/key_reader.h"
#include "engine/io/import/launch_plan.h"

namespace roofscape::io {

struct AdapterModules {
  std::string_view targets;  // a word of adapter.targets; empty: no module is known
  bool exact = false;        // else the nearest
};
// `names` in any notation: a list with commas, a regular expression, "all-linear".
AdapterModules adapter_modules(std::string_view names);

// What a configuration names, as such a text: of a list its items with commas between them. Nothing where nothing is named.
std::string module_names(const Node& value);
Maybe<std::string> module_names(KeyReader& keys, std::string_view names);

// States adapter.targets, with a warning where it is the nearest only or no name is known.
void state_adapter_modules(LaunchPlan& plan, std::string_view names, const Origin& origin);

}  // namespace roofscape::io
