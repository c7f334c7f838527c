// roofscape-cli trace: the simulated step as a file for trace viewers (.json), or its order as torch reads it (.csv).
#include <filesystem>
#include <string>

#include "app/cli/output.h"
#include "app/cli/scenario_input.h"
#include "engine/io/export/trace_json.h"
#include "engine/io/json/files.h"
#include "engine/pipeline/order_csv.h"

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

// The order of the pipeline, as torch reads it.
io::Result<std::string> order_of(const engine::Report& report) {
  if (report.pipeline.orders.ops.empty())
    return io::InputError{{},
                          "parallelism.pipeline",
                          report.pipeline.shape.stages > 1 ? "the pipeline was not simulated, so it has no order"
                                                           : "there is one stage, so there is no order",
                          "give a plan with a pipeline that can run; `roofscape-cli check` says whether it can"};
  return engine::order_csv(report.pipeline.orders);
}

int run(const Context& context, const TraceOptions& options) {
  if (options.output.empty())
    return refuse(
        {{}, {}, "trace needs a scenario and -o FILE", "such as: trace llama3-405b-16k-h100-8k -o step.json"});
  const std::string extension = std::filesystem::path(options.output).extension().string();
  if (!extension.empty() && extension != ".json" && extension != ".csv")
    return refuse({options.output,
                   {},
                   "a trace is JSON, and the order of a pipeline CSV; this name says neither",
                   "end it in .json or .csv"});
  const auto evaluated = evaluate(context, options.input);
  if (!evaluated) return kBadInput;
  auto written =
      extension == ".csv" ? order_of(evaluated->report) : io::trace_json(evaluated->scenario, evaluated->report);
  if (!written) {
    io::InputError error = written.error();
    error.file = options.input.scenario;
    complain(error);
    return evaluated->report.has_errors() ? kHasErrors : kBadInput;
  }
  if (const auto error = io::write_file_atomically(options.output, written.value())) return refuse(*error);
  return code_of(evaluated->report);
}

}  // namespace

const Command trace_command = command<TraceOptions, add_options, run>("trace", "cli.trace");

}  // namespace roofscape::app::cli
