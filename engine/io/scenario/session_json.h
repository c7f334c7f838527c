// What was being worked on, as one JSON text: the open scenarios, each with where it came from, the launch file it
// was read from, the measured run laid over it, the baseline pinned to it and what is wanted of its search, and which of
// them is shown. Written by the window whenever something changed, so that nothing is lost.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/io/json/result.h"
#include "engine/io/presets/preset_library.h"
#include "engine/scenario/scenario.h"

namespace roofscape::io {

// The launch file that a plan was read from, with what was asked for beside it (engine/io/import/import_launch.h).
struct SavedLaunch {
  std::string text, file, cluster;
  std::vector<std::string> set = {};
  bool guessed = false;  // the cluster is the one that was open, since the file does not say
};
inline constexpr std::size_t kMostLaunchBytes = 64 << 10;  // of a text that is kept

// What a measured run was read from: files, or lines and numbers themselves (engine/io/measured/measured_input.h). It is
// read again, since a trace may be hundreds of megabytes.
struct SavedMeasured {
  std::vector<std::string> inputs;
  std::string name;  // as people see it
};
inline constexpr std::size_t kMostMeasuredBytes = 64 << 10, kMostMeasuredInputs = 1024;

struct SavedTab {
  engine::Scenario scenario;
  std::string origin;  // id of a preset or path of a file; empty: never saved
  std::optional<engine::Scenario> baseline = {};
  std::map<std::string, std::string, std::less<>> search = {};  // what is wanted of a search, as words by name
  std::optional<SavedLaunch> launch = {};
  std::optional<SavedMeasured> measured = {};
};

// A tab that this program cannot read (an older or newer one wrote it, a preset it names is gone), or the baseline of
// one, which becomes a tab of its own. Its text is written back as it is, so that it is there once it can be read.
struct UnreadTab {
  std::string json, name;
  InputError reason;
};

struct SavedSession {
  std::vector<SavedTab> tabs;  // at least one
  std::vector<UnreadTab> unread;
  std::vector<std::string> recent_files;  // the newest first
  std::size_t active = 0;
};

std::string write_session(const SavedSession& session, const PresetLibrary& library);
// A scenario alone is read as a session of one. Sessions once had one baseline and one search for all tabs: each tab
// without its own gets those. A tab that cannot be read is among the unread; an error if all are.
Result<SavedSession> read_session(std::string_view text, std::string_view file_name, const PresetLibrary& library);

}  // namespace roofscape::io
