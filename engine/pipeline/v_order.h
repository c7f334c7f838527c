// Orders on the V placement that hold less than 1F1B does: V-Half about p / 2 microbatches and V-Min about p / 3 on
// every device, after the repeating building blocks of Qi et al. 2024 ("Pipeline Parallelism with Controllable
// Memory"). Made as if all three passes took equally long; where they do not, they wait for each other, V-Min most.
#pragma once

#include "engine/pipeline/schedule.h"

namespace roofscape::engine {

enum class VMemory : std::uint8_t { half, least };

// Of p devices with two chunks each (StagePlacement::v); any number of microbatches, both at least 1.
void make_v_order(int stages, int microbatches, VMemory memory, Orders& out);

}  // namespace roofscape::engine
