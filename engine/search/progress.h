// How far a search is, and who works on it: shared by the searches of plans that train and of plans that serve.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

namespace roofscape::engine {

// Written by the search, read by whoever waits for it; set `stop` to end it early.
struct SearchProgress {
  std::atomic<bool> stop{false};
  std::atomic<std::size_t> done{0}, total{0};  // parts of the space
  std::atomic<std::size_t> simulated{0};  // plans, when it is over: how much work it was, which depends on timing
};

// Runs work(0) ... work(n - 1), at the same time or one after the other, and returns when all have returned.
using SearchWorkers = std::function<void(const std::function<void(std::size_t)>& work)>;

}  // namespace roofscape::engine
