#include "engine/io/import/open_scenario.h"

#include <algorithm>

#include "engine/io/import/cluster_request.h"
#include "engine/io/json/files.h"
#include "engine/io/scenario/scenario_json.h"

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

Result<OpenedScenario> opened(Result<Imported> imported, std::string_view file) {
  if (!imported) return imported.error();
  if (auto error = incomplete(imported.value(), file)) return *std::move(error);
  OpenedScenario out{imported->scenario, std::nullopt};
  out.imported = std::move(imported).value();
  return out;
}

}  // namespace

Result<OpenedScenario> open_scenario(const std::string& id_or_path, const ImportRequest& request,
                                     const PresetLibrary& library) {
  const ImportRequest ordered{request.cluster, ordered_edits(request.set)};
  // Read once: a pipe has its bytes only once.
  std::optional<std::string> bytes;
  if (library.find_preset(PresetKind::scenario, id_or_path) == nullptr)
    if (auto read = read_file(id_or_path)) bytes = std::move(read).value();
  // JSON that is none of the formats is a scenario of ours, whose reader says what is wrong with it.
  if (bytes && reads_as_launch(*bytes))
    return opened(import_launch(*bytes, id_or_path, ordered, library), id_or_path);
  auto scenario =
      bytes ? scenario_in_file(*std::move(bytes), id_or_path, library) : load_scenario(id_or_path, library);
  if (!scenario) return scenario.error();
  if (auto failure = apply_request(scenario.value(), request, library)) return *std::move(failure);
  return OpenedScenario{std::move(scenario).value(), std::nullopt};
}

Result<OpenedScenario> open_words(const std::vector<std::string>& words, const ImportRequest& request,
                                  const PresetLibrary& library) {
  return opened(import_words(words, {request.cluster, ordered_edits(request.set)}, library),
                words.empty() ? std::string_view() : std::string_view(words.front()));
}

}  // namespace roofscape::io
