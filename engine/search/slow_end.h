// Plans of a list that is ranked by slow ends (studies/robust_search.h), of either kind of workload.
#pragma once

#include <vector>

namespace roofscape::engine {

template <class Ranked>
bool by_slow_end(const std::vector<Ranked>& best) {
  return !best.empty() && best.front().slow_end_s > 0;
}

// Whether a plan can stand beside the best: without a slow end it cannot where that has one.
template <class Ranked>
bool comparable(const Ranked& best, const Ranked& plan) {
  return plan.slow_end_s > 0 || !(best.slow_end_s > 0);
}

}  // namespace roofscape::engine
