// Ids of derivations: of a quantity ("mfu"), of one of several of a kind ("links.bytes_per_s[fsdp]"), and of either
// under another schedule than the plan's ("schedule.zb-h1/pipeline.bubble_fraction").
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/pipeline/schedule.h"

namespace roofscape::app {

// The id explain() understands for a tag of a figure; empty if it names no quantity.
std::string derivation_id(std::string_view tag_id, int index);

// Of an id without a schedule the prefix is empty and the schedule the plan's own.
struct ScopedId {
  std::string_view prefix, quantity;
  std::optional<engine::ScheduleKind> schedule;
};
ScopedId scoped_id(std::string_view id);

}  // namespace roofscape::app
