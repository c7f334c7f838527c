// Plans drawn evenly out of all that a search prices, for a picture of the space: what is drawn depends on the places of
// the plans in the space alone, not on who works on which part. Each plan of a block has a waiting time that is
// exponentially distributed, and those that wait least are drawn. Of a block the first of its waiting times is found
// without looking at its plans, which mostly says that none of them is drawn.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

#include "engine/search/search.h"

namespace roofscape::engine {

class PlanSample {
 public:
  struct Drawn {
    double waited = 0;
    SampledPlan plan;
  };
  explicit PlanSample(std::size_t size) : size_(size) { drawn_.reserve(2 * size); }
  bool wanted() const { return size_ > 0; }
  void start_part(std::size_t part) { next_block_ = static_cast<std::uint64_t>(part) << 32; }
  // Of every block of a part, in the order of the space.
  void start_block(std::size_t plans) {
    random_ = scattered(next_block_++);
    waited_ = 0;
    left_ = plans;
    taken_.clear();
  }
  // The number in the block of the next plan of it that is drawn, as far as is known. What it takes is asked then.
  std::optional<std::size_t> draw() {
    if (left_ == 0) return std::nullopt;
    // The first of so many waiting times; -log(u) is at least 1 - u, which is enough for nearly all.
    const double u = uniform(), left = static_cast<double>(left_);
    if (waited_ + (1 - u) / left >= least_refused_) return std::nullopt;
    waited_ -= std::log(u) / left;
    if (waited_ >= least_refused_) return std::nullopt;
    return take(static_cast<std::size_t>(scattered(random_++) % left_));
  }
  // The plan that was drawn last.
  void add(const Plan& plan, double memory_bytes, bool fits) {
    drawn_.push_back({waited_, {plan, 0, memory_bytes, fits}});
    if (drawn_.size() == 2 * size_) cut();
  }
  // The union of two samples, cut again, is the sample of both.
  void merge(const PlanSample& other) {
    drawn_.insert(drawn_.end(), other.drawn_.begin(), other.drawn_.end());
    cut();
  }
  // In the order of their waiting times.
  std::vector<Drawn>& settle() {
    cut();
    return drawn_;
  }

 private:
  // A number that looks random. (The finalizer of SplitMix64: Steele, Lea and Flood, OOPSLA 2014.)
  static std::uint64_t scattered(std::uint64_t n) {
    n += 0x9E3779B97F4A7C15u;
    n = (n ^ (n >> 30)) * 0xBF58476D1CE4E5B9u;
    n = (n ^ (n >> 27)) * 0x94D049BB133111EBu;
    return n ^ (n >> 31);
  }
  // Above 0, and 1 at most.
  double uniform() { return (static_cast<double>(scattered(random_++) >> 11) + 1) * 0x1p-53; }
  // The number of the plan that has so many before it which are not taken.
  std::size_t take(std::size_t number) {
    --left_;
    auto place = taken_.begin();
    for (; place != taken_.end() && *place <= number; ++place) ++number;
    taken_.insert(place, number);
    return number;
  }
  void cut() {
    std::sort(drawn_.begin(), drawn_.end(), [](const Drawn& a, const Drawn& b) {
      return std::tie(a.waited, a.plan.plan) < std::tie(b.waited, b.plan.plan);
    });
    if (drawn_.size() <= size_) return;
    least_refused_ = drawn_[size_].waited;
    drawn_.resize(size_);
  }
  std::size_t size_, left_ = 0;
  std::uint64_t next_block_ = 0, random_ = 0;
  double waited_ = 0, least_refused_ = std::numeric_limits<double>::infinity();
  std::vector<std::size_t> taken_;  // of the block, ascending
  std::vector<Drawn> drawn_;
};

}  // namespace roofscape::engine
