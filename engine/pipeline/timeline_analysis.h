// What a simulated step says: busy and idle time, the bubble in its three conventions, activation memory, the
// critical path and what an operation waited for. All are second passes over an order and its timeline, made on
// demand. Preconditions everywhere: `orders`, `times` and `timeline` belong together and the simulation finished.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/pipeline/schedule.h"
#include "engine/pipeline/simulate.h"

namespace roofscape::engine {

inline constexpr std::uint32_t kNoOp = 0xffffffffu;

// ---- single operations ----

// Both halves of an overlapped pair last as long as the pair.
Tick op_duration(const Orders& orders, const PipelineTimes& times, std::uint32_t op);
inline Tick op_end(const Orders& orders, const PipelineTimes& times, const Timeline& timeline, std::uint32_t op) {
  return timeline.start[op] + op_duration(orders, times, op);
}
std::uint32_t device_of_op(const Orders& orders, std::uint32_t op);
// The device that reads its result: its own where no other does.
std::uint32_t receiver_of(const Orders& orders, Op op);
// How long its result is on its way there.
Tick send_time(const Orders& orders, const PipelineTimes& times, Op op);
// True for the second half of an overlapped pair.
bool joined_with_previous(const Orders& orders, std::uint32_t op);
// The operation with this kind, stage and microbatch (backward also finds a split input gradient and the reverse), or
// kNoOp. Scans one device's list.
std::uint32_t find_op(const Orders& orders, OpKind kind, std::uint32_t stage, std::uint32_t microbatch);

// ---- time ----

// makespan - busy, by device; waiting for a blocking send counts as idle.
void idle_per_device(const Timeline& timeline, std::vector<Tick>& out);

// The conventions in use for "the bubble"; say which one is on screen.
struct Bubbles {
  double bubble_time = 0;    // ticks: makespan - mean busy time of a device
  double ratio_to_work = 0;  // bubble_time / mean busy time; (p-1)/m for 1F1B. 0 when there is no work
  double idle_fraction = 0;  // bubble_time / makespan; (p-1)/(m+p-1) for 1F1B. 0 for an empty step
  Tick span_bubble = 0;      // max over devices of last end - first start - busy: what is lost when the next step may
                             // start skewed (zero-bubble papers; needs an optimizer step without a global barrier)
};
Bubbles bubbles(const Orders& orders, const PipelineTimes& times, const Timeline& timeline);
// The same from what idle_per_device gave.
Bubbles bubbles(const Orders& orders, const PipelineTimes& times, const Timeline& timeline,
                const std::vector<Tick>& idle_of_device);

// ---- activation memory ----

// Bytes (or any unit) one microbatch keeps on a virtual stage, from the start of its forward. A whole backward frees
// all at its end; where the backward is split, part goes with the input gradient and the rest with the weight
// gradient.
struct ActivationSizes {
  std::vector<double> freed_after_input, freed_after_weight;  // by virtual stage
};

// Peak in microbatches through one device (a chunk counts 1/v; DualPipe: microbatches of one stage), when everything
// is kept until the weight gradient (the safe limit) or freed with the input gradient.
enum class KeptUntil : std::uint8_t { weight_gradient, input_gradient };
void peak_microbatches(const Orders& orders, KeptUntil kept, std::vector<double>& out);

// The memory of one device over time: the amount from `time` on, until the next point. Ends at zero.
struct MemoryPoint {
  Tick time = 0;
  double amount = 0;
};
void memory_trace(const Orders& orders, const PipelineTimes& times, const Timeline& timeline,
                  const ActivationSizes& sizes, std::uint32_t device, std::vector<MemoryPoint>& out);

// ---- why ----

enum class WaitKind : std::uint8_t {
  nothing,       // starts the step
  device_order,  // the operation before it on the same device was still running
  sending,       // the device was still sending the result of the operation before it (blocking_send)
  input,         // an input computed on the same device
  transfer,      // an input from another device, transfer included
};

// What decided when an operation started: `op` is the operation that was waited for, whose end (plus the transfer for
// `transfer` and `sending`) is the start. Where several ended at the same tick the device's own order is named.
struct WaitedFor {
  WaitKind kind = WaitKind::nothing;
  std::uint32_t op = kNoOp;
};
WaitedFor waited_for(const Orders& orders, const PipelineTimes& times, const Timeline& timeline, std::uint32_t op);

// A chain of operations that fills the step from 0 to the makespan without a gap, first to last. An overlapped pair
// appears as its half that was waited for.
struct CriticalStep {
  std::uint32_t op = kNoOp;
  WaitKind waited = WaitKind::nothing;  // for the operation before it in the chain
};
void critical_path(const Orders& orders, const PipelineTimes& times, const Timeline& timeline,
                   std::vector<CriticalStep>& out);

}  // namespace roofscape::engine
