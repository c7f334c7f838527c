#include "engine/search/fastest_missed.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace roofscape::engine {
namespace {

constexpr std::size_t kManyMissed = 256;

auto time_key(const Candidate& c) { return std::tie(c.price.step_time_s, c.price.memory_bytes, c.plan); }

}  // namespace

void FastestMissed::add(const Candidate& candidate) {
  pool_.push_back(candidate);
  if (pool_.size() >= kManyMissed) settle();
}

void FastestMissed::take(const Candidate& c) {
  if (!best_ || time_key(c) < time_key(*best_)) best_ = c;
}

void FastestMissed::settle() {
  std::sort(pool_.begin(), pool_.end(),
            [](const Candidate& a, const Candidate& b) { return time_key(a) < time_key(b); });
  for (Candidate& c : pool_) {
    if (best_ && time_key(c) > time_key(*best_)) break;
    if (!c.price.exact) pricer_->simulate(c.plan, c.price, [&] { return !best_ || time_key(c) <= time_key(*best_); });
    if (!c.price.exact) continue;
    ++simulated_;
    if (std::isfinite(c.price.step_time_s)) take(c);
  }
  pool_.clear();
}

void FastestMissed::merge(const FastestMissed& other) {
  if (other.best_) take(*other.best_);
}

}  // namespace roofscape::engine
