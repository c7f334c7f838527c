// Work shared among threads. What one of them throws, such as for want of memory, reaches who asked for the work.
#pragma once

#include <cstddef>
#include <functional>

namespace roofscape::engine {

// Calls work(0) to work(count - 1), one of them on this thread and the others each on a thread of its own as far as the
// system grants threads, else here, one after the other. Returns when all have ended; throws what the first of them
// threw that ended so.
void run_workers(std::size_t count, const std::function<void(std::size_t)>& work);

}  // namespace roofscape::engine
