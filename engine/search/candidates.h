// The plans of a search that may still be among the best, on the front of step time and memory, or the best of a cell
// of the mesh map. A plan whose bound is worse than what is known is not kept; what is kept is simulated when there
// is much of it, in ascending order of the bound, until no other can be better. What is left at the end depends on
// the plans that were added alone, not on their order.
#pragma once

#include <atomic>
#include <cstddef>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/search/search.h"

namespace roofscape::engine {

struct Candidate {
  Plan plan;
  Price price;
  double chips = 1;
  std::size_t cell = 0;  // of the mesh map
};

// Plans that differ in nothing but knobs, and take the same time.
struct Alike {
  Candidate simplest;  // the first in Plan's order
  int count = 1;
  Plan smallest;  // takes least memory; of equals the first in Plan's order
  double least_bytes = 0;
};
// The plan without the knobs, mesh and schedule alone: without microbatch, ZeRO stage, sequence parallelism,
// checkpointing and offload.
Plan shape_without_knobs(Plan plan);

// What the workers of one search tell each other, so that none simulates what another has found to be beaten. It
// decides nothing but that: each worker passes over plans that are certainly not among the best.
class KnownBest {
 public:
  explicit KnownBest(std::size_t cells) : cells_(cells) {
    for (std::atomic<double>& cell : cells_) cell = kNone;
  }
  // Some worker has as many plans as are asked for with this score or better; one of a cell.
  void found_enough(double score) { lower(list_, score); }
  void found_in_cell(std::size_t cell, double score) { lower(cells_[cell], score); }
  double score() const { return list_.load(std::memory_order_relaxed); }
  double score_of_cell(std::size_t cell) const { return cells_[cell].load(std::memory_order_relaxed); }
  // Plans of the space that fit and have been simulated, before any worker has begun.
  void keep_seeds(std::vector<Candidate> seeds);
  const Candidate* seed(const Plan& plan) const;  // null: it is none
  // Plans on the front of some worker.
  void add_front(std::vector<Candidate>& to);
  void set_front(const std::vector<Candidate>& front);

  static constexpr double kNone = std::numeric_limits<double>::infinity();  // nothing is known

 private:
  static void lower(std::atomic<double>& known, double score);
  std::atomic<double> list_{kNone};
  std::vector<std::atomic<double>> cells_;
  std::vector<Candidate> seeds_;  // by plan
  std::mutex front_mutex_;
  std::vector<Candidate> front_;
};

class Candidates {
 public:
  // Once `stop` is true nothing more is simulated: what is kept then is the best of what had been. Null: never. `cells`: of the
  // mesh map, 0 where nobody asked for it. `known` is shared with the other workers and has as many.
  Candidates(const SearchRequest& request, std::size_t cells, Pricer& pricer, KnownBest& known,
             const std::atomic<bool>* stop = nullptr);
  // Tells all workers of plans of the space that fit and have been simulated, before the search comes to them: from then
  // on nothing is looked at that they beat. They are found again on the way.
  void take_seeds(std::vector<Candidate> seeds);
  void take_known_front() { known_->add_front(front_); }  // before the first plan
  // Whether a plan that takes at least this long and so much memory can matter.
  bool wants(double step_time_s, double memory_bytes, double chips, std::size_t cell) const;
  void add(const Candidate&);
  // Simulates what has to be; afterwards only the best, the front and the best of each cell are kept.
  void settle();
  // Takes over what another has settled, of other plans of the same space.
  void merge(const Candidates& other);

  std::vector<Alike> best() const;                                // in order
  const std::vector<Candidate>& front() const { return front_; }  // memory ascending
  // Whether some plan of the cell is known to fit, by whichever worker.
  bool fits_in_cell(std::size_t cell) const { return known_->score_of_cell(cell) < KnownBest::kNone; }
  const std::optional<Candidate>& best_of_cell(std::size_t cell) const { return cells_[cell]; }
  // Step time of the fastest plan known to fit; infinite where there is none.
  double fastest_s() const;
  std::size_t simulated() const { return simulated_; }

 private:
  using Key = std::tuple<double, double, double, Plan>;  // score, then time and memory, then Plan's order
  using Level = std::pair<double, double>;               // score and time
  Key key(const Candidate&) const;
  double score(double step_time_s, double memory_bytes, double chips) const;
  Level level(const Candidate& c) const {
    return {score(c.price.step_time_s, c.price.memory_bytes, c.chips), c.price.step_time_s};
  }
  bool stopped() const { return stop_ != nullptr && *stop_; }
  // Whether it has a step time: not where the step is too long to be simulated, nor where `wanted()`, asked again when
  // more is known of it, says no.
  template <class Wanted>
  bool simulate(Candidate& c, const Wanted& wanted);
  void settle_best();
  void settle_alike();
  void settle_cells();
  void settle_front();
  void take(const Alike&);
  void take_cell(const Candidate&);
  bool enough_are_better(const Candidate& c) const { return level(c).first > known_->score(); }

  Objective objective_;
  std::size_t limit_;
  bool merge_alike_;
  Pricer* pricer_;
  KnownBest* known_;
  const std::atomic<bool>* stop_;
  double tokens_ = 0, steps_ = 0, price_usd_ = 1;  // of a step; of the run; of a chip hour, 1 where it is not known
  std::vector<Candidate> pool_, best_, front_;
  // That kept a plan off the front last: mostly it keeps the next one off, too.
  mutable Price rival_{KnownBest::kNone, KnownBest::kNone};
  std::map<Level, std::map<Plan, Alike>> levels_;  // instead of best_ where alike are merged: by shape
  std::size_t shapes_ = 0;                         // in all levels
  std::vector<std::optional<Candidate>> cells_;
  std::size_t simulated_ = 0;
};

}  // namespace roofscape::engine
