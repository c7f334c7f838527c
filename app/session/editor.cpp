#include "app/session/editor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

#include "engine/io/presets/preset_json.h"
#include "engine/scenario/domains.h"
#include "engine/scenario/scenario_title.h"

namespace roofscape::app {

using engine::ChipField;
using engine::ChipFieldRow;
using engine::Cluster;
using engine::Field;
using engine::FieldKind;
using engine::Interconnect;
using engine::Scenario;
using Of = EditorRow::Of;

namespace {

constexpr std::array<std::string_view, 2> kInterconnects{"torus", "switched"};

// Sections of the chip's figures: each begins with this figure and goes on to the next section's.
struct ChipSection {
  ChipField from;
  std::string_view id;
};
constexpr std::array kChipSections{ChipSection{ChipField::launch_year, "chip"},
                                   ChipSection{ChipField::peak_bf16_dense_flops_per_s, "peaks"},
                                   ChipSection{ChipField::hbm_bytes, "memory"},
                                   ChipSection{ChipField::clock_hz_base, "units"},
                                   ChipSection{ChipField::ici_torus_dims, "torus_links"},
                                   ChipSection{ChipField::chips_per_host, "host"},
                                   ChipSection{ChipField::scaleup_links_per_chip, "node_links"},
                                   ChipSection{ChipField::price_usd_per_chip_hour, "money"}};

std::string_view section_of(ChipField figure) {
  std::string_view id = kChipSections.front().id;
  for (const ChipSection& s : kChipSections)
    if (s.from <= figure) id = s.id;
  return id;
}

// Groups of the model have a section of their own; of the rest switches stand together, and what was published.
std::string_view section_of(const Field& field) {
  const std::string_view member = field.path.substr(std::string_view("model.").size());
  if (member.starts_with("moe.")) return "experts";
  if (member.starts_with("mla.")) return "latent";
  if (member.starts_with("local_attention.")) return "local";
  if (field.kind == FieldKind::boolean) return "switches";
  return field.kind == FieldKind::number ? "published" : "shape";
}
constexpr std::array<std::string_view, 7> kModelSections{"model", "shape",    "experts",  "latent",
                                                         "local", "switches", "published"};

EditorKind kind_of(FieldKind kind) {
  switch (kind) {
    case FieldKind::integer:
      return EditorKind::integer;
    case FieldKind::number:
      return EditorKind::number;
    case FieldKind::boolean:
      return EditorKind::boolean;
    case FieldKind::choice:
      return EditorKind::choice;
  }
  return EditorKind::number;
}

EditorRow field_row(const Field& field, std::string_view section) {
  EditorRow row{std::string(field.path), section,    kind_of(field.kind), field.minimum,
                field.maximum,           field.unit, field.choices};
  row.field = &field;
  return row;
}

EditorRow text_row(std::string path, std::string_view section, Of of) {
  EditorRow row{std::move(path), section, EditorKind::text};
  row.of = of;
  return row;
}

void model_rows(std::vector<EditorRow>& rows) {
  rows.push_back(text_row("model.name", "model", Of::name));
  rows.push_back(text_row("model.source", "model", Of::source));
  for (const std::string_view section : kModelSections)
    for (const Field& field : engine::scenario_fields())
      if (field.path.starts_with("model.") && section_of(field) == section) rows.push_back(field_row(field, section));
}

void level_rows(std::vector<EditorRow>& rows, const Cluster& cluster) {
  for (std::size_t i = 0; i < cluster.fabric.size(); ++i) {
    const auto add = [&](std::string_view member, EditorKind kind, double low, double high, engine::Unit unit) {
      EditorRow row{fmt::format("cluster.fabric.{}.{}", i, member), "levels", kind, low, high, unit};
      row.of = Of::level;
      row.index = i;
      row.member = member;
      rows.push_back(std::move(row));
    };
    add("name", EditorKind::text, 0, 0, engine::unit::count);
    add("degree", EditorKind::integer, 1, engine::kMostFabricDegree, engine::unit::count);
    add("bytes_per_s_per_child", EditorKind::number, engine::kLeastFabricRate, engine::kMostFabricRate,
        engine::unit::bytes_per_s);
    add("in_network_reduction", EditorKind::boolean, 0, 1, engine::unit::count);
  }
}

void cluster_rows(std::vector<EditorRow>& rows, const Cluster& cluster) {
  const bool torus = cluster.chip.interconnect == Interconnect::torus;
  for (const Field& field : engine::scenario_fields())
    if (field.path.starts_with("cluster.") && field.path.starts_with("cluster.slice") == torus)
      rows.push_back(field_row(field, "cluster"));
  if (!torus) level_rows(rows, cluster);
  rows.push_back(text_row("cluster.chip.name", "chip", Of::name));
  rows.push_back(text_row("cluster.chip.vendor", "chip", Of::vendor));
  EditorRow wiring{"cluster.chip.interconnect", "chip",        EditorKind::choice, 0, 1,
                   engine::unit::count,         kInterconnects};
  wiring.of = Of::interconnect;
  rows.push_back(std::move(wiring));
  if (torus) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      EditorRow pod{fmt::format("cluster.chip.pod_shape.{}", axis),
                    "chip",
                    EditorKind::integer,
                    1,
                    engine::kMostPodChips,
                    engine::unit::chips};
      pod.of = Of::pod;
      pod.index = axis;
      rows.push_back(std::move(pod));
    }
    rows.push_back(text_row("cluster.chip.pod_source", "chip", Of::pod_source));
  }
  for (const ChipFieldRow& figure : engine::kChipFields) {
    const bool whole = engine::is_whole(figure);
    EditorRow row{"cluster.chip." + std::string(figure.id),
                  section_of(figure.field),
                  whole ? EditorKind::integer : EditorKind::number,
                  whole ? 1 : 1e-15,
                  engine::largest(figure),
                  figure.unit,
                  {},
                  true};
    row.of = Of::figure;
    row.figure = &figure;
    rows.push_back(std::move(row));
  }
}

