// What a plan is bound by: the verdict of a report.
#pragma once

#include <array>

#include "engine/evaluate/evaluation.h"
#include "engine/report/report.h"
#include "engine/serving/decode_cost.h"

namespace roofscape::engine {

// Of a part of the step (kStepParts); 0 where it is not known.
double seconds_of_part(const Evaluation<double>&, Q part);

// The resource that is busy longest: arithmetic, HBM, the network (then its busiest axis), the host, its links, or
// nothing at all (bubble).
Bound find_bound(const Evaluation<double>&, const AxisArray<AxisTransfers>& transfers);
// What the decoding step waits for longest. A mesh axis whose collectives take their latency, however little they
// move, is bound by that. The host is what is waited for where it and the starts of kernels take longest.
Bound find_bound(const DecodeCost<double>&);

}  // namespace roofscape::engine
