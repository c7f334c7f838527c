#include "engine/io/measured/text_stream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace roofscape::io {

using engine::say;

namespace {

constexpr std::size_t kPiece = std::size_t{256} << 10;

class GzipStream : public TextStream {
 public:
  GzipStream(std::string path, gzFile file, double size, ReadProgress progress)
      : path_(std::move(path)), file_(file), size_(size), progress_(std::move(progress)), piece_(kPiece) {}
  ~GzipStream() override { gzclose(file_); }
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;

  bool refill() override {
    if (ended_) return false;
    if (progress_ && !progress_(size_ > 0 ? std::min(1.0, static_cast<double>(gzoffset(file_)) / size_) : 0)) {
      stopped_ = ended_ = true;
      return false;
    }
    const int n = gzread(file_, piece_.data(), static_cast<unsigned>(piece_.size()));
    int code = Z_OK;
    const char* const why = gzerror(file_, &code);
    if (n < 0 || (n == 0 && code != Z_OK && code != Z_STREAM_END)) {
      problem_ = InputError{path_,
                            {},
                            say("error.measured.packed", std::string(code == Z_ERRNO ? std::strerror(errno) : why)),
                            say("error.measured.packed.remedy")};
      ended_ = true;
      return false;
    }
    ended_ = n == 0;
    at = piece_.data();
    end = at + n;
    return n > 0;
  }

 private:
  std::string path_;
  gzFile file_;
  double size_;
  ReadProgress progress_;
  std::vector<char> piece_;
  bool ended_ = false;
};

class HeldText : public TextStream {
 public:
  explicit HeldText(std::string_view text) : text_(text) {}
  bool refill() override {
    at = text_.data();
    end = at + text_.size();
    text_ = {};
    return at != end;
  }

 private:
  std::string_view text_;
};

}  // namespace

std::unique_ptr<TextStream> TextStream::of(std::string_view text) { return std::make_unique<HeldText>(text); }

Result<std::unique_ptr<TextStream>> TextStream::open(const std::string& path, ReadProgress progress) {
  const auto fail = [&](engine::Sentence message, engine::Sentence remedy) {
    return InputError{path, {}, std::move(message), std::move(remedy)};
  };
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return errno == ENOENT ? fail(say("error.file.none"), say("error.file.none.remedy"))
                           : fail(say("error.file.unreadable", std::string(std::strerror(errno))),
                                  say("error.file.unreadable.remedy"));
  struct stat status {};
  const bool known = ::fstat(descriptor, &status) == 0;
  if (known && S_ISDIR(status.st_mode)) {
    ::close(descriptor);
    return fail(say("error.file.folder"), say("error.file.folder.remedy"));
  }
  const gzFile file = gzdopen(descriptor, "rb");
  if (file == nullptr) {
    ::close(descriptor);
    return fail(say("error.file.unreadable", std::string(std::strerror(ENOMEM))),
                say("error.file.unreadable.remedy"));
  }
  gzbuffer(file, static_cast<unsigned>(kPiece));
  return std::unique_ptr<TextStream>(
      std::make_unique<GzipStream>(path, file, known ? static_cast<double>(status.st_size) : 0, std::move(progress)));
}

Result<std::string> first_bytes(const std::string& path, std::size_t most) {
  auto stream = TextStream::open(path, {});
  if (!stream) return stream.error();
  std::string out;
  while (out.size() < most && stream.value()->refill()) out.append(stream.value()->at, stream.value()->end);
  if (stream.value()->problem()) return *stream.value()->problem();
  if (out.size() > most) out.resize(most);
  return out;
}

Result<std::string> whole_text(const std::string& path, std::size_t most, const ReadProgress& progress) {
  auto stream = TextStream::open(path, progress);
  if (!stream) return stream.error();
  std::string out;
  while (stream.value()->refill()) {
    out.append(stream.value()->at, stream.value()->end);
    if (out.size() > most)
      return InputError{path, {}, say("error.file.larger", most >> 20), say("error.file.not_ours")};
  }
  if (stream.value()->problem()) return *stream.value()->problem();
  if (stream.value()->stopped()) return InputError{path, {}, say("error.measured.stopped")};
  return out;
}

}  // namespace roofscape::io
