#include "engine/serving/prefill_cost.h"

#include <algorithm>

#include "engine/calibration/kernels.h"
#include "engine/hardware/collective.h"
#include "engine/serving/decode.h"
#include "engine/serving/prefill.h"
#include "engine/training/run.h"

namespace roofscape::engine {

namespace {

// Keys that a new token meets, mean of the layers and tokens; a window leaves no more than its own.
template <Scalar S>
S keys_met(const ServingInputs<S>& si, const PrefillCost<S>& out) {
  const ModelDims<S>& m = si.in.model;
  const bool causal = si.flops == FlopsConvention::exact_causal;
  // Of a histogram the prompt in which the mean token stands; the same share of it is cached.
  const S fresh = si.cached_prefix ? si.prompt_by_token * (out.tokens / si.prompt) : S(si.prompt_by_token);
  const S span = prefill_span(si.prompt_by_token - fresh, fresh, causal);
  if (!m.is.local) return named(Q::prefill_keys, span);
  const S all = named(Q::prefill_span_all, span);
  const S seen = min(m.window_tokens, all);
  return named(Q::prefill_keys, mean_of_layers(m, all, seen));
}

template <Scalar S>
void count_flops(const ServingInputs<S>& si, const Parameters<S>& p, PrefillCost<S>& out) {
  const ModelDims<S>& m = si.in.model;
  out.linear_flops = named(Q::prefill_linear_flops, linear_flops(multiplied_parameters(p, si.flops), out.tokens));
  out.keys = keys_met(si, out);
  if (si.flops == FlopsConvention::six_p) {
    out.attention_flops = named(Q::prefill_attention_flops, si.in.zero);
  } else {
    const S width = m.is.mla
                        ? named(Q::attention_width,
                                m.n_heads * (m.qk_nope_head_dim + m.qk_rope_head_dim + m.v_head_dim) / constant<S>(2))
                        : named(Q::attention_width, m.n_heads * m.d_head);
    out.attention_flops = named(Q::prefill_attention_flops, attention_flops(out.tokens, out.keys, width, m.n_layers));
  }
  out.flops = named(Q::prefill_flops, out.linear_flops + out.attention_flops);
}

// Calibrated: the kernels of one pass of so many tokens through all layers, and the output head for the last token of
// every prompt.
template <Scalar S>
S pass_kernels(const ServingInputs<S>& si, const Parameters<S>& p, const PrefillCost<S>& out) {
  const PhaseMesh<S>& mesh = si.prefill;
  Inputs<S> in = si.in;
  in.degrees = mesh.degrees;
  in.expert_tensor = mesh.expert_tensor;
  in.experts_split_tensor = mesh.experts_split_tensor;
  // Causal kernels leave out half of the square of a whole prompt; behind a prefix a new token meets more.
  const S fresh = si.cached_prefix ? si.prompt_by_token * (out.tokens / si.prompt) : S(si.prompt_by_token);
  in.sequence_length =
      si.cached_prefix ? constant<S>(2) * prefill_span(si.prompt_by_token - fresh, fresh, true) : fresh;
  LayerKey key = si.key;
  key.tensor = mesh.degree(Axis::tensor).n;
  const LayerOperations<S> operations = layer_operations(in, p, key, out.pass_tokens);
  const LayerKernels<S> k = layer_kernels(in, p, key, operations, out.pass_tokens, in.zero);
  const S layer = k.matmul_forward + k.attention_forward + k.vector_forward;
  const S& Y = mesh.degree(Axis::tensor).x;
  const S head = product_time(
      in, ProductShape<S>{si.prompts / out.chunks, in.model.d_model, in.model.vocab_size / Y, constant<S>(1)},
      in.gather_bytes, Dtype::none, -1);
  return named(Q::prefill_kernels, in.model.n_layers * layer + head);
}

// From prefill to decoding chips: all chips of the smaller replica send or receive at once. Inside a node over its
// own links, else over the data-centre network of a torus or the fabric between nodes.
template <Scalar S>
void send_cache(const ServingInputs<S>& si, const DecodeCost<S>& decode, PrefillCost<S>& out) {
  const Inputs<S>& in = si.in;
  if (!si.disaggregated) {
    out.transfer_rate = in.zero;
    out.transfer = named(Q::ttft_transfer, in.zero);
    return;
  }
  const S narrow = min(out.chips / out.replicas, decode.chips / decode.replicas);
  const bool torus = in.links.torus_dims > 0;
  const bool one_node = !torus && value_of(out.chips) + value_of(decode.chips) <= si.node_size;
  const S each = torus ? in.chip.dcn : one_node ? in.chip.nvlink : in.chip.node / constant<S>(si.node_size);
  out.transfer_rate = named(Q::transfer_rate, narrow * each);
  out.transfer = named(Q::ttft_transfer, decode.kv_prompt_bytes / out.transfer_rate);
}

}  // namespace

template <Scalar S>
PrefillCost<S> prefill_cost(const ServingInputs<S>& si, const Parameters<S>& p, const DecodeCost<S>& decode) {
  const Inputs<S>& in = si.in;
  const PhaseMesh<S>& mesh = si.prefill;
  const Degree<S>&tensor = mesh.degree(Axis::tensor), &context = mesh.degree(Axis::context),
        &stages = mesh.degree(Axis::pipeline);
  const S one = constant<S>(1), two = constant<S>(2);
  PrefillCost<S> out;
  out.replicas = si.disaggregated ? named(Q::prefill_replicas, one * mesh.degree(Axis::data).x)
                                  : named(Q::prefill_replicas, one * decode.replicas);
  out.chips = si.disaggregated ? named(Q::prefill_chips, out.replicas * tensor.x * context.x * stages.x)
                               : named(Q::prefill_chips, one * decode.chips);
  out.cached = named(Q::cached_tokens, si.prefix_hit * si.prompt);
  out.tokens = named(Q::fresh_tokens, si.prompt - out.cached);
  const auto together = [&si](const S& x) { return si.prompts_together > 1 ? si.prompts * x : S(x); };
  const auto pieces = [&](const S& tokens) {
    return si.chunked ? max(prefill_chunks(tokens, si.chunk), one) : in.zero + one;
  };
  // Prompts that go together fill the chunks one behind the other; without chunks a pipeline has them in groups.
  const int groups = si.chunked ? 1 : std::min(si.prompts_together, stages.n);
  const S passes = pieces(together(out.tokens));
  out.chunks = named(Q::prefill_chunks_q, groups > 1 ? passes * constant<S>(groups) : passes);
  out.prompt_chunks = si.prompts_together > 1 ? named(Q::prompt_chunks, pieces(out.tokens)) : S(out.chunks);
  out.pass_tokens = named(Q::prefill_pass_tokens, together(out.tokens) / (out.chunks * context.x));
  count_flops(si, p, out);

  // Everything a rank reads; prompts send tokens to all experts.
  const S& W = in.chip.hbm_bandwidth;
  out.flops_time =
      named(Q::prefill_flops_time, flops_seconds(together(out.flops), tensor.x * context.x, in.chip.peak_flops));
  S weights = in.rest_bytes * decode.params_shared / tensor.x;
  if (in.model.is.moe) {
    const S ways = (mesh.degree(Axis::expert).n > 1 ? mesh.degree(Axis::expert).x : one) * mesh.expert_tensor;
    weights = named(Q::prefill_weight_bytes, weights + in.weight_bytes * p.experts / ways);
  } else {
    weights = named(Q::prefill_weight_bytes, weights);
  }
  out.weight_read = named(Q::prefill_weight_read, out.chunks * hbm_read_seconds(weights, one, W));
  const S heads = in.model.is.mla ? min(one, tensor.x) : min(in.model.n_kv_heads, tensor.x);
  // A prompt's own chunks read what the earlier of them left.
  out.kv_read = named(
      Q::prefill_kv_read,
      hbm_read_seconds(together(decode.kv_prompt_bytes) * ((out.prompt_chunks + one) / two), heads * context.x, W));
  out.hbm = named(Q::prefill_hbm, out.weight_read + out.kv_read);
  out.kernels = in.calibrated ? pass_kernels(si, p, out) : S(in.zero);
  out.whole_work =
      named(Q::prefill_whole_work, in.calibrated ? out.chunks * out.kernels : max(out.flops_time, out.hbm));

  PassShape<S> pass;
  pass.tokens = out.pass_tokens;
  pass.passes = out.chunks;
  pass.kv_exchange = pass.kv_exchange_latency = pass.context_bytes = in.zero;
  // Keys and values of a chunk pass by all context ranks.
  if (context.n > 1) pass.context_bytes = decode.kv_layer_bytes * out.pass_tokens * context.x / heads;
  out.network = pass_network(si, mesh, p, pass, kPrefillNetwork);

  const S exposed = named(Q::prefill_exposed, exposed_seconds(in, out.network.total, out.whole_work) / stages.x);
  S own = out.whole_work / stages.x;
  if (in.calibrated) {
    const CalibrationInputs<S>& c = in.calibration;
    const S each = in.model.n_layers * c[Calibrated::eager_kernel];  // of a kernel in every layer
    S pace = pass_kernel_count(in) * each;
    if (in.model.is.moe) {
      // The host waits for the routing, so it is not ahead of these layers.
      const S starts = named(Q::prefill_starts, p.moe_share * expert_kernel_count(in) * each);
      own = own + out.chunks * starts / stages.x;
      pace = (one - p.moe_share) * pace + starts;
    }
    own = max(own, out.chunks * named(Q::prefill_pace, pace) / stages.x - exposed) + c[Calibrated::step_host];
    if (c.issues) own = max(own, out.chunks * in.model.n_layers * c[Calibrated::issue] / stages.x);
  }
  const S work = named(Q::prefill_work, own);
  const S interval = work + exposed;
  const S bubble = named(Q::prefill_bubble, stages.n > 1 ? interval * (stages.x - one) / out.chunks : S(in.zero));
  out.parts = {work, exposed, bubble};
  out.interval = named(Q::prefill_stage_time, interval);
  out.time = named(Q::prefill_time, work + exposed + bubble);
  out.at_stated_mfu = named(
      Q::prefill_at_mfu, run_seconds(out.linear_flops, out.chips / out.replicas, in.chip.peak_flops, in.stated_mfu));
  send_cache(si, decode, out);
  return out;
}

template PrefillCost<double> prefill_cost<double>(const ServingInputs<double>&, const Parameters<double>&,
                                                  const DecodeCost<double>&);
template PrefillCost<Traced> prefill_cost<Traced>(const ServingInputs<Traced>&, const Parameters<Traced>&,
                                                  const DecodeCost<Traced>&);

}  // namespace roofscape::engine
