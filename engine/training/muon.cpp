#include "engine/training/muon.h"

#include <array>
#include <cstddef>

#include "engine/calibration/collectives.h"
#include "engine/calibration/kernels.h"
#include "engine/hardware/collective.h"
#include "engine/training/state_traffic.h"

namespace roofscape::engine {

namespace {

// Of an iteration, passes over the matrix and over the square of its shorter side.
constexpr double kMatrixPasses = 3, kSquarePasses = 4;

enum class LayerSet : std::uint8_t { all, dense, experts };

// Matrices of one kind of a layer: `width` is the side that tensor ranks split, where they do.
template <Scalar S>
struct MatrixKind {
  MuonMatrix kind;
  S side, width;
  S count;  // in a layer, on one expert rank
  LayerSet layers = LayerSet::all;
  bool split = true;
  bool of_experts = false;  // which are spread over ranks
};

template <Scalar S, class F>
void for_each_kind(const Inputs<S>& in, F&& f) {
  const ModelDims<S>& m = in.model;
  const S one = constant<S>(1), matrices = constant<S>(m.is.gated_mlp ? 3 : 2);
  const S &D = m.d_model, &N = m.n_heads;
  const auto of_layer = [&](MuonMatrix kind, const S& side, const S& width, bool split) {
    f(MatrixKind<S>{kind, side, width, one, LayerSet::all, split});
  };
  if (m.is.mla) {
    const S query = m.qk_nope_head_dim + m.qk_rope_head_dim;
    if (m.is.q_lora) of_layer(MuonMatrix::query_down, D, m.q_lora_rank, false);
    of_layer(m.is.q_lora ? MuonMatrix::query_up : MuonMatrix::query, m.is.q_lora ? m.q_lora_rank : D, S(N * query),
             true);
    of_layer(MuonMatrix::latent_down, D, S(m.kv_lora_rank + m.qk_rope_head_dim), false);
    of_layer(MuonMatrix::latent_up, m.kv_lora_rank, S(N * (m.qk_nope_head_dim + m.v_head_dim)), true);
    of_layer(MuonMatrix::output, D, S(N * m.v_head_dim), true);
  } else {
    of_layer(MuonMatrix::query, D, S(N * m.d_head), true);
    f(MatrixKind<S>{MuonMatrix::key_value, D, m.n_kv_heads * m.d_head, constant<S>(2)});
    of_layer(MuonMatrix::output, D, S(N * m.d_head), true);
    if (m.is.rel_pos_projection) of_layer(MuonMatrix::positions, D, S(N * m.d_head), true);
  }
  if (!m.is.moe || m.is.dense_layers)
    f(MatrixKind<S>{MuonMatrix::mlp, D, m.d_ff, matrices, m.is.moe ? LayerSet::dense : LayerSet::all});
  if (!m.is.moe) return;
  const S experts = spreads_experts(in) ? m.n_experts / in.degree(Axis::expert).x : S(m.n_experts);
  const bool split = !in.experts_split_tensor || value_of(in.expert_tensor) > 1;
  f(MatrixKind<S>{MuonMatrix::expert, D, m.d_ff_expert, matrices * experts, LayerSet::experts, split, true});
  if (m.is.shared_experts)
    f(MatrixKind<S>{MuonMatrix::shared_expert, D, m.n_shared_experts * m.d_ff_expert, matrices, LayerSet::experts});
  f(MatrixKind<S>{MuonMatrix::router, D, m.n_experts, one, LayerSet::experts, false});
}

template <Scalar S>
class Work {
 public:
  Work(const Inputs<S>& in, const LayerTime<S>& layer, const LinkRates<S>& rates, const StepCounts<S>& counts,
       const StageKey& key)
      : in_(in), layer_(layer), rates_(rates), counts_(counts), key_(key), one_(constant<S>(1)) {}

