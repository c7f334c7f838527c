// Runs an order: every device takes its list strictly in order, each operation as early as its inputs allow. The
// result is when each operation starts; everything else (idle time, memory, critical path) is a second pass over it,
// see timeline_analysis.h. Visits every operation once: no event queue, no priority queue.
//
// What an operation needs, with s a virtual stage and k a microbatch: F(s,k) needs F(s-1,k). A backward (whole or
// input gradient) of (s,k) needs F(s,k) and the backward of (s+1,k). W(s,k) needs the input gradient of (s,k).
// Results travel `transfer` ticks between two different devices and no time inside a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/pipeline/schedule.h"

namespace roofscape::engine {

// Integer time, so that equal sums are equal to the last bit. The engine's ticks are picoseconds; callers with
// typed-in numbers choose any scale. Round each operation's duration once, after its parts are summed.
using Tick = std::int64_t;

struct PipelineTimes {
  // By virtual stage (virtual_stage_count entries), for one microbatch. A whole backward lasts input + weight.
  std::vector<Tick> forward, backward_input, backward_weight;
  // Overlapped forward and backward in one operation, by the virtual stage of the *forward*; 0 or an empty vector:
  // the sum of the two. Used by DualPipe and DualPipeV only.
  std::vector<Tick> overlapped;
  Tick transfer = 0;  // between two different devices
  bool blocking_send =
      false;  // the sender, too, is busy for `transfer` (overlapped operations send both ways at once)
};

// Even times from the time of one microbatch through all layers of one device (DualPipe: through one of its two
// stages), divided by the chunks; a remainder is rounded to the nearest tick, so pass multiples of passes_per_device
// to be exact.
PipelineTimes even_times(const ScheduleShape& shape, Tick forward, Tick backward_input, Tick backward_weight,
                         Tick transfer = 0, Tick overlapped = 0);

enum class SimulationOutcome : std::uint8_t {
  finished,
  deadlock,         // an operation waits for an input that never comes
  malformed_order,  // a list names a stage, device or microbatch that does not exist, or joins what cannot be joined
  bad_times,        // a vector does not fit the stages, or a time is negative
  overflow,         // the step could be longer than a Tick can count
};

struct SimulationStatus {
  SimulationOutcome outcome = SimulationOutcome::finished;
  // deadlock and malformed_order: the device and its first operation that could not run (index into Orders::ops). Of
  // a deadlock, the place where the chain of waiting devices ends, or one device of the circle.
  std::uint32_t device = 0;
  std::uint32_t op = 0;
  Op missing;  // deadlock: the operation whose result is missing
  bool finished() const { return outcome == SimulationOutcome::finished; }
  explicit operator bool() const { return finished(); }
};

struct Timeline {
  std::vector<Tick> start;  // start[i] belongs to Orders::ops[i]; both halves of an overlapped pair start together
  std::vector<Tick> busy_until;  // by device: when it is free again after its last operation
  Tick makespan = 0;             // when the last device is free
};

// Working memory, kept between calls by whoever calls often.
struct SimulationScratch {
  struct Step {  // what an operation of one stage and kind does; filled per call
    Tick duration = 0, latency = 0;
    std::size_t input = 0, output = 0;  // rows of `results`, before the microbatch is added
    std::uint32_t device = 0, consumer = 0;
    Tick overlapped = 0;
  };
  std::vector<Step> steps;
  std::vector<Tick> results;  // [direction][position along the way forth and back][microbatch], see simulate.cpp
  std::vector<std::size_t> waiting;
  std::vector<std::uint32_t> cursor, stack;
};

// Whether the times fit a number of virtual stages and the step can be counted: finished, bad_times or overflow.
SimulationOutcome check_times(const PipelineTimes& times, std::size_t stages, std::uint32_t microbatches);

// Anything but `finished` leaves `out` without meaning.
SimulationStatus simulate(const Orders& orders, const PipelineTimes& times, SimulationScratch& scratch,
                          Timeline& out);

}  // namespace roofscape::engine
