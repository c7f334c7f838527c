#include "engine/io/session_json.h"

#include <algorithm>

#include "engine/io/parts_file.h"
#include "engine/io/pretty.h"
#include "engine/io/scenario_json.h"

namespace roofscape::io {

namespace {
constexpr const char* kFormat = "roofscape/session";
constexpr std::size_t kMostTabs = 64;
}  // namespace

std::string write_session(const SavedSession& session, const PresetLibrary& library) {
  OrderedJson json;
  json["format"] = kFormat;
  json["version"] = 1;
  json["active"] = session.active;
  json["tabs"] = OrderedJson::array();
  for (const SavedTab& tab : session.tabs) {
    OrderedJson entry;
    if (!tab.origin.empty()) entry["origin"] = tab.origin;
    entry["scenario"] = scenario_json(tab.scenario, library);
    json["tabs"].push_back(std::move(entry));
  }
  if (session.baseline) json["baseline"] = scenario_json(*session.baseline, library);
  for (const auto& [name, words] : session.search) json["search"][name] = words;
  return pretty_text(json);
}

Result<SavedSession> read_session(std::string_view text, std::string_view file_name, const PresetLibrary& library) {
  auto parsed = parse_json(text, file_name);
  if (!parsed.ok()) return parsed.error();
  const Json& json = parsed.value();
  SavedSession session;
  if (!json.is_object() || text_member(json, "format") != kFormat) {
    auto scenario = read_scenario(text, file_name, library);
    if (!scenario.ok()) return scenario.error();
    session.tabs.push_back({std::move(scenario).value(), {}});
    return session;
  }
  std::optional<InputError> failure;
  const auto scenario_of = [&](const Json& value) -> std::optional<engine::Scenario> {
    auto scenario = read_scenario(value.dump(), file_name, library);
    if (scenario.ok()) return std::move(scenario).value();
    if (!failure) failure = scenario.error();
    return std::nullopt;
  };
  if (const auto tabs = json.find("tabs"); tabs != json.end() && tabs->is_array())
    for (const Json& tab : *tabs) {
      if (!tab.is_object() || !tab.contains("scenario") || session.tabs.size() >= kMostTabs) continue;
      if (auto scenario = scenario_of(tab["scenario"]))
        session.tabs.push_back({std::move(*scenario), text_member(tab, "origin")});
    }
  if (session.tabs.empty())
    return failure ? *failure
                   : InputError{std::string(file_name), "tabs", "there is no scenario in it", "open one instead"};
  if (const auto active = json.find("active"); active != json.end() && active->is_number_unsigned())
    session.active = std::min(active->get<std::size_t>(), session.tabs.size() - 1);
  if (const auto baseline = json.find("baseline"); baseline != json.end()) session.baseline = scenario_of(*baseline);
  if (const auto search = json.find("search"); search != json.end() && search->is_object())
    for (const auto& [name, words] : search->items())
      if (words.is_string()) session.search[name] = words.get<std::string>();
  return session;
}

}  // namespace roofscape::io
