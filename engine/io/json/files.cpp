#include "engine/io/json/files.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace roofscape::io {

using engine::say;
using engine::Sentence;

namespace {

namespace fs = std::filesystem;

std::string reason(int error) { return std::generic_category().message(error); }

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }
  int get() const { return fd_; }
  // Whether closing succeeded (a full disk may be reported only here).
  bool close() {
    if (fd_ < 0) return true;
    const int result = ::close(fd_);
    fd_ = -1;
    return result == 0;
  }

 private:
  int fd_;
};

// Whether a pipe or device has something to read, or its other end was closed, within so many milliseconds.
bool arrives(int fd, int milliseconds) {
  pollfd wait{fd, POLLIN, 0};
  int ready = 0;
  while ((ready = ::poll(&wait, 1, milliseconds)) < 0 && errno == EINTR) {
  }
  return ready != 0;
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace

Result<std::string> read_file(const fs::path& path, std::size_t limit) {
  const auto fail = [&](Sentence message, Sentence remedy) {
    return InputError{path.string(), {}, std::move(message), std::move(remedy)};
  };
  const auto unreadable = [&] {
    return fail(say("error.file.unreadable", reason(errno)), say("error.file.unreadable.remedy"));
  };
  // A pipe that nobody writes into would be waited for, already when it is opened.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0)
    return errno == ENOENT ? fail(say("error.file.none"), say("error.file.none.remedy")) : unreadable();
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return unreadable();
  if (S_ISDIR(status.st_mode)) return fail(say("error.file.folder"), say("error.file.folder.remedy"));
  std::string text;
  if (S_ISREG(status.st_mode) && status.st_size > 0)
    text.reserve(std::min(limit, static_cast<std::size_t>(status.st_size)) + 1);
  std::array<char, 65536> chunk;
  constexpr int kUnopened = 2000,
                kSlow = 30000;  // waited for a pipe that nobody writes into, and for one that writes
  const bool waits = !S_ISREG(status.st_mode);
  const auto silent = [&] { return fail(say("error.file.silent"), say("error.file.silent.remedy")); };
  for (;;) {
    const bool has_come = !waits || arrives(file.get(), kUnopened);
    const ssize_t n = ::read(file.get(), chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {
      if (!arrives(file.get(), kSlow)) return silent();
      continue;
    }
    if (n < 0) return unreadable();
    if (n == 0) return has_come ? Result<std::string>(std::move(text)) : silent();
    text.append(chunk.data(), static_cast<std::size_t>(n));
    if (text.size() > limit) return fail(say("error.file.larger", limit >> 20), say("error.file.not_ours"));
  }
}

std::optional<InputError> write_file_atomically(const fs::path& path, std::string_view bytes) {
  const auto fail = [&](Sentence why) {
    return InputError{
        path.string(), {}, say("error.file.unwritable", std::move(why)), say("error.file.unwritable.remedy")};
  };
  std::error_code ignored;
  fs::path target = path;
  // The file behind a link is replaced, not the link; it need not be there yet.
  constexpr int kMostLinks = 40;
  for (int links = 0; fs::is_symlink(target, ignored); ++links) {
    const fs::path behind = fs::read_symlink(target, ignored);
    if (links == kMostLinks || behind.empty()) return fail(reason(ELOOP));
    target = target.parent_path() / behind;
  }
  struct stat status {};
  const bool exists = ::stat(target.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) return fail(say("error.file.it_is_a_folder"));
  if (exists && !S_ISREG(status.st_mode)) {
    Descriptor device(::open(target.c_str(), O_WRONLY | O_CLOEXEC));
    if (device.get() < 0 || !write_all(device.get(), bytes) || !device.close()) return fail(reason(errno));
    return std::nullopt;
  }
  if (exists && ::access(target.c_str(), W_OK) != 0) return fail(reason(errno));
  if (target.filename().empty()) return fail(say("error.file.names_none"));

  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  std::string temporary = (folder / ".roofscape-XXXXXX").string();
  Descriptor file(::mkstemp(temporary.data()));
  if (file.get() < 0) return fail(reason(errno));
  const auto give_up = [&] {
    const int error = errno;
    file.close();
    ::unlink(temporary.c_str());
    return fail(reason(error));
  };
  mode_t mode = status.st_mode & 0777;
  if (!exists) {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    mode = 0666 & ~mask;
  }
  if (::fchmod(file.get(), mode) != 0 || !write_all(file.get(), bytes) || ::fsync(file.get()) != 0 || !file.close() ||
      ::rename(temporary.c_str(), target.c_str()) != 0)
    return give_up();
  const Descriptor parent(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems know no flushing of folders; any other failure means that the name may not outlive a power cut.
  if (parent.get() >= 0 && ::fsync(parent.get()) != 0 && errno != EINVAL && errno != ENOTSUP && errno != EROFS)
    return fail(say("error.file.unsure", reason(errno)));
  return std::nullopt;
}

}  // namespace roofscape::io
