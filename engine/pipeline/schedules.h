// Which pipeline schedules there are, and what is true of each: the rows of schedules.def as an enumeration and a
// table. schedule.h says what a schedule is and makes its order.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/base/enum_table.h"

namespace roofscape::engine {

enum class ScheduleKind : std::uint8_t {
#define SCHEDULE(name, ...) name,
#include "engine/pipeline/schedules.def"
#undef SCHEDULE
};
inline constexpr int kScheduleKinds = static_cast<int>(kEnumCount<ScheduleKind>);

// Orders that share an idea; figures draw them in one hue.
enum class ScheduleFamily : std::uint8_t { gpipe, one_f_one_b, looped, zero_bubble, zero_bubble_v, dualpipe };

// Which virtual stages device r of p holds.
enum class StagePlacement : std::uint8_t {
  looped,     // r, r+p, r+2p, ...
  v,          // r and 2p-1-r
  both_ways,  // one stage of either direction; microbatches enter at both ends
};

// A number of microbatches that grows with the stages.
struct MicrobatchesPerStages {
  int per_stage = 0, more = 1;
  constexpr std::int64_t of(std::int64_t stages) const { return per_stage * stages + more; }
};

// In which order backwards run that all wait for the last forward: as the forwards did, which is torch's, or the last
// microbatch first, as in GPipe's own figure. Both take as long and hold as much.
enum class BackwardOrder : std::uint8_t { first_in, last_in };
inline constexpr EnumTable<BackwardOrder> kBackwardOrders{"first-in", "last-in"};

inline constexpr int kAnyChunks = 0;

struct ScheduleFacts {
  ScheduleFamily family;
  int figure_rank = kScheduleKinds;  // figures of several schedules show the lowest first: what can differ most
  bool splits_backward = false;      // weight gradients are operations of their own in at least part of the order
  bool overlaps = false;             // a device overlaps a forward with a backward in one operation
  StagePlacement placement = StagePlacement::looped;
  int fixed_chunks = 1;                           // per device: the number the order is defined for, or kAnyChunks
  int usual_chunks = 1;                           // with any number: that of a plan that says nothing
  MicrobatchesPerStages least_microbatches = {};  // to fill the pipeline
  bool chunks_fill_stages = false;                // with chunks, microbatches come in multiples of the stages
  bool takes_groups = false;                      // the group size is free (ScheduleShape::group_size)
  bool orders_backwards = false;                  // all of them wait for the last forward (BackwardOrder)
  bool blocks_sends = false;                      // its software does not compute while it sends
  bool for_experts = false;                       // made to hide their traffic: of dense models not searched
  std::string_view elsewhere = {};                // another name for it, offered where that is typed
  std::string_view torch = {};                    // its class in torch.distributed.pipelining, without "Schedule"
};

inline constexpr EnumTable<ScheduleKind> kScheduleIds{
#define SCHEDULE(name, id, ...) id,
#include "engine/pipeline/schedules.def"
#undef SCHEDULE
};

inline constexpr std::array<ScheduleFacts, kScheduleKinds> kScheduleFacts{{
#define SCHEDULE(name, id, ...) {__VA_ARGS__},
#include "engine/pipeline/schedules.def"
#undef SCHEDULE
}};

// In the order of the rows.
inline constexpr std::array<ScheduleKind, kScheduleKinds> kSchedules{
#define SCHEDULE(name, ...) ScheduleKind::name,
#include "engine/pipeline/schedules.def"
#undef SCHEDULE
};

constexpr const ScheduleFacts& facts_of(ScheduleKind kind) { return kScheduleFacts[static_cast<std::size_t>(kind)]; }

constexpr std::string_view schedule_id(ScheduleKind kind) { return kScheduleIds[kind]; }
constexpr std::optional<ScheduleKind> parse_schedule(std::string_view id) { return kScheduleIds.parse(id); }

constexpr bool splits_backward(ScheduleKind kind) { return facts_of(kind).splits_backward; }
constexpr bool overlaps_forward_backward(ScheduleKind kind) { return facts_of(kind).overlaps; }

// Chunks of a device when the user says nothing. A device that holds one stage of either direction counts as 1.
constexpr int default_virtual_stages(ScheduleKind kind) {
  const ScheduleFacts& facts = facts_of(kind);
  return facts.fixed_chunks == kAnyChunks ? facts.usual_chunks : facts.fixed_chunks;
}
// True where the number of chunks is a choice of the plan, from 2 on: what a search varies.
constexpr bool varies_chunks(ScheduleKind kind) {
  return facts_of(kind).fixed_chunks == kAnyChunks && facts_of(kind).usual_chunks > 1;
}
// Stages whose weights a device holds for each of its chunks: one for each direction of the microbatches.
constexpr int directions(ScheduleKind kind) { return facts_of(kind).placement == StagePlacement::both_ways ? 2 : 1; }

}  // namespace roofscape::engine
