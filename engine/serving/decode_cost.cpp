#include "engine/serving/decode_cost.h"

#include "engine/calibration/collectives.h"
#include "engine/hardware/collective.h"
#include "engine/model/kv_cache.h"
#include "engine/serving/batching.h"
#include "engine/serving/capacity.h"
#include "engine/serving/decode.h"
#include "engine/serving/speculation.h"

namespace roofscape::engine {

namespace {

template <Scalar S>
void split_batch(const ServingInputs<S>& si, DecodeCost<S>& out) {
  const PhaseMesh<S>& mesh = si.decode;
  const auto x = [&mesh](Axis axis) { return mesh.degree(axis).x; };
  out.replicas = named(Q::replicas, x(Axis::data) * x(Axis::fsdp));
  out.chips = named(Q::decode_chips, out.replicas * x(Axis::tensor) * x(Axis::context) * x(Axis::pipeline));
  out.replica_sequences = named(Q::replica_sequences, si.batch / out.replicas);
  // With fewer sequences than stages a pass still takes a whole one, and stages wait.
  const S share = out.replica_sequences / x(Axis::pipeline);
  out.pass_sequences =
      named(Q::pass_sequences, mesh.degree(Axis::pipeline).n > 1 ? max(share, constant<S>(1)) : S(share));
}

template <Scalar S>
void size_cache(const ServingInputs<S>& si, DecodeCost<S>& out) {
  const ModelDims<S>& m = si.in.model;
  out.kv_layer_bytes = named(Q::kv_layer_bytes, si.kv_element_bytes * kv_elements(m));
  out.allocated_tokens =
      named(Q::allocated_tokens, si.paged ? paged_tokens(si.sequence_tokens, si.page) : S(si.sequence_tokens));
  out.kv_read_bytes =
      named(Q::kv_read_bytes, out.kv_layer_bytes * kv_tokens_over_layers(m, si.context, Q::kv_layer_tokens));
  out.kv_sequence_bytes =
      named(Q::kv_sequence_bytes,
            out.kv_layer_bytes * kv_tokens_over_layers(m, out.allocated_tokens, Q::kv_layer_tokens_stored));
  out.kv_prompt_bytes =
      named(Q::kv_prompt_bytes, out.kv_layer_bytes * kv_tokens_over_layers(m, si.prompt, Q::kv_layer_tokens_prompt));
  const S& Y = si.decode.degree(Axis::tensor).x;
  const S& c = si.decode.degree(Axis::context).x;
  // A latent belongs to all heads.
  out.kv_head_ways = named(Q::kv_head_ways, m.is.mla ? min(constant<S>(1), Y) : min(m.n_kv_heads, Y));
  out.kv_spare_ways = named(Q::kv_spare_ways, Y / out.kv_head_ways);
  S ways = out.kv_head_ways;
  if (si.kv_split == KvSplit::sequence) ways = ways * out.kv_spare_ways;
  if (si.kv_split == KvSplit::batch) ways = ways * max(min(out.kv_spare_ways, out.pass_sequences), constant<S>(1));
  out.kv_ways = named(Q::kv_ways, ways * c);
  out.kv_copies = named(Q::kv_copies, Y * c / out.kv_ways);
}

// Parameters of a chip's products, of those outside experts: all, or calibrated without the embedding, of which a
// pass reads no more than its tokens' rows, and with the whole output head where it is not split.
template <Scalar S>
S shared_read(const ServingInputs<S>& si, const Parameters<S>& p, const S& shared) {
  const Inputs<S>& in = si.in;
  const S& Y = si.decode.degree(Axis::tensor).x;
  if (!in.calibrated) return shared / Y;
  const S multiplied = in.model.is.tied_embeddings ? S(shared) : shared - p.embedding;
  const S again = in.calibration[Calibrated::whole_head] * (constant<S>(1) - constant<S>(1) / Y);
  return named(Q::params_read, multiplied / Y + again * p.unembedding);
}

// Of the experts, those that at least one of so many tokens goes to, each choosing at random: 1 - exp(-x) with x choices
// for each, as ((1 - x/16) / (1 + x/16))^8, which is off by 2e-3 at most.
template <Scalar S>
S share_hit(const Inputs<S>& in, const S& tokens) {
  const S one = constant<S>(1), most = constant<S>(16);
  const S asked = named(Q::experts_asked, min(most, in.model.experts_per_token * tokens / in.model.n_experts)) / most;
  const S missed = (one - asked) / (one + asked);
  const S squared = missed * missed, fourth = squared * squared;
  return one - fourth * fourth;
}

// Weights that one pass reads on a chip, all layers one after the other.
template <Scalar S>
void read_weights(const ServingInputs<S>& si, const Parameters<S>& p, DecodeCost<S>& out) {
  const Inputs<S>& in = si.in;
  const S& Y = si.decode.degree(Axis::tensor).x;
  out.expert_ways = out.experts_hit = in.zero;
  if (!in.model.is.moe) {
    out.params_shared = p.total;
    out.weight_read_bytes = named(Q::weight_read_bytes, in.calibrated ? in.weight_bytes * shared_read(si, p, p.total)
                                                                      : in.weight_bytes * p.total / Y);
    return;
  }
  out.params_shared = named(Q::params_shared, p.total - p.experts);
  const Degree<S>& expert = si.decode.degree(Axis::expert);
  const S& inside = si.decode.expert_tensor;
  out.expert_ways = named(Q::expert_ways, expert.x * inside);
  // Ranks that share the experts bring their tokens together; tensor ranks of one replica have the same ones.
  const S together = named(Q::expert_tokens, out.pass_tokens * max(out.expert_ways / Y, constant<S>(1)));
  out.experts_hit = in.calibrated
                        ? named(Q::experts_hit, in.model.n_experts * share_hit(in, together))
                        : named(Q::experts_hit, min(in.model.n_experts, in.model.experts_per_token * together));
  const S rest = named(Q::weight_read_rest, in.calibrated ? in.rest_bytes * shared_read(si, p, out.params_shared)
                                                          : in.rest_bytes * out.params_shared / Y);
  const S experts = named(Q::weight_read_experts,
                          in.weight_bytes * p.experts * (out.experts_hit / in.model.n_experts) / out.expert_ways);
  out.weight_read_bytes = named(Q::weight_read_bytes, rest + experts);
}

// FLOPs of scores and values of a pass; in the 6 P convention attention is only what it reads.
template <Scalar S>
S attention_math(const ServingInputs<S>& si, const DecodeCost<S>& out) {
  const Inputs<S>& in = si.in;
  if (si.flops == FlopsConvention::six_p && !in.calibrated) return named(Q::decode_attention_math, in.zero);
  const ModelDims<S>& m = in.model;
  const S tokens = kv_tokens_over_layers(m, si.context, Q::kv_layer_tokens);
  // Queries and outputs of latent attention are taken into the latent, so scores have r_kv + d_r terms, values r_kv.
  const S width = m.is.mla
                      ? named(Q::attention_width, m.n_heads * (m.kv_lora_rank + m.qk_rope_head_dim / constant<S>(2)))
                      : named(Q::attention_width, m.n_heads * m.d_head);
  const S flops =
      named(Q::decode_attention_flops, constant<S>(4, unit::flop_each) * out.pass_tokens * tokens * width);
  // Query heads split over all tensor ranks, whatever becomes of the cache.
  const S& Y = si.decode.degree(Axis::tensor).x;
  const S ways = Y * si.decode.degree(Axis::context).x;
  // Attention multiplies in 16 bits where the layers' products take fewer.
  if (in.calibrated && in.calibration.narrow != Dtype::none)
    return named(Q::decode_attention_math,
                 flops / (ways * in.calibration.peak_16 * in.calibration[Calibrated::matmul_efficiency]));
  return named(Q::decode_attention_math, flops / (ways * in.chip.peak_flops));
}

template <Scalar S>
PassShape<S> decode_pass(const ServingInputs<S>& si, DecodeCost<S>& out) {
  const Inputs<S>& in = si.in;
  const ModelDims<S>& m = in.model;
  const PhaseMesh<S>& mesh = si.decode;
  const Degree<S>&tensor = mesh.degree(Axis::tensor), &context = mesh.degree(Axis::context);
  PassShape<S> pass;
  pass.tokens = out.pass_tokens / context.x;
  pass.passes = constant<S>(1);
  pass.context_bytes = pass.kv_exchange = pass.kv_exchange_latency = out.query_bytes = in.zero;
  const bool spare = tensor.n > (m.is.mla ? 1.0 : value_of(m.n_kv_heads));
  const bool exchanges = spare && si.kv_split != KvSplit::heads;
  if (!exchanges && context.n == 1) return pass;
  const S width = named(Q::decode_query_width,
                        m.is.mla ? m.n_heads * (m.kv_lora_rank + m.qk_rope_head_dim) : m.n_heads * m.d_head);
  out.query_bytes = named(Q::decode_query_bytes, in.activation_bytes * pass.tokens * width / tensor.x);
  if (exchanges) {
    // Queries go where their cache is and outputs come back: an exchange among tensor ranks, or a gather where the
    // tokens of a sequence are split.
    const S bandwidth = gather_bandwidth(mesh.links[Axis::tensor], mesh.torus_axes[Axis::tensor], in.chip);
    const S wire = si.kv_split == KvSplit::batch ? exchange_time(mesh.links[Axis::tensor], out.query_bytes, in.chip)
                                                 : out.query_bytes * out.kv_spare_ways / bandwidth;
    const S floor = mesh.hops[Axis::tensor] * si.hop_latency;
    pass.kv_exchange = named(Q::decode_kv_exchange, constant<S>(2) * m.n_layers * max(wire, floor));
    pass.kv_exchange_latency = constant<S>(2) * m.n_layers * floor;
  }
  // Over context the queries of all ranks are gathered, and partial outputs combined.
  pass.context_bytes = out.query_bytes * context.x;
  pass.context_calls = 2;
  return pass;
}

}  // namespace

template <Scalar S>
DecodeCost<S> decode_cost(const ServingInputs<S>& si, const Parameters<S>& p) {
  const Inputs<S>& in = si.in;
  DecodeCost<S> out;
  split_batch(si, out);
  size_cache(si, out);
  out.pass_tokens = named(Q::pass_tokens, si.draft_tokens > 0 ? out.pass_sequences * (si.drafts + constant<S>(1))
                                                              : S(out.pass_sequences));
  read_weights(si, p, out);
  const S& W = in.chip.hbm_bandwidth;
  const S& C = in.chip.peak_flops;
  const Degree<S>&tensor = si.decode.degree(Axis::tensor), &context = si.decode.degree(Axis::context);
  const S one = constant<S>(1);
  out.kv_read = named(Q::decode_kv_read, hbm_read_seconds(out.pass_sequences * out.kv_read_bytes, out.kv_ways,
                                                          in.calibrated ? in.calibration.cache : W));
  out.attention_math = attention_math(si, out);
  const S attention = named(Q::decode_attention, max(out.kv_read, out.attention_math));
  out.weight_read = named(Q::decode_weight_read, hbm_read_seconds(out.weight_read_bytes, one, W));
  out.flops = named(Q::decode_flops, linear_flops(multiplied_parameters(p, si.flops), out.pass_tokens));
  out.flops_time = named(Q::decode_flops_time, flops_seconds(out.flops, tensor.x * context.x, C));
  const S linear = named(Q::decode_linear, linear_seconds(out.flops_time, out.weight_read));
  out.work = named(Q::decode_work, attention + linear);
  out.network = pass_network(si, si.decode, p, decode_pass(si, out), kDecodeNetwork);
  const S exposed = named(Q::decode_exposed, exposed_seconds(in, out.network.total, out.work));
  const Degree<S>& stages = si.decode.degree(Axis::pipeline);
  S hop = in.zero;
  if (stages.n > 1) {
    const AxisLinks& links = si.decode.links[Axis::pipeline];
    const S bandwidth = named(Q::axis_bandwidth, static_cast<int>(Axis::pipeline), send_bandwidth(links, in.chip));
    const S bytes = named(Q::decode_call_bytes, static_cast<int>(Axis::pipeline),
                          in.activation_bytes * out.pass_tokens * in.model.d_model / (tensor.x * context.x));
    const auto one_hop = [&](const S& rate, const S& latency) {
      return in.calibrated ? bytes / rate + latency : max(bytes / rate, si.hop_latency);
    };
    const S far = one_hop(bandwidth, si.decode.latency[Axis::pipeline]);
    hop = stages.x * far;
    // A round of all stages leaves every node, or slice, once.
    if (const AxisLinks node = links_in_node(links); node.degree > 1) {
      const int leaves = (stages.n + node.degree - 1) / node.degree;
      const S near = one_hop(named(Q::pipeline_in_node_bandwidth, send_bandwidth(node, in.chip)),
                             in.calibrated ? send_latency(in, node) : S(in.zero));
      hop = constant<S>(leaves) * far + constant<S>(stages.n - leaves) * near;
    }
  }
  const S transfer = named(Q::decode_transfer, hop);
  out.model_step = named(Q::decode_model_step, attention + linear + exposed + transfer);
  const S draft =
      named(Q::decode_draft, si.draft_tokens > 0 ? si.drafts * si.draft_cost * out.model_step : S(in.zero));
  out.starts = in.calibrated ? pass_starts(in, in.model.n_layers, out.model_step) : S(in.zero);
  S own = in.calibrated ? out.starts + in.calibration[Calibrated::step_host] : S(in.zero);
  // Routing, as in a pass of training (calibration/kernels.h); with latent attention and shared experts there are more
  // kernels that take as long for a few tokens as for one.
  if (in.calibrated && in.model.is.moe) {
    const S routing = named(Q::decode_routing, expert_kernel_count(in) * in.calibration[Calibrated::expert_layer] /
                                                   constant<S>(kPassKernels + kExpertKernels));
    own = own + p.moe_share * in.model.n_layers * routing;
  }
  const S host = named(Q::decode_host, own);
  out.parts = {attention, linear, exposed, transfer, draft, host};
  static_assert(kDecodeParts.back() == Q::decode_host);
  // In ideal mode the host takes no time and is no part of the sum.
  S sum = out.parts[0];
  for (std::size_t i = 1; i < out.parts.size() - (in.calibrated ? 0 : 1); ++i) sum = sum + out.parts[i];
  out.step = named(Q::decode_step, sum);
  out.accepted = named(Q::accepted_per_step,
                       si.draft_tokens > 0 ? accepted_tokens(si.draft_tokens, si.acceptance, Q::acceptance_chance)
                                           : one * (si.drafts + one));
  out.token_time = named(Q::time_per_output_token, out.step / out.accepted);
  out.tokens_per_s = named(Q::serving_tokens_per_s, si.batch / out.token_time);
  out.tokens_per_chip = named(Q::serving_tokens_per_chip, out.tokens_per_s / out.chips);
  return out;
}

template DecodeCost<double> decode_cost<double>(const ServingInputs<double>&, const Parameters<double>&);
template DecodeCost<Traced> decode_cost<Traced>(const ServingInputs<Traced>&, const Parameters<Traced>&);

}  // namespace roofscape::engine
