// The scenario that a command works on: a preset or a file, with the edits of --set.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/cli/command.h"
#include "engine/report/report.h"
#include "engine/scenario/scenario.h"

namespace roofscape::app::cli {

struct ScenarioInput {
  std::string scenario;               // id of a preset, or a file
  std::vector<std::string> set = {};  // path=value
};

io::Result<engine::Scenario> read(const Context&, const ScenarioInput&);
// The same; complains about what cannot be read.
std::optional<engine::Scenario> read_scenario(const Context&, const ScenarioInput&);

// The same and its report; complains about what cannot be read, and about each error diagnostic, one line each.
struct Evaluated {
  engine::Scenario scenario;
  engine::Report report;
};
std::optional<Evaluated> evaluate(const Context&, const ScenarioInput&);
int code_of(const engine::Report&);  // kGood or kHasErrors

}  // namespace roofscape::app::cli
