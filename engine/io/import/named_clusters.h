// Clusters as they are asked for in one line, several at once: a cluster's id or file, CHIP:N, every:N for so many of
// each chip there is, or A..B in the place of N for A chips and every doubling up to B, with commas between them.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/io/json/result.h"
#include "engine/io/presets/preset_library.h"
#include "engine/search/cluster_choice.h"

namespace roofscape::io {

inline constexpr std::size_t kMostNamedClusters = 100;

// Adds to `into`; an error names `option`.
std::optional<InputError> add_named_clusters(std::string_view list, std::string_view option,
                                             const PresetLibrary& library, std::vector<engine::NamedCluster>& into);

// The engine's, by the names that add_named_clusters() takes where the chip is one that ships.
std::vector<engine::NamedCluster> clusters_around(const engine::Cluster& cluster, const PresetLibrary& library);

}  // namespace roofscape::io
