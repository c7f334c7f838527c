// Schedules that run a forward of one microbatch and a backward of another as one operation (DualPipe, 1F1B with
// overlapped expert all-to-all): how long a pair takes, and what it hides of the communication that layers expose.
#pragma once

#include <vector>

#include "engine/inputs/inputs.h"
#include "engine/pipeline/pipeline_time.h"
#include "engine/training/stage_time.h"

namespace roofscape::engine {

// A pair lasts as long as its work, or as what it sends if that is longer, by the rule of the mode (block_time.h);
// also calibrated all that one half sends is issued under the work of the other. `forward`, `backward` and `layers`
// by virtual stage along the way of a microbatch.
template <Scalar S>
void paired_stages(const Inputs<S>&, const LinkRates<S>&, const StageBlocks<S>&, const ScheduleShape&,
                   const std::vector<S>& forward, const std::vector<S>& backward,
                   const std::vector<StageLayers<S>>& layers, PairedStages<S>& out);
template <Scalar S>
void hide_in_pairs(const Inputs<S>&, const StepCounts<S>&, const StageBlocks<S>&, const PairedStages<S>&,
                   StageWork<S>& work);
// How long a device is at work at least, whatever it joins with what: its work alone, or all it sends.
double least_paired_work(const LinkRates<double>&, const StepCounts<double>&, const StageBlocks<double>&,
                         const StageWork<double>&);
// Fills times.overlapped, whose other times are there: a pair is never longer than its halves.
template <Scalar S>
void pair_times(const PairedStages<S>&, const ScheduleShape&, PipelineTimes& times);
extern template void pair_times<double>(const PairedStages<double>&, const ScheduleShape&, PipelineTimes&);
extern template void paired_stages<double>(const Inputs<double>&, const LinkRates<double>&,
                                           const StageBlocks<double>&, const ScheduleShape&,
                                           const std::vector<double>&, const std::vector<double>&,
                                           const std::vector<StageLayers<double>>&, PairedStages<double>&);
extern template void hide_in_pairs<double>(const Inputs<double>&, const StepCounts<double>&,
                                           const StageBlocks<double>&, const PairedStages<double>&,
                                           StageWork<double>&);

}  // namespace roofscape::engine
