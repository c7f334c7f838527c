// The plans of a search that may still be among the best or on the front of step time and memory. A plan whose bound
// is worse than what is known is not kept; what is kept is simulated when there is much of it, in ascending order of
// the bound, until no other can be better.
#pragma once

#include <atomic>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/search/search.h"

namespace roofscape::engine {

struct Candidate {
  Plan plan;
  Price price;
  double chips = 1;
};

// Plans that differ in nothing but knobs, and take the same time.
struct Alike {
  Candidate simplest;
  int count = 1;
  double least_bytes = 0;
};
// The plan without the knobs, mesh and schedule alone: without microbatch, ZeRO stage, sequence parallelism,
// checkpointing and offload.
Plan shape_without_knobs(Plan plan);

class Candidates {
 public:
  // Once `stop` is true nothing more is simulated, and what is known is worth nothing. Null: never.
  Candidates(Objective objective, std::size_t limit, bool merge_alike, Pricer& pricer,
             const std::atomic<bool>* stop = nullptr)
      : objective_(objective), limit_(limit), merge_alike_(merge_alike), pricer_(&pricer), stop_(stop) {}
  // Whether a plan that takes at least this long and so much memory can matter.
  bool wants(double step_time_s, double memory_bytes, double chips) const;
  void add(const Candidate&);
  // Simulates what has to be; afterwards only the best and the front are kept.
  void settle();
  // Takes over what another has settled, of other plans of the same space.
  void merge(const Candidates& other);

  std::vector<Alike> best() const;                                // in order
  const std::vector<Candidate>& front() const { return front_; }  // memory ascending
  std::size_t simulated() const { return simulated_; }

 private:
  using Key = std::tuple<double, double, double, Plan>;  // score, then time and memory, then a fixed order
  Key key(const Candidate&) const;
  double score(double step_time_s, double memory_bytes, double chips) const;
  void simulate(Candidate&);
  using Level = std::pair<double, double>;  // score and time
  Level level(const Candidate& c) const {
    return {score(c.price.step_time_s, c.price.memory_bytes, c.chips), c.price.step_time_s};
  }
  void settle_best();
  void settle_alike();
  void settle_front();
  void take(const Alike&);
  Objective objective_;
  std::size_t limit_;
  bool merge_alike_;
  bool stopped() const { return stop_ != nullptr && *stop_; }
  Pricer* pricer_;
  const std::atomic<bool>* stop_;
  std::vector<Candidate> pool_, best_, front_;
  std::map<Level, std::map<Plan, Alike>> levels_;  // instead of best_ where alike are merged: by shape
  std::size_t shapes_ = 0;                         // in all levels
  std::size_t simulated_ = 0;
};

}  // namespace roofscape::engine
