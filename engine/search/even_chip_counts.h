// How many chips of an awkward number a mesh can use with nothing left over in any of its axes. Of 12,000 chips most
// meshes leave sequences, layers or heads that do not divide; who has so many runs on 10,752 or 8,192 of them.
#pragma once

#include <vector>

#include "engine/scenario/scenario.h"

namespace roofscape::engine {

// Numbers of chips that a mesh on the scenario's cluster can have with a tensor degree that splits the heads inside a
// node, a context degree that divides the sequence, a pipeline degree that divides the layers, and data ranks that
// divide the batch: those of which no larger one is a simpler product, where the simpler of two has the smaller odd
// factor; falling, the last a power of two. 1,152 chips can have 9 stages, and 1,024 of them need not. What a search is
// limited to does not change them, so that a narrower search finds no plan that a wider one does not know.
std::vector<int> even_chip_counts(const Scenario&);

// The same of replicas, of which there may be any number: all chips, and of fewer those of which no larger number is a
// simpler product. Experts spread over as many ranks as divide them: 64 over 96 chips, or over 64 of 72.
std::vector<int> simpler_chip_counts(int chips);

}  // namespace roofscape::engine
