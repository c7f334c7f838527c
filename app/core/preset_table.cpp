#include "app/core/preset_table.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/core/text_columns.h"
#include "engine/base/ascii.h"
#include "engine/io/export/csv.h"
#include "engine/studies/model_facts.h"
#include "widgets/canvas/number_format.h"

namespace roofscape::app {

namespace {

using engine::ChipField;
using widgets::TextTable;

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

// A model of a file has no id and is named instead.
std::string separated(const PresetTable& table, char separator) {
  std::string out = "id";
  for (const PresetColumn& column : table.columns) (out += separator) += column.id;
  out += '\n';
  for (const PresetTable::Row& row : table.rows) {
    out += io::csv_field(row.id.empty() ? row.name : row.id, separator);
    for (const std::optional<double>& value : row.values) {
      out += separator;
      if (value) out += fmt::format("{}", *value);
    }
    out += '\n';
  }
  return out;
}

}  // namespace

PresetTable model_table(const io::PresetLibrary& library, std::span<const engine::TransformerShape> imported) {
  PresetTable out;
  for (const engine::ModelFact& fact : engine::model_facts())
    out.columns.push_back({fact.id, "model_fact." + std::string(fact.id), fact.unit});
  const auto add = [&out](std::string id, std::string name, const engine::TransformerShape& model) {
    PresetTable::Row row{std::move(id), std::move(name), {}};
    for (const engine::ModelFact& fact : engine::model_facts()) row.values.push_back(fact.value(model));
    out.rows.push_back(std::move(row));
  };
  for (const engine::TransformerShape& model : imported) add({}, model.name, model);
  for (const io::Preset& preset : library.list(io::PresetKind::model))
    add(preset.id, preset.name, *library.find_model(preset.id));
  return out;
}

PresetTable chip_table(const io::PresetLibrary& library) {
  PresetTable out;
  for (const ChipField field : kChipColumns) {
    const engine::ChipFieldRow& row = engine::kChipFields[static_cast<std::size_t>(field)];
    out.columns.push_back({row.id, "field.cluster.chip." + std::string(row.id) + ".label", row.unit});
  }
  for (const io::Preset& preset : library.list(io::PresetKind::chip)) {
    PresetTable::Row row{preset.id, preset.name, {}};
    for (const ChipField field : kChipColumns) row.values.push_back((*library.find_chip(preset.id))[field].value);
    out.rows.push_back(std::move(row));
  }
  return out;
}

bool sort_by(PresetTable& table, std::string_view column, bool descending) {
  if (column == "id" || column == "name") {
    const auto word = column == "id" ? &PresetTable::Row::id : &PresetTable::Row::name;
    std::stable_sort(table.rows.begin(), table.rows.end(), [word, descending](const auto& a, const auto& b) {
      const std::string x = engine::ascii_lower(a.*word), y = engine::ascii_lower(b.*word);
      return descending ? y < x : x < y;
    });
    return true;
  }
  const auto found =
      std::find_if(table.columns.begin(), table.columns.end(), [&](const PresetColumn& c) { return c.id == column; });
  if (found == table.columns.end()) return false;
  const auto at = static_cast<std::size_t>(found - table.columns.begin());
  std::stable_sort(table.rows.begin(), table.rows.end(), [at, descending](const auto& a, const auto& b) {
    if (!a.values[at] || !b.values[at]) return a.values[at].has_value() && !b.values[at].has_value();
    return descending ? *b.values[at] < *a.values[at] : *a.values[at] < *b.values[at];
  });
  return true;
}

std::string cell_text(const PresetTable& table, const PresetTable::Row& row, std::size_t column,
                      const TextTable& texts) {
  const std::optional<double>& value = row.values[column];
  if (!value) return std::string(widgets::kNoValue);
  const engine::Unit& unit = table.columns[column].unit;
  // The head says what is counted, and totals are compared to the digit.
  if (unit == engine::unit::parameters) return widgets::format_significant(*value);
  return texts.amount(*value, unit, {.trim_zeros = true});
}

std::string text_of(const PresetTable& table, const TextTable& texts) {
  std::vector<bool> right(table.columns.size() + 1, true);
  right[0] = false;
  Columns columns(right);
  std::vector<std::string> head{{}};
  for (const PresetColumn& column : table.columns) head.emplace_back(texts.text(column.label));
  columns.add(std::move(head));
  for (const PresetTable::Row& row : table.rows) {
    std::vector<std::string> cells{row.id};
    for (std::size_t i = 0; i < row.values.size(); ++i) cells.push_back(cell_text(table, row, i, texts));
    columns.add(std::move(cells));
  }
  return columns.text(0);
}

std::string csv_of(const PresetTable& table) { return separated(table, ','); }
std::string tsv_of(const PresetTable& table) { return separated(table, '\t'); }

}  // namespace roofscape::app
