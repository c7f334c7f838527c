// One preset, for people or as its file.
#pragma once

#include <string>

#include "app/cli/command.h"
#include "engine/io/presets/preset_library.h"

namespace roofscape::app::cli {

// A model's shape and what follows from it; a chip's figures with their sources; the sizes of a cluster; of a scenario
// the fields that are not as by default.
std::string preset_document(const Context& context, io::PresetKind kind, const io::Preset& preset);

}  // namespace roofscape::app::cli
