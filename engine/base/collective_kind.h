// Names of the collective operations and of the tiers of links they run on.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "engine/base/enum_table.h"

namespace roofscape::engine {

enum class CollectiveKind : std::uint8_t { all_gather, reduce_scatter, all_reduce, all_to_all, send };
inline constexpr EnumTable<CollectiveKind> kCollectiveIds{"all_gather", "reduce_scatter", "all_reduce", "all_to_all",
                                                          "send"};

enum class LinkTier : std::uint8_t {
  none,    // the axis has one rank
  ici,     // torus links
  nvlink,  // inside one node
  fabric,  // between nodes
  dcn,     // between slices
};
inline constexpr EnumTable<LinkTier> kLinkTierIds{"none", "ici", "nvlink", "fabric", "dcn"};

}  // namespace roofscape::engine
