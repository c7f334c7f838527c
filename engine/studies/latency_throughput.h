// The latency-throughput trade of generation: time per token against throughput of a chip, over the batch, for one or
// more tensor degrees (scaling book, chapters 7 and 8). A larger batch gives more tokens for each chip and makes
// every user wait longer for theirs; the Pareto front are the points that no other beats in both.
//
// Every point is a scenario that evaluate() would give these numbers; the chips of the mesh stay the same: replicas
// (parallelism.data) make up for the tensor degree. Times and rates are sustained (steady_state.h). Where requests
// arrive at a rate, or prefill passes them on at one, a batch beyond what is in flight changes nothing more.
#pragma once

#include <vector>

#include "engine/evaluate/evaluate.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

struct TradePoint {
  int batch = 0, tensor = 1, data = 1;
  double time_per_token_s = 0;
  double tokens_per_s = 0, tokens_per_s_per_chip = 0;
  double decode_time_per_token_s = 0;                                // decoding alone ...
  double decode_tokens_per_s = 0, decode_tokens_per_s_per_chip = 0;  // ... on the chips that decode
  double chip_bytes = 0;                                             // memory of a chip
  double cost_per_million_usd = 0;                                   // 0: no price is known
  double ttft_s = 0;
  bool fits = false;
  bool keeps_slo = true;  // within the limits of the workload, where it has any
  bool pareto = false;    // fits, and nothing that fits is faster for the user and better for the chip
};

struct TradeOptions {
  std::vector<int> batches;  // empty: doublings from one sequence a rank to beyond what fits or is in flight
  std::vector<int> tensor;   // empty: the scenario's own
};

// In the order of tensor degrees, batches rising. Points whose mesh is not possible (heads that do not divide,
// batches that do not fill the ranks) are left out. Not serving: nothing.
std::vector<TradePoint> latency_throughput(const Scenario&, const TradeOptions&);

// The point of the largest batch whose tokens come within `limit_s`, among those that fit and of every tensor degree
// the one with the best throughput of a chip; null if there is none.
const TradePoint* best_within(const std::vector<TradePoint>&, double limit_s);
// The same among those that keep the limits of the workload.
const TradePoint* best_kept(const std::vector<TradePoint>&);

}  // namespace roofscape::engine
