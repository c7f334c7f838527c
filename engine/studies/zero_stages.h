// The four ZeRO stages of a plan side by side: what each shards, what that leaves on a chip and what the step takes
// (Rajbhandari et al. 2020; scaling book, chapter 5). The rest of the plan stays as it is.
#pragma once

#include <array>

#include "engine/report/report.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

inline constexpr int kZeroStages = 4;

struct ZeroStagesStudy {
  struct Variant {
    Scenario scenario;
    Report report;  // without the pipeline's timeline
  };
  std::array<Variant, kZeroStages> stages;
  int shards = 1;               // ranks over which state is sharded
  bool from_data_axis = false;  // the plan shards over none, so that its data ranks are taken
};

ZeroStagesStudy zero_stages_study(const Scenario& scenario);

}  // namespace roofscape::engine
