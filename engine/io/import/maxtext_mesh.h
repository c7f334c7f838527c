// The mesh of a MaxText run: the slices that it is compiled for and the axes inside (ici_) and across (dcn_) them, as the
// degrees of a plan. For the .cpp files of engine/io.
#pragma once

#include <cstdint>

#include "engine/io/import/key_reader.h"
#include "engine/io/import/launch_plan.h"

namespace roofscape::io {

struct MaxtextMesh {
  std::int64_t inner = 1;  // devices of one rank: tensor, context and pipeline
  int pipeline = 1;
};

// Fills the plan's chips and degrees. Where it fails, keys.failure() says why.
MaxtextMesh read_maxtext_mesh(KeyReader& keys, LaunchPlan& plan);

}  // namespace roofscape::io
