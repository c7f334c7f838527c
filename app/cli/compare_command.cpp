// roofscape-cli compare: a measured run laid over the prediction for its plan.
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/output.h"
#include "app/cli/scenario_input.h"
#include "app/core/measured_sections.h"
#include "engine/io/measured/measured_input.h"
#include "engine/scenario/scenario_fields.h"

namespace roofscape::app::cli {
namespace {

using engine::say;
using Json = nlohmann::ordered_json;

struct CompareOptions {
  ScenarioInput input;
  std::vector<std::string> measured;
  int steps = 1;
  bool json = false;
};

void add_options(OptionList& list, CompareOptions& options) {
  list.scenario(options.input.scenario);
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

int run(const Context& context, const CompareOptions& options) {
  if (options.measured.empty())
    return refuse(context.texts,
                  {"--measured", {}, say("error.measured.missing"), say("error.measured.none.remedy")});
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
