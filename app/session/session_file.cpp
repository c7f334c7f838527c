#include "app/session/session_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "engine/io/json/files.h"

namespace roofscape::app {

namespace {

namespace fs = std::filesystem;

constexpr int kMostWindows = 99;
constexpr int kMostDamaged = 999;
constexpr std::size_t kMostBytes = std::size_t{256} << 20;  // of 64 tabs with models written out

}  // namespace

SessionFile::SessionFile(fs::path folder) : folder_(std::move(folder)) {
  if (folder_.empty()) return;
  std::error_code failed;
  fs::create_directories(folder_, failed);
  for (int number = 1; number <= kMostWindows && file_.empty(); ++number)
    if (hold(name(number))) file_ = name(number);
}

SessionFile::~SessionFile() {
  for (const Lock& lock : locks_) ::close(lock.descriptor);
}

fs::path SessionFile::name(int number) const {
  return folder_ / (number == 1 ? "session.json" : "session-" + std::to_string(number) + ".json");
}

bool SessionFile::hold(const fs::path& file) {
  fs::path lock = file;
  lock.replace_extension(".lock");
  const int descriptor = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) return true;  // nothing can be written here: that is told when it is tried
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(descriptor);
    return false;
  }
  locks_.push_back({file, descriptor});  // also where the file system knows no locks
  return true;
}

void SessionFile::release(const Lock& lock) {
  // The lock's own file stays: another window may be waiting to open it.
  ::close(lock.descriptor);
}

std::vector<SessionFile::Kept> SessionFile::read(std::vector<std::string>& problems, const engine::Words& words) {
  std::vector<Kept> kept;
  if (file_.empty()) return kept;
  const auto take = [&](const fs::path& file) {
    std::error_code missing;
    if (!fs::exists(fs::symlink_status(file, missing))) return false;
    auto text = io::read_file(file, kMostBytes);
    if (text.ok()) {
      kept.push_back({file, std::move(text).value()});
      return true;
    }
    const fs::path aside = set_aside(file);
    problems.push_back(io::to_text(text.error(), words) + (aside.empty() ? std::string() : " -> " + aside.string()));
    return false;
  };
  take(file_);
  if (file_ != name(1)) return kept;
  for (int number = 2; number <= kMostWindows; ++number) {
    std::error_code missing;
    if (!fs::exists(name(number), missing)) continue;
    if (hold(name(number)) && take(name(number))) taken_over_.push_back(name(number));
  }
  return kept;
}

fs::path set_aside(const fs::path& file) {
  for (int number = 1; number <= kMostDamaged; ++number) {
    const fs::path aside = file.string() + ".damaged-" + std::to_string(number);
    std::error_code failed;
    if (fs::exists(fs::symlink_status(aside, failed))) continue;
    fs::rename(file, aside, failed);
    return failed ? fs::path() : aside;
  }
  return {};
}

fs::path SessionFile::set_aside(const fs::path& file) {
  std::erase(taken_over_, file);
  fs::path aside = app::set_aside(file);
  blocked_ = blocked_ || (aside.empty() && file == file_);
  return aside;
}

std::optional<io::InputError> SessionFile::write(std::string_view text) {
  if (file_.empty()) return std::nullopt;
  if (blocked_)
    return io::InputError{
        file_.string(), {}, engine::say("error.session.blocked"), engine::say("error.session.blocked.remedy")};
  std::error_code failed;
  fs::create_directories(folder_, failed);
  if (auto failure = io::write_file_atomically(file_, text)) return failure;
  for (const fs::path& file : taken_over_) {
    fs::remove(file, failed);
    const auto lock = std::find_if(locks_.begin(), locks_.end(), [&](const Lock& l) { return l.file == file; });
    if (lock == locks_.end()) continue;
    release(*lock);
    locks_.erase(lock);
  }
  taken_over_.clear();
  return std::nullopt;
}

}  // namespace roofscape::app
