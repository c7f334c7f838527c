#include "engine/calibration/kernels.h"

#include "engine/model/adapter.h"
#include "engine/model/layer_operations.h"
#include "engine/model/qkv_width.h"

namespace roofscape::engine {

namespace {

using enum OperationKind;

constexpr double kTile = 128;  // rows and columns of the output that one multiprocessor makes at a time
constexpr double kVectorKernels =
    vector_kernels(norms) + vector_kernels(residual) + vector_kernels(rope) + vector_kernels(activation);
// Logits are written and read by the loss: the maximum, the sum, the gradient.
constexpr double kLogitPassesForward = 3, kLogitPassesBackward = 2;
// Tokens are put in the order of their experts, and back: each reads and writes them. Fitted to 52 runs on Blackwell it
// came out as 3.6, to 14 on H100 as 6.0.
constexpr double kPermutationPasses = 4;

constexpr std::size_t at(OperationKind kind) { return static_cast<std::size_t>(kind); }

template <Scalar S>
class Kernels {
 public:
  Kernels(const Inputs<S>& in, const Parameters<S>& p, const LayerKey& key, const LayerOperations<S>& ops, const S& t)
      : in_(in), p_(p), key_(key), ops_(ops), t_(t), one_(constant<S>(1)), two_(constant<S>(2)) {}

  LayerKernels<S> all(const S& recompute_times) {
    products();
    attention();
    LayerKernels<S> out;
    sum_products(out);
    vectors(out);
    again(out, recompute_times);
    vocabulary(out);
    out.forward = forward_, out.backward = backward_;
    if (has_weight_gradient_) out.weight_gradient = weight_gradient_;
    out.attention_flops = attention_flops_, out.attention_flops_backward = attention_flops_backward_;
    return out;
  }

 private:
  const S& c(Calibrated p) const { return in_.calibration[p]; }

  // Forward, and both gradients.
  void product(OperationKind kind, ProductPart part, const ProductShape<S>& s, const S& share) {
    const Dtype narrow = in_.calibration.narrow;
    const auto index = [&](ProductPass pass) { return product_index(kind, part, pass); };
    const S f = product_time(in_, s, in_.gather_bytes, narrow, index(ProductPass::forward));
    const S input = product_time(in_, ProductShape<S>{s.rows, s.out, s.in, s.count}, in_.gather_bytes, narrow,
                                 index(ProductPass::input));
    if (in_.adapter.on) {  // a frozen weight gets no gradient
      add(kind, share * f, share * input);
      return;
    }
    const S weight = product_time(in_, ProductShape<S>{s.in, s.rows, s.out, s.count}, in_.activation_bytes, narrow,
                                  index(ProductPass::weights));
    add(kind, share * f, share * (input + weight));
  }
  // `count` adapters with these inputs and outputs beside a product, in the format of their weights.
  void adapter(OperationKind kind, ProductPart part, const S& rows, const S& in, const S& out, const S& count,
               const S& share) {
    const S &r = in_.adapter.rank, &bytes = in_.adapter.bytes;
    const auto both = [&](const S& rows_of, const S& a, const S& b, bool weights, ProductPass pass) {
      const S& stored = weights ? in_.activation_bytes : bytes;
      const auto one = [&](int which, const S& n, const S& from, const S& to) {
        return product_time(in_, ProductShape<S>{n, from, to, count}, stored, Dtype::none,
                            adapter_product_index(kind, part, which, pass));
      };
      if (weights) return one(0, a, rows_of, r) + one(1, r, rows_of, b);
      return pass == ProductPass::forward ? one(0, rows_of, a, r) + one(1, rows_of, r, b)
                                          : one(0, rows_of, r, a) + one(1, rows_of, b, r);
    };
    const S forward = both(rows, in, out, false, ProductPass::forward);
    const S input = both(rows, in, out, false, ProductPass::input);
    const S weights = share * both(rows, in, out, true, ProductPass::weights);
    add(kind, share * forward, share * input + weights);
    weight_gradient_ = has_weight_gradient_ ? weight_gradient_ + weights : weights;
    has_weight_gradient_ = true;
  }
  void add(OperationKind kind, const S& f, const S& b) {
    forward_[at(kind)] = filled_[at(kind)] ? forward_[at(kind)] + f : f;
    backward_[at(kind)] = filled_[at(kind)] ? backward_[at(kind)] + b : b;
    filled_[at(kind)] = true;
  }

