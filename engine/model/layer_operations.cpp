#include "engine/model/layer_operations.h"

#include <algorithm>
#include <limits>

#include "engine/model/adapter.h"
#include "engine/model/kv_cache.h"
#include "engine/model/qkv_width.h"

namespace roofscape::engine {

namespace {

// Bytes of a matrix multiplication of t rows: inputs, weights, outputs.
template <Scalar S>
S matmul_bytes(const Inputs<S>& in, const S& t, const S& width_in, const S& width_out) {
  return in.activation_bytes * t * (width_in + width_out) + in.weight_bytes * width_in * width_out;
}

// Keys a query meets, mean of the layers.
template <Scalar S>
S attention_span(const Inputs<S>& in, FlopsConvention convention) {
  const ModelDims<S>& m = in.model;
  const S& T = in.sequence_length;
  if (!m.is.local) return T;
  const S local = keys_in_window(T, m.window_tokens, convention == FlopsConvention::exact_causal);
  return named(Q::attention_span, mean_of_layers(m, T, local));
}

// The experts' weights that one expert rank reads: all it holds, however few tokens they get.
template <Scalar S>
S stored_ff(const Inputs<S>& in, const Parameters<S>& p) {
  const ModelDims<S>& m = in.model;
  const S experts = p.n_moe_layers * (m.n_experts / in.degree(Axis::expert).x + m.n_shared_experts) * m.d_ff_expert;
  return named(Q::stored_ff, (m.is.dense_layers ? m.n_dense_layers * m.d_ff + experts : experts) / m.n_layers);
}

// The largest widths are of models that nobody builds; what fits where does not depend on how far beyond they are.
int as_width(double elements) {
  return static_cast<int>(std::min(elements, double{std::numeric_limits<int>::max()}));
}

}  // namespace

LayerKey layer_key(const Scenario& s) {
  LayerKey key;
  key.tensor = s.parallelism.tensor;
  key.sequence_parallel = s.parallelism.sequence_parallel;
  const TransformerShape& m = s.model;
  key.n_kv_heads = m.is_mla() ? m.n_heads : m.n_kv_heads;
  key.gated_mlp = s.model.gated_mlp;
  key.flops = s.assumptions.flops;
  key.policy = s.checkpointing.policy;
  key.checkpoints_per_layer = s.checkpointing.k;
  key.d_model = s.model.d_model;
  const int latent = m.n_heads * (m.mla.qk_nope_head_dim + m.mla.qk_rope_head_dim + m.mla.v_head_dim) / 2;
  key.attention_width = m.is_mla() ? latent : m.n_heads * m.d_head;
  key.kv_width = m.is_mla() ? latent : m.n_kv_heads * m.d_head;
  const double experts = static_cast<double>(m.moe.experts_per_token + m.moe.n_shared_experts) * m.expert_width();
  const double moe_layers = m.n_moe_layers();
  key.d_ff = m.is_moe() ? as_width((m.d_ff * (m.n_layers - moe_layers) + experts * moe_layers) / m.n_layers) : m.d_ff;
  if (m.is_moe() && moe_layers < m.n_layers) {
    key.d_ff_dense = m.d_ff, key.d_ff_experts = as_width(experts);
    key.dense_first = m.n_first_dense_layers() > 0;
  }
  return key;
}

template <Scalar S>
LayerWidths<S> layer_widths(const Inputs<S>& in, const LayerKey& key) {
  const auto& m = in.model;
  const S& Y = in.degree(Axis::tensor).x;
  const S ff = named(Q::ff_width, active_ff(m) / Y);
  if (m.is.mla) {
    const S heads = m.n_heads * (m.qk_nope_head_dim + m.qk_rope_head_dim + m.v_head_dim) / (constant<S>(2) * Y);
    return {named(Q::attention_width, heads), named(Q::kv_width, heads), ff};
  }
  return {named(Q::attention_width, m.n_heads * m.d_head / Y),
          named(Q::kv_width, key.tensor > key.n_kv_heads ? S(m.d_head) : m.n_kv_heads * m.d_head / Y), ff};
}

template <Scalar S>
S attention_flops_per_token(const Inputs<S>& in, FlopsConvention convention) {
  if (convention == FlopsConvention::six_p) return named(Q::flops_attention_per_token, in.zero);
  const auto& m = in.model;
  // Scores and values, 2 FLOP a multiply-add each, three times for forward and both gradients.
  const double scores_and_values = convention == FlopsConvention::exact_causal ? 6 : 12;
  const S span = attention_span(in, convention);
  if (m.is.mla)
    return named(Q::flops_attention_per_token,
                 constant<S>(scores_and_values / 2, unit::flop_each) * span * m.n_heads *
                     (m.qk_nope_head_dim + m.qk_rope_head_dim + m.v_head_dim) * m.n_layers);
  return named(Q::flops_attention_per_token,
               constant<S>(scores_and_values, unit::flop_each) * span * m.n_heads * m.d_head * m.n_layers);
}

template <Scalar S>
S attention_forward_flops(const Inputs<S>& in, const S& width, const S& t, bool causal) {
  const FlopsConvention convention = causal ? FlopsConvention::exact_causal : FlopsConvention::exact;
  return constant<S>(causal ? 2 : 4, unit::flop_each) * t * attention_span(in, convention) * width;
}

template <Scalar S>
S training_flops_per_token(const Inputs<S>& in, const Parameters<S>& p, FlopsConvention convention) {
  const S six = constant<S>(6, unit::flop_each);
  if (in.adapter.on) {
    // Forward and input gradients of the frozen weights; of attention and the adapters all.
    const S four = constant<S>(4, unit::flop_each);
    const S adapters = six * in.model.n_layers * adapter_parameters(in, p).active;
    if (convention == FlopsConvention::six_p) return named(Q::flops_per_token, four * p.active + adapters);
    return named(Q::flops_per_token, four * p.matmul + adapters + attention_flops_per_token(in, convention));
  }
  if (convention == FlopsConvention::six_p) return named(Q::flops_per_token, six * p.active);
  return named(Q::flops_per_token, six * p.matmul + attention_flops_per_token(in, convention));
}

namespace {

// The adapters beside the products of a layer: FLOPs as of any matrix, bytes of what goes in and comes out and of the
// ranks between.
template <Scalar S>
void add_adapters(const Inputs<S>& in, const Parameters<S>& p, const S& t, LayerOperations<S>& out) {
  const AdapterParameters<S> a = adapter_parameters(in, p);
  const S& Y = in.degree(Axis::tensor).x;
  const S& r = in.adapter.rank;
  const S two = constant<S>(2, unit::flop_each);
  const auto at = [](OperationKind kind) { return static_cast<std::size_t>(kind); };
  // A token has (inputs + outputs) = parameters / rank elements of each.
  const auto set = [&](OperationKind kind, const S& active, const S& stored) {
    out.adapters[at(kind)] = {two * t * active / Y,
                              in.activation_bytes * t * active / (r * Y) + in.adapter.bytes * stored / Y};
  };
  out.adapters.fill({in.zero, in.zero});
  set(OperationKind::qkv, a.qkv, a.qkv);
  set(OperationKind::attention_out, a.attention_out, a.attention_out);
  set(OperationKind::gate_up, a.gate_up_active, a.gate_up);
  set(OperationKind::down, a.down_active, a.down);
  out.adapter_flops = named(Q::adapter_flops, two * t * a.active / Y);
  S bytes = out.adapters[at(OperationKind::qkv)].hbm_bytes;
  for (const OperationKind kind : {OperationKind::attention_out, OperationKind::gate_up, OperationKind::down})
    bytes = bytes + out.adapters[at(kind)].hbm_bytes;
  out.adapter_bytes = named(Q::adapter_bytes, bytes);
  S frozen = out.operations[at(OperationKind::qkv)].hbm_bytes;
  for (const OperationKind kind :
       {OperationKind::attention_out, OperationKind::router, OperationKind::gate_up, OperationKind::down})
    frozen = frozen + out.operations[at(kind)].hbm_bytes;
  out.frozen_bytes = named(Q::frozen_bytes, frozen);
}

}  // namespace

template <Scalar S>
LayerOperations<S> layer_operations(const Inputs<S>& in, const Parameters<S>& p, const LayerKey& key, const S& t) {
  const auto& m = in.model;
  const S& Y = in.degree(Axis::tensor).x;
  const S& D = m.d_model;
  const S& b = in.activation_bytes;
  const S two = constant<S>(2, unit::flop_each);
  const LayerWidths<S> widths = layer_widths(in, key);
  const S& attention_width = widths.attention;
  const S& kv_width = widths.kv;
  const S& ff_width = widths.ff;
  const S up_matrices = constant<S>(key.gated_mlp ? 2 : 1);
  const S replicas = key.sequence_parallel ? Y : constant<S>(1);  // ranks that share norms and residuals
  const S keys = in.sequence_length * in.microbatch_sequences;    // of all context ranks

  LayerOperations<S> out;
  const auto set = [&out](OperationKind kind, const S& flops, const S& bytes) {
    out.operations[static_cast<std::size_t>(kind)] =
        OperationCost<S>{flops, named(Q::operation_hbm_bytes, static_cast<int>(kind), bytes)};
  };
  const S qkv_out = qkv_width(in, widths);
  if (m.is.mla) {
    S latents = m.kv_lora_rank + m.qk_rope_head_dim;
    if (m.is.q_lora) latents = latents + m.q_lora_rank;
    set(OperationKind::qkv, two * t * p.qkv_layer / Y,
        b * t * (D + latents + qkv_out) + in.weight_bytes * p.qkv_layer / Y);
  } else {
    set(OperationKind::qkv, two * t * D * qkv_out, matmul_bytes(in, t, D, qkv_out));
  }
  const S attention_flop = constant<S>(key.flops == FlopsConvention::exact_causal ? 2 : 4, unit::flop_each);
  set(OperationKind::attention,
      key.flops == FlopsConvention::six_p ? in.zero
                                          : attention_flop * t * attention_span(in, key.flops) * attention_width,
      b * constant<S>(2) * (t * attention_width + keys * kv_width));
  const S heads_out = m.is.mla ? m.n_heads * m.v_head_dim / Y : attention_width;
  set(OperationKind::attention_out, two * t * heads_out * D, matmul_bytes(in, t, heads_out, D));
  const S up_out = up_matrices * ff_width;
  set(OperationKind::router, in.zero, in.zero);
  if (m.is.moe) {
    // Tokens enter each expert they are sent to; an expert rank reads all experts it holds.
    const S routed = m.experts_per_token + constant<S>(m.is.shared_experts ? 1 : 0);
    const S times = p.n_moe_layers * routed;
    const S rows = named(Q::mlp_rows, (m.is.dense_layers ? m.n_dense_layers + times : times) / m.n_layers);
    const S stored = stored_ff(in, p);
    const S& E = m.n_experts;
    const S& share = p.moe_share;
    set(OperationKind::router, two * t * D * E * share / Y,
        b * t * (D + E) * share + in.weight_bytes * D * E * share);
    set(OperationKind::gate_up, two * t * D * up_out,
        b * t * (rows * D + up_out) + in.weight_bytes * D * up_matrices * stored / Y);
    set(OperationKind::down, two * t * ff_width * D,
        b * t * (rows * D + ff_width) + in.weight_bytes * D * stored / Y);
  } else {
    set(OperationKind::gate_up, two * t * D * up_out, matmul_bytes(in, t, D, up_out));
    set(OperationKind::down, two * t * ff_width * D, matmul_bytes(in, t, ff_width, D));
  }
  // Vector operations: FLOPs an element are 4 of RMSNorm, 3 of a rotation, 5 of SiLU and gate, 1 of an addition.
  const S stream = t * D / replicas;
  const auto vector = [&](OperationKind kind, double flop, const S& elements, const S& read_and_written) {
    set(kind, constant<S>(flop, unit::flop_each) * elements, read_and_written * elements);
  };
  const auto times = [](double reads_and_writes, const S& bytes) { return constant<S>(reads_and_writes) * bytes; };
  vector(OperationKind::norms, 4, constant<S>(2) * stream, in.residual_bytes + b);
  vector(OperationKind::rope, 3, t * (attention_width + kv_width), times(2, b));
  vector(OperationKind::activation, key.gated_mlp ? 5 : 4, t * ff_width, times(key.gated_mlp ? 3 : 2, b));
  vector(OperationKind::residual, 1, constant<S>(2) * stream, times(3, in.residual_bytes));

  const auto cost = [&out](OperationKind kind) -> const OperationCost<S>& {
    return out.operations[static_cast<std::size_t>(kind)];
  };
  if (key.flops == FlopsConvention::six_p) {
    out.flops_forward = named(Q::layer_flops_forward, two * p.layer_active * t / Y);
    out.embedding_flops = named(Q::block_flops, kEmbeddingBlock, two * p.embedding * t / Y);
    out.head_flops = named(Q::block_flops, kHeadBlock, two * p.head * t / Y);
  } else {
    out.flops_forward =
        named(Q::layer_flops_forward, two * t * p.matmul_layer / Y + cost(OperationKind::attention).flops);
    out.embedding_flops = named(Q::block_flops, kEmbeddingBlock, in.zero);
    out.head_flops = named(Q::block_flops, kHeadBlock, two * p.unembedding * t / Y);
  }
  set(OperationKind::embedding, out.embedding_flops, constant<S>(2) * b * stream);
  const S vocab_width = m.vocab_size / Y;
  set(OperationKind::logits, two * t * D * vocab_width, matmul_bytes(in, t, D, vocab_width));
  out.embedding_hbm_bytes = cost(OperationKind::embedding).hbm_bytes;
  out.head_hbm_bytes = cost(OperationKind::logits).hbm_bytes;

  S bytes = cost(OperationKind::qkv).hbm_bytes;
  for (const OperationKind kind : {OperationKind::attention, OperationKind::attention_out, OperationKind::router,
                                   OperationKind::gate_up, OperationKind::down, OperationKind::norms,
                                   OperationKind::rope, OperationKind::activation, OperationKind::residual})
    bytes = bytes + cost(kind).hbm_bytes;
  if (in.adapter.on) {
    add_adapters(in, p, t, out);
    bytes = bytes + out.adapter_bytes;
  }
  out.hbm_bytes_forward = named(Q::layer_hbm_bytes_forward, bytes);
  out.kv_cache_bytes_per_token = kv_cache_bytes_per_token(m, b, in.sequence_length);
  return out;
}

template LayerWidths<double> layer_widths<double>(const Inputs<double>&, const LayerKey&);
template LayerWidths<Traced> layer_widths<Traced>(const Inputs<Traced>&, const LayerKey&);
template double attention_flops_per_token<double>(const Inputs<double>&, FlopsConvention);
template Traced attention_flops_per_token<Traced>(const Inputs<Traced>&, FlopsConvention);
template double attention_forward_flops<double>(const Inputs<double>&, const double&, const double&, bool);
template Traced attention_forward_flops<Traced>(const Inputs<Traced>&, const Traced&, const Traced&, bool);
template double training_flops_per_token<double>(const Inputs<double>&, const Parameters<double>&, FlopsConvention);
template Traced training_flops_per_token<Traced>(const Inputs<Traced>&, const Parameters<Traced>&, FlopsConvention);
template LayerOperations<double> layer_operations<double>(const Inputs<double>&, const Parameters<double>&,
                                                          const LayerKey&, const double&);
template LayerOperations<Traced> layer_operations<Traced>(const Inputs<Traced>&, const Parameters<Traced>&,
                                                          const LayerKey&, const Traced&);

}  // namespace roofscape::engine