bool is_model(const EditorRow& row) { return row.path.starts_with("model."); }
bool is_chip(const EditorRow& row) { return row.path.starts_with("cluster.chip."); }

// Fields in which two clusters of the same kind of chip differ.
int differences(const Cluster& a, const Cluster& b) {
  int n = 0;
  for (std::size_t i = 0; i < 3; ++i) n += a.slice[i] != b.slice[i] ? 1 : 0;
  n += (a.slices != b.slices ? 1 : 0) + (a.nodes != b.nodes ? 1 : 0) + (a.node_size != b.node_size ? 1 : 0);
  const std::size_t common = std::min(a.fabric.size(), b.fabric.size());
  for (std::size_t i = 0; i < common; ++i)
    n += (a.fabric[i].degree != b.fabric[i].degree ? 1 : 0) +
         (a.fabric[i].bytes_per_s_per_child != b.fabric[i].bytes_per_s_per_child ? 1 : 0) +
         (a.fabric[i].name != b.fabric[i].name ? 1 : 0) +
         (a.fabric[i].in_network_reduction != b.fabric[i].in_network_reduction ? 1 : 0);
  return n + 3 * static_cast<int>(std::max(a.fabric.size(), b.fabric.size()) - common);
}

void find_model_preset(const Session& session, EditorPreset& out) {
  const engine::TransformerShape& now = session.scenario().model;
  const auto take = [&](const engine::TransformerShape& model) {
    out.scenario.model = model;
    out.model_name = model.name;
    out.model = true;
  };
  if (const auto* preset = session.library().find_model(now.id)) return take(*preset);
  for (const engine::TransformerShape& model : session.imported_models())
    if (model.id == now.id && model.name == now.name) return take(model);
  if (const auto& loaded = session.loaded().model; loaded.id == now.id && loaded.name == now.name) take(loaded);
}

void find_chip_preset(const Session& session, EditorPreset& out) {
  const engine::Chip& now = session.scenario().cluster.chip;
  const engine::Chip* preset = session.library().find_chip(now.id);
  if (preset == nullptr && session.loaded().cluster.chip.id == now.id) preset = &session.loaded().cluster.chip;
  if (preset == nullptr) return;
  out.scenario.cluster.chip = *preset;
  out.chip_name = preset->name;
  out.chip = true;
}

