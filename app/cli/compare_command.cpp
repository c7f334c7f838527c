// roofscape-cli compare: two plans side by side, or a measured run laid over the prediction for its plan.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/measured_evidence.h"
#include "app/cli/measurement_input.h"
#include "app/cli/output.h"
#include "app/cli/scenario_input.h"
#include "app/core/comparison_text.h"
#include "app/core/measured_sections.h"
#include "app/core/scenario_changes.h"
#include "engine/evaluate/explain.h"
#include "engine/io/json/field_json.h"
#include "engine/io/measured/measured_input.h"
#include "engine/scenario/scenario_fields.h"
#include "engine/scenario/scenario_title.h"
#include "engine/studies/plan_change.h"
#include "widgets/figures/common/evidence_text.h"

namespace roofscape::app::cli {
namespace {

using engine::say;
using Json = nlohmann::ordered_json;

struct CompareOptions {
  ScenarioInput input;
  std::string other;  // the second plan
  std::vector<std::string> measured;
  int steps = 0;  // not given
  bool json = false;
};

void add_options(OptionList& list, CompareOptions& options) {
  list.scenario(options.input.scenario);
  list.optional("other", options.other, "cli.compare.other");
  list.repeated("--measured", options.measured, "cli.compare.measured");
  list.whole_number("--steps", options.steps, "cli.compare.steps", 1, 1'000'000);
  list.json(options.json);
  add_edits(list, options.input);
}

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

std::string comparison_json(const MeasuredAnswer& answer) {
  const engine::MeasuredComparison& c = answer.comparison;
  Json out;
  out["sources"] = answer.run.sources;
  out["predicted_s"] = or_null(c.predicted_s);
  out["measured_s"] = or_null(c.measured_s);
  out["measured_follows"] = c.step_follows;
  out["predicted_mfu"] = or_null(c.predicted_mfu);
  out["measured_mfu"] = or_null(c.measured_mfu);
  out["stated_mfu"] = or_null(answer.run.mfu);
  out["framework_flops_per_chip"] = or_null(c.framework_flops);
  out["model_flops_per_chip"] = or_null(c.model_flops);
  out["terms"] = Json::array();
  for (const engine::StepTermRow& row : c.terms)
    out["terms"].push_back({{"term", engine::kStepTerms[row.term]},
                            {"predicted_s", row.predicted_s},
                            {"measured_s", or_null(row.measured_s)}});
  out["unexplained_s"] = c.predicted_s && c.measured_s ? Json(c.unexplained_s) : Json(nullptr);
  out["memory"] = {{"predicted_bytes", or_null(c.predicted_bytes)},
                   {"allocated_bytes", or_null(answer.run.allocated_bytes)},
                   {"reserved_bytes", or_null(answer.run.reserved_bytes)},
                   {"capacity_bytes", or_null(c.capacity_bytes)}};
  if (const auto& k = answer.run.kernels) {
    Json kernels{{"ranks", k->ranks}, {"steps", k->steps}, {"timeline", k->timeline}};
    for (std::size_t i = 0; i < k->work.size(); ++i)
      kernels["work"][std::string(engine::kWorkKinds.ids()[i])] = {
          {"count", k->work[i].count}, {"seconds", k->work[i].seconds}, {"own_s", k->work[i].own_s}};
    for (std::size_t i = 0; i < k->collectives.size(); ++i)
      kernels["collectives"][std::string(engine::kMeasuredCollectives.ids()[i])] = {
          {"count", k->collectives[i].count},
          {"seconds", k->collectives[i].seconds},
          {"exposed_s", k->timeline ? Json(k->collectives[i].exposed_s) : Json(nullptr)},
          {"link_s", or_null(k->collectives[i].link_s)}};
    kernels["idle"] = {{"host_s", k->idle_host_s}, {"launch_s", k->idle_launch_s}, {"unknown_s", k->idle_s}};
    kernels["unknown"] = Json::array();
    for (const auto& [name, time] : k->unknown) kernels["unknown"].push_back({{"name", name}, {"seconds", time}});
    out["kernels"] = std::move(kernels);
  }
  out["closing"] = Json::array();
  for (const engine::ClosingAssumption& row : answer.closing)
    out["closing"].push_back({{"field", row.field->path},
                              {"now", row.now},
                              {"needed", or_null(row.needed)},
                              {"furthest", row.furthest},
                              {"furthest_step_s", row.furthest_step_s}});
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string plans_json(const Evaluated& a, const Evaluated& b, const std::optional<engine::PairRecord::Like>& pairs) {
  Json out;
  for (const auto& [name, plan] : {std::pair{"a", &a}, std::pair{"b", &b}})
    out[name] = {{"scenario", engine::scenario_title(plan->scenario)}, {"runs", !plan->report.has_errors()}};
  out["changes"] = Json::array();
  for (const ScenarioChange& change : scenario_changes(a.scenario, b.scenario)) {
    const auto value_in = [&change](const engine::Scenario& s, const std::string& name) {
      if (change.field != nullptr) return io::field_json(*change.field, change.field->get(s));
      return change.figure != nullptr ? or_null(s.cluster.chip[change.figure->field].value) : Json(name);
    };
    out["changes"].push_back(
        {{"path", change.what}, {"a", value_in(a.scenario, change.before)}, {"b", value_in(b.scenario, change.now)}});
  }
  // As eval --json has them, with what only a derivation names.
  const engine::QuantityValues of_a = engine::all_quantities(a.scenario, a.report),
                               of_b = engine::all_quantities(b.scenario, b.report);
  for (std::size_t i = 0; i < engine::kReportQuantityCount; ++i) {
    const auto q = static_cast<engine::Q>(i);
    const auto in_a = of_a[q], in_b = of_b[q];
    const engine::Quantity& row = engine::quantity(q);
    if (!engine::is_indexed(row) && (in_a || in_b))
      out["quantities"][std::string(row.id)] = {
          {"a", or_null(in_a)}, {"b", or_null(in_b)}, {"unit", std::string(row.unit.symbol)}};
  }
  if (pairs)
    out["measured_pairs"] = {{"change", std::string(engine::kPlanChangeIds[pairs->change])},
                             {"apart", pairs->pairs.apart},
                             {"right", pairs->pairs.right}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

// Without a second plan the first one is compared with itself as it is edited. A cluster is of both plans, which launch
// files may need, unless it is the one thing that is changed.
int run_of_plans(const Context& context, const CompareOptions& options) {
  ScenarioInput first{options.input.scenario}, second = options.input;
  if (!options.other.empty() || !second.set.empty()) first.cluster = second.cluster;
  if (!options.other.empty())
    second.scenario = options.other;
  else if (second.set.empty() && second.cluster.empty())
    return refuse(context.texts,
                  {options.input.scenario, {}, say("error.compare.alone"), say("error.compare.alone.remedy")});
  if (const auto error = check_steps(options.measured, options.steps)) return refuse(context.texts, *error);
  const auto a = evaluate(context, first);
  if (!a) return kBadInput;
  const auto b = evaluate(context, second);
  if (!b) return kBadInput;
  if (a->scenario.serves() != b->scenario.serves())
    return refuse(context.texts,
                  {second.scenario, {}, say("error.compare.kinds"), say("error.compare.kinds.remedy")});
  const int code = std::max(code_of(*a), code_of(*b));
  // Of plans that differ in one thing alone.
  std::optional<engine::PairRecord> record;
  if (code == kGood && !a->scenario.serves() && engine::change_between(a->scenario, b->scenario))
    record = measured_pairs(context, b->scenario.assumptions.mode);
  if (options.json)
    return print(context.texts, plans_json(*a, *b, record ? record->like(a->scenario, b->scenario) : std::nullopt),
                 code);
  const std::string pairs =
      record ? widgets::pairs_text(context.texts, *record, a->scenario, b->scenario) : std::string();
  return print(context.texts,
               comparison_text({a->scenario, a->report}, {b->scenario, b->report}, pairs, context.texts), code);
}

int run(const Context& context, const CompareOptions& options) {
  if (options.measured.empty()) return run_of_plans(context, options);
  if (!options.other.empty())
    return refuse(context.texts,
                  {options.other, {}, say("error.compare.measured"), say("error.compare.measured.remedy")});
  const auto now = evaluate(context, options.input);
  if (!now) return kBadInput;
  auto measured = io::read_measured_run(options.measured, {options.steps, {}});
  if (!measured) return refuse(context.texts, measured.error());
  const MeasuredAnswer answer = measured_answer(now->scenario, now->report, std::move(measured).value());
  return print(context.texts, options.json ? comparison_json(answer) : measured_text(answer, context.texts),
               code_of(*now));
}

}  // namespace

const Command compare_command = command<CompareOptions, add_options, run>("compare", "cli.compare");

}  // namespace roofscape::app::cli
