// What decided how long a step took, as a bound for steps of the same shape with other times: the chain of operations
// and hops that fills it without a gap. It is a chain of every step of the shape, and none is shorter than any of its
// chains; between similar times the same one decides, and its length is the step's to the last tick. (The makespan is
// a maximum of sums, one for each chain: Baccelli, Cohen, Olsder and Quadrat, Synchronization and Linearity, 1992.)
// critical_path (timeline_analysis.h) tells such a chain of an order, with its waits in words; here it is of a plan that is
// ready to run, since whoever runs many steps keeps no orders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/pipeline/simulate.h"

namespace roofscape::engine {

// An operation that had to wait, and for what.
struct ChainLink {
  static constexpr std::uint32_t kEnd = 0xffffffffu;
  std::uint32_t op = kEnd;                // kEnd: the end of the step
  std::uint32_t work = 0;                 // what was waited for (RunPlan::works)
  std::uint32_t to = RunPlan::kNoDevice;  // where its result went from its device; kNoDevice: it stayed
};

// From the end of the step to its beginning. `tables` and `timeline` as simulate() has left them.
void find_chain(const RunPlan& plan, const SimulationScratch::Tables& tables, const Timeline& timeline,
                std::vector<ChainLink>& out);

// A part of a chain that comes so many times more than it stands there: links[first] to links[end - 1].
struct RepeatedLinks {
  std::size_t first = 0, end = 0;
  std::int64_t times_more = 0;
};

// How often a chain has each operation and each hop.
class ChainCounts {
 public:
  ChainCounts() = default;
  // `times`: those that the plan was run with, which say of two sends at once which is the longer one.
  ChainCounts(const RunPlan& plan, const PipelineTimes& times, const std::vector<ChainLink>& links,
              const RepeatedLinks& repeated = {});
  // A step of the shape takes no less; 0 where that is not known.
  Tick length(const PipelineTimes& times) const;
  std::size_t bytes() const { return operations_.size() * sizeof(Operation) + hops_.size() * sizeof(Hop); }

 private:
  struct Operation {
    std::uint32_t first = 0, second = 0;  // as RunPlan::Work
    Tick count = 0;
  };
  struct Hop {
    std::uint32_t from = 0, to = 0;
    Tick count = 0;
  };
  std::vector<Operation> operations_;
  std::vector<Hop> hops_;
  bool blocking_send_ = false;
};

}  // namespace roofscape::engine
