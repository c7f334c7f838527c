// What a serving plan does as it runs, not for one step alone (Little's law; scaling book, chapters 7 and 8). A slot
// that finishes a sequence takes the next one. Two states:
//  - Every slot is taken (no rate of arrivals is given, or more arrive than the plan keeps up with): workload.batch
//    sequences are in flight.
//  - Fewer arrive than that, or prefill on chips of its own passes fewer on: in flight is what balances arrivals and
//    departures, b = q G T(b), at most workload.batch.
// Where prefill shares the chips, the prefills of what takes the freed slots run between the decoding steps, so that a
// token takes T + T_pre q / X, T + T_pre b / (X G) with every slot taken. Where it has chips of its own, a token takes
// what decoding takes. These "sustained" values are what a user sees and pays: the promise (workload.slo), the search,
// headlines and costs go by them. serving.time_per_output_token_s, serving.tokens_per_s and
// serving.cost_per_million_tokens_usd are of decoding alone, with every slot taken: the book's.
//
// Little's law holds between the three: sequences in flight = sustained tokens a second x sustained time per token.
#pragma once

#include "engine/serving/prefill_cost.h"

namespace roofscape::engine {

// Where fewer than every slot is taken: a decoding step of what is in flight.
struct InFlight {
  bool fewer = false;
  double token_time_s = 0, step_s = 0;
};

template <Scalar S>
struct SteadyState {
  S decode_requests, prefill_requests, interval;  // interval: of the prefills of single prompts
  S full_token_time, capacity, load;              // with every slot taken; load only with arrivals
  S requests, prefill_load;
  S token_time, step;  // decoding alone, of what is in flight
  S mixed_token_time, batch, sustained_tokens, sustained_per_chip;
  S prefill_servers, prefill_chip_ratio;
  S ttft_interleave, ttft_host, ttft, request_time;
  S cost, sustained_cost;
  InFlight in_flight;
};

// The requests a second that are served, and what they are held against; the rest of the members is left open.
template <Scalar S>
SteadyState<S> served_requests(const ServingInputs<S>&, const DecodeCost<S>&, const PrefillCost<S>&);
// How many sequences are in flight at these requests, by the step time that decode_cost() gives of any number of them.
InFlight sequences_in_flight(const ServingInputs<double>&, const Parameters<double>&, const SteadyState<double>&);
// The rest, from what served_requests() gave.
template <Scalar S>
void complete(const ServingInputs<S>&, const DecodeCost<S>&, const PrefillCost<S>&, const InFlight&, SteadyState<S>&);

#define ROOFSCAPE_STEADY_STATE(prefix, S)                                                                \
  prefix template SteadyState<S> served_requests<S>(const ServingInputs<S>&, const DecodeCost<S>&,       \
                                                    const PrefillCost<S>&);                              \
  prefix template void complete<S>(const ServingInputs<S>&, const DecodeCost<S>&, const PrefillCost<S>&, \
                                   const InFlight&, SteadyState<S>&);
ROOFSCAPE_STEADY_STATE(extern, double)
ROOFSCAPE_STEADY_STATE(extern, Traced)

}  // namespace roofscape::engine
