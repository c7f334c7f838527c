#include "engine/search/candidates.h"

#include <algorithm>
#include <limits>

namespace roofscape::engine {
namespace {

constexpr std::size_t kManyCandidates = 4096;

}  // namespace

double Candidates::score(double step_time_s, double memory_bytes, double chips) const {
  switch (objective_) {
    case Objective::step_time: return step_time_s;
    case Objective::throughput:
    case Objective::cost: return step_time_s * chips;  // the batch, and the price of a chip, are the same for all
    case Objective::memory: return memory_bytes;
  }
  return step_time_s;
}

Candidates::Key Candidates::key(const Candidate& c) const {
  return {score(c.price.step_time_s, c.price.memory_bytes, c.chips), c.price.step_time_s, c.price.memory_bytes, c.plan};
}

bool Candidates::wants(double step_time_s, double memory_bytes, double chips) const {
  if (limit_ > 0) {
    if (best_.size() < limit_) return true;
    const Candidate& last = best_.back();
    const double mine = score(step_time_s, memory_bytes, chips);
    const double limit = score(last.price.step_time_s, last.price.memory_bytes, last.chips);
    if (mine < limit || (mine == limit && step_time_s <= last.price.step_time_s)) return true;
  }
  // The fastest on the front that is no larger.
  const auto above = std::upper_bound(front_.begin(), front_.end(), memory_bytes, [](double memory, const Candidate& c) {
    return memory < c.price.memory_bytes;
  });
  if (above == front_.begin()) return true;
  const Price& rival = std::prev(above)->price;
  return step_time_s < rival.step_time_s || (step_time_s == rival.step_time_s && memory_bytes == rival.memory_bytes);
}

void Candidates::add(const Candidate& candidate) {
  pool_.push_back(candidate);
  if (pool_.size() >= kManyCandidates) settle();
}

void Candidates::simulate(Candidate& c) {
  if (c.price.exact) return;
  c.price = pricer_->price(c.plan, true);
  ++simulated_;
}

void Candidates::settle() {
  for (const auto* kept : {&best_, &front_})
    for (const Candidate& c : *kept) pool_.push_back(c);
  const auto before = [this](const Candidate& a, const Candidate& b) { return key(a) < key(b); };
  // The same plan can be in both lists.
  std::sort(pool_.begin(), pool_.end(), before);
  pool_.erase(std::unique(pool_.begin(), pool_.end(),
                          [](const Candidate& a, const Candidate& b) {
                            return a.plan == b.plan && a.price.exact == b.price.exact;
                          }),
              pool_.end());
  best_.clear();
  for (Candidate& c : pool_) {
    if (best_.size() == limit_ && (limit_ == 0 || key(c) > key(best_.back()))) break;
    simulate(c);
    best_.insert(std::upper_bound(best_.begin(), best_.end(), c, before), c);
    if (best_.size() > limit_) best_.pop_back();
  }
  std::sort(pool_.begin(), pool_.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.price.memory_bytes, a.price.step_time_s, a.plan) < std::tie(b.price.memory_bytes, b.price.step_time_s, b.plan);
  });
  front_.clear();
  for (Candidate& c : pool_) {
    const bool same_memory = !front_.empty() && front_.back().price.memory_bytes == c.price.memory_bytes;
    if (!front_.empty() && c.price.step_time_s > front_.back().price.step_time_s) continue;
    simulate(c);
    if (!front_.empty()) {
      const Candidate& last = front_.back();
      if (c.price.step_time_s > last.price.step_time_s) continue;
      if (c.price.step_time_s == last.price.step_time_s && (!same_memory || last.plan < c.plan)) continue;
      if (same_memory) front_.pop_back();
    }
    front_.push_back(c);
  }
  pool_.clear();
}

}  // namespace roofscape::engine