  void products() {
    const auto& m = in_.model;
    const S& Y = in_.degree(Axis::tensor).x;
    const S& D = m.d_model;
    const LayerWidths<S> w = layer_widths(in_, key_);
    const S qkv_out = m.is.mla ? p_.qkv_layer / (Y * D) : qkv_width(in_, w);
    product(qkv, ProductPart::layer, {t_, D, qkv_out, one_}, one_);
    if (in_.adapter.on) attention_adapters(w);
    product(attention_out, ProductPart::layer, {t_, m.is.mla ? m.n_heads * m.v_head_dim / Y : w.attention, D, one_},
            one_);
    const S ups = constant<S>(key_.gated_mlp ? 2 : 1);
    const auto mlp = [&](ProductPart part, const S& rows, const S& width, const S& count, const S& share) {
      product(gate_up, part, {rows, D, ups * width, count}, share);
      product(down, part, {rows, width, D, count}, share);
      if (!in_.adapter.mlp || (part == ProductPart::experts && !in_.adapter.experts)) return;
      adapter(gate_up, part, rows, D, width, ups * count, share);
      adapter(down, part, rows, width, D, count, share);
    };
    if (!m.is.moe) {
      mlp(ProductPart::layer, t_, m.d_ff / Y, one_, one_);
      return;
    }
    const S& share = p_.moe_share;
    if (m.is.dense_layers) mlp(ProductPart::layer, t_, m.d_ff / Y, one_, one_ - share);
    if (m.is.shared_experts) mlp(ProductPart::shared, t_, m.n_shared_experts * m.d_ff_expert / Y, one_, share);
    // Every expert gets the tokens that the ranks of its group send: as many as this rank sends out, in the mean.
    const S& X = in_.degree(Axis::expert).x;
    const S& Z = in_.experts_split_tensor ? in_.expert_tensor : Y;
    const S rows = named(Q::kernel_expert_tokens, t_ * m.experts_per_token / m.n_experts) * X * Z / Y;
    const S crowded = share * c(Calibrated::expert_imbalance);
    mlp(ProductPart::experts, rows, m.d_ff_expert / Z, m.n_experts / X, crowded);
    product(router, ProductPart::layer, {t_, D, m.n_experts, one_}, share / Y);
  }

  // Beside queries, keys and values, as many as there are, of the mean width.
  void attention_adapters(const LayerWidths<S>& w) {
    const S& Y = in_.degree(Axis::tensor).x;
    const S& D = in_.model.d_model;
    const AdapterParameters<S> a = adapter_parameters(in_, p_);
    if (a.in_qkv > 0) {
      const S count = constant<S>(a.in_qkv);
      adapter(qkv, ProductPart::layer, t_, D,
              named(Q::adapter_mean_output, a.qkv / (in_.adapter.rank * count) - D) / Y, count, one_);
    }
    if (in_.adapter.output) adapter(attention_out, ProductPart::layer, t_, w.attention, D, one_, one_);
  }

  void attention() {
    const auto& m = in_.model;
    const S& T = in_.sequence_length;
    const LayerWidths<S> w = layer_widths(in_, key_);
    const S& C = in_.calibration.peak_16;
    const S flops =
        named(Q::kernel_flops, product_index(OperationKind::attention, ProductPart::layer, ProductPass::forward),
              attention_forward_flops(in_, w.attention, t_, !in_.scores_in_hbm));
    if (in_.scores_in_hbm) {
      const S heads = m.n_heads / in_.degree(Axis::tensor).x;
      const S scores =
          constant<S>(2, unit::bytes_each) * t_ * T * heads * c(Calibrated::score_passes) / in_.calibration.hbm;
      // What matrix units do not take runs on the vector units: BLOOM's tuning runs with heads 108 wide took some 40 s
      // per step longer than those with heads of 144 and 216, which leaves these products some 10 TFLOP/s.
      const S rate = in_.scores_by_vector ? min(C, in_.chip.vector_flops) : S(C);
      const S math = flops / (rate * c(Calibrated::matmul_efficiency)) + scores;
      attention_flops_ = flops, attention_flops_backward_ = two_ * flops;
      add(OperationKind::attention, math, two_ * math);
      return;
    }
    attention_flops_ = flops, attention_flops_backward_ = constant<S>(kAttentionBackward) * flops;
    const S width = m.is.mla ? (m.qk_nope_head_dim + m.qk_rope_head_dim + m.v_head_dim) / two_ : S(m.d_head);
    const AttentionTime<S> time = attention_time(in_, flops, T, width);
    add(OperationKind::attention, time.forward, time.backward);
  }

