// Models and chips beside one another: a row for each preset, a column for each number.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/unit.h"
#include "engine/io/presets/preset_library.h"
#include "engine/scenario/transformer_shape.h"
#include "widgets/plot/text_table.h"

namespace roofscape::app {

struct PresetColumn {
  std::string_view id;
  std::string label;  // key of its text
  engine::Unit unit;
};
struct PresetTable {
  struct Row {
    std::string id, name;
    std::vector<std::optional<double>> values;  // one for each column; nothing: not known, or none
  };
  std::vector<PresetColumn> columns;
  std::vector<Row> rows;  // by id
};

// `imported`: models of files, which have no id.
PresetTable model_table(const io::PresetLibrary& library, std::span<const engine::TransformerShape> imported = {});
PresetTable chip_table(const io::PresetLibrary& library);

// Rows without a value last, either way. Whether there is such a column; "id" and "name" are two.
bool sort_by(PresetTable& table, std::string_view column, bool descending = false);

// A value as it stands in its cell: parameters in full or in a few digits, all else with its unit.
std::string cell_text(const PresetTable& table, const PresetTable::Row& row, std::size_t column,
                      const widgets::TextTable& texts);
std::string text_of(const PresetTable& table, const widgets::TextTable& texts);
// Ids of columns, and numbers in base units, separated by commas or by tabs.
std::string csv_of(const PresetTable& table);
std::string tsv_of(const PresetTable& table);

}  // namespace roofscape::app
