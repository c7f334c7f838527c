// Runs an order: every device takes its list strictly in order, each operation as early as its inputs allow. The
// result is when each operation starts; everything else (idle time, memory, critical path) is a second pass over it,
// see timeline_analysis.h. Visits every operation once: no event queue, no priority queue. What does not depend on
// time is worked out before, see run_plan.h, and kept by whoever runs an order again.
//
// What an operation needs, with s a virtual stage and k a microbatch: F(s,k) needs F(s-1,k). A backward (whole or
// input gradient) of (s,k) needs F(s,k) and the backward of (s+1,k). W(s,k) needs the input gradient of (s,k).
// Results travel between two different devices as long as PipelineTimes::hop says, and no time inside a device.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "engine/pipeline/run_plan.h"
#include "engine/pipeline/schedule.h"

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

struct Timeline {
  std::vector<Tick> start;  // start[i] belongs to Orders::ops[i]; both halves of an overlapped pair start together
  std::vector<Tick> busy_until;  // by device: when it is free again after its last operation
  std::vector<Tick> busy;        // by device: time in which it computes; an overlapped pair counts once
  Tick makespan = 0;             // when the last device is free
  // Idle time, summed over the devices, in which what the next operation waits for is on its way from another device,
  // or (blocking_send) the device is still sending. The rest of the idle time is spent waiting for others to compute.
  Tick in_transfer = 0;
};

// Working memory, kept between calls by whoever calls often.
struct SimulationScratch {
  struct Delays {  // of the steps of one kind
    Tick before, producer, latency;
  };
  struct Tables {
    std::vector<Tick> durations, occupied;  // by work: of the operation, and with its blocking send
    std::vector<Delays> delays;
    std::vector<std::uint32_t> node_of;  // by device, where nodes have links of their own
  };
  Tables tables, other_tables;
  RunPlanScratch planning;
  RunPlan plan;  // of the call that gives an order
};

// Whether the times fit a number of virtual stages and the step can be counted: finished, bad_times or overflow.
SimulationOutcome check_times(const PipelineTimes& times, std::size_t stages, std::uint32_t microbatches);

// Anything but `finished` leaves `out` without meaning. Given a plan of the order, this is one pass without a check.
SimulationStatus simulate(const RunPlan& plan, const PipelineTimes& times, SimulationScratch& scratch, Timeline& out);
// The same order with two sets of times in one pass: cheaper than one after the other. Finished if both are. The other
// is run for its totals: when the first halves of its pairs start, and what of its idle time is waiting for transfers
// (in_transfer), is not found.
SimulationStatus simulate_both(const RunPlan& plan, const PipelineTimes& times, const PipelineTimes& other,
                               SimulationScratch& scratch, Timeline& out, Timeline& other_out);
SimulationStatus simulate(const Orders& orders, const PipelineTimes& times, SimulationScratch& scratch,
                          Timeline& out);

// Operations that stand one after the other in a device's list.
struct OpRange {
  std::size_t first = 0, end = 0;
};
// What a part of a step adds to Timeline::busy and in_transfer.
struct PartTotals {
  std::vector<Tick> busy;  // by device
  Tick in_transfer = 0;
  std::vector<Tick> last;  // working memory
};
// Of a range on each device, whose first operation is not the first of the device, is no second half of a pair, and
// comes after the same work as what comes after the last. `tables` and `timeline` as simulate() has left them.
void sum_part(const RunPlan& plan, const SimulationScratch::Tables& tables, const Timeline& timeline,
              const std::vector<OpRange>& of_device, PartTotals& out);

}  // namespace roofscape::engine
