// Whether an order says what can be run at all. That it also comes to an end is found by running it.
#pragma once

#include "engine/pipeline/schedule.h"
#include "engine/pipeline/simulation_status.h"

namespace roofscape::engine {

// Finished, or malformed_order with the first operation that cannot stand where it does: its stage or microbatch does
// not exist or belongs to another device, or it is joined with what it cannot be joined with. (Of lists that do not
// follow one another, or stages on no device: device 0, operation 0.)
SimulationStatus check_order(const Orders& orders);

bool has_pairs(const Orders& orders);

}  // namespace roofscape::engine
