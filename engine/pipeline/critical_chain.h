// What decided how long a step took, as a bound for steps of the same shape with other times: the chain of operations
// and hops that fills it without a gap (critical_path, timeline_analysis.h). It is a chain of every step of the shape,
// and none is shorter than any of its chains; between similar times the same one decides, and its length is the step's
// to the last tick. (The makespan is a maximum of sums, one for each chain: Baccelli, Cohen, Olsder and Quadrat,
// Synchronization and Linearity, 1992.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/pipeline/timeline_analysis.h"

namespace roofscape::engine {

// A part of a path that comes so many times more than it stands there: from path[first] to path[last], which is the
// same operation for a later microbatch.
struct RepeatedPath {
  std::size_t first = 0, last = 0;
  std::int64_t times_more = 0;
};

// How often a chain has each operation and each hop.
class ChainCounts {
 public:
  ChainCounts() = default;
  // `path`: the critical path of the order when it runs with `times`; not empty.
  ChainCounts(const Orders& orders, const PipelineTimes& times, const std::vector<CriticalStep>& path,
              const RepeatedPath& repeated = {});
  // A step of the shape takes no less; 0 where that is not known.
  Tick length(const PipelineTimes& times) const;
  std::size_t bytes() const { return operations_.size() * sizeof(Operation) + hops_.size() * sizeof(Hop); }

 private:
  struct Operation {
    std::uint32_t first = 0, second = kNoOp;  // 4 * stage + kind; of a pair, of both halves
    Tick count = 0;
    bool same(const Operation& other) const { return first == other.first && second == other.second; }
    friend bool operator<(const Operation& a, const Operation& b) {
      return a.first < b.first || (a.first == b.first && a.second < b.second);
    }
  };
  struct Hop {
    std::uint32_t from = 0, to = 0;
    Tick count = 0;
    bool same(const Hop& other) const { return from == other.from && to == other.to; }
    friend bool operator<(const Hop& a, const Hop& b) { return a.from < b.from || (a.from == b.from && a.to < b.to); }
  };
  std::vector<Operation> operations_;
  std::vector<Hop> hops_;
  bool blocking_send_ = false;
};

}  // namespace roofscape::engine
