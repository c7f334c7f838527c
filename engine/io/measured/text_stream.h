// Bytes of a file, packed with gzip or not, from its beginning to its end in pieces. For the .cpp files of
// engine/io/measured.
#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/io/json/result.h"

namespace roofscape::io {

// Told how much of the file was read, from 0 to 1; false: it is to stop.
using ReadProgress = std::function<bool(double share)>;

class TextStream {
 public:
  static Result<std::unique_ptr<TextStream>> open(const std::string& path, ReadProgress progress);
  // Of a text that outlives it.
  static std::unique_ptr<TextStream> of(std::string_view text);
  virtual ~TextStream() = default;

  // The next piece, empty at the end; a problem of the file or a stop ends it too.
  virtual bool refill() = 0;
  const char *at = nullptr, *end = nullptr;
  bool stopped() const { return stopped_; }
  const Failure& problem() const { return problem_; }

  // One byte after the other.
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;
    Iterator() = default;
    explicit Iterator(TextStream* stream) : stream_(stream) {}
    reference operator*() const { return *stream_->at; }
    Iterator& operator++() {
      ++stream_->at;
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.finished() == b.finished(); }

   private:
    bool finished() const { return stream_ == nullptr || (stream_->at == stream_->end && !stream_->refill()); }
    TextStream* stream_ = nullptr;
  };

 protected:
  bool stopped_ = false;
  Failure problem_;
};

// The first bytes of a file as text, unpacked; at most `most`.
Result<std::string> first_bytes(const std::string& path, std::size_t most);
// All of it, refused where it is larger than `most`.
Result<std::string> whole_text(const std::string& path, std::size_t most, const ReadProgress& progress);

}  // namespace roofscape::io
