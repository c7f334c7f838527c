// What the serving formulas see of a Scenario: the lengths of requests, the meshes of both phases, the formats and
// the options of an engine. Decoding runs on the scenario's own mesh; prefill shares its chips, or has a plan and
// chips of its own where the phases are disaggregated.
//
// Lengths: all requests alike, or a histogram. Then the mean prompt and output are those of the mean request, and
// what is in the cache is the mean over sequences in flight: those that generate longer are there longer.
#pragma once

#include "engine/inputs/inputs.h"
#include "engine/model/layer_operations.h"

namespace roofscape::engine {

template <Scalar S>
struct PhaseMesh {
  AxisArray<Degree<S>> degrees;
  AxisArray<S> torus_axes, hops;
  AxisArray<S> latency;  // of a gather or scatter, beside its bytes; not in ideal mode
  MeshLinks links;
  S expert_tensor;  // ranks that split one expert
  bool experts_split_tensor = false;

  const Degree<S>& degree(Axis axis) const { return degrees[axis]; }
};

template <Scalar S>
struct ServingInputs {
  Inputs<S> in;
  PhaseMesh<S> decode, prefill;
  S batch, arrivals;
  S prompt, prompt_by_token, output;  // of the mean request; the prompt in which the mean token stands
  S context, sequence_tokens;         // of a step, and at the end
  S kv_element_bytes, acceptance, draft_cost, drafts, prefix_hit, chunk, page, hop_latency,
      prompts;   // prompts: of one pass of prefill
  LayerKey key;  // of a layer on the decoding mesh
  bool disaggregated = false, chunked = false, paged = false, cached_prefix = false, has_arrivals = false;
  bool histogram = false;
  int prompts_together = 1;  // the same as prompts
  int draft_tokens = 0;
  KvSplit kv_split = KvSplit::batch;
  FlopsConvention flops = FlopsConvention::six_p;
  bool shards_weights = false;  // FSDP: every layer's weights are gathered for every pass
  double node_size = 1;
};

// `out` as made by default.
template <Scalar S>
void read_serving_inputs(const Scenario&, Trace* trace, ServingInputs<S>& out);
extern template void read_serving_inputs<double>(const Scenario&, Trace*, ServingInputs<double>&);
extern template void read_serving_inputs<Traced>(const Scenario&, Trace*, ServingInputs<Traced>&);

// Calibrated: seconds of one collective of a pass over the axis's group beside its bytes.
template <Scalar S>
S pass_latency(const Inputs<S>&, Axis, const AxisLinks&);
extern template double pass_latency<double>(const Inputs<double>&, Axis, const AxisLinks&);

// The mesh on which prefill runs.
Parallelism prefill_parallelism(const Scenario&);
// Chips of both phases.
double serving_chips(const Scenario&);

}  // namespace roofscape::engine
