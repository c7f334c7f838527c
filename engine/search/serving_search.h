// The best plans of a scenario that serves: every mesh of its chips over data, tensor, expert and pipeline, each with
// batches that double until they no longer fit. The space is small, so every plan is evaluated: what is found has the
// numbers of evaluate(). Prefill runs on the same mesh, unless the scenario gives it one of its own, which then stays.
//
// Units are SI. Errors: none; a scenario that trains has no plans.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/scenario.h"
#include "engine/search/plan_space.h"

namespace roofscape::engine {

enum class ServingObjective : std::uint8_t {
  throughput,  // tokens generated a second and chip
  token_time,  // time per output token
  memory,      // of a chip
};
inline constexpr std::array<std::string_view, 3> kServingObjectiveIds{"throughput", "token-time", "memory"};

struct ServingRequest {
  Allowed data, tensor, expert, pipeline, batch;
  double most_token_s = 0, most_ttft_s = 0;  // what users are promised; 0: nothing
  double min_free = 0;                       // share of HBM that stays free
  ServingObjective objective = ServingObjective::throughput;
  std::size_t limit = 20;
  friend bool operator==(const ServingRequest&, const ServingRequest&) = default;
};

struct DecodingPlan {
  int data = 1, tensor = 1, expert = 1, pipeline = 1, batch = 1;
  double token_s = 0, ttft_s = 0;
  double tokens_per_s = 0, tokens_per_s_per_chip = 0;
  double chip_bytes = 0;
  bool same_plan(const DecodingPlan& o) const {
    return data == o.data && tensor == o.tensor && expert == o.expert && pipeline == o.pipeline && batch == o.batch;
  }
};
DecodingPlan decoding_plan_of(const Scenario&);
void apply(Scenario&, const DecodingPlan&);

enum class ServingRejection : std::uint8_t {
  mesh,    // the model or the cluster does not allow it
  memory,  // does not fit
  slow,    // breaks what users are promised
};
inline constexpr std::size_t kServingRejections = 3;
inline constexpr std::array<std::string_view, kServingRejections> kServingRejectionIds{"mesh", "memory", "slow"};

struct ServingSearchResult {
  std::vector<DecodingPlan> best;   // in the order of the objective
  std::vector<DecodingPlan> front;  // nothing is both faster for the user and better for the chip; token time ascending
  double plans = 0, fit = 0;       // meshes that cannot be are counted once, not by batch
  std::array<double, kServingRejections> rejected{};
  DecodingPlan present;             // the scenario's own
  bool present_legal = false, present_fits = false;
};
// As constrain() of a PlanSpace, for data, tensor, expert, pipeline and batch.
std::optional<ConstraintError> constrain(ServingRequest&, std::string_view name, std::string_view value, ConstraintKind how);

ServingSearchResult search_serving(const Scenario&, const ServingRequest&);

}  // namespace roofscape::engine
