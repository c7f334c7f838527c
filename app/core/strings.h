// Texts and themes of the programs: what is compiled in, with a user's folder laid over it (strings/<lang>.json and
// themes/<name>.json beside its presets), and the few sentences that need values put into a text.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "engine/io/json/result.h"
#include "engine/report/diagnostic.h"
#include "engine/report/report.h"
#include "widgets/canvas/theme.h"
#include "widgets/plot/text_table.h"

namespace roofscape::app {

// English, then the language over it, so a text that is not translated yet is still readable. An unknown language is
// an error that names those there are.
io::Result<widgets::TextTable> load_texts(std::string_view language, const std::filesystem::path& user_folder = {});
// Whether a user's folder lays texts over those of a language.
bool has_texts(const std::filesystem::path& user_folder, std::string_view language);
io::Result<widgets::Theme> load_theme(std::string_view name, const std::filesystem::path& user_folder = {});

std::vector<std::string> language_names();  // "en", ...
// The language of a locale ("ko_KR.UTF-8") if it ships, else English; and of the locale that messages of the system are
// in (LC_ALL, else LC_MESSAGES, else LANG).
std::string language_of_locale(std::string_view locale);
std::string system_language();
std::vector<std::string> theme_names();  // "dark", ...

// The sentence of a diagnostic with its values, and its suggestion as "parallelism.tensor=4" (empty if there is
// none).
std::string diagnostic_text(const engine::Diagnostic& diagnostic, const widgets::TextTable& texts);
std::string suggestion_text(const engine::Diagnostic& diagnostic);

// Whether the plan fits its chips and by how much, on the fullest stage; empty where memory is not known.
std::string memory_text(const engine::Report& report, const widgets::TextTable& texts);

// A field's value as it is typed: "8", "15e12", "ring", "true".
std::string field_value_text(const engine::Field& field, double value);

}  // namespace roofscape::app
