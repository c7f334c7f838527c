// How much of a pipelined step its stages wait: as simulated, and as it is where all stages take equally long.
#pragma once

#include "engine/training/stage_time.h"

namespace roofscape::engine {

template <Scalar S>
struct Bubble {
  S bubble_fraction;  // of the makespan: what a stage does not work, transfers included; 0 without a pipeline
  S bubble_even;      // (p - 1) / (m + p - 1): p stages, m microbatches (Huang et al. 2019)
  // Of a simulated schedule, what a device waits with no transfer to it under way (step.bubble_s) in two: what equal
  // stages idle too, and what comes of stages that take longer than others.
  S idle_even, idle_imbalance;
};

template <Scalar S>
void bubble(const Inputs<S>&, const StageTime<S>&, Bubble<S>& out);
extern template void bubble<double>(const Inputs<double>&, const StageTime<double>&, Bubble<double>&);
extern template void bubble<Traced>(const Inputs<Traced>&, const StageTime<Traced>&, Bubble<Traced>&);

}  // namespace roofscape::engine
