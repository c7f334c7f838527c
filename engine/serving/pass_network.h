// Communication of one pass through the layers, by mesh axis. Every collective takes the longer of its bytes over the
// bandwidth of the axis and its latency floor, hops times the latency of one: the collectives of a decoding step are
// small, so the floor often decides (scaling book, chapters 3 and 7, appendix C).
#pragma once

#include "engine/model/parameters.h"
#include "engine/serving/serving_inputs.h"

namespace roofscape::engine {

// The rows under which a phase's communication is reported.
struct NetworkRows {
  Q bandwidth, bytes, expert_across, call, calls, seconds, latency, total;
};
inline constexpr NetworkRows kDecodeNetwork{Q::axis_bandwidth, Q::decode_call_bytes, Q::decode_expert_across,
                                            Q::decode_call,    Q::decode_calls,      Q::decode_comm,
                                            Q::decode_latency, Q::decode_network};
inline constexpr NetworkRows kPrefillNetwork{Q::prefill_bandwidth, Q::prefill_call_bytes, Q::prefill_expert_across,
                                             Q::prefill_call,      Q::prefill_calls,      Q::prefill_comm,
                                             Q::prefill_latency,   Q::prefill_network};

// What a pass sends.
template <Scalar S>
struct PassShape {
  S tokens;                  // on one context rank
  S passes;                  // how often
  S context_bytes;           // of one collective of a layer over context ...
  double context_calls = 1;  // ... and how many of them
  S kv_exchange;             // seconds of all passes, over tensor: queries to the ranks that hold the cache ...
  S kv_exchange_latency;     // ... and what of them is latency
};

template <Scalar S>
struct PassNetwork {
  AxisArray<S> bandwidth, bytes, call, calls, seconds, latency;
  AxisArray<bool> communicates{};
  S total;
};

template <Scalar S>
PassNetwork<S> pass_network(const ServingInputs<S>&, const PhaseMesh<S>&, const Parameters<S>&, const PassShape<S>&,
                            const NetworkRows&);
extern template PassNetwork<double> pass_network<double>(const ServingInputs<double>&, const PhaseMesh<double>&,
                                                         const Parameters<double>&, const PassShape<double>&,
                                                         const NetworkRows&);
extern template PassNetwork<Traced> pass_network<Traced>(const ServingInputs<Traced>&, const PhaseMesh<Traced>&,
                                                         const Parameters<Traced>&, const PassShape<Traced>&,
                                                         const NetworkRows&);

}  // namespace roofscape::engine
