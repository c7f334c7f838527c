#include "app/cli/preset_document.h"

#include "app/core/strings.h"
#include "app/core/text_columns.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/scenario/scenario_fields.h"
#include "engine/studies/model_facts.h"
#include "widgets/canvas/number_format.h"

namespace roofscape::app::cli {

namespace {

using engine::Field;
using engine::Scenario;
using widgets::TextTable;

std::string field_label(const TextTable& texts, const Field& field) {
  const std::string path(field.path);
  const std::string key = "field." + path + ".label";
  return std::string(texts.text(texts.has(key) ? key : "quantity." + path + ".label"));
}

std::string number_text(const TextTable& texts, double value, const engine::Unit& unit) {
  return texts.amount(value, unit, {.trim_zeros = true});
}

// Fields below a path that differ from those of another scenario.
void add_fields(Columns& columns, const TextTable& texts, const Scenario& s, const Scenario& plain,
                std::string_view below) {
  for (const Field& field : engine::scenario_fields())
    if (field.path.starts_with(below) && field.get(s) != field.get(plain))
      columns.add({std::string(field.path), field_value_text(field, field.get(s)), field_label(texts, field)});
}

std::string model_text(const TextTable& texts, const engine::TransformerShape& model) {
  std::string out = model.name + '\n';
  if (!model.source.empty()) out += wrapped("  ", model.source, 100) + '\n';
  Columns facts({false, true});
  for (const engine::ModelFact& fact : engine::model_facts())
    if (const std::optional<double> value = fact.value(model))
      facts.add(
          {std::string(texts.text("model_fact." + std::string(fact.id))), number_text(texts, *value, fact.unit)});
  out += facts.text(2) + '\n' + std::string(texts.text("cli.presets.fields")) + '\n';
  Scenario s, plain;
  s.model = model;
  Columns fields({false, true, false});
  add_fields(fields, texts, s, plain, "model.");
  return out + fields.text(2);
}

std::string chip_text(const TextTable& texts, const engine::Chip& chip) {
  Columns columns({false, true, false});
  for (const engine::ChipFieldRow& row : engine::kChipFields)
    if (const engine::Sourced& figure = chip[row.field]; figure.value)
      columns.add({std::string(texts.text("field.cluster.chip." + std::string(row.id) + ".label")),
                   number_text(texts, *figure.value, row.unit), figure.source});
  return chip.name + '\n' + columns.text(2);
}

std::string cluster_text(const TextTable& texts, const io::Preset& preset, const engine::Cluster& cluster) {
  Scenario s, plain;
  s.cluster = cluster;
  // Everything that counts chips is shown, as by default or not; of the other interconnect nothing.
  const bool torus = cluster.chip.interconnect == engine::Interconnect::torus;
  plain.cluster = cluster;
  if (torus)
    plain.cluster.slice = {0, 0, 0}, plain.cluster.slices = 0;
  else
    plain.cluster.nodes = plain.cluster.node_size = 0;
  plain.cluster.fabric.clear();
  Columns columns({false, true, false});
  columns.add({"cluster.chip", cluster.chip.id, cluster.chip.name});
  add_fields(columns, texts, s, plain, "cluster.");
  return preset.name + '\n' + columns.text(2);
}

std::string scenario_text(const Context& context, const io::Preset& preset, const Scenario& s) {
  Scenario plain;
  plain.model = s.model;
  plain.cluster = s.cluster;
  std::string out = preset.name + '\n';
  if (!s.source.empty()) out += wrapped("  ", s.source, 100) + '\n';
  Columns columns({false, true, false});
  columns.add({"model", s.model.id, s.model.name});
  columns.add({"cluster.chip", s.cluster.chip.id, s.cluster.chip.name});
  add_fields(columns, context.texts, s, plain, "");
  return out + columns.text(2);
}

}  // namespace

std::string preset_document(const Context& context, io::PresetKind kind, const io::Preset& preset) {
  switch (kind) {
    case io::PresetKind::model:
      return model_text(context.texts, *context.library.find_model(preset.id));
    case io::PresetKind::chip:
      return chip_text(context.texts, *context.library.find_chip(preset.id));
    case io::PresetKind::cluster:
      return cluster_text(context.texts, preset, *context.library.find_cluster(preset.id));
    case io::PresetKind::scenario:
      if (const auto scenario = io::load_scenario(preset.id, context.library))
        return scenario_text(context, preset, scenario.value());
      break;
  }
  return preset.name + '\n';
}

}  // namespace roofscape::app::cli
