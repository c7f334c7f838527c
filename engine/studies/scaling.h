// Scaling a plan over chips: the same mesh with more or fewer ranks of its data axis, at a fixed batch (strong
// scaling) or at a batch that grows with the chips (weak scaling). The rule: chips double or halve with `fsdp` where
// the plan shards or does not replicate, else with `data`. Where a fixed batch has no sequences left for twice the
// ranks, or too few microbatches for the schedule, `context` doubles instead; where the sequence or its heads cannot be
// split further, `tensor`. The cluster grows with them, a torus at its shortest side; with fewer chips the rest of it
// idles, so that the links of those used stay as they are.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/base/enum_table.h"
#include "engine/report/report.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

enum class ScalingMode : std::uint8_t { strong, weak };
inline constexpr EnumTable<ScalingMode> kScalingModeIds{"strong", "weak"};

struct ScalingPoint {
  double chips = 1;
  double tokens_per_s = 0, mfu = 0;
  double ideal_tokens_per_s = 0;  // those of the plan times the ratio of chips
  Bound bound;
  bool fits = true;
  std::string_view problem;  // code of the error that keeps it from running; empty: none
  bool own = false;          // the plan itself
  Axis grown = Axis::fsdp;   // the axis that doubled last on the way from the plan
  bool runs() const { return problem.empty() && fits; }
};

struct ScalingStudy {
  Axis axis = Axis::fsdp;            // the one that grows while there are sequences
  std::vector<ScalingPoint> points;  // by rising chips
  // The first point at which another axis grows; null: the batch lasts.
  const ScalingPoint* without_sequences() const;
};

// The scenario with 2^`octaves` times its chips. Nothing is changed where the axis cannot be halved so often.
Scenario scaled(const Scenario& scenario, ScalingMode mode, int octaves);
ScalingStudy scaling_study(const Scenario& scenario, ScalingMode mode);

}  // namespace roofscape::engine
