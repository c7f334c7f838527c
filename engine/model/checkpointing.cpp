#include "engine/model/checkpointing.h"

#include <algorithm>

namespace roofscape::engine {

namespace {

void recompute(RecomputedOperations& out, std::initializer_list<OperationKind> kinds) {
  for (const OperationKind kind : kinds) out[static_cast<std::size_t>(kind)] = true;
}

template <Scalar S>
S longest_segment(const Inputs<S>& in) {
  return named(Q::segment_layers, ceil(in.model.n_layers / in.checkpoint_segments));
}

}  // namespace

RecomputedOperations recomputed_operations(const LayerKey& key) {
  using enum OperationKind;
  RecomputedOperations out{};
  switch (key.policy) {
    case CheckpointPolicy::none:
      break;
    case CheckpointPolicy::attention:
      recompute(out, {attention});
      break;
    case CheckpointPolicy::big_matmuls:
      recompute(out, {attention, norms, rope, activation, residual});
      break;
    case CheckpointPolicy::block:
    case CheckpointPolicy::some_blocks:
    case CheckpointPolicy::segments:
    case CheckpointPolicy::segments_minimal:
      recompute(out, {qkv, attention, attention_out, router, gate_up, norms, rope, activation, residual, down});
      break;
    case CheckpointPolicy::k_per_layer: {
      recompute(out, {qkv, attention, attention_out, router, gate_up, norms, rope, activation, residual});
      std::int64_t room =
          std::int64_t{key.checkpoints_per_layer} * key.d_model - key.d_model;  // after the layer input
      const auto keep = [&](std::int64_t width, std::initializer_list<OperationKind> saved) {
        if (room < width) {
          room = -1;
          return;
        }
        room -= width;
        for (const OperationKind kind : saved) out[static_cast<std::size_t>(kind)] = false;
      };
      keep(key.d_model, {attention_out});  // the MLP's input is the stream after the attention output
      keep(key.attention_width, {attention});
      keep(key.attention_width, {});                // queries alone save no operation as a whole ...
      keep(std::int64_t{2} * key.kv_width, {qkv});  // ... with keys and values they do
      keep(std::int64_t{key.gated_mlp ? 2 : 1} * key.d_ff, {gate_up});
      break;
    }
  }
  return out;
}

template <Scalar S>
S recompute_times(const Inputs<S>& in, const LayerKey& key) {
  const S one = constant<S>(1);
  switch (key.policy) {
    case CheckpointPolicy::some_blocks:
      return named(Q::recompute_times, in.checkpointed_blocks / in.model.n_layers);
    case CheckpointPolicy::segments_minimal: {
      // A segment of n layers runs 1 + 2 + ... + n of them; with u = ceil(L/C), L - C (u - 1) segments have u layers
      // and the others u - 1.
      const S u = longest_segment(in);
      return named(Q::recompute_times,
                   u * (one - in.checkpoint_segments * (u - one) / (constant<S>(2) * in.model.n_layers)));
    }
    default:
      return named(Q::recompute_times, one + in.zero);
  }
}

namespace {

// A frozen matrix needs no input for a gradient of its own: what only that was kept for goes, unless an adapter stands
// beside it. Attention needs its output, and an activation what went into it. Between the matrices of an adapter a
// token has a rank.
template <Scalar S>
void keep_for_adapters(const Inputs<S>& in, const LayerKey& key, const S& t, const S& stream, const S& width,
                       LayerActivations<S>& out) {
  const AdapterInputs<S>& adapter = in.adapter;
  const auto [attention, kv, ff] = layer_widths(in, key);
  const bool qkv = adapter.query || adapter.key || adapter.value;
  const S two = constant<S>(2), ups = constant<S>(key.gated_mlp ? 2 : 1);
  S kept = out.full_bytes;
  if (!qkv) kept = kept - width * stream;
  if (!adapter.mlp) kept = kept - width * (stream + ff);
  const int in_attention = (adapter.query ? 1 : 0) + (adapter.key ? 1 : 0) + (adapter.value ? 1 : 0);
  const int count = in_attention + (adapter.output ? 1 : 0) + (adapter.mlp ? (key.gated_mlp ? 3 : 2) : 0);
  const S ranks = in.activation_bytes * t * constant<S>(count) * in.adapter.rank;
  out.full_bytes = named(Q::layer_full_bytes, kept + ranks);
  // Of a weight gradient that is put off: inputs of the adapters and gradients of their outputs.
  S late = in.zero;
  if (qkv) late = late + width * stream;
  if (adapter.query) late = late + width * attention;
  if (adapter.key) late = late + width * kv;
  if (adapter.value) late = late + width * kv;
  if (adapter.output) late = late + width * (attention + stream);
  if (adapter.mlp) late = late + width * (two * stream + (ups + constant<S>(1)) * ff);
  out.postponed_bytes = named(Q::layer_postponed_bytes, late + ranks);
}

}  // namespace

template <Scalar S>
LayerActivations<S> layer_activations(const Inputs<S>& in, const LayerKey& key, const S& t) {
  const auto& m = in.model;
  const S& D = m.d_model;
  const S& Y = in.degree(Axis::tensor).x;
  // Tensors of the residual stream are whole on every tensor rank unless the sequence is split there too.
  const S stream = key.sequence_parallel ? D / Y : S(D);
  const auto [attention, kv, ff] = layer_widths(in, key);
  const S two = constant<S>(2);
  const S ups = constant<S>(key.gated_mlp ? 2 : 1);
  const S bt = in.activation_bytes * t;
  const S kept_stream = in.residual_bytes * t * stream;  // of a layer's input, or of the sum after its attention

  LayerActivations<S> out;
  // Layer input, residual sum, two norms, outputs of attention and MLP; Q and attention's own output; K and V; gate, up
  // and their product.
  // A framework that differentiates keeps none of the two outputs that are only added to the stream: the sum needs none
  // for its gradient (Korthikanti et al. 2022, section 4.1: 34 s b h bytes with dropout's masks).
  const S streams = constant<S>(in.calibrated ? 2 : 4);
  out.full_bytes =
      named(Q::layer_full_bytes,
            bt * (streams * stream + two * attention + two * kv + (ups + constant<S>(1)) * ff) + two * kept_stream);
  // Where scores go to HBM they are kept twice, before and after dropout, with a byte of its mask (Korthikanti et al.
  // 2022: 5 a s^2 b bytes).
  const bool scores = in.scores_in_hbm;
  // What matrix multiplications in fewer than 16 bits need again for the weights' gradients they keep as they multiplied
  // it: their inputs, of which the attention core's output is one.
  const bool narrow = in.calibrated && in.calibration.narrow != Dtype::none;
  const S held = constant<S>(narrow ? bytes_of(in.calibration.narrow) : 1, unit::bytes_each);
  if (narrow)
    out.full_bytes = named(Q::layer_full_bytes,
                           out.full_bytes - (in.activation_bytes - held) * t * (two * stream + attention + ff));
  out.postponed_bytes =
      named(Q::layer_postponed_bytes, (narrow ? held * t : S(bt)) * (constant<S>(4) * stream + two * attention +
                                                                     two * kv + (ups + constant<S>(1)) * ff));
  if (in.adapter.on) keep_for_adapters(in, key, t, stream, narrow ? held * t : S(bt), out);
  // The activated gate, which its product with the other half needs, and what each norm scales: such models have
  // RMSNorm, written out.
  if (in.eager && key.gated_mlp)
    out.full_bytes = named(Q::layer_full_bytes, out.full_bytes + bt * (two * stream + ff));
  // The same software drops out of the outputs of attention and MLP, and keeps a byte of mask of each.
  if (scores)
    out.full_bytes = named(Q::layer_full_bytes, out.full_bytes + constant<S>(2, unit::bytes_each) * t * stream);
  const S without_scores = out.full_bytes;
  if (scores)
    out.full_bytes = named(Q::layer_full_bytes, without_scores + constant<S>(5, unit::bytes_each) * t *
                                                                     in.sequence_length * m.n_heads / Y);
  switch (key.policy) {
    case CheckpointPolicy::none:
      out.checkpoint_bytes = named(Q::layer_checkpoint_bytes, out.full_bytes);
      break;
    case CheckpointPolicy::attention:
      // A framework keeps the core's output, the input of the next product, whatever it computes again.
      out.checkpoint_bytes =
          named(Q::layer_checkpoint_bytes, in.calibrated ? S(without_scores) : without_scores - bt * attention);
      break;
    case CheckpointPolicy::big_matmuls:
      out.checkpoint_bytes = named(Q::layer_checkpoint_bytes, bt * (attention + two * kv + two * stream + ups * ff));
      break;
    case CheckpointPolicy::k_per_layer: {
      const S& k = in.checkpoints_per_layer;
      S kept = k * D * bt / Y;
      if (!key.sequence_parallel && key.tensor > 1) {
        // Layer and MLP input are whole on every tensor rank, the others split.
        const int whole = std::min(key.checkpoints_per_layer, 2);
        kept = bt * D * (constant<S>(whole) + constant<S>(key.checkpoints_per_layer - whole) / Y);
      }
      // A large k asks for more than a layer with few KV heads makes.
      if (value_of(kept) > value_of(out.full_bytes)) kept = min(kept, out.full_bytes);
      out.checkpoint_bytes = named(Q::layer_checkpoint_bytes, kept);
      break;
    }
    case CheckpointPolicy::block:
      out.checkpoint_bytes = named(Q::layer_checkpoint_bytes, S(kept_stream));
      break;
    case CheckpointPolicy::some_blocks: {
      const S share = in.checkpointed_blocks / m.n_layers;
      out.checkpoint_bytes =
          named(Q::layer_checkpoint_bytes, share * kept_stream + (constant<S>(1) - share) * out.full_bytes);
      break;
    }
    case CheckpointPolicy::segments:
    case CheckpointPolicy::segments_minimal:
      out.checkpoint_bytes = named(Q::layer_checkpoint_bytes, in.checkpoint_segments / m.n_layers * kept_stream);
      break;
  }
  switch (key.policy) {
    case CheckpointPolicy::none:
      out.working_bytes = in.zero;
      break;
    // The input of a segment's first layer is its checkpoint, counted there.
    case CheckpointPolicy::segments:
      out.working_bytes = longest_segment(in) * out.full_bytes - kept_stream;
      break;
    case CheckpointPolicy::segments_minimal:
      out.working_bytes = value_of(longest_segment(in)) > 1 ? out.full_bytes : out.full_bytes - kept_stream;
      break;
    case CheckpointPolicy::some_blocks:
      out.working_bytes = out.full_bytes - kept_stream;
      break;
    default:
      out.working_bytes = out.full_bytes - out.checkpoint_bytes;
  }
  out.working_bytes = named(Q::buffers_working, out.working_bytes);
  return out;
}

template double recompute_times<double>(const Inputs<double>&, const LayerKey&);
template Traced recompute_times<Traced>(const Inputs<Traced>&, const LayerKey&);
template LayerActivations<double> layer_activations<double>(const Inputs<double>&, const LayerKey&, const double&);
template LayerActivations<Traced> layer_activations<Traced>(const Inputs<Traced>&, const LayerKey&, const Traced&);

}  // namespace roofscape::engine