  void fill(MuonWork<S>& out) {
    out.on = true;
    out.exchanges = false;
    home_ = homes(in_.links.state, in_.links[Axis::data], counts_.state_shards);
    expert_home_ =
        spreads_experts(in_) ? homes(in_.links.expert_state, in_.links.expert_data, rates_.expert_copies) : home_;
    for_each_kind<S>(in_, [this](const MatrixKind<S>& kind) { add(kind); });
    out.flops = named(Q::muon_flops, flops_.sum);
    out.products = named(Q::muon_products, in_.muon.distributed ? max(seconds_.sum, largest_) : S(seconds_.sum));
    out.network.fill(in_.zero);
    send(out);
    out.exposed = out.network;
    if (in_.calibrated || !out.sends) return;
    Terms<S> sent{};
    for (std::size_t i = 0; i < out.network.size(); ++i)
      if (!(value_of(out.network[i]) <= 0)) sent.add(out.network[i]);
    const S network = named(Q::muon_network, sent.sum);
    const S hidden = in_.full_overlap ? S(out.products) : in_.overlap * out.products;
    const S share = named(Q::muon_exposed_share, max(network - hidden, in_.zero) / network);
    for (std::size_t i = 0; i < out.network.size(); ++i)
      if (!(value_of(out.network[i]) <= 0))
        out.exposed[i] = named(Q::muon_exposed, static_cast<int>(i), share * out.network[i]);
  }

 private:
  // Over how many ranks whole matrices are dealt.
  S homes(const AxisLinks& state, const AxisLinks& data, const S& shards) const {
    if (!in_.muon.distributed) return one_;
    if (in_.links.state.degree > 1) return state.degree > 1 ? S(shards) : one_;
    if (data.degree <= 1) return one_;
    return input_leaf<S>(trace_of(in_.zero), Q::group_ranks, static_cast<int>(Axis::data), data.degree,
                         "replicas that hold the same weights");
  }

  void add(const MatrixKind<S>& kind) {
    const int i = static_cast<int>(kind.kind);
    const MuonInputs<S>& muon = in_.muon;
    const Degree<S>& tensor = in_.degree(Axis::tensor);
    const bool splits = kind.split && tensor.n > 1;
    const S& ways = kind.of_experts && in_.experts_split_tensor ? in_.expert_tensor : tensor.x;
    S width = kind.width;
    if (splits && muon.blockwise) {
      width = width / ways;
      // A rank has no less of keys and values than a head.
      if (kind.kind == MuonMatrix::key_value) width = max(width, in_.model.d_head);
    }
    const S shorter = named(Q::muon_shorter, i, min(kind.side, width)),
            longer = named(Q::muon_longer, i, max(kind.side, width));
    const S& all = kind.layers == LayerSet::all     ? in_.model.n_layers
                   : kind.layers == LayerSet::dense ? in_.model.n_dense_layers
                                                    : layer_.params.n_moe_layers;
    const S stage = all * kind.count / counts_.stages;
    const S count = named(Q::muon_count, i, counts_.weights_twice ? constant<S>(2) * stage : stage);
    const S& home = kind.of_experts ? expert_home_ : home_;
    const S flops = named(Q::muon_matrix_flops, i, newton_schulz_flops(shorter, longer, muon.steps));
    const S seconds =
        named(Q::muon_matrix_time, i,
              in_.calibrated ? kernels(i, kind, shorter, longer, count / home) : ideal(i, shorter, longer, flops));
    const bool is_first = !seconds_.any;
    flops_.add(count * flops / home);
    seconds_.add(named(Q::muon_share, i, count * seconds / home));
    largest_ = is_first ? S(seconds) : max(largest_, seconds);
    const S elements = named(Q::muon_elements, i, count * kind.side * kind.width);
    if (splits && !muon.blockwise) gathered_.add(elements / home), tensor_calls_.add(count / home);
    (kind.of_experts && spreads_experts(in_) ? held_experts_ : held_).add(elements / ways_held(kind, ways));
    calls_.add(count / home);
  }
  // What is not split has its elements counted as if it were, as parameters are (memory.h).
  S ways_held(const MatrixKind<S>& kind, const S& ways) const {
    return kind.of_experts && in_.experts_split_tensor ? ways : in_.degree(Axis::tensor).x;
  }

