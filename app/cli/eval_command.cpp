// roofscape-cli eval: the report of a scenario, as text or JSON.
#include <optional>
#include <string>

#include "app/cli/output.h"
#include "app/cli/scenario_input.h"
#include "app/core/report_text.h"
#include "app/core/strings.h"
#include "engine/evidence/evidence_points.h"
#include "engine/io/export/report_json.h"
#include "engine/io/scenario/published_run.h"

namespace roofscape::app::cli {
namespace {

struct EvalOptions {
  ScenarioInput input;
  bool json = false;
  bool evidence = false;  // with the error bands
};

void add_options(OptionList& list, EvalOptions& options) {
  list.scenario(options.input.scenario);
  add_edits(list, options.input);
  list.json(options.json);
  list.flag("--evidence", options.evidence, "cli.eval.evidence");
}

int run(const Context& context, const EvalOptions& options) {
  const auto evaluated = evaluate(context, options.input);
  if (!evaluated) return kBadInput;
  // Values of one's own were never predicted with.
  std::optional<engine::Evidence> evidence;
  const engine::Mode mode = evaluated->scenario.assumptions.mode;
  if (options.evidence && mode != engine::Mode::custom) {
    const auto files = io::load_evidence(context.library);
    if (!files) return refuse(context.texts, files.error());
    evidence = evidence::evidence_points(files.value(), context.library, mode);
  }
  const int code = code_of(*evaluated);
  if (options.json) {
    const auto text = [&](const engine::Diagnostic& diagnostic) {
      return diagnostic_text(diagnostic, context.texts);
    };
    return print(context.texts,
                 io::report_json(evaluated->scenario, evaluated->report, context.library, text,
                                 evidence ? &*evidence : nullptr),
                 code);
  }
  const auto published = io::published_run(evaluated->scenario, context.library);
  std::string report =
      report_text(evaluated->scenario, evaluated->report, context.texts, published ? &*published : nullptr);
  if (evidence) report += evidence_text(evaluated->scenario, evaluated->report, *evidence, context.texts);
  return print(context.texts, report, code);
}

}  // namespace

const Command eval_command = command<EvalOptions, add_options, run>("eval", "cli.eval");

}  // namespace roofscape::app::cli
