// What was being worked on, as one JSON text: the open scenarios with where each came from, which of them is shown,
// the pinned baseline, and what is wanted of a search. Written by the window whenever something changed, so that
// nothing is lost.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/io/preset_library.h"
#include "engine/io/result.h"
#include "engine/scenario.h"

namespace roofscape::io {

struct SavedTab {
  engine::Scenario scenario;
  std::string origin;  // id of a preset or path of a file; empty: never saved
};

struct SavedSession {
  std::vector<SavedTab> tabs;  // at least one
  std::size_t active = 0;
  std::optional<engine::Scenario> baseline;
  std::map<std::string, std::string, std::less<>> search;  // what is wanted of a search, as words by name
};

std::string write_session(const SavedSession& session, const PresetLibrary& library);
// A scenario alone is read as a session of one. A tab that cannot be read is left out; an error if none is left.
Result<SavedSession> read_session(std::string_view text, std::string_view file_name, const PresetLibrary& library);

}  // namespace roofscape::io
