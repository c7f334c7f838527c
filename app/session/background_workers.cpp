#include "app/session/background_workers.h"

#include <algorithm>
#include <functional>
#include <thread>

#ifdef __linux__
#include <sys/resource.h>
#endif

#include "engine/base/workers.h"

namespace roofscape::app {

namespace {

constexpr std::size_t kMostWorkers = 16;
// Two fifths of a core against another program that wants all of it, where nice 10 would leave a tenth.
constexpr int kNice = 2;

}  // namespace

void lower_priority() {
#ifdef __linux__
  (void)setpriority(PRIO_PROCESS, 0, kNice);  // on Linux a nice value belongs to a thread
#endif
}

std::size_t background_worker_count() {
  return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMostWorkers);
}

engine::SearchWorkers background_workers(std::size_t count) {
  return [count](const std::function<void(std::size_t)>& work) {
    engine::run_workers(count, [&work](std::size_t i) {
      lower_priority();
      work(i);
    });
  };
}

}  // namespace roofscape::app
