// The editor of a model and of a cluster without its drawing: every field of both, in sections, with its domain, unit
// and source, and the preset it departs from. Rows are made from the tables (scenario_fields, chip_fields.def), so
// that a new field cannot be forgotten. Edits are edits of the scenario: undone, saved and shared as any other.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/session.h"
#include "engine/scenario/scenario_fields.h"

namespace roofscape::app {

enum class EditorPart : std::uint8_t { model, cluster };

enum class EditorKind : std::uint8_t { integer, number, boolean, choice, text };

// One thing that can be edited. What it is of (a field of the table, a figure of the chip, a level of switches) is
// known here only; paths are those of the scenario's JSON.
struct EditorRow {
  std::string path;
  std::string_view section;  // title at "ui.editor.section.<section>"
  EditorKind kind = EditorKind::integer;
  double minimum = 0, maximum = 0;
  engine::Unit unit = engine::unit::count;
  std::span<const std::string_view> choices = {};
  bool optional = false;  // may be unknown

  enum class Of : std::uint8_t { field, figure, level, pod, interconnect, name, source, vendor, pod_source };
  Of of = Of::field;
  const engine::Field* field = nullptr;
  const engine::ChipFieldRow* figure = nullptr;
  std::size_t index = 0;         // of the level of switches or of the axis of the pod
  std::string_view member = {};  // of a level
};

// What an edited model and cluster depart from: the preset of the same id, else what was imported or opened.
struct EditorPreset {
  engine::Scenario scenario;                          // its model and cluster only
  bool model = false, chip = false, cluster = false;  // which of them there are
  bool same_wiring = false;                           // torus or nodes, as the cluster compared with
  std::string model_name, chip_name, cluster_name;
  bool has(const EditorRow& row) const;
};
// The cluster is compared with the one of the same chip that it has most in common with, the opened one first.
EditorPreset editor_preset(const Session& session);

// All rows of a part, section by section. A cluster's depend on whether its chips form a torus, and on its levels.
std::vector<EditorRow> editor_rows(EditorPart part, const engine::Scenario& scenario);

// A row's value; none if it is unknown or a text.
std::optional<double> editor_value(const EditorRow& row, const engine::Scenario& scenario);
std::string editor_text(const EditorRow& row, const engine::Scenario& scenario);  // Kind text
// Sets a value of the domain, or that it is unknown. A figure's source then says that it was set by hand, and the
// model's that it was edited, until all of it is as the preset has it again.
void set_editor_value(const EditorRow& row, engine::Scenario& scenario, std::optional<double> value,
                      const EditorPreset& preset);
void set_editor_text(const EditorRow& row, engine::Scenario& scenario, std::string text);
// Whether the row says something else than the preset, and the way back; of a row that the preset does not have,
// nothing.
bool departs(const EditorRow& row, const engine::Scenario& scenario, const EditorPreset& preset);
void reset_row(const EditorRow& row, engine::Scenario& scenario, const EditorPreset& preset);
int departures(EditorPart part, const engine::Scenario& scenario, const EditorPreset& preset);
void reset_part(EditorPart part, engine::Scenario& scenario, const EditorPreset& preset);
// A level of switches on top of the others, and the way back.
void add_level(engine::Cluster& cluster);
void remove_level(engine::Cluster& cluster, std::size_t level);

bool editor_takes(const EditorRow& row, double value);
engine::Sentence editor_domain(const EditorRow& row);  // "a whole number from 1 to 10000"
// Where the row's value was published; empty where there is one source for the whole part.
std::string editor_source(const EditorRow& row, const engine::Scenario& scenario);

}  // namespace roofscape::app
