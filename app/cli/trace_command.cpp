// roofscape-cli trace: the simulated step as a file for trace viewers.
#include <filesystem>
#include <string>

#include "app/cli/output.h"
#include "app/cli/scenario_input.h"
#include "engine/io/export/trace_json.h"
#include "engine/io/json/files.h"

namespace roofscape::app::cli {
namespace {

struct TraceOptions {
  ScenarioInput input;
  std::string output;
};

void add_options(OptionList& list, TraceOptions& options) {
  list.scenario(options.input.scenario);
  list.option("-o,--output", options.output, "cli.trace.output");
  list.set(options.input.set);
}

int run(const Context& context, const TraceOptions& options) {
  if (options.output.empty())
    return refuse(
        {{}, {}, "trace needs a scenario and -o FILE", "such as: trace llama3-405b-16k-h100-8k -o step.json"});
  const std::string extension = std::filesystem::path(options.output).extension().string();
  if (!extension.empty() && extension != ".json")
    return refuse({options.output, {}, "a trace is JSON, and this name says something else", "give -o FILE.json"});
  const auto evaluated = evaluate(context, options.input);
  if (!evaluated) return kBadInput;
  auto json = io::trace_json(evaluated->scenario, evaluated->report);
  if (!json) {
    io::InputError error = json.error();
    error.file = options.input.scenario;
    complain(error);
    return evaluated->report.has_errors() ? kHasErrors : kBadInput;
  }
  if (const auto error = io::write_file_atomically(options.output, json.value())) return refuse(*error);
  return code_of(evaluated->report);
}

}  // namespace

const Command trace_command = command<TraceOptions, add_options, run>("trace", "cli.trace");

}  // namespace roofscape::app::cli
