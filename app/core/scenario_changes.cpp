#include "app/core/scenario_changes.h"

#include "app/core/layers_text.h"
#include "engine/pipeline/given_order.h"

namespace roofscape::app {

namespace {

// "4 x 8": devices and microbatches.
std::string order_text(const engine::ListedOrder& order) {
  return std::to_string(order.stages) + " \u00d7 " + std::to_string(order.microbatches);
}

}  // namespace

std::vector<ScenarioChange> scenario_changes(const engine::Scenario& before, const engine::Scenario& now) {
  std::vector<ScenarioChange> all;
  const bool other_model = before.model.name != now.model.name;
  if (other_model) all.push_back({nullptr, "model", before.model.name, now.model.name});
  const bool other_chip = before.cluster.chip.name != now.cluster.chip.name;
  if (other_chip) all.push_back({nullptr, "cluster", before.cluster.chip.name, now.cluster.chip.name});
  for (const engine::Field& field : engine::scenario_fields()) {
    if (other_model && field.path.starts_with("model.")) continue;
    if (field.get(before) != field.get(now)) all.push_back({&field, std::string(field.path), {}, {}});
  }
  if (!other_chip)
    for (const engine::ChipFieldRow& figure : engine::kChipFields)
      if (before.cluster.chip[figure.field].value != now.cluster.chip[figure.field].value)
        all.push_back({nullptr, "cluster.chip." + std::string(figure.id), {}, {}, &figure});
  if (before.cluster.fabric != now.cluster.fabric)
    all.push_back({nullptr, "cluster.fabric", std::to_string(before.cluster.fabric.size()),
                   std::to_string(now.cluster.fabric.size())});
  const std::vector<int>&was = before.pipeline.layers_per_stage, &is = now.pipeline.layers_per_stage;
  if (was != is && !was.empty() && !is.empty())  // else the switch of the table says it
    all.push_back({nullptr, "pipeline.layers_per_stage", layers_text(was), layers_text(is)});
  const engine::GivenOrder &had = before.pipeline.order, &has = now.pipeline.order;
  if (had && has && !(had == has)) all.push_back({nullptr, "pipeline.order", order_text(*had), order_text(*has)});
  return all;
}

}  // namespace roofscape::app
