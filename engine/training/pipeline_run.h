// The schedule run with the times of its stages: the step's length, its bubbles, and the timeline that is drawn.
#pragma once

#include <cstdint>

#include "engine/pipeline/order_span.h"
#include "engine/training/stage_time.h"

namespace roofscape::engine {

// Working memory, kept between calls by whoever calls often.
struct PipelineScratch {
  SimulationScratch simulation;
  OrderSpans spans;
};

// How the length of a pipeline's step is found: by running its order, unless one of these is given.
struct StepLength {
  // Only the length, by them: there is no order and no timeline, and what comes from these (bubbles, the idle time of
  // even stages) is not known.
  OrderSpans* spans = nullptr;
  // As it was found before, of the same plan: there is no order and no timeline, but all that came from them.
  const SimulatedStep* found = nullptr;
};

// Fills `out` and `pipeline` (shape, order, times, timeline), reusing their memory; an order is kept while its shape
// stays.
template <Scalar S>
void run_stages(const Inputs<S>&, const LayerTime<S>&, const StageKey&, PipelineScratch&, PipelineReport& pipeline,
                StageTime<S>& out, const StepLength& length = {});
extern template void run_stages<double>(const Inputs<double>&, const LayerTime<double>&, const StageKey&,
                                        PipelineScratch&, PipelineReport&, StageTime<double>&, const StepLength&);
extern template void run_stages<Traced>(const Inputs<Traced>&, const LayerTime<Traced>&, const StageKey&,
                                        PipelineScratch&, PipelineReport&, StageTime<Traced>&, const StepLength&);

// Longer steps than this many operations are not drawn and get their makespan from pipeline_time alone.
inline constexpr std::int64_t kMaxDrawnOps = std::int64_t{1} << 22;
inline bool is_drawn(const ScheduleShape& shape) {
  return 2.0 * shape.microbatches * shape.stages * passes_per_device(shape) <= static_cast<double>(kMaxDrawnOps);
}

}  // namespace roofscape::engine
