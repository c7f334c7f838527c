// What devices hold and do before gradients come back, without writing the order: counted from how each schedule warms
// up.
#pragma once

#include <optional>

#include "engine/pipeline/schedule.h"

namespace roofscape::engine {

// Microbatches a device holds at its peak, until the weight gradient, in microbatches of the whole device, so chunks
// count 1/v. Equal to peak_microbatches of the order (timeline_analysis.h), which the tests compare. Of interleaved
// shapes whose microbatches do not fill the stages: what the formula says. Group sizes other than the stages are not
// considered.
double peak_in_flight(const ScheduleShape& shape, int device);

// Where the backward is split on one way: what the order of device 0 puts before its first input gradient, at most.
struct WorkBeforeReturn {
  double first_chunk = 0;  // forwards of its first chunk
  double last_chunk = 0;   // forwards with their backwards of its last chunk, of a V
};
// Nothing for other orders, and where it is not known.
std::optional<WorkBeforeReturn> work_before_return(const ScheduleShape& shape);

}  // namespace roofscape::engine
