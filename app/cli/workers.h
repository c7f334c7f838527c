// How many threads the commands search with, and running them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <thread>

#include "engine/base/workers.h"

namespace roofscape::app::cli {

inline std::size_t worker_count() { return std::clamp(std::thread::hardware_concurrency(), 1u, 16u); }

inline void run_workers(const std::function<void(std::size_t)>& work) { engine::run_workers(worker_count(), work); }

}  // namespace roofscape::app::cli