void find_cluster_preset(const Session& session, EditorPreset& out) {
  const Cluster& now = session.scenario().cluster;
  const Interconnect wiring = out.chip ? out.scenario.cluster.chip.interconnect : now.chip.interconnect;
  const Cluster* best = nullptr;
  int least = 0;
  const auto consider = [&](const Cluster& cluster, std::string name) {
    if (cluster.chip.id != now.chip.id || cluster.chip.interconnect != wiring) return;
    // A preset that is what was opened goes by its own name.
    const int n = differences(now, cluster);
    if (best != nullptr && n >= least && !(n == least && *best == cluster)) return;
    best = &cluster;
    least = n;
    out.cluster_name = std::move(name);
  };
  consider(session.loaded().cluster, session.loaded().name);
  for (const io::Preset& p : session.library().list(io::PresetKind::cluster))
    if (const Cluster* cluster = session.library().find_cluster(p.id)) consider(*cluster, p.name);
  if (best == nullptr) return;
  engine::Chip chip = std::move(out.scenario.cluster.chip);
  out.scenario.cluster = *best;
  out.scenario.cluster.chip = std::move(chip);
  out.cluster = true;
  out.same_wiring = wiring == now.chip.interconnect;
}

// A size that is the preset's again is not an edited one.
void forget_undone(const Field& field, engine::TransformerShape& model, const EditorPreset& preset) {
  if (!preset.model) return;
  Scenario now;
  now.model = model;
  if (field.get(now) != field.get(preset.scenario)) return;
  const auto place = static_cast<std::size_t>(&field - engine::scenario_fields().data());
  const std::uint64_t bit = std::uint64_t{1} << place, was = preset.scenario.model.edits.fields;
  model.edits.fields = (model.edits.fields & ~bit) | (was & bit);
}

