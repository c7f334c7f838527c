#include "app/core/strings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "engine/io/json/files.h"
#include "engine/io/json/nearest.h"
#include "engine/io/presets/resources.h"
#include "engine/io/scenario/scenario_json.h"
#include "widgets/canvas/number_format.h"

namespace roofscape::app {
namespace {

namespace fs = std::filesystem;
using FlatMap = std::map<std::string, std::string>;

std::vector<std::string> names_in(std::string_view folder) {
  std::vector<std::string> names;
  for (const io::Resource& resource : io::embedded_resources())
    if (resource.path.starts_with(folder)) names.push_back(fs::path(resource.path).stem().string());
  return names;
}

// A user's file of the kind; empty where there is none.
fs::path file_in(const fs::path& user_folder, const std::string& kind, std::string_view name) {
  const bool plain = name.find('/') == std::string_view::npos;  // a name, not a path out of the folder
  if (!plain || user_folder.empty()) return {};
  fs::path file = user_folder / kind / (std::string(name) + ".json");
  std::error_code ignored;
  return fs::exists(file, ignored) ? file : fs::path();
}

// Lays one flat file over a map: the compiled one, then the user's. Says whether there was any.
io::Result<bool> overlay(FlatMap& map, const std::string& kind, std::string_view name, const fs::path& user_folder) {
  bool found = false;
  const auto put = [&](FlatMap over) {
    over.merge(map);  // what it has not is as it was
    map = std::move(over);
    found = true;
  };
  const std::string path = "assets/" + kind + "/" + std::string(name) + ".json";
  if (const std::string_view text = io::embedded_text(path); !text.empty()) {
    auto read = io::read_flat_map(text, path);
    if (!read) return read.error();
    put(std::move(read).value());
  }
  if (const fs::path file = file_in(user_folder, kind, name); !file.empty()) {
    auto text = io::read_file(file);
    if (!text) return text.error();
    auto read = io::read_flat_map(text.value(), file.string());
    if (!read) return read.error();
    put(std::move(read).value());
  }
  return found;
}

io::InputError unknown(engine::Sentence what, std::string_view name, const std::vector<std::string>& names) {
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string_view near = io::nearest_word(name, known);
  return {{},
          {},
          std::move(what),
          near.empty() ? engine::say("error.there_are", io::listed(known)) : io::did_you_mean(near)};
}

}  // namespace

io::Result<widgets::TextTable> load_texts(std::string_view language, const fs::path& user_folder) {
  FlatMap map;
  if (auto english = overlay(map, "strings", "en", user_folder); !english) return english.error();
  if (language != "en") {
    auto found = overlay(map, "strings", language, user_folder);
    if (!found) return found.error();
    if (!found.value())
      return unknown(engine::say("error.language", io::in_quotes(language)), language, language_names());
  }
  widgets::TextTable::Texts texts;
  texts.reserve(map.size());
  while (!map.empty()) {
    auto entry = map.extract(map.begin());
    texts.emplace(std::move(entry.key()), std::move(entry.mapped()));
  }
  return widgets::TextTable(std::move(texts), language);
}

io::Result<widgets::Theme> load_theme(std::string_view name, const fs::path& user_folder) {
  FlatMap map;
  auto found = overlay(map, "themes", name, user_folder);
  if (!found) return found.error();
  if (!found.value()) return unknown(engine::say("error.theme", io::in_quotes(name)), name, theme_names());
  try {
    return widgets::Theme::from_tokens(map);
  } catch (const widgets::ThemeError& error) {
    return io::InputError{
        "themes/" + std::string(name) + ".json", {}, std::string(error.what()), engine::say("error.theme.remedy")};
  }
}

bool has_texts(const fs::path& user_folder, std::string_view language) {
  return !file_in(user_folder, "strings", language).empty();
}

std::vector<std::string> language_names() { return names_in("assets/strings/"); }
std::string language_of_locale(std::string_view locale) {
  const std::string name(locale.substr(0, locale.find_first_of("_.@-")));
  const std::vector<std::string> names = language_names();
  return std::find(names.begin(), names.end(), name) == names.end() ? "en" : name;
}

std::string system_language() {
  for (const char* variable : {"LC_ALL", "LC_MESSAGES", "LANG"})
    if (const char* locale = std::getenv(variable); locale != nullptr && *locale != 0)
      return language_of_locale(locale);
  return "en";
}

std::vector<std::string> theme_names() { return names_in("assets/themes/"); }

std::string diagnostic_text(const engine::Diagnostic& diagnostic, const widgets::TextTable& texts) {
  std::vector<std::string> values;
  for (const engine::DiagnosticValue& value : diagnostic.values) {
    // Counts stand in a sentence that says what they count.
    widgets::NumberOptions options;
    options.unit = value.unit.notation != engine::Notation::count && value.unit.notation != engine::Notation::plain;
    values.push_back(texts.amount(value.value, value.unit, options));
  }
  // Of a finding about a figure of the chip, which one: its label and path.
  if (const std::string label = "field." + std::string(diagnostic.field_path) + ".label";
      diagnostic.code == "chip.missing_figure" && texts.has(label)) {
    values.emplace_back(texts.text(label));
    values.emplace_back(diagnostic.field_path);
  }
  std::string key = "diagnostic." + std::string(diagnostic.code);
  if (!diagnostic.detail.empty()) key += "." + std::string(diagnostic.detail);
  return texts.format(key, values);
}

std::string field_value_text(const engine::Field& field, double value) {
  if (field.kind == engine::FieldKind::boolean) return value != 0 ? "true" : "false";
  if (field.kind == engine::FieldKind::choice) {
    const auto i = static_cast<std::size_t>(value);
    return i < field.choices.size() ? std::string(field.choices[i]) : std::string();
  }
  return fmt::format("{}", value);
}

std::string memory_text(const engine::Report& report, const widgets::TextTable& texts) {
  using engine::Q;
  const auto free = report.quantities[Q::memory_free];
  if (!free) return {};
  const auto amount = [&texts](double bytes) { return texts.amount(bytes, engine::unit::bytes); };
  std::string words = *free >= 0 ? "check.fits" : "check.lacks";
  if (report.stages.size() > 1) words += ".stages";
  return texts.format(words, {amount(std::abs(*free)), amount(report.quantities.value_or(Q::hbm_capacity, 0)),
                              widgets::format_count(report.fullest_stage)});
}

std::string suggestion_text(const engine::Diagnostic& diagnostic) {
  std::string out;
  for (const engine::FieldEdit& edit : diagnostic.fix) {
    if (edit.field == nullptr) continue;
    if (!out.empty()) out += ", ";
    out += std::string(edit.field->path) + "=" + field_value_text(*edit.field, edit.value);
  }
  return out;
}

}  // namespace roofscape::app
