// What devices hold and do before gradients come back, without writing the order: counted from how each schedule warms
// up.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "engine/base/fixed_list.h"
#include "engine/pipeline/schedule.h"

namespace roofscape::engine {

// Microbatches a device holds at its peak, until the weight gradient, in microbatches of the whole device, so chunks
// count 1/v. Equal to peak_microbatches of the order (timeline_analysis.h), which the tests compare.
double peak_in_flight(const ScheduleShape& shape, int device);

// What a device holds at a moment, in microbatches of the whole device: all of them until their weight gradients, and
// those among them whose input gradients are done and whose weight gradients are put off. Where layers are computed
// again for the input gradient, these take more than the others.
struct HeldMicrobatches {
  double all = 0, postponed = 0;
  friend bool operator==(const HeldMicrobatches&, const HeldMicrobatches&) = default;
};
// The moments of which one is the device's peak, however much more a put-off weight gradient takes than what was kept
// before it. The first has most microbatches: peak_in_flight. Equal to the order's, which the tests compare; of a
// given order (ListedOrder) with more such moments than there is room for, not less than it has.
using HeldMoments = FixedList<HeldMicrobatches, 4>;
HeldMoments held_moments(const ScheduleShape& shape, int device);

// How often a step has a forward of that virtual stage joined with a backward of each of its partners (pair_partner);
// 0 for schedules that overlap nothing. `counts` has pair_partners entries.
void overlapped_pairs(const ScheduleShape& shape, int virtual_stage, std::span<std::int64_t> counts);

// Where the backward is split on one way: what the order of device 0 puts before its first input gradient, at most.
struct WorkBeforeReturn {
  double first_chunk = 0;  // forwards of its first chunk
  double last_chunk = 0;   // forwards with their backwards of its last chunk, of a V
};
// Nothing for other orders, and where it is not known.
std::optional<WorkBeforeReturn> work_before_return(const ScheduleShape& shape);

}  // namespace roofscape::engine
