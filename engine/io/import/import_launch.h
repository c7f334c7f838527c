// Launch scripts and configuration files of training and serving frameworks, read as a Scenario with a receipt. A format is
// recognised by its content, not by its name; launch_formats.h is the table of those that are known. A script is text: it
// is never run, and nothing in it is evaluated beyond its own variables.
//
// Precedence: an option of one's own, then the one source that states a value, then a documented default. Two sources that
// disagree are refused with both lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/io/import/imported.h"
#include "engine/io/json/result.h"
#include "engine/io/presets/preset_library.h"

namespace roofscape::io {

struct ImportRequest {
  // A cluster's id or file; a chip's id, for as many as the launcher states; or CHIP:N. Empty: none was given.
  std::string cluster = {};
  std::vector<std::string> set = {};          // path=value, as of --set
  std::vector<std::string> environment = {};  // NAME=VALUE: variables that a script takes from its environment
};

// Whether a text is something of a known format; false for scenarios and presets of our own.
bool is_launch(std::string_view text);
// Whether a text is to be read as one: it is something of a known format, or it is not of the syntax of our own files, so
// that what import_launch says against it is what there is to say.
bool reads_as_launch(std::string_view text);

Result<Imported> import_launch(std::string_view text, std::string_view file, const ImportRequest&,
                               const PresetLibrary&);
// A model preset as its config.json would be: a model and no plan.
Result<Imported> import_model(const Preset& model, const ImportRequest&, const PresetLibrary&);
// The same of a launch line whose words a shell has split.
Result<Imported> import_words(const std::vector<std::string>& words, const ImportRequest&, const PresetLibrary&);

// {"scenario", "format", "read", "assumed", "missing", "ignored", "overridden", "warnings", "errors"}; what is missing is null
// in the scenario.
std::string receipt_json(const Imported&, const PresetLibrary&, const engine::Words&);

}  // namespace roofscape::io
