// The fastest of the plans that lack a little memory, as far as it would be faster than all that fit: the reason to
// look for a chip with more.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "engine/search/candidates.h"

namespace roofscape::engine {

class FastestMissed {
 public:
  explicit FastestMissed(Pricer& pricer) : pricer_(&pricer) {}
  // Whether a plan that takes at least this long can be it.
  bool wants(double step_time_s, double fastest_that_fits_s) const {
    return step_time_s < fastest_that_fits_s && (!best_ || step_time_s <= best_->price.step_time_s);
  }
  void add(const Candidate&);
  void settle();
  void merge(const FastestMissed& other);
  const std::optional<Candidate>& best() const { return best_; }
  std::size_t simulated() const { return simulated_; }

 private:
  void take(const Candidate&);
  Pricer* pricer_;
  std::optional<Candidate> best_;
  std::vector<Candidate> pool_;
  std::size_t simulated_ = 0;
};

}  // namespace roofscape::engine
