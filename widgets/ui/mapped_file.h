// The bytes of a file, mapped: pages are read when they are looked at, and shared with all who have the file open.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace roofscape::widgets {

class MappedFile {
 public:
  // Empty if the file cannot be read.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const unsigned char> bytes() const { return {data_, size_}; }

 private:
  const unsigned char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace roofscape::widgets
