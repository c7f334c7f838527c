// roofscape-cli check: the findings about a scenario, with the changes on offer.
#include "app/cli/output.h"
#include "app/cli/scenario_input.h"
#include "app/core/report_text.h"
#include "app/core/strings.h"
#include "engine/evaluate/offers.h"
#include "engine/io/export/report_json.h"

namespace roofscape::app::cli {
namespace {

struct CheckOptions {
  ScenarioInput input;
  bool json = false;
};

void add_options(OptionList& list, CheckOptions& options) {
  list.scenario(options.input.scenario);
  list.optional("words", options.input.words, "cli.check.words");
  list.json(options.json);
  add_edits(list, options.input);
}

int run(const Context& context, const CheckOptions& options) {
  const auto evaluated = evaluate(context, options.input);
  if (!evaluated) return kBadInput;
  const int code = code_of(*evaluated);
  const auto findings = engine::offered_findings(evaluated->scenario, evaluated->report);
  if (!options.json) return print(context.texts, diagnostics_text(findings, context.texts), code);
  const auto text = [&](const engine::Diagnostic& diagnostic) { return diagnostic_text(diagnostic, context.texts); };
  return print(context.texts, io::diagnostics_json(findings, text), code);
}

}  // namespace

const Command check_command = command<CheckOptions, add_options, run>("check", "cli.check");

}  // namespace roofscape::app::cli
