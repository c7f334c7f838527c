// Continuous batching as a small discrete simulation: requests arrive at random (Poisson), wait for a slot, are
// prefilled and decoded; what comes out are percentiles of the time to first token and of the time per token. The
// steady state in closed form is in batching.h; this shows what it leaves out, the queue and the spread.
//
// One replica is simulated, at its share of the arrivals. An iteration decodes all sequences that are there, one
// token each (as many as a step brings on the mean), and takes what a step of so many takes: step_fixed + step_each x
// sequences, or what lies between the steps that are given. Where prefill
// shares the chips it runs at most one chunk of one prompt, and the iteration is so much longer; a sequence joins
// when its last chunk is done, with its first token. Where prefill has chips of its own, its replicas serve prompts
// first come first served, and the cache's transfer follows. Iterations between two events (an arrival, a chunk, a
// last token) are alike and are counted at once, so that the work grows with requests and chunks, not with tokens.
// Deterministic by seed, on every machine: the random numbers are the engine's own.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/report/report.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

// What the simulation needs of a replica. Seconds, tokens, requests.
struct BatchingModel {
  struct Class {  // of requests that are alike
    double share = 1;
    int output_tokens = 1;
    double prefill_s = 0;  // of the whole prompt
    int chunks = 1;
  };
  std::vector<Class> classes;
  double arrivals_per_s = 1;  // at this replica
  int slots = 1;              // sequences that are decoded at the same time
  double step_fixed_s = 0, step_each_s = 0;
  struct Step {
    double sequences = 0, seconds = 0;
  };
  std::vector<Step> steps;     // by rising sequences; empty: as a line, above
  double tokens_per_step = 1;  // at least 1
  bool disaggregated = false;
  double prefill_servers = 1;  // disaggregated: prefill replicas for each that decodes; fractions are rounded up
  double transfer_s = 0;
};

// Of a scenario and its report at `arrivals_per_s` requests a second for all replicas; 0 takes the scenario's own,
// or, where it has none, 0.8 of what the plan keeps up with. Its steps are those of evaluate() at some batches. Empty
// classes: the scenario serves nothing (unknown figures, training).
BatchingModel batching_model(const Scenario&, const Report&, double arrivals_per_s = 0);

struct SimulationLength {
  int requests = 2000;  // that are counted, after a quarter as many to settle
  std::uint64_t seed = 1;
};

struct Percentiles {
  double p50 = 0, p90 = 0, p99 = 0, mean = 0;
};

struct BatchingResult {
  int requests = 0;              // counted; 0: nothing was simulated
  Percentiles ttft_s;            // from the arrival, waiting included
  Percentiles time_per_token_s;  // of a request: its decoding time over its tokens but the first
  Percentiles request_s;
  double mean_batch = 0;  // sequences decoded, mean over time
  double tokens_per_s = 0;
  double requests_per_s = 0;
  double busy_fraction = 0;  // time with something to do
  double mean_queue = 0;     // requests that wait or are being prefilled, mean over time
  bool overloaded = false;   // the queue grew throughout: percentiles depend on how long one looks
};

BatchingResult simulate_batching(const BatchingModel&, const SimulationLength&);

}  // namespace roofscape::engine
