// roofscape-cli explain: how a number of the report came about.
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/output.h"
#include "app/cli/scenario_input.h"
#include "app/core/derivation_text.h"
#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/explain.h"
#include "engine/io/json/nearest.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape::app::cli {
namespace {

struct ExplainOptions {
  ScenarioInput input;
  std::string quantity;  // an id, or one row of it: "links.bytes_per_s[fsdp]"
};

void add_options(OptionList& list, ExplainOptions& options) {
  list.scenario(options.input.scenario);
  list.required("quantity", options.quantity, "cli.explain.quantity");
  list.set(options.input.set);
}

// The quantity exists; this scenario has no such row, or comes to no value.
int refuse_known(const Context& context, const ExplainOptions& options, engine::Q q, const engine::Report& report,
                 const std::vector<std::string>& explainable) {
  const std::string& id = options.quantity;
  if (!engine::is_indexed(engine::quantity(q))) {
    const std::string reason(engine::kAbsenceIds[static_cast<std::size_t>(report.quantities.absence(q))]);
    complain({options.input.scenario,
              id,
              context.texts.format("derivation.no_value", {widgets::quantity_label(context.texts, id),
                                                           std::string(context.texts.text("absence." + reason))}),
              {}});
    return kHasErrors;
  }
  for (const std::string& row : explainable)  // "links.bytes_per_s" without [fsdp]
    if (row.starts_with(id + "["))
      return refuse(
          {{}, io::in_quotes(id), "comes once per axis or stage", "name one, such as " + io::in_quotes(row)});
  complain({options.input.scenario, id, "has no value in this scenario", {}});
  return kHasErrors;
}

int refuse_unknown(const std::string& id, const std::vector<std::string>& explainable) {
  std::vector<std::string_view> candidates(explainable.begin(), explainable.end());
  for (const engine::Quantity& row : engine::kQuantities) candidates.push_back(row.id);
  std::string_view near = io::nearest_word(id, candidates);
  if (near.empty())  // "time_s" for "step.time_s"
    for (const std::string_view candidate : candidates)
      if (near.empty() && id.size() > 2 && candidate.find(id) != std::string_view::npos) near = candidate;
  return refuse({{},
                 {},
                 "unknown quantity " + io::in_quotes(id),
                 near.empty() ? "`roofscape-cli eval` shows their ids at the right"
                              : "did you mean " + io::in_quotes(near) + "?"});
}

int run(const Context& context, const ExplainOptions& options) {
  const std::string& id = options.quantity;
  const auto scenario = read_scenario(context, options.input);
  if (!scenario) return kBadInput;
  if (const auto derivation = engine::explain(*scenario, id)) {
    const auto evaluated = evaluate(context, options.input);
    return print(derivation_text(*derivation, context.texts), evaluated ? code_of(evaluated->report) : kBadInput);
  }
  const engine::Report report = engine::evaluate(*scenario);
  const auto named = engine::find_quantity(engine::without_index(id));
  if (named && engine::is_of_a_run(*named) && report.has_errors()) {
    (void)evaluate(context, options.input);  // what keeps the plan from running is said first, with the way out
    complain({options.input.scenario, id, context.texts.format("derivation.cannot_run", {id}), {}});
    return kHasErrors;
  }
  const std::vector<std::string> explainable = engine::explainable(*scenario);
  const auto known = engine::find_quantity(id);
  return known ? refuse_known(context, options, *known, report, explainable) : refuse_unknown(id, explainable);
}

}  // namespace

const Command explain_command = command<ExplainOptions, add_options, run>("explain", "cli.explain");

}  // namespace roofscape::app::cli
