// Microbatches a device holds at its peak, without writing the order: counted from how each schedule warms up. Equal to
// peak_microbatches of the order (timeline_analysis.h), which the tests compare.
#pragma once

#include "engine/pipeline/schedule.h"

namespace roofscape::engine {

// Held until the weight gradient, in microbatches of the whole device, so chunks count 1/v. Of interleaved shapes whose
// microbatches do not fill the stages: what the formula says. Group sizes other than the stages are not considered.
double peak_in_flight(const ScheduleShape& shape, int device);

}  // namespace roofscape::engine
