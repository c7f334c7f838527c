// A launch file that was opened in the window: its text, what was asked for beside it, and what came of both. It stays
// with the session of its plan, so that each value can say where it was read.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/io/import/import_launch.h"
#include "engine/io/scenario/session_json.h"
#include "engine/scenario/chip.h"

namespace roofscape::app {

class LaunchImport {
 public:
  // Where the file does not say on which chips it runs, those of `open` are taken, if its framework runs there: as many as
  // the launcher states, else as many as there are.
  static io::Result<LaunchImport> read(std::string text, std::string file, const engine::Cluster& open,
                                       const io::PresetLibrary& library);

  // As it was kept with a session: nothing where its text is not read any more.
  static std::optional<LaunchImport> kept(io::SavedLaunch saved, const io::PresetLibrary& library);
  io::SavedLaunch saved() const { return {text_, file_, request_.cluster, request_.set, guessed_}; }

  const std::string& file() const { return file_; }  // as people see it
  const io::Imported& imported() const { return imported_; }
  const io::ImportRequest& request() const { return request_; }
  // The file or its launcher says how many chips there are.
  bool counted() const { return counted_; }
  // The chips are those that were open, since the file does not say which.
  bool guessed() const { return guessed_; }
  // Everything an evaluation needs is there; the plan may still be one that cannot run.
  bool ready() const { return imported_.missing.empty(); }

  // The same file with another cluster or other settings. On an error nothing changes.
  io::Failure ask(io::ImportRequest request, const io::PresetLibrary& library);
  // path=value, in the place of what was given for that path; an empty value takes it back.
  io::Failure give(std::string_view path, std::string_view value, const io::PresetLibrary& library);

  // Where the value of a field was read; null: the file does not have it.
  const io::ReadValue* origin_of(std::string_view path) const;
  const io::AssumedValue* assumption_of(std::string_view path) const;

 private:
  LaunchImport() = default;
  void say_whose_chips();
  std::string text_, file_;
  io::ImportRequest request_;
  io::Imported imported_;
  bool counted_ = true, guessed_ = false;
};

}  // namespace roofscape::app
