#include "engine/io/import/open_scenario.h"

#include <algorithm>
#include <filesystem>

#include "engine/frameworks/synonyms.h"
#include "engine/io/import/cluster_request.h"
#include "engine/io/json/files.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/io/scenario/scenario_walk.h"
#include "engine/scenario/scenario_fields.h"

namespace roofscape::io {

using engine::say;

std::vector<std::string> ordered_edits(std::vector<std::string> assignments) {
  const auto place = [](const std::string& a) {
    return a.starts_with("assumptions.custom.") ? 2 : a.starts_with("assumptions.mode=") ? 1 : 0;
  };
  std::stable_sort(assignments.begin(), assignments.end(),
                   [&place](const std::string& a, const std::string& b) { return place(a) < place(b); });
  return assignments;
}

Failure apply_request(engine::Scenario& scenario, const ImportRequest& request, const PresetLibrary& library) {
  if (!request.cluster.empty()) {
    LaunchPlan as_many;
    as_many.chips = {static_cast<int>(std::min<std::int64_t>(engine::chip_count(scenario.cluster), 1 << 20)), {}};
    auto cluster = requested_cluster(request.cluster, as_many, library);
    if (!cluster) return cluster.error();
    scenario.cluster = std::move(cluster->cluster);
  }
  for (const std::string& assignment : ordered_edits(request.set))
    if (auto error = set_field(scenario, assignment, library)) {
      error->file = "--set";
      return error;
    }
  return std::nullopt;
}

std::optional<InputError> incomplete(const Imported& imported, std::string_view file) {
  if (imported.missing.empty()) return std::nullopt;
  // An error of the file says more than what is missing because of it.
  for (const ImportNotice& notice : imported.notices)
    if (notice.error)
      return InputError{std::string(file),
                        {},
                        notice.text,
                        say("error.import.incomplete.remedy", imported.missing.front().option),
                        notice.line > 0 ? say("import.line", notice.line) : engine::Sentence()};
  std::string fields, options;
  for (const MissingValue& value : imported.missing) {
    fields += (fields.empty() ? "" : ", ") + value.field;
    if (options.find(value.option) == std::string::npos) options += (options.empty() ? "" : ", ") + value.option;
  }
  return InputError{
      std::string(file), {}, say("error.import.incomplete", fields), say("error.import.incomplete.remedy", options)};
}

namespace {

bool is_unread(const engine::Field& field, const engine::Scenario& s) {
  return !engine::applies(field, s.workload.kind);
}

// What a file states for the other kind of workload, as far as it can be seen: what is not as by default.
std::vector<std::string_view> foreign_to(const engine::Scenario& s) {
  const engine::Scenario defaults;
  std::vector<std::string_view> paths;
  for (const engine::Field& field : engine::scenario_fields())
    if (is_unread(field, s) && field.get(s) != field.get(defaults)) paths.push_back(field.path);
  return paths;
}

// `stated`: by the file. An edit is told whatever its value is: that it did nothing is what its author would not see.
std::optional<InputError> unread_notice(std::vector<std::string_view> stated, const ImportRequest& request,
                                        const engine::Scenario& s, std::string_view file) {
  std::vector<std::string_view> edited;
  for (const std::string_view assignment : request.set) {
    const std::string_view name = assignment.substr(0, assignment.find('='));
    const engine::Field* field = engine::find_field(name);
    if (const engine::NamedField* named = engine::find_named_field(name); field == nullptr && named != nullptr)
      field = engine::find_field(named->path);
    if (field != nullptr) edited.push_back(field->path);
  }
  const bool in_file = !stated.empty();
  stated.insert(stated.end(), edited.begin(), edited.end());
  std::vector<std::string_view> unread;
  for (const std::string_view path : stated)
    if (is_unread(*engine::find_field(path), s) && std::find(unread.begin(), unread.end(), path) == unread.end())
      unread.push_back(path);
  if (unread.empty()) return std::nullopt;
  constexpr std::size_t kMostNamed = 5;
  const std::size_t more = unread.size() > kMostNamed ? unread.size() - kMostNamed : 0;
  unread.resize(unread.size() - more);
  engine::Sentence paths = listed(unread);
  if (more > 0) paths = say("notice.unread.more", std::move(paths), more);
  const std::string where(in_file ? file : std::string_view("--set"));
  // Of a single edit: what this kind of workload has in its place.
  const std::string_view path = unread.front();
  const std::string_view meant = edited.size() == 1 && !in_file
                                     ? field_like(path.substr(path.rfind('.') + 1), s.workload.kind)
                                     : std::string_view();
  if (s.serves())
    return InputError{
        where,
        {},
        say("notice.unread.serves", std::move(paths)),
        meant.empty() ? say("notice.unread.serves.remedy") : say("notice.unread.serves.meant", in_quotes(meant))};
  return InputError{
      where,
      {},
      say("notice.unread.trains", std::move(paths)),
      meant.empty() ? say("notice.unread.trains.remedy") : say("notice.unread.trains.meant", in_quotes(meant))};
}

Result<OpenedScenario> opened(Result<Imported> imported, const ImportRequest& request, std::string_view file) {
  if (!imported) return imported.error();
  if (auto error = incomplete(imported.value(), file)) return *std::move(error);
  OpenedScenario out{imported->scenario};
  out.imported = std::move(imported).value();
  out.unread = unread_notice({}, request, out.scenario, file);
  return out;
}

}  // namespace

const Preset* model_meant(const std::string& word, const PresetLibrary& library) {
  std::error_code ignored;
  if (library.meant(PresetKind::scenario, word) != nullptr || std::filesystem::exists(word, ignored)) return nullptr;
  return library.meant(PresetKind::model, word);
}

Result<OpenedScenario> open_scenario(const std::string& id_or_path, const ImportRequest& request,
                                     const PresetLibrary& library) {
  const ImportRequest ordered{request.cluster, ordered_edits(request.set), request.environment};
  // Read once: a pipe has its bytes only once.
  std::optional<std::string> bytes;
  if (library.find_preset(PresetKind::scenario, id_or_path) == nullptr)
    if (auto read = read_file(id_or_path)) bytes = std::move(read).value();
  if (const Preset* model = bytes ? nullptr : model_meant(id_or_path, library)) {
    if (request.cluster.empty())
      return InputError{id_or_path, {}, say("error.scenario.model"), say("error.scenario.model.remedy")};
    return opened(import_model(*model, ordered, library), ordered, id_or_path);
  }
  // JSON that is none of the formats is a scenario of ours, whose reader says what is wrong with it.
  if (bytes && reads_as_launch(*bytes))
    return opened(import_launch(*bytes, id_or_path, ordered, library), ordered, id_or_path);
  auto scenario =
      bytes ? scenario_in_file(*std::move(bytes), id_or_path, library) : load_scenario(id_or_path, library);
  if (!scenario) return scenario.error();
  std::vector<std::string_view> stated;
  if (library.find_preset(PresetKind::scenario, id_or_path) == nullptr) stated = foreign_to(scenario.value());
  if (auto failure = apply_request(scenario.value(), request, library)) return *std::move(failure);
  OpenedScenario out{std::move(scenario).value()};
  out.unread = unread_notice(std::move(stated), request, out.scenario, id_or_path);
  return out;
}

Result<OpenedScenario> open_words(const std::vector<std::string>& words, const ImportRequest& request,
                                  const PresetLibrary& library) {
  const ImportRequest ordered{request.cluster, ordered_edits(request.set), request.environment};
  return opened(import_words(words, ordered, library), ordered,
                words.empty() ? std::string_view() : std::string_view(words.front()));
}

}  // namespace roofscape::io
