// What Megatron Core counts in its own way; its rules and its flags share it.
#pragma once

#include "engine/base/sentence.h"
#include "engine/scenario/checkpoint_policies.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

// A part of the model that Megatron Core's GPT has no option for; empty: there is none.
Sentence foreign_to_megatron(const TransformerShape&);
// Layers of a segment that recomputes as one (--recompute-method uniform --recompute-num-layers); 0: the segments of the
// plan are not all of that many, or do not lie inside virtual stages.
int megatron_segment_layers(const Scenario&);
// Layers of each stage that recompute (--recompute-method block --recompute-num-layers); 0: not as many on every stage.
int megatron_blocks_per_stage(const Scenario&);

}  // namespace roofscape::engine
