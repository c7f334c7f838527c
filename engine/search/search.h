// The best plans of a scenario: every plan of a PlanSpace is tested and priced, those that may be among the best or
// on the front of step time and memory are simulated. What leaves a search has the numbers evaluate() gives, in every
// mode, and is the exact optimum of the space: a result is a function of the Scenario and the SearchRequest alone.
// Neither the number of threads nor their timing changes it, and a shorter list is the beginning of a longer one.
//
// The order of plans is total: by the objective, then by step time, then by memory, then by Plan's own order (plan.h:
// what is easier to run comes first). A plan fits if it takes no more than the capacity evaluate() reports
// (Q::hbm_capacity: the data sheet's, times the calibrated factor of the plan's software), less the share that has to
// stay free.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/base/enum_table.h"
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
inline constexpr EnumTable<Objective> kObjectiveIds{"step-time", "throughput", "cost", "memory"};

struct SearchRequest {
  PlanSpace space;
  Objective objective = Objective::step_time;
  std::size_t limit = 20;
  std::size_t sample = 0;  // plans to draw evenly out of all that were priced, for a picture of the space
  // Plans that are as good and as fast as another of the same mesh and schedule are one with it: the simplest of them
  // is listed, how many there are, and which of them takes least memory.
  bool merge_alike = false;
  bool cells = false;  // fill SearchResult::cells; it takes some time
  friend bool operator==(const SearchRequest&, const SearchRequest&) = default;
};

struct RankedPlan {
  Plan plan;
  double step_time_s = 0, memory_bytes = 0, mfu = 0;
  double tokens_per_s_per_chip = 0;
  double cost_usd = 0;           // NaN where the chip's price is not known
  double bubble_fraction = 0;    // of the pipeline; 0 without one
  double slow_end_s = 0;         // of the error band of its step time; 0: nobody asked (studies/robust_search.h)
  int alike = 0;                 // others that it stands for: of its mesh, schedule and step time
  Plan least_alike;              // of them all the one that takes least memory; itself where that is no other
  double least_alike_bytes = 0;  // what that one takes
  std::array<double, kStepParts.size()> step_parts{};  // in the order of kStepParts
  // How many times as long as predicted the step may take; 1 where nobody asked.
  double slow_scale() const { return slow_end_s > 0 ? slow_end_s / step_time_s : 1; }
};
// What plans are ranked by, in the unit of the objective: the step time, tokens/s per chip, dollars (chip-seconds
// per token where the chip's price is not known), bytes. At the slow end of the error band where the plan has one.
double score_of(Objective, const RankedPlan&);

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
// than all that fit. Of equally fast ones the smallest, then the first in Plan's order.
struct NearMiss {
  RankedPlan plan;
  Shortage shortage;
};
inline constexpr double kNearMissShare = 0.25;  // of the HBM that may be used: what is a little

// Of all plans of the space with this tensor and this pipeline degree, whatever their other choices: the first in the
// order of the search; where none can run, why.
struct SearchCell {
  int tensor = 1, pipeline = 1;
  double plans = 0, fit = 0;       // of the space; those that can run
  std::optional<RankedPlan> best;  // nothing: none can run
  // Where none can run. Memory (or state, if that alone is too large for all of them) where a plan lacks nothing else;
  // otherwise what keeps out most of the plans, of equals the earlier in Rejection.
  Rejection reason = Rejection::memory;
  double missing_bytes = 0;  // with memory and state: what the smallest of them lacks
  std::array<double, kRejections> rejected{};
};

struct SearchResult {
  // False: the chip lacks a figure that pricing needs, or it was stopped. Then best and front are of what had been looked
  // at by then, as are the counts, and the rest is left out.
  bool finished = false;
  // Of all but a whole result nothing is counted, drawn or said of plans that do not fit.
  enum class Extent : std::uint8_t {
    known,   // of plans that were known before (search_known); of the cells there are those that one of them is in
    listed,  // best and front are those of the whole space; of the cells there are those of plans that are listed
    whole,
  };
  Extent extent = Extent::whole;
  bool is_whole() const { return extent == Extent::whole; }
  std::vector<int> chip_counts;                // of the meshes looked at, falling; the first is all chips
  std::vector<RankedPlan> best;                // in the order of the search
  std::vector<RankedPlan> front;               // no other plan is both faster and smaller; memory ascending
  double plans = 0;                            // of the space
  std::array<double, kRejections> rejected{};  // by Rejection
  double fit = 0;                              // plans - all that were rejected
  std::vector<SampledPlan> sample;             // in a fixed order; at most as many as were asked for
  std::optional<NearMiss> near_miss;
  std::vector<SearchCell> cells;  // by tensor, then pipeline; every pair the space has plans of
  RankedPlan present;             // the scenario's own plan
  bool present_legal = false;     // its schedule can be run, so it has a price
  Shortage present_shortage;
  std::optional<BrokenConstraint> present_breaks;  // nothing: it counts, or is not legal
  // Among `best`, from 1, as one of those alike too; choices that mean nothing for the plan (the ZeRO stage of one
  // rank) may differ. 0: not among them, or outside of the space.
  int present_rank = 0;
};

// Fills what a result says of the scenario's own plan: present and all that begins with it. The rest of the result may
// have been found for another scenario that a search reads as this one (searched_scenario.h).
void place_present(const Scenario&, const SearchRequest&, SearchResult&);

// What a search leaves for the next one, which it shortens and whose result it does not change: plans that may be good
// there too, and orders of operations that have been written out. Whoever searches again and again keeps it; it belongs
// to one search at a time.
struct SearchMemory {
  std::vector<Plan> seeds;          // those that are not of the space or cannot run are passed over
  std::vector<Plan> listed;         // as seeds, by a search that was stopped when it had its list
  std::vector<OrderSpans> orders;   // by worker
  std::vector<Plan> known() const;  // all seeds
};
// `listed`, where it is given, is told the list and the front as soon as they are known, on the thread that searches, by a
// result that is no more than that. It takes somewhat longer until all is known.
using SearchListed = std::function<void(const SearchResult&)>;
SearchResult search(const Scenario&, const SearchRequest&, SearchProgress* progress = nullptr,
                    std::size_t workers = 1, const SearchWorkers& run = {}, SearchMemory* memory = nullptr,
                    const SearchListed& listed = {});
// What search() would find if there were no other plans than those in memory and the present one: some milliseconds
// instead of some hundred, while a control is dragged.
SearchResult search_known(const Scenario&, const SearchRequest&, SearchMemory&);
// Adds those of the others of which `cells` have none with the same tensor and pipeline degree yet, and keeps the order.
void add_cells(const std::vector<SearchCell>& others, std::vector<SearchCell>& cells);
// The plans that a result shows, each once.
std::vector<Plan> plans_of(const SearchResult&);

}  // namespace roofscape::engine
