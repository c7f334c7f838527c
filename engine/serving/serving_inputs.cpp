#include "engine/serving/serving_inputs.h"

#include <cmath>

#include "engine/calibration/collectives.h"
#include "engine/hardware/collective.h"
#include "engine/scenario/mesh_size.h"

namespace roofscape::engine {

namespace {

constexpr std::string_view kYours = "scenario";

template <Scalar S>
void read_lengths(const Scenario& s, Trace* trace, ServingInputs<S>& out) {
  const Workload& w = s.workload;
  const S share = input_leaf<S>(trace, Q::context_share, -1, s.assumptions.context_share, kYours);
  out.histogram = w.has_lengths();
  if (!out.histogram) {
    out.prompt = input_leaf<S>(trace, Q::prompt_tokens, -1, w.prompt_tokens, kYours);
    out.output = input_leaf<S>(trace, Q::output_tokens, -1, w.output_tokens, kYours);
    out.prompt_by_token = out.prompt;
    out.context = named(Q::decode_context, out.prompt + share * out.output);
    out.sequence_tokens = named(Q::sequence_tokens, out.prompt + out.output);
    return;
  }
  S shares = out.in.zero, prompts = out.in.zero, squares = out.in.zero, outputs = out.in.zero, contexts = out.in.zero,
    ends = out.in.zero;
  for (std::size_t i = 0; i < kLengthBins; ++i) {
    const LengthBin& bin = w.lengths[i];
    if (!(bin.share > 0)) continue;
    const int index = static_cast<int>(i);
    const S each = input_leaf<S>(trace, Q::length_share, index, bin.share, kYours);
    const S prompt = input_leaf<S>(trace, Q::length_prompt, index, bin.prompt_tokens, kYours);
    const S output = input_leaf<S>(trace, Q::length_output, index, bin.output_tokens, kYours);
    shares = shares + each;
    prompts = prompts + each * prompt;
    squares = squares + each * prompt * prompt;
    outputs = outputs + each * output;
    contexts = contexts + each * output * (prompt + share * output);
    ends = ends + each * output * (prompt + output);
  }
  shares = named(Q::length_sum, shares);
  prompts = named(Q::length_prompt_sum, prompts);
  outputs = named(Q::length_output_sum, outputs);
  out.prompt = named(Q::prompt_mean, prompts / shares);
  out.prompt_by_token = named(Q::prompt_longest, named(Q::length_square_sum, squares) / prompts);
  out.output = named(Q::output_mean, outputs / shares);
  out.context = named(Q::decode_context, named(Q::length_context_sum, contexts) / outputs);
  out.sequence_tokens = named(Q::sequence_tokens, named(Q::length_end_sum, ends) / outputs);
}

template <Scalar S>
void read_decode_mesh(const Inputs<S>& in, PhaseMesh<S>& mesh) {
  mesh.degrees = in.degrees, mesh.torus_axes = in.torus_axes, mesh.links = in.links;
  mesh.expert_tensor = in.expert_tensor, mesh.experts_split_tensor = in.experts_split_tensor;
}

template <Scalar S>
void read_prefill_mesh(const Scenario& s, Trace* trace, PhaseMesh<S>& mesh) {
  const Parallelism plan = prefill_parallelism(s);
  mesh.links = place_mesh(s.cluster, plan, resolved_placement(s));
  for (int i = 0; i < kAxisCount; ++i) {
    const auto slot = static_cast<std::size_t>(i);
    const int degree = plan.degree(static_cast<Axis>(i));
    mesh.degrees[slot] = {degree, input_leaf<S>(trace, Q::prefill_degree, i, degree, kYours)};
    mesh.torus_axes[slot] = torus_axes_of<S>(mesh.links.group(static_cast<Axis>(i)), Q::prefill_torus_axes, trace);
  }
  mesh.expert_tensor = mesh.degree(Axis::tensor).x;
  mesh.experts_split_tensor = false;
}

template <Scalar S>
void count_hops(Trace* trace, Q row, const Inputs<S>& in, PhaseMesh<S>& mesh) {
  mesh.latency.fill(in.zero);
  for (int i = 0; i < kAxisCount; ++i) {
    const AxisLinks& links =
        static_cast<Axis>(i) == Axis::fsdp ? mesh.links.state : mesh.links.axes[static_cast<std::size_t>(i)];
    mesh.hops[static_cast<std::size_t>(i)] =
        input_leaf<S>(trace, row, i, collective_hops(links), "placement of the mesh on the links");
    if (in.calibrated && links.degree > 1)
      mesh.latency[static_cast<std::size_t>(i)] =
          named(Q::serving_latency, i, pass_latency(in, static_cast<Axis>(i), links));
  }
}

}  // namespace

template <Scalar S>
S pass_latency(const Inputs<S>& in, Axis axis, const AxisLinks& links) {
  if (axis == Axis::pipeline) return send_latency(in, links);
  const S all = collective_latency(in, links);
  // Over tensor a gather and a scatter are the halves of one AllReduce, which is started once.
  return axis == Axis::tensor ? all - in.calibration[Calibrated::call_latency] / constant<S>(2) : S(all);
}
template double pass_latency<double>(const Inputs<double>&, Axis, const AxisLinks&);
template Traced pass_latency<Traced>(const Inputs<Traced>&, Axis, const AxisLinks&);

Parallelism prefill_parallelism(const Scenario& s) {
  if (!s.serving.disaggregated) return s.parallelism;
  Parallelism plan;
  const PrefillPlan& p = s.serving.prefill;
  plan.data = p.data, plan.tensor = p.tensor, plan.context = p.context, plan.pipeline = p.pipeline,
  plan.expert = p.expert;
  return plan;
}

double serving_chips(const Scenario& s) {
  return mesh_chips(s.parallelism) + (s.serving.disaggregated ? mesh_chips(prefill_parallelism(s)) : 0);
}

template <Scalar S>
void read_serving_inputs(const Scenario& s, Trace* trace, ServingInputs<S>& out) {
  out.in = make_inputs<S>(s, trace);
  const auto input = [trace](Q q, double value, std::string_view source = kYours) {
    return input_leaf<S>(trace, q, -1, value, source);
  };
  const ServingPlan& plan = s.serving;
  out.disaggregated = plan.disaggregated, out.chunked = plan.prefill_chunk_tokens > 0,
  out.paged = plan.page_tokens > 0;
  out.cached_prefix = plan.prefix_hit_rate > 0, out.has_arrivals = s.workload.arrivals_per_s > 0;
  out.draft_tokens = plan.draft_tokens, out.kv_split = plan.kv_split, out.flops = s.assumptions.flops;
  out.key = layer_key(s);
  out.key.sequence_parallel = false;
  out.key.policy = CheckpointPolicy::none;
  out.shards_weights = s.parallelism.fsdp > 1 && s.parallelism.zero_stage == 3;
  out.node_size = s.cluster.node_size;
  read_lengths(s, trace, out);
  out.batch = input(Q::serving_batch, s.workload.batch);
  out.arrivals = input(Q::arrivals, s.workload.arrivals_per_s);
  out.kv_element_bytes = input(Q::kv_width_bytes, bytes_of(cache_format(s.precision)));
  out.drafts = input(Q::draft_tokens, plan.draft_tokens);
  out.acceptance = input(Q::acceptance_rate, plan.acceptance_rate);
  out.draft_cost = input(Q::draft_cost, plan.draft_cost);
  out.prefix_hit = input(Q::prefix_hit_rate, plan.prefix_hit_rate);
  out.chunk = input(Q::prefill_chunk, plan.prefill_chunk_tokens);
  out.prompts_together = plan.prefill_prompts;
  out.prompts = input(Q::prefill_prompts, plan.prefill_prompts);
  out.page = input(Q::page_tokens, plan.page_tokens);
  // Calibrated, a step of a collective takes as long as libraries have been seen to need.
  out.hop_latency = out.in.calibrated && !(s.assumptions.hop_latency_s > 0)
                        ? named(Q::hop_latency, out.in.calibration[Calibrated::link_latency])
                        : S(out.in.hop_latency);
  read_decode_mesh(out.in, out.decode);
  count_hops(trace, Q::network_hops, out.in, out.decode);
  if (out.disaggregated) {
    read_prefill_mesh(s, trace, out.prefill);
    count_hops(trace, Q::prefill_network_hops, out.in, out.prefill);
  } else {
    out.prefill = out.decode;
  }
}

template void read_serving_inputs<double>(const Scenario&, Trace*, ServingInputs<double>&);
template void read_serving_inputs<Traced>(const Scenario&, Trace*, ServingInputs<Traced>&);

}  // namespace roofscape::engine
