#include "engine/evaluate/serving_evaluation.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "engine/base/finite.h"
#include "engine/base/kept_memory.h"
#include "engine/evaluate/bound.h"
#include "engine/evaluate/diagnose.h"
#include "engine/evaluate/evaluation.h"
#include "engine/hardware/collective.h"
#include "engine/serving/decode.h"
#include "engine/serving/limits.h"

namespace roofscape::engine {

namespace {

template <Scalar S>
ServingLimits<S> serving_limits(const ServingInputs<S>& si, const DecodeCost<S>& decode, const Parameters<S>& p) {
  const Inputs<S>& in = si.in;
  const S& C = in.chip.peak_flops;
  const S& W = in.chip.hbm_bandwidth;
  ServingLimits<S> out;
  S batch = critical_batch(in.weight_bytes, C, W);
  if (in.model.is.moe) batch = batch * (in.model.n_experts / in.model.experts_per_token);
  out.critical_batch = named(Q::critical_batch, batch);
  const PhaseMesh<S>& mesh = si.decode;
  const Degree<S>&tensor = mesh.degree(Axis::tensor), &context = mesh.degree(Axis::context);
  // Sequences whose FLOPs take as long as what this plan reads of the weights.
  const S one = constant<S>(1);
  const S checked = si.draft_tokens > 0 ? si.drafts + one : one * one;
  const S token_flops = linear_flops(multiplied_parameters(p, si.flops), one);
  out.token_flops_time = named(Q::token_flops_time, flops_seconds(token_flops, tensor.x * context.x, C));
  const S passes = decode.replicas * mesh.degree(Axis::pipeline).x;
  out.critical_sequences =
      named(Q::critical_sequences, decode.weight_read * passes / (out.token_flops_time * checked));
  out.kv_plateau = named(Q::kv_plateau, decode.accepted * si.batch / decode.kv_read);
  // How far tensor parallelism goes: against FLOPs, and against reading weights.
  const S F = in.model.d_ff;
  const bool torus = in.links.torus_dims > 0;
  const S link = torus ? in.chip.ici_axis * in.bound_axes_tensor : S(in.chip.nvlink);
  const S per_link = fsdp_tokens_per_chip(C, link, one, in.activation_bytes);
  out.tensor_limit = named(Q::tensor_limit_compute, tensor_degree_limit(F, one, per_link));
  out.hbm_to_link = named(Q::hbm_to_link, W / link);
  out.weight_width = named(Q::weight_width, F * (in.weight_bytes / in.activation_bytes));
  out.tensor_limit_memory =
      named(Q::tensor_limit_memory, memory_tensor_limit(out.weight_width, decode.pass_tokens, out.hbm_to_link));
  return out;
}

// Calls f(Q, value) for every quantity that has a slot in a report and applies to this evaluation.
template <Scalar S, class F>
void for_each_serving_quantity(const ServingEvaluation<S>& e, F&& f) {
  const ServingInputs<S>& si = e.si;
  const Inputs<S>& in = si.in;
  const Parameters<S>& p = e.params;
  const DecodeCost<S>& d = e.decode;
  const PrefillCost<S>& pre = e.prefill;
  const ServingCapacity<S>& cap = e.capacity;
  const SteadyState<S>& st = e.steady;
  const ServingLimits<S>& lim = e.limits;
  const bool torus = in.links.torus_dims > 0, piped = si.decode.degree(Axis::pipeline).n > 1;
  for_each_spec_quantity(in, f);
  for_each_model_quantity(in.model, p, f);
  f(Q::hop_latency, si.hop_latency);
  if (torus) f(Q::cluster_slices, in.slices);
  if (!si.histogram) f(Q::prompt_tokens, si.prompt), f(Q::output_tokens, si.output);
  if (si.histogram)
    f(Q::prompt_mean, si.prompt), f(Q::output_mean, si.output), f(Q::prompt_longest, si.prompt_by_token);
  f(Q::serving_batch, si.batch);
  if (si.has_arrivals) f(Q::arrivals, si.arrivals);
  f(Q::activation_width_bytes, in.activation_bytes), f(Q::weight_width_bytes, in.weight_bytes);
  f(Q::kv_width_bytes, si.kv_element_bytes), f(Q::reserve_bytes, in.reserve_bytes);
  f(Q::stated_mfu, in.stated_mfu), f(Q::overlap, in.overlap);
  if (si.draft_tokens > 0)
    f(Q::draft_tokens, si.drafts), f(Q::acceptance_rate, si.acceptance), f(Q::draft_cost, si.draft_cost);
  if (si.cached_prefix) f(Q::prefix_hit_rate, si.prefix_hit), f(Q::cached_tokens, pre.cached);
  if (si.chunked) f(Q::prefill_chunk, si.chunk);
  if (si.prompts_together > 1)
    f(Q::prefill_prompts, si.prompts), f(Q::prompt_chunks, pre.prompt_chunks), f(Q::prefill_share_time, st.interval);
  if (si.paged) f(Q::page_tokens, si.page);

  if (in.model.is.published_count) f(Q::published_params, in.model.published_params);
  f(Q::params_mlp, p.mlp), f(Q::params_attention, p.attention), f(Q::params_norms, p.norms);
  f(Q::params_vocab, p.vocab), f(Q::params_layer, p.layer), f(Q::params_total, p.total),
      f(Q::params_active, p.active);
  f(Q::params_matmul, p.matmul), f(Q::kv_cache_bytes_per_token, e.kv_token_bytes);

  f(Q::decode_context, si.context), f(Q::sequence_tokens, si.sequence_tokens),
      f(Q::allocated_tokens, d.allocated_tokens);
  f(Q::kv_layer_bytes, d.kv_layer_bytes), f(Q::kv_read_bytes, d.kv_read_bytes),
      f(Q::kv_sequence_bytes, d.kv_sequence_bytes);
  f(Q::kv_prompt_bytes, d.kv_prompt_bytes), f(Q::kv_total_bytes, cap.kv_total);
  f(Q::chips_used, e.chips), f(Q::decode_chips, d.chips), f(Q::prefill_chips, pre.chips), f(Q::replicas, d.replicas);
  f(Q::replica_sequences, d.replica_sequences), f(Q::pass_sequences, d.pass_sequences),
      f(Q::kv_head_ways, d.kv_head_ways);
  f(Q::kv_spare_ways, d.kv_spare_ways), f(Q::kv_ways, d.kv_ways), f(Q::kv_copies, d.kv_copies);
  if (in.model.is.moe)
    f(Q::expert_ways, d.expert_ways), f(Q::experts_hit, d.experts_hit), f(Q::params_shared, d.params_shared);

  f(Q::pass_tokens, d.pass_tokens), f(Q::weight_read_bytes, d.weight_read_bytes), f(Q::decode_kv_read, d.kv_read);
  f(Q::decode_attention_math, d.attention_math), f(Q::decode_weight_read, d.weight_read), f(Q::decode_flops, d.flops);
  f(Q::decode_flops_time, d.flops_time), f(Q::decode_network, d.network.total), f(Q::decode_work, d.work);
  for (std::size_t i = 0; i < kDecodeParts.size(); ++i) f(kDecodeParts[i], d.parts[i]);
  f(Q::decode_model_step, d.model_step), f(Q::decode_step, d.step), f(Q::accepted_per_step, d.accepted);
  f(Q::time_per_output_token, d.token_time), f(Q::serving_tokens_per_s, d.tokens_per_s);
  f(Q::serving_tokens_per_chip, d.tokens_per_chip);
  (void)piped;

  f(Q::fresh_tokens, pre.tokens), f(Q::prefill_chunks_q, pre.chunks), f(Q::prefill_pass_tokens, pre.pass_tokens);
  f(Q::prefill_linear_flops, pre.linear_flops), f(Q::prefill_keys, pre.keys),
      f(Q::prefill_attention_flops, pre.attention_flops);
  f(Q::prefill_flops, pre.flops), f(Q::prefill_flops_time, pre.flops_time),
      f(Q::prefill_weight_read, pre.weight_read);
  f(Q::prefill_kv_read, pre.kv_read), f(Q::prefill_hbm, pre.hbm), f(Q::prefill_whole_work, pre.whole_work);
  f(Q::prefill_network, pre.network.total);
  for (std::size_t i = 0; i < kPrefillParts.size(); ++i) f(kPrefillParts[i], pre.parts[i]);
  f(Q::prefill_time, pre.time), f(Q::prefill_at_mfu, pre.at_stated_mfu), f(Q::prefill_stage_time, pre.interval);
  f(Q::prefill_replicas, pre.replicas), f(Q::ttft_interleave, st.ttft_interleave), f(Q::ttft_transfer, pre.transfer);
  f(Q::ttft_host, st.ttft_host);
  if (si.disaggregated) f(Q::transfer_rate, pre.transfer_rate);
  f(Q::ttft, st.ttft);

  f(Q::decode_requests, st.decode_requests), f(Q::prefill_requests, st.prefill_requests);
  f(Q::capacity_requests, st.capacity), f(Q::requests_per_s, st.requests);
  if (si.has_arrivals) f(Q::steady_load, st.load);
  if (st.in_flight.fewer) f(Q::in_flight_token_time, st.token_time), f(Q::in_flight_step, st.step);
  f(Q::mixed_token_time_q, st.mixed_token_time), f(Q::sustained_tokens, st.sustained_tokens),
      f(Q::sustained_tokens_per_chip, st.sustained_per_chip);
  f(Q::steady_batch, st.batch), f(Q::request_time, st.request_time);
  f(Q::prefill_servers_q, st.prefill_servers), f(Q::prefill_chip_ratio, st.prefill_chip_ratio);
  f(Q::prefill_load, st.prefill_load);
  f(Q::serving_cost, st.cost), f(Q::sustained_cost, st.sustained_cost);

  for (std::size_t i = 0; i < kServingMemoryParts.size(); ++i) f(kServingMemoryParts[i], cap.parts[i]);
  f(Q::memory_total, cap.total), f(Q::memory_free, cap.free), f(Q::sequence_chip_bytes, cap.sequence_chip_bytes);
  f(Q::sequence_working_bytes, cap.sequence_working), f(Q::prefill_working_bytes, cap.prefill_working);
  f(Q::replica_max_batch, cap.replica_max), f(Q::max_batch, cap.max_batch), f(Q::kv_equal_batch, cap.kv_equal_batch),
      f(Q::weights_bytes_all, cap.weights_all);
  f(Q::slice_bytes_bf16, cap.minimum_chips[0]), f(Q::slice_bytes_int8, cap.minimum_chips[1]);
  f(Q::slice_bytes_int4, cap.minimum_chips[2]), f(Q::slice_bf16, cap.slices[0]), f(Q::slice_int8, cap.slices[1]);
  f(Q::slice_int4, cap.slices[2]);

  f(Q::critical_batch, lim.critical_batch), f(Q::critical_sequences, lim.critical_sequences);
  f(Q::token_flops_time, lim.token_flops_time), f(Q::kv_plateau, lim.kv_plateau),
      f(Q::tensor_limit_compute, lim.tensor_limit);
  f(Q::hbm_to_link, lim.hbm_to_link), f(Q::weight_width, lim.weight_width),
      f(Q::tensor_limit_memory, lim.tensor_limit_memory);
}

// Serving has no simulated schedule; the memory of its tables is kept unless it is large.
void clear_pipeline(PipelineReport& pipeline) {
  pipeline.shape = {}, pipeline.status = {};
  give_back_unless_needed(pipeline.orders.ops, 0);
  give_back_unless_needed(pipeline.timeline.start, 0);
  pipeline.orders.ops.clear(), pipeline.timeline.start.clear(), pipeline.idle.clear();
  pipeline.timeline.makespan = 0;
  pipeline.step_end_s = pipeline.reduction_s = 0;
}

void fill_collectives(const DecodeCost<double>& d, std::vector<CollectiveRow>& rows) {
  rows.clear();
  for (std::size_t i = 0; i < d.network.seconds.size(); ++i) {
    if (!d.network.communicates[i]) continue;
    const auto axis = static_cast<Axis>(i);
    const auto kind = axis == Axis::expert ? CollectiveKind::all_to_all : CollectiveKind::all_gather;
    rows.push_back({axis, kind, false, false, finite(d.network.bytes[i]), finite(d.network.calls[i]),
                    finite(d.network.call[i]), finite(d.network.bandwidth[i])});
  }
}

void fill_placement(const ServingEvaluation<double>& e, std::vector<AxisPlacement>& rows) {
  rows.clear();
  const PhaseMesh<double>& mesh = e.si.decode;
  for (int i = 0; i < kAxisCount; ++i) {
    const auto axis = static_cast<Axis>(i);
    const AxisLinks& links = mesh.links.group(axis);
    rows.push_back({axis, links.tier, mesh.degree(axis).n, links.torus_axes, links.inside_node, links.across_nodes,
                    finite(e.decode.network.bandwidth[axis]), binding_level(links, e.si.in.chip),
                    std::max(links.degree, 1), links.on, links.open_axes});
  }
}

}  // namespace

template <Scalar S>
ServingEvaluation<S> run_serving(const Scenario& s, Trace* trace) {
  ServingEvaluation<S> e;
  read_serving_inputs(s, trace, e.si);
  e.params = count_parameters(e.si.in.model);
  e.decode = decode_cost(e.si, e.params);
  e.prefill = prefill_cost(e.si, e.params, e.decode);
  e.capacity = serving_capacity(e.si, e.params, e.decode, e.prefill, s.cluster);
  e.steady = served_requests(e.si, e.decode, e.prefill);
  InFlight in_flight;
  if constexpr (std::is_same_v<S, double>)
    in_flight = sequences_in_flight(e.si, e.params, e.steady);
  else
    in_flight = run_serving<double>(s, nullptr).steady.in_flight;
  complete(e.si, e.decode, e.prefill, in_flight, e.steady);
  e.limits = serving_limits(e.si, e.decode, e.params);
  e.kv_token_bytes = named(Q::kv_cache_bytes_per_token, e.decode.kv_sequence_bytes / e.decode.allocated_tokens);
  e.chips =
      named(Q::chips_used, e.si.disaggregated ? e.decode.chips + e.prefill.chips : constant<S>(1) * e.decode.chips);
  return e;
}
template ServingEvaluation<double> run_serving<double>(const Scenario&, Trace*);
template ServingEvaluation<Traced> run_serving<Traced>(const Scenario&, Trace*);

void evaluate_serving(const Scenario& s, Report& out) {
  const ServingEvaluation<double> e = run_serving<double>(s, nullptr);
  out.quantities.clear();
  for_each_serving_quantity(e, [&out](Q q, double value) { out.quantities.set(q, value); });
  out.bound = find_bound(e.decode);
  out.fullest_stage = 0;
  out.operations.clear();
  out.stages.clear();
  clear_pipeline(out.pipeline);
  fill_collectives(e.decode, out.collectives);
  out.transfers = {};
  fill_placement(e, out.placement);
  diagnose(s, out);
  if (!out.has_errors()) return;
  withhold_run(out);
  for (const Q q : {Q::in_flight_token_time, Q::in_flight_step}) out.quantities.withhold(q);
}

}  // namespace roofscape::engine
