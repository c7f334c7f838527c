// The best plans of a scenario: every plan of a PlanSpace is tested and priced, those that may be among the best or on the
// front of step time and memory are simulated. What leaves a search has the numbers evaluate() gives. The result does
// not depend on how many threads worked on it.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <vector>

#include "engine/search/plan_space.h"
#include "engine/search/pricing.h"

namespace roofscape::engine {

enum class Objective : std::uint8_t {
  step_time,
  throughput,  // tokens a second and chip
  cost,        // dollars of the run
  memory,      // of the fullest chip
};
inline constexpr std::array<std::string_view, 4> kObjectiveIds{"step-time", "throughput", "cost", "memory"};

struct SearchRequest {
  PlanSpace space;
  Objective objective = Objective::step_time;
  std::size_t limit = 20;
  std::size_t sample = 0;  // plans to draw evenly out of all that were priced, for a picture of the space
  friend bool operator==(const SearchRequest&, const SearchRequest&) = default;
};

// Written by the search, read by whoever waits for it; set `stop` to end it early.
struct SearchProgress {
  std::atomic<bool> stop{false};
  std::atomic<std::size_t> done{0}, total{0};  // parts of the space
};

struct RankedPlan {
  Plan plan;
  double step_time_s = 0, memory_bytes = 0, mfu = 0;
  double tokens_per_s_per_chip = 0;
  double cost_usd = 0;  // NaN where the chip's price is not known
  std::array<double, kStepParts.size()> step_parts{};  // in the order of kStepParts
};

// Where two plans differ most: the part of the step, and by how much the second is slower there.
struct PartDifference {
  Q part = Q::step_matmul;
  double seconds = 0;
};
PartDifference largest_difference(const RankedPlan& better, const RankedPlan& worse);

// Why a plan does not fit: its fullest device, what takes most there, and how much is missing.
struct Shortage {
  int device = 0;
  Q part = Q::memory_weights;
  double missing_bytes = 0;  // 0: it fits
};

// One of the plans that were priced, whether it fits or not.
struct SampledPlan {
  Plan plan;
  double step_time_s = 0, memory_bytes = 0;
  bool fits = true;
};

// What a chip with somewhat more memory would run: the fastest of the plans that lack a little, if it would be faster
// than all that fit.
struct NearMiss {
  RankedPlan plan;
  Shortage shortage;
};
inline constexpr double kNearMissShare = 0.25;  // of the HBM that may be used: what is a little

struct SearchResult {
  bool finished = false;                // false: stopped, or the chip lacks a figure that pricing needs
  std::vector<RankedPlan> best;         // in the order of the objective
  std::vector<RankedPlan> front;        // no other plan is both faster and smaller; memory ascending
  double plans = 0;                     // of the space
  std::array<double, kRejections> rejected{};  // by Rejection
  double fit = 0;                       // plans - all that were rejected
  std::vector<SampledPlan> sample;      // in a fixed order; at most as many as were asked for
  std::optional<NearMiss> near_miss;
  std::size_t simulated = 0;            // of these; depends on the threads
  RankedPlan present;                   // the scenario's own plan
  bool present_legal = false;           // its schedule can be run, so it has a price
  Shortage present_shortage;
  int present_rank = 0;                 // among `best`, from 1; 0: not among them
};

// Runs work(0) ... work(n - 1), at the same time or one after the other, and returns when all have returned.
using SearchWorkers = std::function<void(const std::function<void(std::size_t)>& work)>;

SearchResult search(const Scenario&, const SearchRequest&, SearchProgress* progress = nullptr,
                    std::size_t workers = 1, const SearchWorkers& run = {});

}  // namespace roofscape::engine