std::string* text_of(const EditorRow& row, Scenario& s) {
  engine::Chip& chip = s.cluster.chip;
  switch (row.of) {
    case Of::name:
      return is_model(row) ? &s.model.name : &chip.name;
    case Of::source:
      return &s.model.source;
    case Of::vendor:
      return &chip.vendor;
    case Of::pod_source:
      return &chip.pod_source;
    case Of::level:
      return row.index < s.cluster.fabric.size() ? &s.cluster.fabric[row.index].name : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace

bool EditorPreset::has(const EditorRow& row) const {
  if (is_model(row)) return model;
  if (is_chip(row)) return chip;
  return cluster && same_wiring && (row.of != Of::level || row.index < scenario.cluster.fabric.size());
}

EditorPreset editor_preset(const Session& session) {
  EditorPreset out;
  find_model_preset(session, out);
  find_chip_preset(session, out);
  find_cluster_preset(session, out);
  return out;
}

std::vector<EditorRow> editor_rows(EditorPart part, const Scenario& scenario) {
  std::vector<EditorRow> rows;
  if (part == EditorPart::model)
    model_rows(rows);
  else
    cluster_rows(rows, scenario.cluster);
  return rows;
}

std::optional<double> editor_value(const EditorRow& row, const Scenario& s) {
  switch (row.of) {
    case Of::field:
      return row.field->get(s);
    case Of::figure:
      return s.cluster.chip[row.figure->field].value;
    case Of::pod:
      return s.cluster.chip.pod_shape[row.index];
    case Of::interconnect:
      return s.cluster.chip.interconnect == Interconnect::torus ? 0 : 1;
    case Of::level: {
      if (row.index >= s.cluster.fabric.size() || row.kind == EditorKind::text) return std::nullopt;
      const engine::FabricLevel& level = s.cluster.fabric[row.index];
      return row.kind == EditorKind::integer  ? level.degree
             : row.kind == EditorKind::number ? level.bytes_per_s_per_child
             : level.in_network_reduction     ? 1
                                              : 0;
    }
    default:
      return std::nullopt;
  }
}

std::string editor_text(const EditorRow& row, const Scenario& s) {
  Scenario copy = s;
  const std::string* text = text_of(row, copy);
  return text == nullptr ? std::string() : *text;
}

bool editor_takes(const EditorRow& row, double value) {
  if (row.of == Of::field) return engine::in_domain(*row.field, value);
  if (row.of == Of::figure) return engine::in_domain(*row.figure, value);
  return value >= row.minimum && value <= row.maximum &&
         (row.kind == EditorKind::number || value == std::floor(value));
}

engine::Sentence editor_domain(const EditorRow& row) {
  if (row.of == Of::field) return engine::domain_of(*row.field);
  const bool whole = row.kind == EditorKind::integer;
  std::string least = fmt::format("{:g}", row.minimum), most = fmt::format("{:g}", row.maximum);
  if (row.of == Of::figure)
    return whole ? engine::say("error.editor.whole_above", std::move(most))
                 : engine::say("error.editor.number_above", std::move(most));
  return whole ? engine::say("error.domain.whole", std::move(least), std::move(most))
               : engine::say("error.domain.number", std::move(least), std::move(most));
}

std::string editor_source(const EditorRow& row, const Scenario& s) {
  if (row.of == Of::figure) return s.cluster.chip[row.figure->field].source;
  if (row.of == Of::pod) return s.cluster.chip.pod_source;
  return {};
}

void set_editor_value(const EditorRow& row, Scenario& s, std::optional<double> value, const EditorPreset& preset) {
  if (value ? !editor_takes(row, *value) : !row.optional) return;
  switch (row.of) {
    case Of::field:
      row.field->set(s, *value);
      if (is_model(row)) forget_undone(*row.field, s.model, preset);
      break;
    case Of::figure:
      s.cluster.chip[row.figure->field] = {value, std::string(engine::kSetByHand)};
      break;
    case Of::pod:
      s.cluster.chip.pod_shape[row.index] = static_cast<int>(*value);
      break;
    case Of::interconnect: {
      engine::Chip chip = s.cluster.chip;
      chip.interconnect = *value == 0 ? Interconnect::torus : Interconnect::switched;
      io::resize_for_chip(s.cluster, chip);
      break;
    }
    case Of::level: {
      if (row.index >= s.cluster.fabric.size()) break;
      engine::FabricLevel& level = s.cluster.fabric[row.index];
      if (row.kind == EditorKind::integer)
        level.degree = static_cast<int>(*value);
      else if (row.kind == EditorKind::number)
        level.bytes_per_s_per_child = *value;
      else
        level.in_network_reduction = *value != 0;
      break;
    }
    default:
      break;
  }
}

void set_editor_text(const EditorRow& row, Scenario& s, std::string text) {
  if (row.of == Of::name && is_model(row)) return engine::set_model_name(s.model, std::move(text));
  if (std::string* out = text_of(row, s)) *out = std::move(text);
}

bool departs(const EditorRow& row, const Scenario& s, const EditorPreset& preset) {
  if (!preset.has(row)) return false;
  if (row.kind == EditorKind::text) return editor_text(row, s) != editor_text(row, preset.scenario);
  return editor_value(row, s) != editor_value(row, preset.scenario);
}

void reset_row(const EditorRow& row, Scenario& s, const EditorPreset& preset) {
  if (!preset.has(row)) return;
  if (row.kind == EditorKind::text) return set_editor_text(row, s, editor_text(row, preset.scenario));
  if (row.of == Of::figure)
    s.cluster.chip[row.figure->field] = preset.scenario.cluster.chip[row.figure->field];
  else
    set_editor_value(row, s, editor_value(row, preset.scenario), preset);
}

int departures(EditorPart part, const Scenario& s, const EditorPreset& preset) {
  int n = 0;
  for (const EditorRow& row : editor_rows(part, s)) n += departs(row, s, preset) ? 1 : 0;
  if (part == EditorPart::cluster && preset.same_wiring &&
      s.cluster.fabric.size() != preset.scenario.cluster.fabric.size())
    ++n;
  return n;
}

void reset_part(EditorPart part, Scenario& s, const EditorPreset& preset) {
  if (part == EditorPart::model) {
    if (preset.model) s.model = preset.scenario.model;
    return;
  }
  const engine::Chip chip = preset.chip ? preset.scenario.cluster.chip : s.cluster.chip;
  if (preset.cluster) s.cluster = preset.scenario.cluster;
  if (s.cluster.chip.interconnect == chip.interconnect)
    s.cluster.chip = chip;
  else
    io::resize_for_chip(s.cluster, chip);
}

void add_level(Cluster& cluster) {
  if (cluster.fabric.size() >= engine::kMaxFabricLevels) return;
  constexpr int kDegree = 8;
  constexpr double kRate = 400e9;  // of a node of eight chips with 400 Gbit/s each
  engine::FabricLevel level{fmt::format("level {}", cluster.fabric.size() + 1), kDegree,
                            cluster.chip[ChipField::scaleout_bytes_per_s_per_node_oneway].value.value_or(kRate),
                            false};
  // Above another level: as much as all of its children together send up, so nothing is oversubscribed.
  if (!cluster.fabric.empty())
    level.bytes_per_s_per_child =
        std::min(engine::kMostFabricRate, cluster.fabric.back().bytes_per_s_per_child * cluster.fabric.back().degree);
  cluster.fabric.push_back(std::move(level));
}

void remove_level(Cluster& cluster, std::size_t level) {
  if (level < cluster.fabric.size())
    cluster.fabric.erase(cluster.fabric.begin() + static_cast<std::ptrdiff_t>(level));
}

}  // namespace roofscape::app
