#include "engine/model/layer_operations.h"

namespace roofscape::engine {

namespace {

// Bytes of a matrix multiplication of t rows: inputs, weights, outputs.
template <Scalar S>
S matmul_bytes(const Inputs<S>& in, const S& t, const S& width_in, const S& width_out) {
  return in.activation_bytes * t * (width_in + width_out) + in.weight_bytes * width_in * width_out;
}

}  // namespace

LayerKey layer_key(const Scenario& s) {
  LayerKey key;
  key.tensor = s.parallelism.tensor;
  key.sequence_parallel = s.parallelism.sequence_parallel;
  key.n_kv_heads = s.model.n_kv_heads;
  key.gated_mlp = s.model.gated_mlp;
  key.flops = s.assumptions.flops;
  key.policy = s.checkpointing.policy;
  key.checkpoints_per_layer = s.checkpointing.k;
  key.d_model = s.model.d_model;
  key.attention_width = s.model.n_heads * s.model.d_head;
  key.kv_width = s.model.n_kv_heads * s.model.d_head;
  key.d_ff = s.model.d_ff;
  return key;
}

template <Scalar S>
LayerWidths<S> layer_widths(const Inputs<S>& in, const LayerKey& key) {
  const auto& m = in.model;
  const S& Y = in.degree(Axis::tensor).x;
  return {named(Q::attention_width, m.n_heads * m.d_head / Y),
          named(Q::kv_width, key.tensor > key.n_kv_heads ? S(m.d_head) : m.n_kv_heads * m.d_head / Y),
          named(Q::ff_width, m.d_ff / Y)};
}

template <Scalar S>
S attention_flops_per_token(const Inputs<S>& in, FlopsConvention convention) {
  if (convention == FlopsConvention::six_p) return named(Q::flops_attention_per_token, in.zero);
  // Scores and values, 2 FLOP a multiply-add each, three times for forward and both gradients.
  const S flop = constant<S>(convention == FlopsConvention::exact_causal ? 6 : 12, unit::flop_each);
  return named(Q::flops_attention_per_token,
               flop * in.sequence_length * in.model.n_heads * in.model.d_head * in.model.n_layers);
}

template <Scalar S>
S training_flops_per_token(const Inputs<S>& in, const Parameters<S>& p, FlopsConvention convention) {
  const S six = constant<S>(6, unit::flop_each);
  if (convention == FlopsConvention::six_p) return named(Q::flops_per_token, six * p.active);
  // The unembedding is a matrix multiplication even where its matrix is the embedding's.
  const S multiplied = p.mlp + p.attention + p.embedding;
  return named(Q::flops_per_token, six * multiplied + attention_flops_per_token(in, convention));
}

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
  const S qkv_out = attention_width + constant<S>(2) * kv_width;
  set(OperationKind::qkv, two * t * D * qkv_out, matmul_bytes(in, t, D, qkv_out));
  const S attention_flop = constant<S>(key.flops == FlopsConvention::exact_causal ? 2 : 4, unit::flop_each);
  set(OperationKind::attention,
      key.flops == FlopsConvention::six_p ? in.zero : attention_flop * t * in.sequence_length * attention_width,
      b * constant<S>(2) * (t * attention_width + keys * kv_width));
  set(OperationKind::attention_out, two * t * attention_width * D, matmul_bytes(in, t, attention_width, D));
  const S up_out = up_matrices * ff_width;
  set(OperationKind::gate_up, two * t * D * up_out, matmul_bytes(in, t, D, up_out));
  set(OperationKind::down, two * t * ff_width * D, matmul_bytes(in, t, ff_width, D));
  // Vector operations: FLOPs an element are 4 of RMSNorm, 3 of a rotation, 5 of SiLU and gate, 1 of an addition.
  const S stream = t * D / replicas;
  const auto vector = [&](OperationKind kind, double flop, const S& elements, double reads_and_writes) {
    set(kind, constant<S>(flop, unit::flop_each) * elements, b * constant<S>(reads_and_writes) * elements);
  };
  vector(OperationKind::norms, 4, constant<S>(2) * stream, 2);
  vector(OperationKind::rope, 3, t * (attention_width + kv_width), 2);
  vector(OperationKind::activation, key.gated_mlp ? 5 : 4, t * ff_width, key.gated_mlp ? 3 : 2);
  vector(OperationKind::residual, 1, constant<S>(2) * stream, 3);

  const auto cost = [&out](OperationKind kind) -> const OperationCost<S>& {
    return out.operations[static_cast<std::size_t>(kind)];
  };
  if (key.flops == FlopsConvention::six_p) {
    out.flops_forward = named(Q::layer_flops_forward, two * p.layer * t / Y);
    out.embedding_flops = named(Q::block_flops, kEmbeddingBlock, two * p.embedding * t / Y);
    out.head_flops = named(Q::block_flops, kHeadBlock, two * p.head * t / Y);
  } else {
    out.flops_forward = named(Q::layer_flops_forward,
                              two * t * (p.mlp_layer + p.attention_layer) / Y + cost(OperationKind::attention).flops);
    out.embedding_flops = named(Q::block_flops, kEmbeddingBlock, in.zero);
    out.head_flops = named(Q::block_flops, kHeadBlock, two * p.embedding * t / Y);
  }
  set(OperationKind::embedding, out.embedding_flops, constant<S>(2) * b * stream);
  const S vocab_width = m.vocab_size / Y;
  set(OperationKind::logits, two * t * D * vocab_width, matmul_bytes(in, t, D, vocab_width));
  out.embedding_hbm_bytes = cost(OperationKind::embedding).hbm_bytes;
  out.head_hbm_bytes = cost(OperationKind::logits).hbm_bytes;

  S bytes = cost(OperationKind::qkv).hbm_bytes;
  for (const OperationKind kind :
       {OperationKind::attention, OperationKind::attention_out, OperationKind::gate_up, OperationKind::down,
        OperationKind::norms, OperationKind::rope, OperationKind::activation, OperationKind::residual})
    bytes = bytes + cost(kind).hbm_bytes;
  out.hbm_bytes_forward = named(Q::layer_hbm_bytes_forward, bytes);
  return out;
}

template LayerWidths<double> layer_widths<double>(const Inputs<double>&, const LayerKey&);
template LayerWidths<Traced> layer_widths<Traced>(const Inputs<Traced>&, const LayerKey&);
template double attention_flops_per_token<double>(const Inputs<double>&, FlopsConvention);
template Traced attention_flops_per_token<Traced>(const Inputs<Traced>&, FlopsConvention);
template double training_flops_per_token<double>(const Inputs<double>&, const Parameters<double>&, FlopsConvention);
template Traced training_flops_per_token<Traced>(const Inputs<Traced>&, const Parameters<Traced>&, FlopsConvention);
template LayerOperations<double> layer_operations<double>(const Inputs<double>&, const Parameters<double>&,
                                                          const LayerKey&, const double&);
template LayerOperations<Traced> layer_operations<Traced>(const Inputs<Traced>&, const Parameters<Traced>&,
                                                          const LayerKey&, const Traced&);

}  // namespace roofscape::engine