  S ideal(int i, const S& shorter, const S& longer, const S& flops) const {
    const S bytes = named(Q::muon_matrix_bytes, i,
                          in_.muon.send_bytes * (constant<S>(kMatrixPasses) * shorter * longer +
                                                 constant<S>(kSquarePasses) * shorter * shorter));
    return max(flops / in_.muon.peak, in_.muon.steps * bytes / in_.chip.hbm_bandwidth);
  }
  // The three products of an iteration as kernels run them. Those of experts go together.
  S kernels(int i, const MatrixKind<S>& kind, const S& shorter, const S& longer, const S& at_home) const {
    const S together = kind.of_experts ? max(at_home / in_.model.n_layers, one_) : S(one_);
    const auto product = [&](int which, const S& depth, const S& columns) {
      return product_time(in_, ProductShape<S>{shorter, depth, columns, together}, in_.muon.send_bytes, Dtype::none,
                          muon_product_index(i, which));
    };
    return in_.muon.steps *
           (product(0, longer, shorter) + product(1, shorter, shorter) + product(2, shorter, longer)) / together;
  }

  void send(MuonWork<S>& out) {
    const S& width = in_.muon.send_bytes;
    out.experts_bytes = 0;
    const auto take = [&](Axis axis, S seconds, const S& calls, const S& bytes) {
      out.bytes[axis] = bytes, out.calls[axis] = calls, out.sent[axis] = seconds;
      seconds = with_latency(in_, seconds, S(calls * rates_.latency[axis]));
      out.network[axis] = named(Q::muon_gather, static_cast<int>(axis), seconds);
      out.sends = true;
    };
    if (gathered_.any) {
      const S bytes = named(Q::muon_gather_bytes, static_cast<int>(Axis::tensor), width * gathered_.sum);
      take(Axis::tensor, bytes / rates_.bandwidth[Axis::tensor], tensor_calls_.sum, bytes);
    }
    const bool sharded = in_.links.state.degree > 1, replicated = in_.degree(Axis::data).n > 1;
    const Axis axis = sharded ? state_axis_of(in_) : Axis::data;
    const S calls = named(Q::muon_matrices, calls_.sum);
    const auto bytes_of_all = [&] {
      const S rest = width * held_.sum;
      MovedState<S> moved{rest};
      if (held_experts_.any) {
        const S experts = named(Q::muon_expert_bytes, width * held_experts_.sum);
        moved = {rest + experts, experts, true};
      }
      moved.all = named(Q::muon_gather_bytes, static_cast<int>(axis), moved.all);
      return moved;
    };
    if (!in_.muon.distributed) {
      if (sharded && key_.zero_stage >= 1) gather(axis, bytes_of_all(), calls, take, out);
      return;
    }
    if (sharded && key_.zero_stage == 3) {
      out.exchanges = true;
      exchange(axis, calls, take, out);
    } else if (sharded && key_.zero_stage == 0) {
      gather(axis, bytes_of_all(), calls, take, out);
    } else if (!sharded && replicated) {
      const MovedState<S> moved = bytes_of_all();
      const bool all = !moved.spread || in_.links.expert_data.degree > 1;
      const S bytes = all ? S(moved.all) : moved.all - moved.experts;
      take(axis, bytes / rates_.bandwidth[axis], calls, bytes);
    }
  }
  template <class Take>
  void gather(Axis axis, const MovedState<S>& moved, const S& calls, const Take& take, MuonWork<S>& out) {
    const bool copies = in_.links.expert_state.degree > 1;
    if (moved.spread && copies) out.experts_bytes = value_of(moved.experts);
    take(axis, state_moved(rates_, 1, moved, copies), calls,
         moved.spread && !copies ? moved.all - moved.experts : S(moved.all));
  }
  // To the home of each matrix, and back.
  template <class Take>
  void exchange(Axis axis, const S& calls, const Take& take, MuonWork<S>& out) {
    const S two = constant<S>(2);
    const S rest = named(Q::muon_gather_bytes, static_cast<int>(axis), in_.muon.send_bytes * held_.sum / home_);
    S bytes = two * rest, seconds = two * exchange_time(in_.links.state, rest, in_.achieved);
    if (held_experts_.any && in_.links.expert_state.degree > 1) {
      const S experts = named(Q::muon_expert_bytes, in_.muon.send_bytes * held_experts_.sum / expert_home_);
      seconds = seconds + two * exchange_time(in_.links.expert_state, experts, in_.achieved);
      bytes = bytes + two * experts;
      out.experts_bytes = value_of(two * experts);
    }
    take(axis, seconds, S(two * calls), bytes);
  }

