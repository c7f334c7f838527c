// Models and chips beside one another: a row for each preset, a column for each number.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/unit.h"
#include "engine/io/presets/preset_library.h"
#include "widgets/plot/text_table.h"

namespace roofscape::app {

struct PresetColumn {
  std::string_view id;
  std::string label;  // key of its text
  engine::Unit unit;
};
struct PresetTable {
  struct Row {
    std::string id;
    std::vector<std::optional<double>> values;  // one for each column; nothing: not known, or none
  };
  std::vector<PresetColumn> columns;
  std::vector<Row> rows;  // by id
};

PresetTable model_table(const io::PresetLibrary& library);
PresetTable chip_table(const io::PresetLibrary& library);

// Ascending; rows without a value last. Whether there is such a column ("id" is one).
bool sort_by(PresetTable& table, std::string_view column);

std::string text_of(const PresetTable& table, const widgets::TextTable& texts);
// Ids of columns, and numbers in base units.
std::string csv_of(const PresetTable& table);

}  // namespace roofscape::app
