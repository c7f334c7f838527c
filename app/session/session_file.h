// SessionFile: where everything that is open is kept between runs, and the rules by which nothing of it is lost.
//  - Each window has a file of its own: the first session.json, a second window beside it session-2.json, and so on,
//    held by a lock while the window is open. No window writes the file of another.
//  - The window that holds session.json also takes over the files of windows that were closed, and removes them once
//    what was in them is written to its own.
//  - A file that cannot be read is moved aside to session.json.damaged-1 (the first free number), never overwritten.
// No window, no Workspace: texts in, texts out.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/io/json/result.h"

namespace roofscape::app {

// Moves a file that cannot be read aside, to its name with .damaged-1 or the first free number; where to, or empty if that
// failed.
std::filesystem::path set_aside(const std::filesystem::path& file);

class SessionFile {
 public:
  // In this folder, which is made if it is missing. Empty: nothing is kept.
  explicit SessionFile(std::filesystem::path folder);
  ~SessionFile();
  SessionFile(const SessionFile&) = delete;
  SessionFile& operator=(const SessionFile&) = delete;

  const std::filesystem::path& file() const { return file_; }  // empty: nothing is kept
  // What was kept when the window was last open, its own first. A file that is there and cannot be read at all is
  // moved aside, and `problems` says where to.
  struct Kept {
    std::filesystem::path file;
    std::string text;
  };
  std::vector<Kept> read(std::vector<std::string>& problems, const engine::Words& words);
  // Moves a file aside; where to, or empty if that failed: then it is not written to any more either.
  std::filesystem::path set_aside(const std::filesystem::path& file);
  // Writes it whole, and removes the files it took over. What went wrong, or nothing.
  std::optional<io::InputError> write(std::string_view text);

 private:
  struct Lock {
    std::filesystem::path file;  // the one that is held
    int descriptor = -1;
  };
  // Whether no other window has this file; the lock stays with this object.
  bool hold(const std::filesystem::path& file);
  void release(const Lock& lock);
  std::filesystem::path name(int number) const;

  std::filesystem::path folder_, file_;
  std::vector<Lock> locks_;
  std::vector<std::filesystem::path> taken_over_;
  bool blocked_ = false;  // what stands at file_ could not be moved aside
};

}  // namespace roofscape::app
