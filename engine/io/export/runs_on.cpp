#include "engine/io/export/runs_on.h"

#include <nlohmann/json.hpp>

#include "engine/io/json/field_json.h"
#include "engine/io/json/pretty.h"
#include "engine/scenario/scenario_fields.h"
#include "engine/studies/nearest_plan.h"

namespace roofscape::io {

using engine::Framework;
using engine::say;
using engine::Scenario;

std::vector<RunsOn> runs_on(const Scenario& s) {
  std::vector<RunsOn> out;
  for (std::size_t i = 0; i < engine::kFrameworks; ++i) {
    const auto framework = static_cast<Framework>(i);
    out.push_back({framework, engine::broken_rule(framework, s)});
  }
  return out;
}

std::string runs_on_json(const Scenario& s, const engine::Words& words) {
  OrderedJson out = OrderedJson::array();
  for (const auto& [framework, rule] : runs_on(s)) {
    OrderedJson& row = out.emplace_back();
    row["framework"] = engine::kFrameworkIds[framework];
    row["name"] = framework_name(framework);
    row["runs"] = rule == nullptr;
    const auto put = [&row, broken = rule != nullptr](const char* key, std::string text) {
      if (broken && !text.empty())
        row[key] = std::move(text);
      else
        row[key] = nullptr;
    };
    put("rule", rule != nullptr ? std::string(rule->id) : "");
    put("path", rule != nullptr ? std::string(rule->path) : "");
    put("message", rule != nullptr ? words.write(rule->words(s)) : "");
    put("source", rule != nullptr ? std::string(rule->source) : "");
  }
  return pretty_text(out) + "\n";
}

std::vector<std::string> assignments_between(const Scenario& before, const Scenario& after) {
  std::vector<std::string> out;
  for (const engine::Field& field : engine::scenario_fields()) {
    if (field.path == engine::kLayersByHand || field.path == engine::kGivenOrder) continue;
    const double value = field.get(after);
    if (value == field.get(before)) continue;
    const OrderedJson json = field_json(field, value);
    out.push_back(std::string(field.path) + "=" + (json.is_string() ? json.get<std::string>() : json.dump()));
  }
  if (before.pipeline.layers_per_stage != after.pipeline.layers_per_stage) {
    std::string layers;
    for (const int n : after.pipeline.layers_per_stage) layers += (layers.empty() ? "" : ",") + std::to_string(n);
    out.push_back("pipeline.layers_per_stage=" + (layers.empty() ? std::string("even") : layers));
  }
  if (before.pipeline.order && !after.pipeline.order) out.emplace_back("pipeline.order=none");
  return out;
}

std::string set_options(const Scenario& before, const Scenario& after) {
  std::string out;
  for (const std::string& one : assignments_between(before, after)) out += (out.empty() ? "--set " : " --set ") + one;
  return out;
}

InputError cannot_run(const Scenario& s, Framework framework) {
  const engine::Rule* rule = engine::broken_rule(framework, s);
  const engine::NearestPlan near = engine::nearest_plan_on(framework, s);
  engine::Sentence remedy = near.runs ? say("error.export.nearest", set_options(s, near.scenario))
                                      : say("error.export.none", framework_name(framework));
  engine::Sentence message = say("error.export.rule", framework_name(framework), rule->words(s));
  if (!rule->source.empty()) message = say("error.export.source", std::move(message), rule->source);
  return {{}, std::string(rule->path), std::move(message), std::move(remedy)};
}

}  // namespace roofscape::io
