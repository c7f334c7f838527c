// A collective step by step: which rank holds what before and after each step, and what a step sends. AllGather and
// ReduceScatter go round a ring, an AllReduce is the second and then the first (scaling book, chapter 3; Patarasuk and
// Yuan 2009); an AllToAll exchanges blocks in pairs. The array has as many blocks as there are ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/base/collective_kind.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

// What a rank has in one of its places.
struct HeldBlock {
  bool held = false;
  bool arrived = false;  // in this step, whole or as one more contribution to a sum
  int block = 0;         // of the array; of an AllToAll the rank it is for
  int from = 0;          // of an AllToAll the rank it came from
  int summed = 0;        // ranks whose contributions are in it
};

enum class SteppedArray : std::uint8_t { weights, gradients, activations };

struct CollectiveSteps {
  CollectiveKind kind = CollectiveKind::all_gather;
  int ranks = 1;
  int steps = 0;
  // What is moved: one matrix of the MLP, its gradient, or the activations of a sequence on a rank.
  SteppedArray array = SteppedArray::weights;
  int rows = 0, columns = 0;
  Dtype dtype = Dtype::bf16;
  double array_bytes = 0;  // of a whole array; of an AllToAll what a rank has
  double block_bytes = 0;  // what a rank sends in a step
  double sent_bytes = 0;   // by a rank, in all steps
  // Before (0) and after each step, by rank and place.
  const HeldBlock& at(int step, int rank, int place) const {
    return held[(static_cast<std::size_t>(step) * static_cast<std::size_t>(ranks) + static_cast<std::size_t>(rank)) *
                    static_cast<std::size_t>(ranks) +
                static_cast<std::size_t>(place)];
  }
  std::vector<HeldBlock> held;
};

// `ranks`: a power of two, for an AllToAll pairs them. A kind that is no collective has no steps.
CollectiveSteps collective_steps(const Scenario&, CollectiveKind, int ranks);

}  // namespace roofscape::engine
