// Lets allocations of the whole program fail that are larger than so many bytes, while it lives.
#pragma once

#include <cstddef>

namespace roofscape::test {

class MemoryLimit {
 public:
  explicit MemoryLimit(std::size_t most_bytes);
  ~MemoryLimit();
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;
};

}  // namespace roofscape::test
