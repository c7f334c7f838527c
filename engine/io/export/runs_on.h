// Who can run a plan, for people and programs: each launcher and server with the first of its rules that the plan breaks.
#pragma once

#include <string>
#include <vector>

#include "engine/base/sentence.h"
#include "engine/frameworks/rules.h"
#include "engine/io/json/result.h"
#include "engine/scenario/scenario.h"

namespace roofscape::io {

struct RunsOn {
  engine::Framework framework;
  const engine::Rule* broken = nullptr;  // null: it can
};
// In the order of the enumeration.
std::vector<RunsOn> runs_on(const engine::Scenario&);

// [{"framework", "name", "runs", "rule", "path", "message", "source"}], the last four null where it runs.
std::string runs_on_json(const engine::Scenario&, const engine::Words&);

// What has to be set to make one scenario the other: "parallelism.zero_stage=1", by the fields that differ. The same model
// on the same cluster.
std::vector<std::string> assignments_between(const engine::Scenario& before, const engine::Scenario& after);
// The same behind --set, in one line.
std::string set_options(const engine::Scenario& before, const engine::Scenario& after);

// That a framework cannot run a plan: by which rule, where that is stated, and the nearest plan that it can run.
// Precondition: it breaks a rule.
InputError cannot_run(const engine::Scenario&, engine::Framework);

}  // namespace roofscape::io
