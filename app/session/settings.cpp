#include "app/session/settings.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include "engine/io/json/files.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/scenario/scenario_fields.h"
#include "widgets/figures/figures.h"

namespace roofscape::app {

namespace {

// Of the file: from 2 on the mesh keeps its product and the grid has no table unless someone wanted it so. An older
// file states what was the default then as any other choice, so that both are taken as not chosen. From 3 on it says of
// motion only what was chosen.
constexpr int kVersion = 3;
Cells old_default_cells(engine::WorkloadKind kind) {
  if (kind == engine::WorkloadKind::serving)
    return {"latency-throughput", std::string(kNumbersCell), "serving-memory", "decode-step"};
  return {"roofline", std::string(kNumbersCell), "memory", "pipeline"};
}

std::filesystem::path base(const char* variable, const char* below_home) {
  if (const char* set = std::getenv(variable); set != nullptr && set[0] == '/') return set;
  if (const char* home = std::getenv("HOME"); home != nullptr && home[0] == '/')
    return std::filesystem::path(home) / below_home;
  return {};
}

std::filesystem::path below(std::filesystem::path folder, const char* rest) {
  return folder.empty() ? folder : folder / rest;
}

double number(const std::map<std::string, std::string>& map, const char* key, double fallback) {
  const auto it = map.find(key);
  if (it == map.end()) return fallback;
  double v = fallback;
  const char* end = it->second.data() + it->second.size();
  const auto r = std::from_chars(it->second.data(), end, v);
  return r.ec == std::errc{} && r.ptr == end && std::isfinite(v) ? v : fallback;
}

// A name as the tables have them; anything else is left as it was.
void name(const std::map<std::string, std::string>& map, const std::string& key, std::string& out) {
  const auto it = map.find(key);
  if (it == map.end() || it->second.empty() || it->second.size() > 64) return;
  if (it->second.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") == std::string::npos) out = it->second;
}

float share(const std::map<std::string, std::string>& map, const char* key, float fallback, float low, float high) {
  return std::fmin(std::fmax(static_cast<float>(number(map, key, static_cast<double>(fallback))), low), high);
}

// As a JSON text has it.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out;
}

Arrangement read_arrangement(const std::map<std::string, std::string>& map) {
  Arrangement a;
  for (std::size_t i = 0; i < a.cells.size(); ++i) name(map, fmt::format("layout.cell.{}", i), a.cells[i]);
  a.column = share(map, "layout.column", a.column, 0.1f, 0.9f);
  a.row = share(map, "layout.row", a.row, 0.1f, 0.9f);
  a.left = share(map, "layout.left", a.left, 100, 1000);
  a.right = share(map, "layout.right", a.right, 100, 1000);
  a.left_open = number(map, "layout.left_open", 1) != 0;
  if (map.contains("layout.right_open")) a.right_open = number(map, "layout.right_open", 1) != 0;
  return a;
}

}  // namespace

std::filesystem::path settings_file() { return below(base("XDG_CONFIG_HOME", ".config"), "roofscape/settings.json"); }
std::filesystem::path autosave_file() {
  return below(base("XDG_STATE_HOME", ".local/state"), "roofscape/session.json");
}
std::filesystem::path scenario_folder() {
  return below(base("XDG_DATA_HOME", ".local/share"), "roofscape/presets/scenarios");
}

std::filesystem::path preset_root(const io::PresetLibrary& library) {
  return library.folder().empty() ? io::default_preset_folder() : library.folder();
}
std::filesystem::path preset_folder(const io::PresetLibrary& library, io::PresetKind kind) {
  const std::filesystem::path folder = preset_root(library);
  return folder.empty() ? folder : folder / io::kPresetFolders[kind];
}

std::filesystem::path export_folder() {
  std::error_code ignored;
  const auto here = std::filesystem::current_path(ignored);
  if (!ignored && ::access(here.c_str(), W_OK) == 0) return here;
  const auto documents = base("XDG_DOCUMENTS_DIR", "Documents");
  return std::filesystem::is_directory(documents, ignored) ? documents : documents.parent_path();
}

io::Result<Settings> settings_in(std::string_view text, std::string_view file) {
  const auto read = io::read_flat_map(text, file);
  if (!read.ok()) return read.error();
  Settings s;
  const std::map<std::string, std::string>& map = read.value();
  name(map, "theme", s.theme);
  name(map, "language", s.language);
  s.zoom = number(map, "zoom", 0);
  if (s.zoom != 0) s.zoom = std::fmin(std::fmax(s.zoom, 0.75), 4.0);
  s.width = static_cast<int>(std::fmin(std::fmax(number(map, "width", 0), 0), 16384));
  s.height = static_cast<int>(std::fmin(std::fmax(number(map, "height", 0), 0), 16384));
  // A size that no window had is none: it opens as large as the screen.
  if (s.width < kLeastWindowWidth || s.height < kLeastWindowHeight) s.width = s.height = 0;
  s.arrangement = read_arrangement(map);
  if (const auto it = map.find("export.folder"); it != map.end()) s.export_as.folder = it->second;
  if (const auto it = map.find("export.size"); it != map.end() && it->second.size() <= 64)
    s.export_as.size = it->second;
  name(map, "export.theme", s.export_as.theme);
  s.export_as.asked = number(map, "export.asked", 0) != 0;
  for (std::size_t i = 0; i < s.export_as.formats.size(); ++i)
    s.export_as.formats[i] = number(map, fmt::format("export.format.{}", i).c_str(), 1) != 0;
  for (std::size_t i = 0; i < kMostPinned; ++i)
    if (const auto it = map.find(fmt::format("wall.pin.{}", i));
        it != map.end() && engine::find_field(it->second) != nullptr)
      s.pinned.push_back(it->second);
  for (std::size_t i = 0; i < widgets::kFigureCount; ++i)
    if (const auto it = map.find(fmt::format("wall.deck.{}", i));
        it != map.end() && widgets::find_figure(it->second) != nullptr &&
        std::find(s.deck.begin(), s.deck.end(), it->second) == s.deck.end())
      s.deck.push_back(it->second);
  const double version = number(map, "version", 1);
  const bool old = version < 2;
  if (map.contains("motion.still")) s.still = number(map, "motion.still", 0) != 0;
  if (version < 3 && s.still == false) s.still.reset();
  s.mesh.keep_product = old || number(map, "mesh.keep_product", 1) != 0;
  if (const auto it = map.find("mesh.partner"); it != map.end())
    for (std::size_t i = 0; i < engine::kAxisIds.size(); ++i)
      if (engine::kAxisIds[i] == it->second && static_cast<engine::Axis>(i) != engine::Axis::expert)
        s.mesh.partner = static_cast<engine::Axis>(i);
  for (std::size_t i = 0; i < s.other_cells.size(); ++i)
    name(map, fmt::format("layout.serving_cell.{}", i), s.other_cells[i]);
  using enum engine::WorkloadKind;
  if (old && s.arrangement.cells == old_default_cells(training)) s.arrangement.cells = default_cells(training);
  if (old && s.other_cells == old_default_cells(serving)) s.other_cells = default_cells(serving);
  return s;
}

Settings read_settings(const std::filesystem::path& file, std::optional<io::InputError>* problem) {
  std::error_code unknown;
  if (file.empty() || !std::filesystem::exists(file, unknown)) return {};
  const auto text = io::read_file(file);
  auto read = text ? settings_in(text.value(), file.string()) : io::Result<Settings>(text.error());
  if (read) return std::move(read).value();
  if (problem != nullptr) *problem = read.error();
  return {};
}

std::string settings_text(const Settings& settings) {
  // Themes, languages and figures come from fixed lists, so only paths need escaping.
  std::string text = "{\n";
  const auto add = [&](std::string_view key, const auto& value) {
    text += fmt::format("  \"{}\": \"{}\",\n", key, value);
  };
  add("version", kVersion);
  add("theme", settings.theme);
  add("language", settings.language);
  add("zoom", settings.zoom);
  add("width", settings.width);
  const Arrangement& a = settings.arrangement;
  const bool serving = settings.kind == engine::WorkloadKind::serving;
  for (std::size_t i = 0; i < a.cells.size(); ++i) {
    add(fmt::format("layout.cell.{}", i), serving ? settings.other_cells[i] : a.cells[i]);
    add(fmt::format("layout.serving_cell.{}", i), serving ? a.cells[i] : settings.other_cells[i]);
  }
  add("export.folder", escaped(settings.export_as.folder));
  add("export.size", escaped(settings.export_as.size));
  add("export.theme", settings.export_as.theme);
  add("export.asked", settings.export_as.asked ? 1 : 0);
  for (std::size_t i = 0; i < settings.export_as.formats.size(); ++i)
    add(fmt::format("export.format.{}", i), settings.export_as.formats[i] ? 1 : 0);
  add("mesh.keep_product", settings.mesh.keep_product ? 1 : 0);
  add("mesh.partner", engine::kAxisIds[static_cast<std::size_t>(settings.mesh.partner)]);
  for (std::size_t i = 0; i < settings.pinned.size(); ++i) add(fmt::format("wall.pin.{}", i), settings.pinned[i]);
  for (std::size_t i = 0; i < settings.deck.size(); ++i) add(fmt::format("wall.deck.{}", i), settings.deck[i]);
  if (settings.still) add("motion.still", *settings.still ? 1 : 0);
  add("layout.column", a.column);
  add("layout.row", a.row);
  add("layout.left", a.left);
  add("layout.right", a.right);
  add("layout.left_open", a.left_open ? 1 : 0);
  if (a.right_open) add("layout.right_open", *a.right_open ? 1 : 0);
  text += fmt::format("  \"height\": \"{}\"\n}}\n", settings.height);
  return text;
}

bool write_settings(const std::filesystem::path& file, const Settings& settings) {
  if (file.empty()) return false;
  std::error_code failed;
  std::filesystem::create_directories(file.parent_path(), failed);
  return !io::write_file_atomically(file, settings_text(settings));
}

}  // namespace roofscape::app
