#include "tests/app/jobs/memory_limit.h"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {
std::atomic<std::size_t> most_bytes{SIZE_MAX};
}

void* operator new(std::size_t bytes) {
  if (bytes <= most_bytes)
    if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace roofscape::test {

MemoryLimit::MemoryLimit(std::size_t most) { most_bytes = most; }
MemoryLimit::~MemoryLimit() { most_bytes = SIZE_MAX; }

}  // namespace roofscape::test
