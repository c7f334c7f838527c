#include "engine/base/workers.h"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <new>
#include <stdexcept>

namespace roofscape::engine {
namespace {

TEST_CASE("each part of shared work is done once") {
  for (const std::size_t count : {0u, 1u, 2u, 7u}) {
    std::array<std::atomic<int>, 7> done{};
    run_workers(count, [&](std::size_t worker) { ++done[worker]; });
    for (std::size_t i = 0; i < done.size(); ++i) CHECK(done[i] == (i < count ? 1 : 0));
  }
}

TEST_CASE("what a worker throws comes to who asked, after the others have ended") {
  for (const std::size_t thrower : {0u, 2u, 4u}) {
    std::atomic<int> done = 0;
    CHECK_THROWS_AS(run_workers(5,
                                [&](std::size_t worker) {
                                  if (worker == thrower) throw std::bad_alloc();
                                  ++done;
                                }),
                    std::bad_alloc);
    CHECK(done == 4);
  }
}

}  // namespace
}  // namespace roofscape::engine