  void sum_products(LayerKernels<S>& out) {
    bool any = false;
    for (const OperationKind kind : {qkv, attention_out, router, gate_up, down}) {
      if (!filled_[at(kind)]) continue;
      forward_[at(kind)] = named(Q::kernel_forward, static_cast<int>(kind), forward_[at(kind)]);
      backward_[at(kind)] = named(Q::kernel_backward, static_cast<int>(kind), backward_[at(kind)]);
      out.matmul_forward = any ? out.matmul_forward + forward_[at(kind)] : forward_[at(kind)];
      out.matmul_backward = any ? out.matmul_backward + backward_[at(kind)] : backward_[at(kind)];
      any = true;
    }
    out.matmul_forward = named(Q::layer_matmul_forward, out.matmul_forward);
    out.matmul_backward = named(Q::layer_matmul_backward, out.matmul_backward);
    const int o = static_cast<int>(OperationKind::attention);
    out.attention_forward = named(Q::kernel_forward, o, forward_[at(OperationKind::attention)]);
    out.attention_backward = named(Q::kernel_backward, o, backward_[at(OperationKind::attention)]);
    forward_[at(OperationKind::attention)] = out.attention_forward;
  }

  void vectors(LayerKernels<S>& out) {
    const auto& m = in_.model;
    S bytes = ops_.operations[at(norms)].hbm_bytes + ops_.operations[at(rope)].hbm_bytes +
              ops_.operations[at(activation)].hbm_bytes + ops_.operations[at(residual)].hbm_bytes;
    if (m.is.moe) {
      const S& Y = in_.degree(Axis::tensor).x;
      const S routed = named(Q::routed_tokens, t_ * m.experts_per_token * p_.moe_share);
      bytes = bytes + named(Q::permutation_bytes, constant<S>(kPermutationPasses) * in_.activation_bytes * routed *
                                                      m.d_model / (key_.sequence_parallel ? Y : one_));
      if (m.is.mlp_bias) {
        const S outputs = constant<S>(key_.gated_mlp ? 2 : 1) * m.d_ff_expert + m.d_model;
        bytes = bytes +
                named(Q::expert_bias_bytes, c(Calibrated::expert_bias) * in_.activation_bytes * routed * outputs / Y);
      }
    }
    bytes = named(Q::kernel_vector_bytes, bytes);
    S forward = vector_time(in_, bytes, kVectorKernels);
    // Routing, and what the host does before it can start the experts' kernels.
    if (m.is.moe) forward = forward + named(Q::layer_routing, p_.moe_share * c(Calibrated::expert_layer));
    out.vector_forward = named(Q::layer_vector_forward, forward);
    out.issue = in_.zero;
    if (!in_.calibration.hosted) return;
    const S& layer = c(in_.calibration.waits ? Calibrated::wait : Calibrated::issue);
    out.issue = named(Q::layer_issue, m.is.moe ? layer + p_.moe_share * c(Calibrated::expert_issue) : S(layer));
  }

  void again(LayerKernels<S>& out, const S& times) {
    const RecomputedOperations repeated = recomputed_operations(key_);
    S products = in_.zero;
    bool vector = false;
    for (std::size_t i = 0; i < repeated.size(); ++i) {
      if (!repeated[i]) continue;
      if (is_vector_operation(static_cast<OperationKind>(i)))
        vector = true;
      else if (filled_[i])
        products = products + forward_[i];
    }
    out.again = named(Q::layer_again, times * products);
    out.vectors_again = vector;
    out.vector_backward =
        named(Q::layer_vector_backward, vector ? (two_ + times) * out.vector_forward : two_ * out.vector_forward);
  }

