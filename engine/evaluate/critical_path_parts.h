// The critical path of a simulated pipeline by what fills it: what a makespan ends in, where a formula ends in inputs.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/base/enum_table.h"
#include "engine/report/report.h"

namespace roofscape::engine {

enum class PathPart : std::uint8_t { forward, backward, backward_input, backward_weight, transfer };
inline constexpr EnumTable<PathPart> kPathPartIds{"forward", "backward", "backward_input", "backward_weight",
                                                  "transfer"};

struct CriticalPathPart {
  PathPart part = PathPart::forward;
  int count = 0;      // operations, or transfers waited for
  double time_s = 0;  // of all of them
};

// In the order of PathPart, without those that are not on the path; their times add up to the makespan. Empty where
// nothing was simulated operation by operation (one stage, or a pipeline too long to draw). An overlapped pair counts
// as the half that was waited for.
std::vector<CriticalPathPart> critical_path_parts(const PipelineReport&);

}  // namespace roofscape::engine
