// When each operation of an order runs.
#pragma once

#include <vector>

#include "engine/pipeline/pipeline_times.h"

namespace roofscape::engine {

struct Timeline {
  std::vector<Tick> start;  // start[i] belongs to Orders::ops[i]; both halves of an overlapped pair start together
  std::vector<Tick> busy_until;  // by device: when it is free again after its last operation
  std::vector<Tick> busy;        // by device: time in which it computes; an overlapped pair counts once
  Tick makespan = 0;             // when the last device is free
  // Idle time, summed over the devices, in which what the next operation waits for is on its way from another device,
  // or (blocking_send) the device is still sending. The rest of the idle time is spent waiting for others to compute.
  Tick in_transfer = 0;
};

}  // namespace roofscape::engine
