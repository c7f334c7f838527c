#include "engine/io/presets/preset_library.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <system_error>

#include "engine/base/ascii.h"
#include "engine/base/text_match.h"
#include "engine/io/json/files.h"
#include "engine/io/json/nearest.h"
#include "engine/io/presets/calibration_json.h"
#include "engine/io/presets/parts_json.h"
#include "engine/io/presets/resources.h"

namespace roofscape::io {

using engine::say;

namespace {

namespace fs = std::filesystem;
constexpr std::array kKinds{PresetKind::chip, PresetKind::model, PresetKind::cluster, PresetKind::scenario};

}  // namespace

Result<std::string> preset_file(const Preset& preset) {
  if (!preset.from_user)
    for (const Resource& resource : embedded_resources())
      if (resource.path == preset.origin) return std::string(resource.text);
  return read_file(preset.origin);
}

fs::path default_preset_folder() {
  if (const char* data = std::getenv("XDG_DATA_HOME"); data != nullptr && *data == '/')
    return fs::path(data) / "roofscape" / "presets";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    return fs::path(home) / ".local" / "share" / "roofscape" / "presets";
  return {};
}

PresetLibrary::PresetLibrary() {
  for (const PresetKind kind : kKinds) {
    add_embedded(kind);
    if (kind == PresetKind::chip) add_calibrations();
  }
  list_chips();
}

PresetLibrary::PresetLibrary(const fs::path& folder) : folder_(folder) {
  for (const PresetKind kind : kKinds) {  // clusters name chips, so each kind is complete before the next
    add_embedded(kind);
    if (!folder.empty()) add_folder(kind, folder);
    if (kind == PresetKind::chip) add_calibrations();
  }
  list_chips();
}

void PresetLibrary::list_chips() {
  for (const Preset& preset : list(PresetKind::chip)) all_chips_.push_back(*find_chip(preset.id));
}

void PresetLibrary::calibrate(std::span<const std::string> chips, const engine::Calibration& calibration) {
  for (const std::string& id : chips)
    if (const auto found = chips_.find(id); found != chips_.end()) found->second.calibration = calibration;
}

void PresetLibrary::add_calibrations() {
  for (const CalibrationFile& file : shipped_calibrations(problems_)) calibrate(file.chips, file.calibration);
}

void PresetLibrary::add_embedded(PresetKind kind) {
  const std::string prefix = "presets/" + std::string(kPresetFolders[kind]) + "/";
  for (const Resource& resource : embedded_resources()) {
    if (!resource.path.starts_with(prefix)) continue;
    Preset preset;
    preset.id = fs::path(resource.path).stem().string();
    preset.origin = std::string(resource.path);
    if (auto error = add(kind, std::move(preset), resource.text)) problems_.push_back(*std::move(error));
  }
}

void PresetLibrary::add_folder(PresetKind kind, const fs::path& folder) {
  const fs::path place = folder / kPresetFolders[kind];
  std::error_code error;
  fs::directory_iterator entries(place, error);
  if (error) return;  // a folder that is not there holds no presets
  std::vector<fs::path> files;
  for (; entries != fs::directory_iterator(); entries.increment(error)) {
    if (error) break;
    if (entries->path().extension() == ".json" && !entries->path().string().ends_with(".schema.json"))
      files.push_back(entries->path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    if (std::error_code ignored; fs::exists(file, ignored) && !fs::is_regular_file(file, ignored)) {
      problems_.push_back({file.string(), {}, say("error.file.special"), say("error.file.special.remedy")});
      continue;
    }
    auto text = read_file(file);
    if (!text) {
      problems_.push_back(text.error());
      continue;
    }
    Preset preset;
    preset.id = file.stem().string();
    preset.origin = file.string();
    preset.from_user = true;
    if (auto problem = add(kind, std::move(preset), text.value())) problems_.push_back(*std::move(problem));
  }
}

namespace {

Failure read_aliases(const Json& json, const PartContext& context, std::vector<std::string>& out) {
  const auto found = json.find("aliases");
  if (found == json.end()) return std::nullopt;
  if (!found->is_array())
    return context.error(context.at("aliases"), say("error.is_no_list"), say("error.list_of_texts.remedy"));
  for (const Json& alias : *found) {
    if (!alias.is_string()) return context.error(context.at("aliases"), say("error.not_text", shown(alias)));
    out.push_back(alias.get<std::string>());
  }
  return std::nullopt;
}

}  // namespace

std::optional<InputError> PresetLibrary::add(PresetKind kind, Preset preset, std::string_view text) {
  const auto json = parse_json(text, preset.origin);
  if (!json) return json.error();
  const PartContext context{preset.origin, {}, *this, fs::path(preset.origin).parent_path(), preset.id};
  switch (kind) {
    case PresetKind::chip: {
      auto chip = read_chip(json.value(), context);
      if (!chip) return chip.error();
      preset.name = chip->name;
      chips_.insert_or_assign(preset.id, std::move(chip).value());
      break;
    }
    case PresetKind::model: {
      auto model = read_model(json.value(), context);
      if (!model) return model.error();
      preset.name = model->name;
      models_.insert_or_assign(preset.id, std::move(model).value());
      break;
    }
    case PresetKind::cluster: {
      auto cluster = read_cluster(json.value(), context);
      if (!cluster) return cluster.error();
      preset.name = text_member(json.value(), "name");
      clusters_.insert_or_assign(preset.id, std::move(cluster).value());
      break;
    }
    case PresetKind::scenario:
      if (!json->is_object())
        return InputError{preset.origin, {}, is_kind(json.value()), say("error.scenario.remedy")};
      preset.name = text_member(json.value(), "name");
      scenarios_.insert_or_assign(preset.id, std::string(text));
      break;
  }
  if (preset.name.empty()) preset.name = preset.id;
  if (auto failure = read_aliases(json.value(), context, preset.aliases)) return *failure;
  std::vector<Preset>& list = lists_[static_cast<std::size_t>(kind)];
  const auto at = std::lower_bound(list.begin(), list.end(), preset.id,
                                   [](const Preset& p, const std::string& id) { return p.id < id; });
  if (at != list.end() && at->id == preset.id)
    *at = std::move(preset);
  else
    list.insert(at, std::move(preset));
  return std::nullopt;
}

const Preset* PresetLibrary::find_preset(PresetKind kind, std::string_view id) const {
  for (const Preset& preset : list(kind))
    if (preset.id == id) return &preset;
  return nullptr;
}

engine::Match match_of(std::string_view typed, const Preset& preset) {
  engine::Match best = engine::match_of(typed, preset.name, preset.id);
  for (const std::string& alias : preset.aliases) best = std::max(best, engine::match_of(typed, alias));
  return best;
}

PresetLibrary::Called PresetLibrary::called(PresetKind kind, std::string_view word) const {
  using engine::Match;
  if (const Preset* exact = find_preset(kind, word)) return {{exact}, true};
  std::vector<const Preset*> same, parts;
  // A number alone is in many names and means none of them: -1, 40%.
  const bool letters = std::any_of(word.begin(), word.end(), engine::is_letter);
  for (const Preset& preset : list(kind)) {
    if (!word.empty() && match_of(word, preset) == Match::exact) same.push_back(&preset);
    if (!letters) continue;
    if (engine::names(word, preset.id) || engine::names(word, preset.name)) parts.push_back(&preset);
  }
  if (!same.empty()) return {std::move(same), true};
  return {std::move(parts), false};
}

const Preset* PresetLibrary::meant(PresetKind kind, std::string_view word) const {
  const std::vector<const Preset*> presets = called(kind, word).presets;
  return presets.size() == 1 ? presets.front() : nullptr;
}

InputError PresetLibrary::not_meant(PresetKind kind, std::string_view word) const {
  constexpr std::size_t kMostNamed = 8;
  const std::string what(kPresetKindIds[kind]);
  const std::vector<const Preset*> several = called(kind, word).presets;
  if (several.size() < 2) {
    const std::string_view near = nearest(kind, word);
    return {{},
            {},
            say("error.preset.none", what, in_quotes(word)),
            near.empty() ? say("error.preset.list") : did_you_mean(near)};
  }
  std::string ids;
  for (std::size_t i = 0; i < std::min(several.size(), kMostNamed); ++i) ids += (i > 0 ? ", " : "") + several[i]->id;
  if (several.size() > kMostNamed) ids += ", ...";
  return {{}, {}, say("error.preset.several", in_quotes(word), what), say("error.give_one", ids)};
}

std::string_view PresetLibrary::nearest(PresetKind kind, std::string_view id) const {
  std::vector<std::string_view> ids;
  for (const Preset& preset : list(kind)) {
    ids.push_back(preset.id);
    ids.insert(ids.end(), preset.aliases.begin(), preset.aliases.end());
  }
  return nearest_word(id, ids);
}

}  // namespace roofscape::io
