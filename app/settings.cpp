#include "app/settings.h"

#include <unistd.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include "engine/io/files.h"
#include "engine/io/scenario_json.h"

namespace roofscape::app {

namespace {

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

}  // namespace

std::filesystem::path settings_file() { return below(base("XDG_CONFIG_HOME", ".config"), "roofscape/settings.json"); }
std::filesystem::path autosave_file() { return below(base("XDG_STATE_HOME", ".local/state"), "roofscape/session.json"); }
std::filesystem::path scenario_folder() {
  return below(base("XDG_DATA_HOME", ".local/share"), "roofscape/presets/scenarios");
}

std::filesystem::path export_folder() {
  std::error_code ignored;
  const auto here = std::filesystem::current_path(ignored);
  if (!ignored && ::access(here.c_str(), W_OK) == 0) return here;
  const auto documents = base("XDG_DOCUMENTS_DIR", "Documents");
  return std::filesystem::is_directory(documents, ignored) ? documents : documents.parent_path();
}

Settings read_settings(const std::filesystem::path& file) {
  Settings s;
  if (file.empty()) return s;
  const auto text = io::read_file(file);
  if (!text.ok()) return s;
  const auto read = io::read_flat_map(text.value(), file.string());
  if (!read.ok()) return s;
  const std::map<std::string, std::string>& map = read.value();
  if (const auto it = map.find("theme"); it != map.end()) s.theme = it->second;
  if (const auto it = map.find("language"); it != map.end()) s.language = it->second;
  s.zoom = number(map, "zoom", 0);
  if (s.zoom != 0) s.zoom = std::fmin(std::fmax(s.zoom, 0.75), 4.0);
  s.width = static_cast<int>(std::fmin(std::fmax(number(map, "width", 0), 0), 16384));
  s.height = static_cast<int>(std::fmin(std::fmax(number(map, "height", 0), 0), 16384));
  return s;
}

bool write_settings(const std::filesystem::path& file, const Settings& settings) {
  if (file.empty()) return false;
  std::error_code failed;
  std::filesystem::create_directories(file.parent_path(), failed);
  // Theme and language come from fixed lists, so nothing in them needs escaping.
  const std::string text =
      fmt::format("{{\n  \"theme\": \"{}\",\n  \"language\": \"{}\",\n  \"zoom\": \"{}\",\n  \"width\": \"{}\",\n  "
                  "\"height\": \"{}\"\n}}\n",
                  settings.theme, settings.language, settings.zoom, settings.width, settings.height);
  return !io::write_file_atomically(file, text);
}

}  // namespace roofscape::app
