// PresetLibrary: the chips, clusters, models and scenarios that have a name. What ships is compiled in; a user's
// folder with the same subfolders (chips, clusters, models, scenarios, one JSON file a thing, its name the id) is
// laid over it, so a user can add things and replace shipped ones. A user's file that cannot be read is left out and
// reported in problems(); it never keeps the program from starting.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/enum_table.h"
#include "engine/base/text_match.h"
#include "engine/io/json/result.h"
#include "engine/scenario/scenario.h"

namespace roofscape::io {

enum class PresetKind : std::uint8_t { chip, cluster, model, scenario };
inline constexpr engine::EnumTable<PresetKind> kPresetKindIds{"chip", "cluster", "model", "scenario"};
inline constexpr engine::EnumTable<PresetKind> kPresetFolders{"chips", "clusters", "models", "scenarios"};

struct Preset {
  std::string id, name;
  std::vector<std::string> aliases;  // what else it is called: "ironwood"
  std::string origin;  // the file it came from: "presets/models/llama3-8b.json" or the path of a user's file
  bool from_user = false;
};

// How well what is typed finds a preset: by its name, its id or one of its aliases.
engine::Match match_of(std::string_view typed, const Preset& preset);

// The text of the file that a preset came from.
Result<std::string> preset_file(const Preset& preset);

// $XDG_DATA_HOME/roofscape/presets, else ~/.local/share/roofscape/presets; empty if neither variable is set.
std::filesystem::path default_preset_folder();

class PresetLibrary {
 public:
  PresetLibrary();                                              // what ships
  explicit PresetLibrary(const std::filesystem::path& folder);  // and a folder over it; it need not exist

  std::span<const Preset> list(PresetKind kind) const { return lists_[static_cast<std::size_t>(kind)]; }  // by id
  // All that a word may mean: the preset of that id, else those whose id, name or alias it is whatever case and hyphens,
  // else those with these whole words ("h100", "TPU-v5e", "llama-3-70b").
  struct Called {
    std::vector<const Preset*> presets;
    bool in_full = false;  // the word is the whole of an id, name or alias
  };
  Called called(PresetKind kind, std::string_view word) const;
  // The one there is. Null: none, or several.
  const Preset* meant(PresetKind kind, std::string_view word) const;
  // What to say where meant() is null: nothing is called so, or several are; and what could be meant.
  InputError not_meant(PresetKind kind, std::string_view word) const;
  std::string_view nearest(PresetKind kind, std::string_view id) const;  // empty if none is near

  // Null if there is none of that id.
  const engine::Chip* find_chip(std::string_view id) const { return find(chips_, id); }
  const engine::Cluster* find_cluster(std::string_view id) const { return find(clusters_, id); }
  const engine::TransformerShape* find_model(std::string_view id) const { return find(models_, id); }
  const std::string* find_scenario_text(std::string_view id) const { return find(scenarios_, id); }
  // All chips, in the order of list().
  std::span<const engine::Chip> chips() const { return all_chips_; }
  const Preset* find_preset(PresetKind kind, std::string_view id) const;

  // What software reaches on these chips, as presets/calibration says; chips that no file names keep none.
  void calibrate(std::span<const std::string> chips, const engine::Calibration& calibration);

  const std::vector<InputError>& problems() const { return problems_; }
  // The user's folder; empty: only what ships.
  const std::filesystem::path& folder() const { return folder_; }

 private:
  template <class T>
  using ById = std::map<std::string, T, std::less<>>;
  template <class T>
  static const T* find(const ById<T>& things, std::string_view id) {
    const auto found = things.find(id);
    return found == things.end() ? nullptr : &found->second;
  }
  std::optional<InputError> add(PresetKind kind, Preset preset, std::string_view text);
  void add_embedded(PresetKind kind);
  void list_chips();
  void add_calibrations();
  void add_folder(PresetKind kind, const std::filesystem::path& folder);

  ById<engine::Chip> chips_;
  ById<engine::Cluster> clusters_;
  ById<engine::TransformerShape> models_;
  ById<std::string> scenarios_;
  std::array<std::vector<Preset>, 4> lists_;
  std::vector<engine::Chip> all_chips_;
  std::vector<InputError> problems_;
  std::filesystem::path folder_;
};

}  // namespace roofscape::io
