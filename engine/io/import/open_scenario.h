// Whatever a scenario is expected to be: the id of a preset, a scenario file, or a launch script or configuration file of
// a framework, which is imported; or a model preset, with the cluster it is to run on. The one way in for the command line
// and the window.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/io/import/import_launch.h"

namespace roofscape::io {

struct OpenedScenario {
  engine::Scenario scenario;
  std::optional<Imported> imported = {};  // the receipt, where it was read from a file of another kind
  // What was stated in the file or among the edits and is kept without effect: the other kind of workload reads it.
  std::optional<InputError> unread = {};
};

// With the request's cluster and edits. An import that lacks what an evaluation needs is an error that names what is
// missing and what gives it.
Result<OpenedScenario> open_scenario(const std::string& id_or_path, const ImportRequest&, const PresetLibrary&);
// The same of a launch line whose words a shell has split.
Result<OpenedScenario> open_words(const std::vector<std::string>& words, const ImportRequest&, const PresetLibrary&);
// The model preset that is meant by what is the name of no scenario and no file; null: none.
const Preset* model_meant(const std::string& word, const PresetLibrary&);
// What keeps an import from being evaluated; nothing: it is complete.
std::optional<InputError> incomplete(const Imported&, std::string_view file);

// The edits of --set in the order in which they apply: custom mode starts from the calibrated values of the chip and plan
// that are set with it, in whatever order they were given.
std::vector<std::string> ordered_edits(std::vector<std::string> assignments);
// The cluster that is asked for and the edits, on a scenario of our own.
Failure apply_request(engine::Scenario&, const ImportRequest&, const PresetLibrary&);

}  // namespace roofscape::io