  void vocabulary(LayerKernels<S>& out) {
    const auto& m = in_.model;
    const S width = m.vocab_size / in_.degree(Axis::tensor).x;
    const ProductShape<S> s{t_, m.d_model, width, one_};
    // The logits stay in 16 bits where layers run in fewer.
    const auto index = [](ProductPass pass) { return product_index(logits, ProductPart::layer, pass); };
    out.head_forward = named(Q::block_math_forward, kHeadBlock,
                             product_time(in_, s, in_.gather_bytes, Dtype::none, index(ProductPass::forward)));
    S head = product_time(in_, ProductShape<S>{t_, width, m.d_model, one_}, in_.gather_bytes, Dtype::none,
                          index(ProductPass::input));
    if (!in_.adapter.on)
      head = head + product_time(in_, ProductShape<S>{m.d_model, t_, width, one_}, in_.activation_bytes, Dtype::none,
                                 index(ProductPass::weights));
    out.head_backward = named(Q::block_math_backward, kHeadBlock, head);
    const S pass = constant<S>(kLogitBytes, unit::bytes_each) * t_ * width / in_.calibration.hbm;
    out.head_vector_forward = named(Q::block_hbm_forward, kHeadBlock, constant<S>(kLogitPassesForward) * pass);
    out.head_vector_backward = named(Q::block_hbm_backward, kHeadBlock, constant<S>(kLogitPassesBackward) * pass);
    out.embedding_forward =
        named(Q::block_hbm_forward, kEmbeddingBlock, ops_.embedding_hbm_bytes / in_.calibration.hbm);
    const S again = in_.adapter.on ? constant<S>(0) : two_;
    out.embedding_backward = named(Q::block_hbm_backward, kEmbeddingBlock, again * out.embedding_forward);
  }

  const Inputs<S>& in_;
  const Parameters<S>& p_;
  const LayerKey& key_;
  const LayerOperations<S>& ops_;
  const S& t_;
  S one_, two_;
  S attention_flops_{}, attention_flops_backward_{}, weight_gradient_{};
  bool has_weight_gradient_ = false;
  std::array<S, kOperationCount> forward_{}, backward_{};
  std::array<bool, kOperationCount> filled_{};
};

}  // namespace

template <Scalar S>
S product_time(const Inputs<S>& in, const ProductShape<S>& shape, const S& weight_bytes, Dtype narrow, int index) {
  const CalibrationInputs<S>& c = in.calibration;
  const auto name = [index](Q q, const S& x) { return index < 0 ? x : named(q, index, x); };
  Trace* const trace = trace_of(c.hbm);
  const S tile = input_leaf<S>(trace, Q::kernel_tile, -1, kTile,
                               "rows and columns of the output that one multiprocessor makes at a time");
  const S units = input_leaf<S>(trace, Q::kernel_units, -1, c.units, "of the chip");
  const S rows = name(Q::kernel_rows, shape.rows), columns = name(Q::kernel_columns, shape.out),
          depth = name(Q::kernel_depth, shape.in);
  const S count = name(Q::kernel_count, shape.count);
  // Waves of tiles, the last of which leaves units without one, and tiles with an edge beyond the output.
  const S tiles = name(Q::kernel_tiles, ceil(rows / tile) * ceil(columns / tile) * count);
  const S waves = name(Q::kernel_waves, ceil(tiles / units));
  const S full = name(Q::kernel_full_tiles, rows * columns * count / (tile * tile));
  const S one = constant<S>(1);
  const S idle = name(Q::kernel_idle, one + c[Calibrated::wave_share] * (waves * units / full - one));
  const S efficiency = name(Q::kernel_efficiency, depth / ((depth + c[Calibrated::matmul_depth]) * idle));
  const S& large = c[product_efficiency(narrow)];
  const S& peak = narrow != Dtype::none ? c.peak : c.peak_16;
  const S flops = name(Q::kernel_flops, constant<S>(2, unit::flop_each) * rows * depth * columns * count);
  const S bytes = name(Q::kernel_bytes,
                       count * (in.activation_bytes * rows * (depth + columns) + weight_bytes * depth * columns));
  return name(Q::kernel_product, max(flops / (peak * large * efficiency), bytes / c.hbm) + c[Calibrated::kernel_gap]);
}

template <Scalar S>
LayerKernels<S> layer_kernels(const Inputs<S>& in, const Parameters<S>& p, const LayerKey& key,
                              const LayerOperations<S>& ops, const S& t, const S& recompute_times) {
  return Kernels<S>(in, p, key, ops, t).all(recompute_times);
}

template double product_time<double>(const Inputs<double>&, const ProductShape<double>&, const double&, Dtype, int);
template Traced product_time<Traced>(const Inputs<Traced>&, const ProductShape<Traced>&, const Traced&, Dtype, int);
template LayerKernels<double> layer_kernels<double>(const Inputs<double>&, const Parameters<double>&, const LayerKey&,
                                                    const LayerOperations<double>&, const double&, const double&);
template LayerKernels<Traced> layer_kernels<Traced>(const Inputs<Traced>&, const Parameters<Traced>&, const LayerKey&,
                                                    const LayerOperations<Traced>&, const Traced&, const Traced&);

}  // namespace roofscape::engine
