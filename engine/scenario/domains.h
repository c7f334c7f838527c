// What may be entered for a figure of a chip and for a level of switches: one place for the JSON reader and the
// editor. Units are those of the tables (chip_fields.def, FabricLevel).
#pragma once

#include <cmath>
#include <string>
#include <string_view>

#include "engine/scenario/chip.h"

namespace roofscape::engine {

// The source of a figure that somebody changed.
inline constexpr std::string_view kSetByHand = "edited by hand";

inline constexpr int kMostPodChips = 65536;                            // along one axis of a torus
inline constexpr int kMostFabricDegree = 1 << 17;                      // children of one switch
inline constexpr double kLeastFabricRate = 1, kMostFabricRate = 1e18;  // B/s of one child's link

constexpr bool is_whole(const ChipFieldRow& row) { return row.unit.notation == Notation::count; }
// A figure is above 0 and at most this: a zetta of anything is a slip of the keyboard.
constexpr double largest(const ChipFieldRow& row) {
  return is_whole(row) ? 1e6 : row.unit == unit::fraction ? 1 : 1e21;
}
inline bool in_domain(const ChipFieldRow& row, double value) {
  return value > 0 && value <= largest(row) && (!is_whole(row) || value == std::floor(value));
}

}  // namespace roofscape::engine
