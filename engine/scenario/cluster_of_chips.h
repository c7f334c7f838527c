// Clusters of a number of chips, put together as they are sold: whole nodes, or slices of a torus.
#pragma once

#include <optional>

#include "engine/scenario/scenario.h"

namespace roofscape::engine {

inline constexpr int kMostClusterChips = 1 << 20;  // that are asked for by number

// None: there is no such number of them. `chips_per_node`: of a launcher's node; 0: as the chip is sold. `slices`: of a
// torus, where that many are asked for; 0: as few as there can be.
std::optional<Cluster> cluster_of(const Chip&, int chips, int chips_per_node = 0, int slices = 0);

}  // namespace roofscape::engine
