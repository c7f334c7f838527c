// The best plans of a scenario that serves: every mesh over data, tensor, expert and pipeline, of all chips and of fewer
// where these are a simpler product (even_chip_counts.h), each with batches of one sequence for every replica and
// stage, and doublings of it until they no longer fit; and the largest multiple of it that fits and keeps what users are
// promised. The space is small, so every plan is evaluated: what is found has the numbers of evaluate(), to the bit, in
// every mode, and the memory there is is that of evaluate(). Prefill runs on the same mesh, unless the scenario gives it
// one of its own, which then stays.
//
// Plans are ranked as they would run: by sustained values (serving/steady_state.h). The order is total: the objective,
// then time per token, throughput, memory, time to first token, and of equals what splits least: pipeline, tensor,
// expert, batch. Throughput is of all chips together, so that a plan that leaves some idle gains nothing by it. The
// result is a function of the scenario and the request: the same with any number of threads, and a shorter list is the
// beginning of a longer one.
//
// Units are SI. Errors: none; a scenario that trains has no plans.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/base/enum_table.h"
#include "engine/base/quantity.h"
#include "engine/search/decoding_plan.h"
#include "engine/search/plan_space.h"
#include "engine/search/progress.h"

namespace roofscape::engine {

enum class ServingObjective : std::uint8_t {
  throughput,  // tokens generated a second, sustained
  token_time,  // time per output token, sustained
  memory,      // of a chip
};
inline constexpr EnumTable<ServingObjective> kServingObjectiveIds{"throughput", "token-time", "memory"};

struct ServingRequest {
  Allowed data{1, kMostDataDegree, {}}, tensor{1, kMostTensorDegree, {}};
  Allowed expert{1, kMostExpertDegree, {}}, pipeline{1, kMostPipelineDegree, {}};
  Allowed batch;
  double most_token_s = 0, most_ttft_s = 0;  // what users are promised, as the plan runs; 0: nothing
  double min_free = 0;                       // share of HBM that stays free
  std::optional<Framework> runs_on = {};     // only plans that keep the rules of this one
  ServingObjective objective = ServingObjective::throughput;
  std::size_t limit = 20;
  std::size_t sample = 0;  // plans to keep evenly out of all that were priced, for a picture of the space
  // A batch that is worse in everything than another of the same mesh is not listed.
  bool merge_alike = false;
  friend bool operator==(const ServingRequest&, const ServingRequest&) = default;
};
// The whole space, within what the workload promises (workload.slo).
ServingRequest serving_request_of(const Scenario&);

enum class ServingRejection : std::uint8_t {
  heads,       // tensor does not divide the attention heads
  layers,      // more pipeline stages than layers
  runs_on,     // the framework asked for does not run it
  mesh,        // the model or the cluster does not allow it for another reason
  memory,      // does not fit
  token_time,  // a token takes longer than promised
  ttft,        // the first token comes later than promised
};
inline constexpr std::size_t kServingRejections = kEnumCount<ServingRejection>;
inline constexpr EnumTable<ServingRejection> kServingRejectionIds{"heads",  "layers",     "runs_on", "mesh",
                                                                  "memory", "token_time", "ttft"};

struct RankedDecoding {
  DecodingPlan plan;
  double token_s = 0, ttft_s = 0;                      // token_s: sustained
  double tokens_per_s = 0, tokens_per_s_per_chip = 0;  // sustained; chips that are used, of both phases
  double chip_bytes = 0;
  double decode_token_s = 0, decode_tokens_per_s = 0;    // decoding alone, with every slot taken
  double in_flight = 0;                                  // sequences
  std::optional<double> cost_usd;                        // of a million tokens, sustained; nothing: no price is known
  std::array<double, kDecodeParts.size()> step_parts{};  // of a decoding step, in the order of kDecodeParts
  Q fullest_part = Q::memory_weights;                    // what takes most of the chip's memory
  std::optional<ServingRejection> rejected;              // nothing: it fits and keeps what is promised
  int outdone = 0;        // batches of its mesh that it stands for: no better in anything
  double slow_end_s = 0;  // of the error band of decode_token_s; 0: nobody asked (studies/robust_search.h)
  // How many times as long as predicted a token may take; 1 where nobody asked.
  double slow_scale() const { return slow_end_s > 0 ? slow_end_s / decode_token_s : 1; }
};
// What plans are ranked by: tokens/s and time per token, sustained, or bytes of a chip. With a slow end of
// decoding known, as if all that a token waits for took as much longer.
double score_of(ServingObjective, const RankedDecoding&);

// What decodes on a tensor and a pipeline degree, of every batch and expert degree.
struct ServingCell {
  int tensor = 1, pipeline = 1;
  std::optional<RankedDecoding> best;             // by the objective; nothing: none may be taken
  std::optional<RankedDecoding> nearest;          // where there is none, that with a price that takes least memory
  ServingRejection why = ServingRejection::mesh;  // where there is none: why
};

struct ServingSearchResult {
  bool finished = false;         // false: stopped, or nothing is served
  std::vector<int> chip_counts;  // of the meshes looked at (of one context rank), falling; the first is all chips
  // In the order of the objective; of plans with the same numbers the simplest first.
  std::vector<RankedDecoding> best;
  // Nothing is both faster for the user and generates more; token time ascending.
  std::vector<RankedDecoding> front;
  // Of all that have a price, whether they fit or not; at most as many as were asked for.
  std::vector<RankedDecoding> sample;
  std::vector<ServingCell> cells;  // of the space, by tensor, then pipeline
  double capacity_bytes = 0;       // of a chip, as evaluate() has it; 0: not known
  double plans = 0, fit = 0;       // meshes that cannot be are counted once, not by batch
  std::array<double, kServingRejections> rejected{};
  RankedDecoding present;  // the scenario's own; `rejected` says whether it would be taken
  bool present_legal = false, present_fits = false;
  std::optional<BrokenConstraint> present_breaks;  // nothing: it counts, or is not legal
  double present_missing_bytes = 0;                // beyond what may be used
  int present_rank = 0;                            // among `best`, from 1; 0: not among them
};
// Whether the plans that a result lists, or the present one, use several numbers of chips: what each generates per chip
// does not rank them then.
bool has_several_chip_counts(const ServingSearchResult&);
// As constrain() of a PlanSpace, for data, tensor, expert, pipeline and batch.
std::optional<ConstraintError> constrain(ServingRequest&, std::string_view name, std::string_view value,
                                         ConstraintKind how);

// The first of these limits that keeps a plan out.
std::optional<BrokenLimit> broken_limit(const ServingRequest&, const DecodingPlan&);

// Fills what a result says of the scenario's own plan; the rest of it may have been found for another scenario that a
// search reads as this one (searched_scenario.h).
void place_present(const Scenario&, const ServingRequest&, ServingSearchResult&);

ServingSearchResult search_serving(const Scenario&, const ServingRequest&, SearchProgress* progress = nullptr,
                                   const SearchWorkers& run = {});

}  // namespace roofscape::engine
