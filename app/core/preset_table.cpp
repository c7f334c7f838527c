#include "app/core/preset_table.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/core/text_columns.h"
#include "engine/studies/model_facts.h"
#include "widgets/canvas/number_format.h"

namespace roofscape::app {

namespace {

using engine::ChipField;

// Of a chip what a roofline and a mesh are made of.
constexpr ChipField kChipColumns[] = {
    ChipField::launch_year,
    ChipField::peak_bf16_dense_flops_per_s,
    ChipField::peak_fp8_dense_flops_per_s,
    ChipField::peak_int8_dense_ops_per_s,
    ChipField::hbm_bytes,
    ChipField::hbm_bytes_per_s,
    ChipField::ici_bytes_per_s_per_axis_bidirectional,
    ChipField::scaleup_domain_chips,
    ChipField::scaleup_bytes_per_s_per_chip_oneway,
    ChipField::price_usd_per_chip_hour,
};

}  // namespace

PresetTable model_table(const io::PresetLibrary& library) {
  PresetTable out;
  for (const engine::ModelFact& fact : engine::model_facts())
    out.columns.push_back({fact.id, "model_fact." + std::string(fact.id), fact.unit});
  for (const io::Preset& preset : library.list(io::PresetKind::model)) {
    PresetTable::Row row{preset.id, {}};
    for (const engine::ModelFact& fact : engine::model_facts())
      row.values.push_back(fact.value(*library.find_model(preset.id)));
    out.rows.push_back(std::move(row));
  }
  return out;
}

PresetTable chip_table(const io::PresetLibrary& library) {
  PresetTable out;
  for (const ChipField field : kChipColumns) {
    const engine::ChipFieldRow& row = engine::kChipFields[static_cast<std::size_t>(field)];
    out.columns.push_back({row.id, "field.cluster.chip." + std::string(row.id) + ".label", row.unit});
  }
  for (const io::Preset& preset : library.list(io::PresetKind::chip)) {
    PresetTable::Row row{preset.id, {}};
    for (const ChipField field : kChipColumns) row.values.push_back((*library.find_chip(preset.id))[field].value);
    out.rows.push_back(std::move(row));
  }
  return out;
}

bool sort_by(PresetTable& table, std::string_view column) {
  if (column == "id") return true;  // as it is
  const auto found =
      std::find_if(table.columns.begin(), table.columns.end(), [&](const PresetColumn& c) { return c.id == column; });
  if (found == table.columns.end()) return false;
  const auto at = static_cast<std::size_t>(found - table.columns.begin());
  std::stable_sort(table.rows.begin(), table.rows.end(), [at](const auto& a, const auto& b) {
    if (!a.values[at] || !b.values[at]) return a.values[at].has_value() && !b.values[at].has_value();
    return *a.values[at] < *b.values[at];
  });
  return true;
}

std::string text_of(const PresetTable& table, const widgets::TextTable& texts) {
  std::vector<bool> right(table.columns.size() + 1, true);
  right[0] = false;
  Columns columns(right);
  std::vector<std::string> head{{}};
  for (const PresetColumn& column : table.columns) head.emplace_back(texts.text(column.label));
  columns.add(std::move(head));
  for (const PresetTable::Row& row : table.rows) {
    std::vector<std::string> cells{row.id};
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      const engine::Unit& unit = table.columns[i].unit;
      const bool large = unit == engine::unit::parameters;
      cells.push_back(!row.values[i] ? std::string(widgets::kNoValue)
                      : large        ? widgets::format_significant(*row.values[i])
                                     : widgets::format(*row.values[i], unit, {.trim_zeros = true}));
    }
    columns.add(std::move(cells));
  }
  return columns.text(0);
}

std::string csv_of(const PresetTable& table) {
  std::string out = "id";
  for (const PresetColumn& column : table.columns) out += "," + std::string(column.id);
  out += '\n';
  for (const PresetTable::Row& row : table.rows) {
    out += row.id;
    for (const std::optional<double>& value : row.values) out += value ? fmt::format(",{}", *value) : ",";
    out += '\n';
  }
  return out;
}

}  // namespace roofscape::app
