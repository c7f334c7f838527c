// JSON text for people: two spaces an indent, short objects and lists on one line. For the .cpp files of engine/io.
#pragma once

#include <string>

#include "engine/io/json_text.h"
#include "engine/io/preset_library.h"
#include "engine/scenario.h"

namespace roofscape::io {

std::string pretty_text(const OrderedJson& json);  // ends with a newline

OrderedJson scenario_json(const engine::Scenario& scenario, const PresetLibrary& library);

}  // namespace roofscape::io
