#include "engine/base/kept_memory.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace roofscape::engine {
namespace {

constexpr std::size_t kLarge = 2 * kKeptBytes / sizeof(std::uint64_t);

TEST_CASE("memory of a far larger past is given back, with its values") {
  std::vector<std::uint64_t> values(kLarge);
  give_back_unless_needed(values, kLarge / 100);
  CHECK(values.capacity() == 0);
}

TEST_CASE("memory that is needed again, or is little, is kept, and the values with it") {
  std::vector<std::uint64_t> values(kLarge);
  give_back_unless_needed(values, kLarge / 2);
  CHECK(values.size() == kLarge);
  std::vector<std::uint64_t> few(100);
  give_back_unless_needed(few, 0);
  CHECK(few.size() == 100);
}

}  // namespace
}  // namespace roofscape::engine
