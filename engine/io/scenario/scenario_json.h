// Scenarios as JSON: the file format of presets/scenarios (scenario.schema.json describes it), and single fields as
// `path=value`. Everything but model, cluster and name follows the field table (engine/scenario/scenario_fields.h).
//
// Fields left out have their defaults; model and cluster default to those of the start scenario (llama3-70b on
// tpu-v5p-pod). A field that is not known is an error that names the nearest known one.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "engine/io/json/result.h"
#include "engine/io/presets/preset_library.h"
#include "engine/scenario/scenario.h"

namespace roofscape::io {

inline constexpr std::string_view kStartScenario = "llama3-405b-16k-h100-8k";
inline constexpr std::string_view kDefaultModel = "llama3-70b";
inline constexpr std::string_view kDefaultCluster = "tpu-v5p-pod";

// `file_name` is for messages; paths in the text are relative to its folder.
Result<engine::Scenario> read_scenario(std::string_view text, std::string_view file_name,
                                       const PresetLibrary& library);

// A preset's id, or the path of a file: a scenario, or a figure that carries its own (figure_file.h).
// The same of a file's bytes: the text of a scenario, or a figure, which carries its own (figure_file.h).
Result<engine::Scenario> scenario_in_file(std::string bytes, const std::string& file, const PresetLibrary& library);
Result<engine::Scenario> load_scenario(const std::string& id_or_path, const PresetLibrary& library);

// JSON text that reads back to an equal scenario. Chip and model are written as preset ids where they equal the
// preset.
std::string write_scenario(const engine::Scenario& scenario, const PresetLibrary& library);

// One change as on a command line: "parallelism.tensor=8". Besides the table's paths: name=TEXT, model=ID or FILE,
// model.n_layers=N and the other keys of a model, cluster=ID, cluster.chip=ID, cluster.chips=N,
// cluster.slice=16x20x28. A mode that becomes custom starts from the calibrated values. On an error the scenario is
// as it was.
std::optional<InputError> set_field(engine::Scenario& scenario, std::string_view assignment,
                                    const PresetLibrary& library);

// A flat JSON object of texts (strings, themes); numbers are taken as their text.
Result<std::map<std::string, std::string>> read_flat_map(std::string_view text, std::string_view file_name);

}  // namespace roofscape::io
