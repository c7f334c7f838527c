// The steps of a plan in another sequence, for those who run an order twice at once (simulate_both): by how many steps
// have to be done before, one after the other. None waits for another of its level, so that a processor has several
// under way. What is read soon lies together: by steps, not by the lists of the devices, which share places of a cache
// where they are as long as a power of two.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/pipeline/run_plan.h"

namespace roofscape::engine {

struct StepsByLevel {
  // Starts lie in a table of ticks, kStartTicks for each step, counted from 1; before them one for what waits for
  // nothing. What kinds wait for lies in another, kDelayTicks for each: two for the operation before, two for the
  // producer, its hop, and one that keeps the next pair aligned. A step has the places in these tables.
  static constexpr std::uint32_t kStartTicks = 2, kDelayTicks = 6;
  // As RunPlan::Step.
  struct Step {
    std::uint32_t before, producer, kind;
    friend bool operator==(const Step&, const Step&) = default;
  };
  std::vector<Step> steps;
  std::vector<std::uint32_t> start_of;  // by operation, in the table; of a pair, both times that of its second half
  bool empty() const { return steps.empty(); }
  void clear() { steps.clear(); }
};

void order_by_level(const RunPlan&, RunPlanScratch&, StepsByLevel& out);

}  // namespace roofscape::engine
