// Prefill of one prompt on one replica (scaling book, chapters 7 and 8). Work is the
// longer of FLOPs and HBM traffic: weights are read once a chunk, keys and values of earlier chunks again by every
// later one. With a pipeline the chunks follow each other through the stages, so that p stages need 1 + (p - 1) / m
// times the work of one. Where decoding has chips of its own, the cache is sent over.
//
// Calibrated, a pass runs the kernels of a training step's forward pass (engine/calibration/kernels.h), its
// collectives hide under nothing but the share hidden_tensor, and the host takes its time: no graph covers the pass, so
// its kernels are started one by one. That goes on ahead of a dense layer, whose chip waits only where its kernels are
// shorter than their starts; a layer with experts is started when its tokens are sorted. Several prompts may go through
// together (serving.prefill_prompts): then the times are of all of them, in chunks that they fill one behind the other,
// or, where prompts are not cut, in as many groups as a pipeline has stages.
#pragma once

#include "engine/serving/decode_cost.h"

namespace roofscape::engine {

template <Scalar S>
struct PrefillCost {
  S chips, replicas;
  S tokens, cached, chunks, prompt_chunks, pass_tokens;
  S linear_flops, keys, attention_flops, flops;
  S flops_time, weight_read, kv_read, hbm, whole_work;
  S kernels;  // of one pass; calibrated
  PassNetwork<S> network;
  std::array<S, kPrefillParts.size()> parts;
  S time, at_stated_mfu, interval;
  S transfer_rate, transfer;
};

template <Scalar S>
PrefillCost<S> prefill_cost(const ServingInputs<S>&, const Parameters<S>&, const DecodeCost<S>&);
extern template PrefillCost<double> prefill_cost<double>(const ServingInputs<double>&, const Parameters<double>&,
                                                         const DecodeCost<double>&);
extern template PrefillCost<Traced> prefill_cost<Traced>(const ServingInputs<Traced>&, const Parameters<Traced>&,
                                                         const DecodeCost<Traced>&);

}  // namespace roofscape::engine
