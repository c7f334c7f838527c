// Threads of searches beside the window: below the priority of its own, which comes first when both want a core.
#pragma once

#include <cstddef>

#include "engine/search/progress.h"

namespace roofscape::app {

// Of the calling thread. Beside other programs that keep all cores busy it still gets its share.
void lower_priority();

// As many as the machine has cores, at least one.
std::size_t background_worker_count();
engine::SearchWorkers background_workers(std::size_t count);

}  // namespace roofscape::app
