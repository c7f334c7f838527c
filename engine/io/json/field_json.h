// One field of the field table as a JSON value.
#pragma once

#include <string>
#include <string_view>

#include "engine/io/json/json_text.h"
#include "engine/scenario/scenario_fields.h"

namespace roofscape::io {

// `where` is its path in the file.
Failure read_field(const engine::Field& field, const Json& json, std::string where, std::string_view file,
                   engine::Scenario& scenario);
// pipeline.layers_per_stage, the one list of a scenario beside the field table: whole numbers, none for layers that are
// dealt. Whether a plan can use them is a finding of its evaluation.
Failure read_layers(const Json& json, std::string where, std::string_view file, engine::Scenario& scenario);
OrderedJson field_json(const engine::Field& field, double value);

}  // namespace roofscape::io
