// What came of running an order, or of making it ready to run.
#pragma once

#include <cstdint>

#include "engine/pipeline/schedule.h"

namespace roofscape::engine {

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

}  // namespace roofscape::engine
