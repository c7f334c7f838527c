// Settings: how a person likes the window. Kept apart from the session: they are not undone and belong to no
// scenario. One small JSON file in the XDG config folder, written whole or not at all; a broken one is set aside.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/default_cells.h"
#include "engine/io/json/result.h"
#include "engine/io/presets/preset_library.h"

namespace roofscape::app {

// How figures are exported: asked the first time, then as before.
struct ExportChoice {
  bool asked = false;
  std::string folder;           // empty: export_folder()
  std::string size = "figure";  // the figure's own, or as `--size` takes it
  std::string theme = "print";
  std::array<bool, 3> formats{true, true, true};  // svg, pdf, png
  friend bool operator==(const ExportChoice&, const ExportChoice&) = default;
};

inline constexpr std::size_t kMostPinned = 3;

// How an edit of the mesh is settled: one axis grows, the others give way, the partner first.
struct MeshEditing {
  bool keep_product = true;
  engine::Axis partner = engine::Axis::fsdp;
  friend bool operator==(const MeshEditing&, const MeshEditing&) = default;
};

// Of the window, in pixels.
inline constexpr int kLeastWindowWidth = 800, kLeastWindowHeight = 560;

struct Settings {
  std::string theme = "dark";
  std::string language;       // empty: the system's
  double zoom = 0;            // 0: chosen from the size of the window at first start
  int width = 0, height = 0;  // of the window; 0: from the screen
  Arrangement arrangement;    // its cells are those of `kind`
  // Each kind of workload has its own cells: those of the kind that is not shown wait here.
  engine::WorkloadKind kind = engine::WorkloadKind::training;
  Cells other_cells = default_cells(engine::WorkloadKind::serving);
  MeshEditing mesh;
  ExportChoice export_as;
  std::vector<std::string>
      pinned;  // fields whose controls stand on the wall, at most kMostPinned; none: the usual ones
  std::vector<std::string> deck;  // figures of the projector in the order in which they come; none: all
  std::optional<bool> still;      // nothing slides into its place; nothing: as the system says
  friend bool operator==(const Settings&, const Settings&) = default;
};

std::filesystem::path settings_file();  // $XDG_CONFIG_HOME/roofscape/settings.json, else ~/.config/...; may be empty
std::filesystem::path
autosave_file();  // $XDG_STATE_HOME/roofscape/session.json, else ~/.local/state/...; may be empty
std::filesystem::path
scenario_folder();  // where Save puts scenarios: $XDG_DATA_HOME/roofscape/presets/scenarios, else ...
// Where the editor puts models and clusters: the library's own folder, else the default one.
std::filesystem::path preset_folder(const io::PresetLibrary& library, io::PresetKind kind);
std::filesystem::path preset_root(const io::PresetLibrary& library);  // the folder of all kinds
std::filesystem::path export_folder();  // the current folder if it can be written to, else XDG documents or home

// The settings of a file's text; what is missing or makes no sense is as by default. An error only where the text is no
// flat JSON object. And the text that reads back as these.
io::Result<Settings> settings_in(std::string_view text, std::string_view file);
std::string settings_text(const Settings& settings);

// `problem`: what is wrong with a file that is there and cannot be read, which leaves every setting as by default.
Settings read_settings(const std::filesystem::path& file, std::optional<io::InputError>* problem = nullptr);
bool write_settings(const std::filesystem::path& file, const Settings& settings);

}  // namespace roofscape::app
