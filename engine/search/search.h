// The best plans of a scenario: every plan of a PlanSpace is tested and priced, those that may be among the best or
// on the front of step time and memory are simulated. What leaves a search has the numbers evaluate() gives. The
// result does not depend on how many threads worked on it.
#pragma once

#include <optional>
#include <vector>

#include "engine/search/plan_space.h"
#include "engine/search/pricing.h"
#include "engine/search/progress.h"

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
  // Plans that are as good and as fast as another of the same mesh and schedule are one with it: the simplest of them
  // is listed, and how many there are.
  bool merge_alike = false;
  friend bool operator==(const SearchRequest&, const SearchRequest&) = default;
};

struct RankedPlan {
  Plan plan;
  double step_time_s = 0, memory_bytes = 0, mfu = 0;
  double tokens_per_s_per_chip = 0;
  double cost_usd = 0;  // NaN where the chip's price is not known
  int alike = 0;                  // others that it stands for
  double least_alike_bytes = 0;   // what the smallest of them all takes
  std::array<double, kStepParts.size()> step_parts{};  // in the order of kStepParts
};

// Why a plan does not fit: its fullest device, what takes most there, and how much is missing.
struct Shortage {
  int device = 0;
  Q part = Q::memory_weights;
  double missing_bytes = 0;  // 0: it fits
};

// Of a plan of the scenario; `min_free`: share of the HBM that has to stay free.
Shortage shortage_of(const Scenario&, const Plan&, double min_free = 0);

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
  int present_rank = 0;                 // among `best`, from 1, as one of those alike too; 0: not among them
};

SearchResult search(const Scenario&, const SearchRequest&, SearchProgress* progress = nullptr,
                    std::size_t workers = 1, const SearchWorkers& run = {});

}  // namespace roofscape::engine
