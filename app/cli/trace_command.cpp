// roofscape-cli trace: the simulated step as a file for trace viewers (.json), its order as torch reads it (.csv), or the
// layers of its stages as Megatron-LM or torchtitan are told them.
#include <filesystem>
#include <string>

#include "app/cli/output.h"
#include "app/cli/scenario_input.h"
#include "engine/io/export/trace_json.h"
#include "engine/io/json/files.h"
#include "engine/io/scenario/layer_layout.h"
#include "engine/pipeline/order_csv.h"

namespace roofscape::app::cli {

using engine::say;
namespace {

struct TraceOptions {
  ScenarioInput input;
  std::string output, layout;
};

void add_options(OptionList& list, TraceOptions& options) {
  list.scenario(options.input.scenario);
  list.option("-o,--output", options.output, "cli.trace.output");
  list.option("--layout", options.layout, "cli.trace.layout");
  add_edits(list, options.input);
}

// The order of the pipeline, as torch reads it.
io::Result<std::string> order_of(const engine::Report& report) {
  if (report.pipeline.orders.ops.empty())
    return io::InputError{
        {},
        "parallelism.pipeline",
        report.pipeline.shape.stages > 1 ? say("error.cli.order.not_simulated") : say("error.cli.order.one_stage"),
        say("error.cli.order.remedy")};
  return engine::order_csv(report.pipeline.orders);
}

// The layers of the stages, as a framework is told them: to the file, or printed.
int write_layout(const Context& context, const TraceOptions& options) {
  if (options.layout != "megatron" && options.layout != "torchtitan")
    return refuse(context.texts,
                  {"--layout", {}, say("error.not_known", io::in_quotes(options.layout)), say("error.cli.layout")});
  const auto evaluated = evaluate(context, options.input);
  if (!evaluated) return kBadInput;
  if (evaluated->scenario.serves())
    return refuse(context.texts, {options.input.scenario, "workload.kind", say("error.cli.layout.serves"),
                                  say("error.order.no_order.serves")});
  const std::vector<int>& layers = evaluated->report.pipeline.layers;
  const std::string text =
      (options.layout == "megatron" ? io::megatron_layout(layers) : io::torchtitan_modules(layers)) + "\n";
  if (options.output.empty()) return print(context.texts, text, code_of(evaluated->report));
  return write_output(context.texts, options.output, text, code_of(evaluated->report));
}

int run(const Context& context, const TraceOptions& options) {
  if (!options.layout.empty()) return write_layout(context, options);
  if (options.output.empty())
    return refuse(context.texts, {{}, {}, say("error.cli.trace"), say("error.cli.trace.remedy")});
  const std::string extension = std::filesystem::path(options.output).extension().string();
  if (!extension.empty() && extension != ".json" && extension != ".csv")
    return refuse(context.texts,
                  {options.output, {}, say("error.cli.trace.extension"), say("error.cli.trace.extension.remedy")});
  const auto evaluated = evaluate(context, options.input);
  if (!evaluated) return kBadInput;
  auto written =
      extension == ".csv" ? order_of(evaluated->report) : io::trace_json(evaluated->scenario, evaluated->report);
  if (!written) {
    io::InputError error = written.error();
    error.file = options.input.scenario;
    complain(context.texts, error);
    return evaluated->report.has_errors() ? kHasErrors : kBadInput;
  }
  return write_output(context.texts, options.output, written.value(), code_of(evaluated->report));
}

}  // namespace

const Command trace_command = command<TraceOptions, add_options, run>("trace", "cli.trace");

}  // namespace roofscape::app::cli
