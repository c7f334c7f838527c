// What tests of both searches share.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace roofscape::tests {

// An engine::SearchWorkers.
inline void three_threads(const std::function<void(std::size_t)>& work) {
  std::array<std::thread, 3> threads;
  for (std::size_t i = 0; i < threads.size(); ++i) threads[i] = std::thread(work, i);
  for (std::thread& thread : threads) thread.join();
}

inline int odd_factor(int n) {
  while (n % 2 == 0) n /= 2;
  return n;
}
// Of the numbers up to `chips` that `counts` says those of which no larger one has a smaller odd factor, or the same.
inline std::vector<int> simplest_numbers(int chips, const std::function<bool(int)>& counts) {
  std::vector<int> out;
  for (int n = chips; n > 0; --n)
    if ((out.empty() || odd_factor(n) < odd_factor(out.back())) && counts(n)) out.push_back(n);
  return out;
}

}  // namespace roofscape::tests
