// The batch of a torchtitan run and the pipeline that it goes through: microbatches, the schedule, and which layers the
// stages have. For the .cpp files of engine/io.
#pragma once

#include "engine/io/import/key_reader.h"
#include "engine/io/import/launch_plan.h"

namespace roofscape::io {

// What decides how its keys are meant.
struct TitanLayout {
  bool is_old = false;  // before all degrees were under [parallelism]
  int pipeline = 1;     // degree
  int layers = 0;       // of the model; 0: not known
};

// Fills the plan's batch and pipeline; its degrees are read before. Where it fails, keys.failure() says why.
void read_titan_pipeline(KeyReader& keys, LaunchPlan& plan, const TitanLayout& layout);

}  // namespace roofscape::io
