// An order of operations that is made for one plan, to be given to it (Scenario::pipeline.order): the heuristic of
// greedy_order.h with the plan's times, transfers and memory, or the V orders of little memory (v_order.h).
#pragma once

#include <cstdint>
#include <optional>

#include "engine/base/enum_table.h"
#include "engine/pipeline/schedule.h"
#include "engine/pipeline/v_order.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

// How much a device may hold. `zb_1p`, `zb_2p`: what 1F1B keeps of the first device's microbatches, and twice that (Qi
// et al. 2023). `zb_fit`: what the chips hold; of several limits that fit the one with the shortest step. `zb_v_fit`: the same with two
// chunks of layers a device, placed as a V. `v_half`,
// `v_min`: about a half and a third of what 1F1B keeps, on the V placement (Qi et al. 2024).
enum class OrderRecipe : std::uint8_t { zb_1p, zb_2p, zb_fit, zb_v_fit, v_half, v_min };
inline constexpr EnumTable<OrderRecipe> kOrderRecipes{"zb-1p", "zb-2p", "zb-fit", "zb-v-fit", "v-half", "v-min"};

// The schedule whose stages it places alike and that an order of it stands for: ZB-H1, or ZB-V.
ScheduleKind schedule_of(OrderRecipe);
// Of those that name their limit how many microbatches a device may hold, and of V-Half and V-Min their memory.
std::optional<double> most_microbatches_of(OrderRecipe, int stages);
std::optional<VMemory> v_memory_of(OrderRecipe);

enum class NoOrder : std::uint8_t {
  serves,       // no step of training
  no_pipeline,  // one stage
  cannot_run,   // the plan has an error with the schedule that the order stands for, or a link of unknown speed
  too_long,     // more operations than are tried (kMostGreedyOps)
  does_not_fit  // zb_fit, zb_v_fit: with no limit
};

inline constexpr EnumTable<NoOrder> kNoOrderIds{"serves", "no_pipeline", "cannot_run", "too_long", "does_not_fit"};

struct MadeOrder {
  GivenOrder order;               // stands for ZB-H1, or ZB-V with its two chunks
  double most_microbatches = 0;   // that a device holds
  std::optional<NoOrder> reason;  // none: `order` is there
};

// What a microbatch keeps for its weight gradient counts as evaluate() counts it: at least as what it kept before, more
// where that was computed again; of one microbatch at a time the difference is beside the limit. Deterministic; a few evaluations, for those
// that fit about thirty.
MadeOrder make_order(const Scenario&, OrderRecipe);

}  // namespace roofscape::engine
