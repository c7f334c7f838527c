// A LaunchPlan on a cluster as a Scenario with its receipt: the one place where chips are shared out among the axes and
// batches among the ranks. For the .cpp files of engine/io.
#pragma once

#include "engine/io/import/import_launch.h"
#include "engine/io/import/launch_plan.h"

namespace roofscape::io {

Result<Imported> plan_scenario(LaunchPlan plan, std::string_view file, const ImportRequest&, const PresetLibrary&);

}  // namespace roofscape::io
