#include "engine/io/scenario/session_json.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "engine/io/json/pretty.h"
#include "engine/io/presets/parts_file.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/io/scenario/scenario_write.h"

namespace roofscape::io {

namespace {
constexpr const char* kFormat = "roofscape/session";
constexpr std::size_t kMostTabs = 64;
constexpr std::size_t kMostRecent = 20;

UnreadTab unread(const Json& tab, InputError reason) {
  std::string name = text_member(tab, "origin");
  if (tab.is_object() && tab.contains("scenario"))
    if (std::string own = text_member(tab["scenario"], "name"); !own.empty()) name = std::move(own);
  reason.file.clear();
  return {tab.dump(), std::move(name), std::move(reason)};
}

std::optional<SavedLaunch> read_launch(const Json& tab) {
  const auto found = tab.find("launch");
  if (found == tab.end() || !found->is_object()) return std::nullopt;
  SavedLaunch out{
      text_member(*found, "text"), text_member(*found, "file"), text_member(*found, "cluster"), {}, false};
  if (out.text.empty()) return std::nullopt;
  if (const auto set = found->find("set"); set != found->end() && set->is_array())
    for (const Json& one : *set)
      if (one.is_string()) out.set.push_back(one.get<std::string>());
  const auto guessed = found->find("guessed");
  out.guessed = guessed != found->end() && guessed->is_boolean() && guessed->get<bool>();
  return out;
}

std::optional<SavedMeasured> read_measured_inputs(const Json& tab) {
  const auto found = tab.find("measured");
  if (found == tab.end() || !found->is_object()) return std::nullopt;
  SavedMeasured out{{}, text_member(*found, "name")};
  if (const auto inputs = found->find("inputs"); inputs != found->end() && inputs->is_array())
    for (const Json& one : *inputs)
      if (one.is_string() && out.inputs.size() < kMostMeasuredInputs) out.inputs.push_back(one.get<std::string>());
  if (out.inputs.empty()) return std::nullopt;
  return out;
}

// What was pasted may be longer than is worth keeping.
bool worth_keeping(const SavedMeasured& measured) {
  std::size_t bytes = measured.name.size();
  for (const std::string& input : measured.inputs) {
    if (!is_utf8(input)) return false;
    bytes += input.size();
  }
  return bytes <= kMostMeasuredBytes && measured.inputs.size() <= kMostMeasuredInputs && is_utf8(measured.name);
}
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
    if (tab.baseline) entry["baseline"] = scenario_json(*tab.baseline, library);
    for (const auto& [name, words] : tab.search) entry["search"][name] = words;
    if (tab.launch && tab.launch->text.size() <= kMostLaunchBytes && is_utf8(tab.launch->text))
      entry["launch"] = {{"file", tab.launch->file},
                         {"text", tab.launch->text},
                         {"cluster", tab.launch->cluster},
                         {"set", tab.launch->set},
                         {"guessed", tab.launch->guessed}};
    if (tab.measured && worth_keeping(*tab.measured))
      entry["measured"] = {{"name", tab.measured->name}, {"inputs", tab.measured->inputs}};
    json["tabs"].push_back(std::move(entry));
  }
  for (const UnreadTab& tab : session.unread) json["tabs"].push_back(OrderedJson::parse(tab.json, nullptr, false));
  if (!session.recent_files.empty()) json["recent"] = session.recent_files;
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
  if (const auto version = json.find("version"); version != json.end() && version->is_number() && *version > 1)
    return InputError{std::string(file_name), "version", engine::say("error.session.newer"),
                      engine::say("error.newer.remedy")};
  std::optional<InputError> failure;
  const auto scenario_of = [&](const Json& value) -> std::optional<engine::Scenario> {
    auto scenario = read_scenario(value.dump(), file_name, library);
    if (scenario.ok()) return std::move(scenario).value();
    failure = scenario.error();
    return std::nullopt;
  };
  // Of a tab, or of the whole file.
  const auto read_beside = [&](const Json& of, SavedTab& tab) {
    if (const auto baseline = of.find("baseline"); baseline != of.end()) {
      tab.baseline = scenario_of(*baseline);
      if (!tab.baseline) session.unread.push_back(unread(Json{{"scenario", *baseline}}, *failure));
    }
    if (const auto search = of.find("search"); search != of.end() && search->is_object()) {
      tab.search.clear();
      for (const auto& [name, words] : search->items())
        if (words.is_string()) tab.search[name] = words.get<std::string>();
    }
  };
  SavedTab of_all;
  read_beside(json, of_all);
  std::size_t active = 0;  // among all tabs of the file
  if (const auto found = json.find("active"); found != json.end() && found->is_number_unsigned())
    active = found->get<std::size_t>();
  if (const auto tabs = json.find("tabs"); tabs != json.end() && tabs->is_array())
    for (std::size_t i = 0; i < tabs->size(); ++i) {
      const Json& tab = (*tabs)[i];
      if (!tab.is_object() || !tab.contains("scenario"))
        failure = InputError{{}, "tabs", engine::say("error.session.no_scenario")};
      else if (session.tabs.size() >= kMostTabs)
        failure = InputError{{}, "tabs", engine::say_count("error.session.too_many", kMostTabs)};
      else if (auto scenario = scenario_of(tab["scenario"])) {
        if (i <= active) session.active = session.tabs.size();
        SavedTab& read = session.tabs.emplace_back(of_all);
        read.scenario = std::move(*scenario);
        read.origin = text_member(tab, "origin");
        read.launch = read_launch(tab);
        read.measured = read_measured_inputs(tab);
        read_beside(tab, read);
        continue;
      }
      session.unread.push_back(unread(tab, *failure));
    }
  if (session.tabs.empty())
    return failure ? *failure
                   : InputError{std::string(file_name), "tabs", engine::say("error.session.no_scenario"),
                                engine::say("error.session.no_scenario.remedy")};
  if (const auto recent = json.find("recent"); recent != json.end() && recent->is_array())
    for (const Json& file : *recent)
      if (file.is_string() && session.recent_files.size() < kMostRecent)
        session.recent_files.push_back(file.get<std::string>());
  return session;
}

}  // namespace roofscape::io
