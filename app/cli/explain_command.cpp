// roofscape-cli explain: how a number of the report came about.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/cli/output.h"
#include "app/cli/scenario_input.h"
#include "app/core/calibration_origin.h"
#include "app/core/derivation_text.h"
#include "app/core/text_columns.h"
#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/explain.h"
#include "engine/evaluate/step_shares.h"
#include "engine/io/json/nearest.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/step_words.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape::app::cli {

using engine::say;
namespace {

struct ExplainOptions {
  ScenarioInput input;
  std::string quantity;  // an id, or one row of it: "links.bytes_per_s[fsdp]"; or "bound"
  int depth = kAllLevels;
};

void add_options(OptionList& list, ExplainOptions& options) {
  list.scenario(options.input.scenario);
  list.required("quantity", options.quantity, "cli.explain.quantity");
  add_edits(list, options.input);
  list.whole_number("--depth", options.depth, "cli.explain.depth", 1, kAllLevels);
}

// The quantity exists; this scenario has no such row, or comes to no value.
int refuse_known(const Context& context, const ExplainOptions& options, engine::Q q, const engine::Report& report,
                 const std::vector<std::string>& explainable) {
  const std::string& id = options.quantity;
  if (!engine::is_indexed(engine::quantity(q))) {
    const std::string reason(engine::kAbsenceIds[report.quantities.absence(q)]);
    complain(context.texts,
             {options.input.scenario,
              id,
              context.texts.format("derivation.no_value", {widgets::quantity_label(context.texts, id),
                                                           std::string(context.texts.text("absence." + reason))}),
              {}});
    return kHasErrors;
  }
  for (const std::string& row : explainable)  // "links.bytes_per_s" without [fsdp]
    if (row.starts_with(id + "["))
      return refuse(context.texts, {{},
                                    io::in_quotes(id),
                                    say("error.cli.explain.rows"),
                                    say("error.cli.explain.rows.remedy", io::in_quotes(row))});
  complain(context.texts, {options.input.scenario, id, say("error.cli.explain.no_value"), {}});
  return kHasErrors;
}

int refuse_unknown(const Context& context, const std::string& id, const std::vector<std::string>& explainable) {
  std::vector<std::string_view> candidates(explainable.begin(), explainable.end());
  for (const engine::Quantity& row : engine::kQuantities) candidates.push_back(row.id);
  std::string_view near = io::nearest_word(id, candidates);
  if (near.empty())  // "time_s" for "step.time_s"
    for (const std::string_view candidate : candidates)
      if (near.empty() && id.size() > 2 && candidate.find(id) != std::string_view::npos) near = candidate;
  return refuse(context.texts, {{},
                                {},
                                say("error.sweep.quantity", io::in_quotes(id)),
                                near.empty() ? say("error.sweep.quantity.remedy") : io::did_you_mean(near)});
}

// The verdict: what the step, or a decoding step, goes into, the longest first.
int explain_bound(const Context& context, const ExplainOptions& options) {
  const auto evaluated = evaluate(context, options.input);
  if (!evaluated) return kBadInput;
  const engine::Report& report = evaluated->report;
  const widgets::TextTable& texts = context.texts;
  if (report.has_errors()) {
    complain(
        context.texts,
        {options.input.scenario, options.quantity, texts.format("derivation.cannot_run", {options.quantity}), {}});
    return kHasErrors;
  }
  Columns columns({false, true, true, false});
  const auto add = [&](std::string name, double seconds, double whole_s, std::string from) {
    columns.add({std::move(name), widgets::format_duration(seconds), widgets::format_percent(seconds / whole_s, 1),
                 std::move(from)});
  };
  std::string head, first;
  if (evaluated->scenario.serves()) {
    const double whole_s = report.quantities.value_or(engine::Q::decode_step, 0);
    head = texts.format("derivation.bound.decode",
                        {widgets::bound_name(texts, report.bound), widgets::format_duration(whole_s)});
    std::vector<engine::Q> parts(engine::kDecodeParts.begin(), engine::kDecodeParts.end());
    const auto seconds = [&report](engine::Q q) { return report.quantities.value_or(q, 0); };
    std::stable_sort(parts.begin(), parts.end(),
                     [&seconds](engine::Q a, engine::Q b) { return seconds(a) > seconds(b); });
    first = engine::quantity(parts.front()).id;
    for (const engine::Q q : parts)
      if (seconds(q) > 0)
        add(widgets::quantity_label(texts, q), seconds(q), whole_s, std::string(engine::quantity(q).id));
  } else {
    const double whole_s = report.quantities.value_or(engine::Q::step_time, 0);
    head = texts.format("derivation.bound", {widgets::bound_words(report, texts), widgets::format_duration(whole_s)});
    for (const engine::StepShare& share : engine::step_shares(report)) {
      std::string from;
      for (const engine::Q q : share.parts)
        if (report.quantities.value_or(q, 0) > 0)
          from += (from.empty() ? "" : " + ") + std::string(engine::quantity(q).id);
      if (first.empty()) first = from.substr(0, from.find(' '));
      add(widgets::bound_name(texts, {share.kind, share.axis}), share.seconds, whole_s, from);
    }
  }
  return print(context.texts,
               head + "\n\n" + columns.text(2) + '\n' +
                   texts.format("derivation.bound.more", {options.input.scenario, first}) + '\n',
               kGood);
}

int run(const Context& context, const ExplainOptions& options) {
  const std::string& id = options.quantity;
  const auto scenario = read_scenario(context, options.input);
  if (!scenario) return kBadInput;
  if (id == "bound") return explain_bound(context, options);
  if (auto derivation = engine::explain(*scenario, id)) {
    io::CalibrationOrigins origins;
    tell_calibration_origins(*derivation, *scenario, origins, context.texts);
    const auto evaluated = evaluate(context, options.input);
    if (!evaluated) return kBadInput;
    DerivationNotes notes;
    notes.critical_path = critical_path_text(evaluated->report.pipeline, context.texts);
    if (const auto q = engine::find_quantity(id))
      if (const auto reason = engine::zero_reason(evaluated->scenario, evaluated->report, *q))
        notes.asked = zero_text(*reason, evaluated->scenario, context.texts);
    return print(context.texts, derivation_text(*derivation, context.texts, options.depth, notes),
                 code_of(evaluated->report));
  }
  const engine::Report report = engine::evaluate(*scenario);
  const auto named = engine::find_quantity(engine::without_index(id));
  if (named && engine::is_of_a_run(*named) && report.has_errors()) {
    (void)evaluate(context, options.input);  // what keeps the plan from running is said first, with the way out
    complain(context.texts, {options.input.scenario, id, context.texts.format("derivation.cannot_run", {id}), {}});
    return kHasErrors;
  }
  const std::vector<std::string> explainable = engine::explainable(*scenario);
  const auto known = engine::find_quantity(id);
  return known ? refuse_known(context, options, *known, report, explainable)
               : refuse_unknown(context, id, explainable);
}

}  // namespace

const Command explain_command = command<ExplainOptions, add_options, run>("explain", "cli.explain");

}  // namespace roofscape::app::cli
