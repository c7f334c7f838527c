// The chips of a job from what was asked for and what its launcher states. For the .cpp files of engine/io.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/io/import/launch_plan.h"
#include "engine/io/json/result.h"
#include "engine/io/presets/preset_library.h"
#include "engine/scenario/scenario.h"

namespace roofscape::io {

// `wish`: a cluster's id or file, a chip's id (as many as the launcher states), or CHIP:N. None: a chip without a count.
struct RequestedCluster {
  engine::Cluster cluster;
  bool counted = true;    // false: a chip whose number nothing states
  bool own_count = true;  // the wish says how many, over what the launcher states
};
Result<RequestedCluster> requested_cluster(std::string_view wish, const LaunchPlan&, const PresetLibrary&);

}  // namespace roofscape::io
