// What a MaxText run recomputes: its remat policies by the tensors of a layer that they keep, as the nearest policy of
// Roofscape. For the .cpp files of engine/io.
#pragma once

#include "engine/io/import/key_reader.h"
#include "engine/io/import/launch_plan.h"

namespace roofscape::io {

// Fills the plan's checkpointing. `shape`: how large those tensors are; n_layers 0: not known.
void read_maxtext_remat(KeyReader& keys, LaunchPlan& plan, const engine::TransformerShape& shape);

}  // namespace roofscape::io
