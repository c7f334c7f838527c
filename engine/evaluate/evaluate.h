// The model: a Scenario in, a Report out. No state, no clock; equal Scenarios give equal Reports to the last bit.
#pragma once

#include <memory>

#include "engine/pipeline/order_span.h"
#include "engine/report/report.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

Report evaluate(const Scenario&);

// Working memory for whoever evaluates often. It holds nothing that a result depends on; one thread uses it at a
// time.
class EvaluationScratch {
 public:
  EvaluationScratch();
  ~EvaluationScratch();
  EvaluationScratch(EvaluationScratch&&) noexcept;
  EvaluationScratch& operator=(EvaluationScratch&&) noexcept;

 private:
  friend void evaluate(const Scenario&, EvaluationScratch&, Report&);
  friend void evaluate_quantities(const Scenario&, EvaluationScratch&, OrderSpans&, Report&);
  friend void evaluate_without_timeline(const Scenario&, EvaluationScratch&, OrderSpans&, Report&);
  struct Memory;
  std::unique_ptr<Memory> memory_;
};

// The same, reusing the memory of an old report, and its order of operations while the shape of the schedule stays.
// Nothing is allocated when a scenario of the same shape (stages, microbatches, rows of the tables) went before.
void evaluate(const Scenario&, EvaluationScratch&, Report& out);

// The same report without the pipeline's order and timeline and what comes of them (its bubbles, the idle time of even
// stages and of each device): for whoever asks of many plans whether they run and fit, how long they take and what bounds
// them. Steps of pipelines are as long as those of evaluate(), to the last bit.
void evaluate_without_timeline(const Scenario&, EvaluationScratch&, OrderSpans&, Report& out);

// For a list of training plans that are known to run: the quantities of the report alone, the same to the last bit, but
// without those of the pipeline's timeline (its bubbles, the idle time of even stages), which is not made. The rest of
// `out` means nothing.
void evaluate_quantities(const Scenario&, EvaluationScratch&, OrderSpans&, Report& out);

}  // namespace roofscape::engine
