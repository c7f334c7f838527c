#include "engine/base/workers.h"

#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace roofscape::engine {

void run_workers(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::mutex mutex;
  std::exception_ptr thrown;
  const auto guarded = [&](std::size_t worker) {
    try {
      work(worker);
    } catch (...) {
      const std::scoped_lock lock(mutex);
      if (!thrown) thrown = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    std::size_t started = 0;
    try {
      threads.reserve(count);
      for (; started + 1 < count; ++started) threads.emplace_back(guarded, started);
    } catch (const std::exception&) {  // no more threads, or no memory for one: what is left is done here
    }
    for (std::size_t worker = started; worker < count; ++worker) guarded(worker);
  }
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace roofscape::engine
