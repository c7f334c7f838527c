// What torch's pipelines and torchtitan count in their own way; the rules and the written files share it.
#pragma once

#include "engine/scenario/checkpoint_policies.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

// Microbatches of a chunk before the next chunk's turn in torch's Interleaved1F1B; 0: it refuses so many microbatches.
int torch_group_size(int stages, int microbatches);
// Of a plan that checkpoints some layers whole: torchtitan's selective option n, which takes every nth layer; 0: no
// such n takes as many.
int every_nth_layer(const Scenario&);

}  // namespace roofscape::engine
