// A step as a Chrome trace, which Perfetto and chrome://tracing open.
//
// With a pipeline a process a device, with the simulated operations on the thread "compute" (the backward half of an
// overlapped pair on "compute, overlapped") and a counter of activation bytes. Without one, one process that stands
// for every chip, with each layer's forward and backward of each microbatch.
// Threads beside the work: "recompute", what of a backward is forward work done again (in one piece at its start);
// "communication, exposed", by axis, what the work waits for (in one piece after the work that it prolongs);
// "collectives, AXIS", how long the axis is busy in an operation, from its start on; "sends to other stages", each
// with an arrow to the forward or backward that it starts.
// Both end with what closes a step: reductions that wait for the last gradient, the optimizer, transfers to the host
// that nothing hides, the host's own work, waiting for the slowest node. The last slice ends when step.time_s says.
// So sums over a thread, mean of the devices, are parts of the step: "compute" its work, recomputation in it;
// "communication, exposed" what it waits for, reductions in it. What is left of its length are sends and bubble.
// Where pairs overlap, what they hide is taken from the axes of the pair in proportion.
//
// Times are microseconds with six decimals (picoseconds). Microbatches count from 1 as in the figure `pipeline`,
// devices, virtual stages and layers from 0. Equal scenarios give equal bytes.
#pragma once

#include <string>

#include "engine/io/json/result.h"
#include "engine/report/report.h"
#include "engine/scenario/scenario.h"

namespace roofscape::io {

inline constexpr std::size_t kMostTraceEvents = 2'000'000;  // viewers give up long before

// Errors: the schedule cannot run or was too long to simulate, or there are more than kMostTraceEvents operations.
Result<std::string> trace_json(const engine::Scenario& scenario, const engine::Report& report);

}  // namespace roofscape::io
