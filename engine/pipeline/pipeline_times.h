// How long the operations of a pipeline's step last, and its transfers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "engine/pipeline/schedule.h"
#include "engine/pipeline/simulation_status.h"

namespace roofscape::engine {

// Integer time, so that equal sums are equal to the last bit. The engine's ticks are picoseconds; callers with
// typed-in numbers choose any scale. Round each operation's duration once, after its parts are summed.
using Tick = std::int64_t;
// All operations and transfers of a step one after the other may last no longer.
inline constexpr Tick kLongestRow = std::numeric_limits<Tick>::max() / 4;

struct PipelineTimes {
  // By virtual stage (virtual_stage_count entries), for one microbatch. A whole backward lasts input + weight.
  std::vector<Tick> forward, backward_input, backward_weight;
  // Overlapped forward and backward in one operation, by the virtual stage of the *forward* and, where that is joined
  // with any of its device's looped chunks, by the chunk of the backward: one or pair_partners entries for each stage;
  // 0 or an empty vector: the sum of the two.
  std::vector<Tick> overlapped;
  Tick transfer = 0;  // between two different devices
  // Devices of one node (on a torus: of one slice) have faster links: device d is in node d / node_devices. With 1
  // all hops are alike.
  std::uint32_t node_devices = 1;
  Tick transfer_in_node = 0;
  bool blocking_send = false;  // the sender, too, is busy for the hop (overlapped operations send both ways at once)
  friend bool operator==(const PipelineTimes&, const PipelineTimes&) = default;

  // How long a result travels from one device to another.
  Tick hop(std::uint32_t from, std::uint32_t to) const {
    if (from == to) return 0;
    return node_devices > 1 && from / node_devices == to / node_devices ? transfer_in_node : transfer;
  }
  Tick shortest_hop() const { return node_devices > 1 ? std::min(transfer, transfer_in_node) : transfer; }
  Tick longest_hop() const { return node_devices > 1 ? std::max(transfer, transfer_in_node) : transfer; }
};
// From each device to the next, and back.
Tick hops_along(const PipelineTimes& times, int devices);

// How long one operation of a virtual stage lasts, and an overlapped pair: a forward of one and a whole backward of
// another.
Tick duration_of(const PipelineTimes& times, std::uint32_t stage, OpKind kind);
Tick duration_of_pair(const PipelineTimes& times, std::uint32_t forward_stage, std::uint32_t backward_stage);

// Even times from the time of one microbatch through all layers of one device (DualPipe: through one of its two
// stages), divided by the chunks; a remainder is rounded to the nearest tick, so pass multiples of passes_per_device
// to be exact.
PipelineTimes even_times(const ScheduleShape& shape, Tick forward, Tick backward_input, Tick backward_weight,
                         Tick transfer = 0, Tick overlapped = 0);

// Whether the times fit a number of virtual stages and the step can be counted: finished, bad_times or overflow.
SimulationOutcome check_times(const PipelineTimes& times, std::size_t stages, std::uint32_t microbatches);

}  // namespace roofscape::engine
