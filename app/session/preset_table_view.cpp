#include "app/session/preset_table_view.h"

#include <algorithm>
#include <span>

#include "engine/base/text_match.h"
#include "engine/io/scenario/scenario_json.h"

namespace roofscape::app {

namespace {

using TableKind = PresetTableView::Kind;

engine::Match match_of_row(const std::string& typed, const PresetTable::Row& row,
                           std::span<const io::Preset> presets) {
  const auto preset =
      std::find_if(presets.begin(), presets.end(), [&](const io::Preset& p) { return p.id == row.id; });
  return preset == presets.end() ? engine::match_of(typed, row.name) : io::match_of(typed, *preset);
}

}  // namespace

void PresetTableView::show(Kind which) {
  if (kind != which) search.clear();
  kind = which;
  open = true;
}

void PresetTableView::sort(std::string_view column) {
  Sorting& now = sorting_[static_cast<std::size_t>(kind)];
  now = {std::string(column), now.column == column && !now.descending};
}

const PresetTableView::Shown& PresetTableView::shown(const Session& session, const widgets::TextTable& texts) {
  Key key{session.presets(), session.imported_models().size(), kind, search, sorting()};
  if (key_ == key) return shown_;
  key_ = std::move(key);
  shown_ = {};
  PresetTable& table = shown_.table;
  table = kind == TableKind::models ? model_table(session.library(), session.imported_models())
                                    : chip_table(session.library());
  shown_.all = table.rows.size();
  sort_by(table, sorting().column, sorting().descending);
  if (!search.empty()) {
    const std::span<const io::Preset> presets =
        session.library().list(kind == TableKind::models ? io::PresetKind::model : io::PresetKind::chip);
    std::vector<PresetTable::Row> found;
    engine::Match best = engine::Match::none;
    for (PresetTable::Row& row : table.rows) {
      const engine::Match match = match_of_row(search, row, presets);
      if (match == engine::Match::none) continue;
      if (!shown_.best || match > best) shown_.best = found.size(), best = match;
      found.push_back(std::move(row));
    }
    table.rows = std::move(found);
  }
  for (const PresetTable::Row& row : table.rows) {
    std::vector<std::string>& cells = shown_.cells.emplace_back();
    for (std::size_t column = 0; column < table.columns.size(); ++column)
      cells.push_back(cell_text(table, row, column, texts));
  }
  return shown_;
}

bool has_row(const engine::Scenario& scenario, TableKind kind, const PresetTable::Row& row) {
  if (kind == TableKind::chips) return scenario.cluster.chip.id == row.id;
  return scenario.model.id == row.id && scenario.model.name == row.name;
}

engine::Scenario with_row(engine::Scenario scenario, TableKind kind, const PresetTable::Row& row,
                          const Session& session) {
  if (kind == TableKind::chips) {
    (void)io::set_field(scenario, "cluster.chip=" + row.id, session.library());
  } else if (const auto* model = session.library().find_model(row.id)) {
    scenario.model = *model;
  } else {
    for (const engine::TransformerShape& imported : session.imported_models())
      if (imported.name == row.name) scenario.model = imported;
  }
  return scenario;
}

}  // namespace roofscape::app
