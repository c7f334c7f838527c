// Runs an order: every device takes its list strictly in order, each operation as early as its inputs allow. The
// result is when each operation starts; everything else (idle time, memory, critical path) is a second pass over it,
// see timeline_analysis.h. Visits every operation once: no event queue, no priority queue. Whoever runs an order again
// with other times keeps what does not depend on them (run_plan.h); what is run once needs no plan (order_run.h).
//
// What an operation needs, with s a virtual stage and k a microbatch: F(s,k) needs F(s-1,k). A backward (whole or
// input gradient) of (s,k) needs F(s,k) and the backward of (s+1,k). W(s,k) needs the input gradient of (s,k).
// Results travel between two different devices as long as PipelineTimes::hop says, and no time inside a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/pipeline/order_run.h"
#include "engine/pipeline/run_plan.h"
#include "engine/pipeline/steps_by_level.h"
#include "engine/pipeline/timeline.h"

namespace roofscape::engine {

// Working memory, kept between calls by whoever calls often.
struct SimulationScratch {
  struct Delays {  // of the steps of one kind
    Tick before, producer, latency;
  };
  struct Tables {
    std::vector<Tick> durations, occupied;  // by work: of the operation, and with its blocking send
    std::vector<Delays> delays;             // where it is the only one
    std::vector<std::uint32_t> node_of;     // by device, where nodes have links of their own
  };
  Tables tables, other_tables;
  // Of two runs in one pass, where what belongs together lies together (StepsByLevel).
  std::vector<Tick> delays_of_both, starts_of_both;
  RunPlanScratch planning;
  OrderRunScratch order;  // of the call that gives one
};

// Anything but `finished` leaves `out` without meaning. Given a plan of the order, this is one pass without a check.
// Given the order itself, what is wrong with it is found first.
SimulationStatus simulate(const RunPlan& plan, const PipelineTimes& times, SimulationScratch& scratch, Timeline& out);
// The same order with two sets of times in one pass: cheaper than one after the other. Finished if both are. The other
// is run for its totals: when its operations start, and what of its idle time is waiting for transfers (in_transfer),
// is not found. `steps`: of the plan.
SimulationStatus simulate_both(const RunPlan& plan, const StepsByLevel& steps, const PipelineTimes& times,
                               const PipelineTimes& other, SimulationScratch& scratch, Timeline& out,
                               Timeline& other_out);
SimulationStatus simulate(const Orders& orders, const PipelineTimes& times, SimulationScratch& scratch,
                          Timeline& out);

// Operations that stand one after the other in a device's list.
struct OpRange {
  std::size_t first = 0, end = 0;
};
// What a part of a step adds to Timeline::busy and in_transfer.
struct PartTotals {
  std::vector<Tick> busy;  // by device
  Tick in_transfer = 0;
  std::vector<Tick> last;  // working memory
};
// Of a range on each device, whose first operation is not the first of the device, is no second half of a pair, and
// comes after the same work as what comes after the last. `tables` and `timeline` as simulate() has left them.
void sum_part(const RunPlan& plan, const SimulationScratch::Tables& tables, const Timeline& timeline,
              const std::vector<OpRange>& of_device, PartTotals& out);

}  // namespace roofscape::engine
