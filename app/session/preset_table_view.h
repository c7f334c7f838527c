// The table of models or chips without its drawing: which of the two, what is searched for, by which column it is
// sorted, and what is taken or copied from it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/core/preset_table.h"
#include "app/session/session.h"

namespace roofscape::app {

class PresetTableView {
 public:
  enum class Kind : std::uint8_t { models, chips };
  struct Sorting {
    std::string column = "name";  // or the id of a PresetColumn
    bool descending = false;
    friend bool operator==(const Sorting&, const Sorting&) = default;
  };
  // The rows that are found, in order, with their cells as words.
  struct Shown {
    PresetTable table;
    std::vector<std::vector<std::string>> cells;  // by row and column
    std::size_t all = 0;                          // rows there are
    std::optional<std::size_t> best;  // the row that is found best; none: nothing is searched for, or found
  };

  bool open = false;
  Kind kind = Kind::models;
  std::string search;

  void show(Kind which);
  std::string_view title() const {
    return kind == Kind::models ? "ui.table.models" : "ui.table.chips";
  }  // key of its text
  std::string_view file_name() const { return kind == Kind::models ? "models" : "chips"; }
  const Sorting& sorting() const { return sorting_[static_cast<std::size_t>(kind)]; }
  // By another column ascending, by the same one the other way.
  void sort(std::string_view column);
  // Kept while nothing of it changes.
  const Shown& shown(const Session& session, const widgets::TextTable& texts);

 private:
  struct Key {
    std::shared_ptr<const io::PresetLibrary> presets;
    std::size_t imported = 0;
    Kind kind = Kind::models;
    std::string search;
    Sorting sorting;
    friend bool operator==(const Key&, const Key&) = default;
  };
  Sorting sorting_[2];
  std::optional<Key> key_;
  Shown shown_;
};

// Whether the scenario has what a row stands for.
bool has_row(const engine::Scenario& scenario, PresetTableView::Kind kind, const PresetTable::Row& row);
// The scenario with the model or the chip of a row.
engine::Scenario with_row(engine::Scenario scenario, PresetTableView::Kind kind, const PresetTable::Row& row,
                          const Session& session);

}  // namespace roofscape::app
