// The scenario that a command works on: a preset, a file of ours, or a launch file, with its cluster and the edits of --set.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/cli/command.h"
#include "engine/io/import/open_scenario.h"
#include "engine/report/report.h"
#include "engine/scenario/scenario.h"

namespace roofscape::app::cli {

struct ScenarioInput {
  std::string scenario;                       // id of a preset, or a file
  std::vector<std::string> set = {};          // path=value
  std::string cluster = {};                   // of --cluster
  std::vector<std::string> environment = {};  // of --env
  std::vector<std::string> words = {};        // the rest of a launch line of which `scenario` is the first word
};

// The file that is meant: "-" is standard input.
std::string file_meant(const std::string& file);

// --set, --cluster and --env.
void add_edits(OptionList&, ScenarioInput&);

io::Result<io::OpenedScenario> open(const Context&, const ScenarioInput&);
// The same; complains about what cannot be read, and says on stderr what was read from a launch file and what of a file
// or the edits is without effect.
std::optional<engine::Scenario> read_scenario(const Context&, const ScenarioInput&);

// The same and its report; complains about what cannot be read, and about each error diagnostic, one line each.
struct Evaluated {
  engine::Scenario scenario;
  std::optional<io::Imported> imported;
  std::optional<io::InputError> unread;
  engine::Report report;
};
std::optional<Evaluated> evaluate(const Context&, const ScenarioInput&);
// The two halves of that.
io::Result<Evaluated> evaluated(const Context&, const ScenarioInput&);
void complain_of_errors(const Context&, const ScenarioInput&, const Evaluated&);
int code_of(const engine::Report&);  // kGood or kHasErrors
int code_of(const Evaluated&);       // the same, with what an import found wrong

}  // namespace roofscape::app::cli