  const Inputs<S>& in_;
  const LayerTime<S>& layer_;
  const LinkRates<S>& rates_;
  const StepCounts<S>& counts_;
  const StageKey& key_;
  S one_, home_{}, expert_home_{}, largest_{};
  Terms<S> flops_{}, seconds_{};
  Terms<S> gathered_{};               // elements of whole matrices of one home that come from tensor ranks
  Terms<S> held_{}, held_experts_{};  // elements that a tensor rank has of its matrices, unsharded
  Terms<S> calls_{}, tensor_calls_{};
};

}  // namespace

template <Scalar S>
MuonParameters<S> muon_parameters(const Inputs<S>& in, const Parameters<S>& params) {
  const ModelDims<S>& m = in.model;
  const S &D = m.d_model, &attention = params.attention_matrices;
  const S matrices = constant<S>(m.is.gated_mlp ? 3 : 2);
  MuonParameters<S> out;
  out.share = constant<S>(1);
  if (!m.is.moe) {
    out.layer = named(Q::muon_layer, attention + matrices * D * m.d_ff);
    return out;
  }
  S experts = matrices * D * m.d_ff_expert * m.n_experts + D * m.n_experts;
  if (m.is.shared_experts) experts = experts + matrices * D * m.n_shared_experts * m.d_ff_expert;
  const S of_experts = attention + experts;
  if (m.is.dense_layers) {
    const S of_dense = attention + matrices * D * m.d_ff;
    out.kinds = {of_dense, of_experts};
    for (const LayerKind kind : {LayerKind::dense, LayerKind::experts}) {
      const VariantScope scope(trace_of(in.zero), variant_of(kind));
      S& of = out.kinds[static_cast<std::size_t>(kind)];
      of = named(Q::muon_layer, S(of));
    }
    out.layer = named(Q::muon_layer, mean_of_kinds(params, out.kinds[0], out.kinds[1]));
  } else {
    out.layer = named(Q::muon_layer, S(of_experts));
  }
  if (m.is.mlp_bias) out.share = named(Q::muon_expert_share, matrices * D * m.d_ff_expert / params.expert);
  return out;
}

template <Scalar S>
void muon_work(const Inputs<S>& in, const LayerTime<S>& layer, const LinkRates<S>& rates, const StepCounts<S>& counts,
               const StageKey& key, MuonWork<S>& out) {
  Work<S>(in, layer, rates, counts, key).fill(out);
}

template MuonParameters<double> muon_parameters<double>(const Inputs<double>&, const Parameters<double>&);
template MuonParameters<Traced> muon_parameters<Traced>(const Inputs<Traced>&, const Parameters<Traced>&);
template void muon_work<double>(const Inputs<double>&, const LayerTime<double>&, const LinkRates<double>&,
                                const StepCounts<double>&, const StageKey&, MuonWork<double>&);
template void muon_work<Traced>(const Inputs<Traced>&, const LayerTime<Traced>&, const LinkRates<Traced>&,
                                const StepCounts<Traced>&, const StageKey&, MuonWork<Traced>&);

}  // namespace roofscape::engine
