// The plans of a search that may still be among the best or on the front of step time and memory. A plan whose bound is
// worse than what is known is not kept; what is kept is simulated when there is much of it, in ascending order of the
// bound, until no other can be better.
#pragma once

#include <tuple>
#include <vector>

#include "engine/search/search.h"

namespace roofscape::engine {

struct Candidate {
  Plan plan;
  Price price;
  double chips = 1;
};

class Candidates {
 public:
  Candidates(Objective objective, std::size_t limit, Pricer& pricer)
      : objective_(objective), limit_(limit), pricer_(&pricer) {}
  // Whether a plan that takes at least this long and so much memory can matter.
  bool wants(double step_time_s, double memory_bytes, double chips) const;
  void add(const Candidate&);
  // Simulates what has to be; afterwards only the best and the front are kept.
  void settle();

  const std::vector<Candidate>& best() const { return best_; }    // in order
  const std::vector<Candidate>& front() const { return front_; }  // memory ascending
  std::size_t simulated() const { return simulated_; }

 private:
  using Key = std::tuple<double, double, double, Plan>;  // score, then time and memory, then a fixed order
  Key key(const Candidate&) const;
  double score(double step_time_s, double memory_bytes, double chips) const;
  void simulate(Candidate&);
  Objective objective_;
  std::size_t limit_;
  Pricer* pricer_;
  std::vector<Candidate> pool_, best_, front_;
  std::size_t simulated_ = 0;
};

}  // namespace roofscape::engine
