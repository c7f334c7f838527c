// Plans drawn evenly out of all that a search prices, for a picture of the space: those whose place in the space has
// the smallest scattered numbers, so that what is drawn does not depend on who works on which part.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "engine/search/search.h"

namespace roofscape::engine {

class PlanSample {
 public:
  struct Drawn {
    std::uint64_t number = 0;
    SampledPlan plan;
  };
  explicit PlanSample(std::size_t size) : size_(size) { drawn_.reserve(2 * size); }
  bool wanted() const { return size_ > 0; }
  void start_part(std::size_t part) { next_ = static_cast<std::uint64_t>(part) << 32; }
  // Of every plan, in the order of the space: whether it is drawn, as far as is known. What it takes is asked then.
  bool draws() {
    drawn_number_ = scattered(next_++);
    return drawn_number_ < least_refused_;
  }
  // The plan that was drawn last.
  void add(const Plan& plan, double memory_bytes, bool fits) {
    drawn_.push_back({drawn_number_, {plan, 0, memory_bytes, fits}});
    if (drawn_.size() == 2 * size_) cut();
  }
  // The union of two samples, cut again, is the sample of both.
  void merge(const PlanSample& other) {
    drawn_.insert(drawn_.end(), other.drawn_.begin(), other.drawn_.end());
    cut();
  }
  // In the order of their numbers.
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
  void cut() {
    std::sort(drawn_.begin(), drawn_.end(), [](const Drawn& a, const Drawn& b) { return a.number < b.number; });
    if (drawn_.size() <= size_) return;
    least_refused_ = drawn_[size_].number;
    drawn_.resize(size_);
  }
  std::size_t size_;
  std::uint64_t next_ = 0, drawn_number_ = 0, least_refused_ = std::numeric_limits<std::uint64_t>::max();
  std::vector<Drawn> drawn_;
};

}  // namespace roofscape::engine
