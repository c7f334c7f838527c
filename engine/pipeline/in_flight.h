// Microbatches a device holds at its peak, without writing the order: counted from how each schedule warms up. Equal
// to peak_microbatches of the order (timeline_analysis.h), which the tests compare.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/pipeline/schedule.h"

namespace roofscape::engine {

// Held until the weight gradient, in microbatches of the whole device, so chunks count 1/v. Of interleaved shapes
// whose microbatches do not fill the stages: what the formula says. Group sizes other than the stages are not
// considered. Here to be inlined: a search asks it for every plan.
inline double peak_in_flight(const ScheduleShape& shape, int device) {
  const std::int64_t p = shape.stages, m = shape.microbatches, v = shape.virtual_stages, after = p - 1 - device;
  const auto of_passes = [&](std::int64_t passes) {
    return static_cast<double>(std::min(m * v, passes)) / static_cast<double>(v);
  };
  switch (shape.kind) {
    case ScheduleKind::gpipe:
    case ScheduleKind::looped_bfs:
      return static_cast<double>(m);
    case ScheduleKind::one_f_one_b:
      return static_cast<double>(std::min(m, after + 1));
    case ScheduleKind::eager_1f1b:
      return static_cast<double>(std::min(m, 2 * after + 1));
    case ScheduleKind::interleaved_1f1b:
      return of_passes(2 * after + (v - 1) * p + 1);
    case ScheduleKind::zb_h1:
      return of_passes(v * p);  // warm-up, the lag of the weight gradients and one more
    case ScheduleKind::zb_h2:
      return static_cast<double>(std::min(m, 2 * p - 1));
    case ScheduleKind::zb_v:  // both chunks before the first backward
      return static_cast<double>(std::min(m, p + after) + std::min<std::int64_t>(m, device + 1)) / 2;
    case ScheduleKind::dualpipe:
      return static_cast<double>(p + 1);
    case ScheduleKind::dualpipe_v:
      return static_cast<double>(2 * p + 1) / 2;
  }
  return static_cast<double>(m);
}

}  // namespace roofscape::engine
