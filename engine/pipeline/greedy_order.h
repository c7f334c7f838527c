// Orders made for the times of one plan: list scheduling of split backwards under a limit of memory, after the
// heuristic of Zero Bubble (Qi et al. 2023, section 4; ZB-1p has the memory of 1F1B, ZB-2p twice that). Unlike the
// schedules of schedules.def they follow no rule: other times make other orders.
#pragma once

#include <optional>

#include "engine/pipeline/schedule.h"
#include "engine/pipeline/simulate.h"

namespace roofscape::engine {

struct GreedyLimit {
  double microbatches = 1;  // that a device may hold, counted from the forward on; at least 1
  // What of a microbatch is still held between its input gradient and its weight gradient, in microbatches: below 1
  // where activations are let go, above 1 where they were computed again.
  double postponed = 1;
};

struct GreedyStages {
  int devices = 1;
  bool on_v = false;  // two stages a device, placed as a V (ZB-V); else one
};

// Devices choose, one operation after the other, among what is ready: forwards as the limit allows, input gradients,
// and weight gradients where nothing else would run. Of a few rules of choice the one is kept whose slowest device takes
// least time from its first operation to its last, which is what a step lasts where every device begins the next one
// when it is done with this (the paper's measure); of equals the shortest makespan. Never longer so than ZB-H1 and
// ZB-H2, or ZB-V, where these keep to the limit.
//
// `times` by virtual stage. Nothing where the times are not legal, the limit is below one microbatch, or the order would
// be too long to try so many rules (kMostGreedyOps).
std::optional<Orders> greedy_order(const GreedyStages&, int microbatches, const PipelineTimes& times,
                                   const GreedyLimit& limit);

inline constexpr std::int64_t kMostGreedyOps = 1 << 17;

}  // namespace roofscape::engine
