#include "app/cli/scenario_input.h"

#include <algorithm>
#include <utility>

#include "app/cli/output.h"
#include "app/core/report_text.h"
#include "app/core/strings.h"
#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/offers.h"
#include "engine/io/scenario/scenario_json.h"

namespace roofscape::app::cli {

io::Result<engine::Scenario> read(const Context& context, const ScenarioInput& input) {
  auto scenario = io::load_scenario(input.scenario, context.library);
  if (!scenario) return scenario;
  // Custom mode starts from the calibrated values of the chip and plan that are set with it, in whatever order.
  std::vector<std::string> assignments = input.set;
  const auto place = [](const std::string& a) {
    return a.starts_with("assumptions.custom.") ? 2 : a.starts_with("assumptions.mode=") ? 1 : 0;
  };
  std::stable_sort(assignments.begin(), assignments.end(),
                   [&place](const std::string& a, const std::string& b) { return place(a) < place(b); });
  for (const std::string& assignment : assignments)
    if (auto error = io::set_field(scenario.value(), assignment, context.library)) {
      error->file = "--set";
      return *std::move(error);
    }
  return scenario;
}

std::optional<engine::Scenario> read_scenario(const Context& context, const ScenarioInput& input) {
  auto scenario = read(context, input);
  if (scenario) return std::move(scenario).value();
  complain(context.texts, scenario.error());
  return std::nullopt;
}

std::optional<Evaluated> evaluate(const Context& context, const ScenarioInput& input) {
  auto scenario = read_scenario(context, input);
  if (!scenario) return std::nullopt;
  Evaluated out;
  out.scenario = *std::move(scenario);
  out.report = engine::evaluate(out.scenario);
  if (!out.report.has_errors()) return out;
  for (const engine::OfferedFinding& finding : engine::offered_findings(out.scenario, out.report)) {
    const engine::Diagnostic& diagnostic = finding.diagnostic;
    if (diagnostic.severity != engine::Severity::error) continue;
    std::string sentence = diagnostic_text(diagnostic, context.texts);
    if (sentence.ends_with('.')) sentence.pop_back();  // more follows on the line
    complain(context.texts, {input.scenario, std::string(diagnostic.field_path), std::move(sentence),
                             offer_text(finding, context.texts)});
  }
  return out;
}

int code_of(const engine::Report& report) { return report.has_errors() ? kHasErrors : kGood; }

}  // namespace roofscape::app::cli
