// Published runs that contradict their neighbours: what one source measured twice, with one thing changed, and which
// then went as no machine goes. Judged by the measurements alone, whatever is predicted of them:
//   servers    with more requests in flight, all else equal, a token took less than 1 / kFasterWithMore of the time;
//              runs of one engine are compared whatever its version
//   training   on more data-parallel ranks, all else equal, a chip did more work by kFasterPerChip, or all chips
//              together less; or of the same chips, dealt to stages and data-parallel ranks in one way, did less by
//              kFasterPerChip than with fewer stages and than with more
// Nobody can say which of two such runs is wrong. Of several neighbours the run that contradicts most of them is
// marked, and so on until none contradicts another; where several contradict as many, all of these are.
//
// Marked runs are kept and predicted, but apart: no fit, no error band and no summary of times counts them. What memory
// they took stands.
#pragma once

#include <span>
#include <vector>

#include "engine/io/presets/measurements.h"

namespace roofscape::evidence {

inline constexpr double kFasterWithMore = 1.2;
inline constexpr double kFasterPerChip = 0.05;

// One for each entry.
std::vector<bool> contradicting_runs(std::span<const io::Measurement>);

}  // namespace roofscape::evidence
