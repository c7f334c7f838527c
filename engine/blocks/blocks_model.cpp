// A Transformer counted: parameters, FLOPs by part, attention, mixtures of experts.
#include <algorithm>
#include <optional>
#include <string_view>

#include "engine/blocks/spec.h"
#include "engine/model/layer_operations.h"
#include "engine/model/model_check.h"
#include "engine/model/parameters.h"
#include "engine/training/bounds.h"

namespace roofscape::engine::block_table {

namespace {

// The dimensions of the model preset, if there is one, with what is typed in laid over them.
template <Scalar S>
ModelDims<S> dims_of(const BlockRun<S>& io) {
  ModelDims<S> m;
  if (io.call().model() != nullptr) m = make_model_dims<S>(*io.call().model(), io.trace());
  m.n_layers = io[Q::n_layers], m.d_model = io[Q::d_model], m.d_ff = io[Q::d_ff], m.n_heads = io[Q::n_heads];
  m.n_kv_heads = io[Q::n_kv_heads], m.d_head = io[Q::d_head], m.vocab_size = io[Q::vocab_size];
  m.is.gated_mlp = io.flag("gated_mlp"), m.is.tied_embeddings = io.flag("tied_embeddings");
  const auto take = [&io](Q q, S& to) {
    if (io.knows(q)) to = io[q];
  };
  take(Q::n_routed_experts, m.n_experts), take(Q::experts_per_token, m.experts_per_token),
      take(Q::d_ff_expert, m.d_ff_expert);
  take(Q::n_shared_experts, m.n_shared_experts), take(Q::n_dense_layers, m.n_dense_layers);
  m.is.moe = io.knows(Q::n_routed_experts);
  m.is.shared_experts = io.call().number("shared_experts") > 0,
  m.is.dense_layers = io.call().number("dense_layers") > 0;
  return m;
}

// Refuses what no model can be, by the input to blame.
template <Scalar S>
bool possible(BlockRun<S>& io) {
  const BlockCall& call = io.call();
  const auto count = [&call](std::string_view name) { return static_cast<int>(std::min(call.number(name), 1e9)); };
  if (!io.knows(Q::n_layers)) return true;
  TransformerShape m;
  m.n_layers = count("n_layers");
  if (io.knows(Q::n_heads) && io.knows(Q::n_kv_heads))
    m.n_heads = count("n_heads"), m.n_kv_heads = count("n_kv_heads");
  if (io.knows(Q::n_routed_experts) && io.knows(Q::experts_per_token)) {
    m.moe.n_routed_experts = count("experts");
    m.moe.experts_per_token = count("experts_per_token");
    m.moe.n_dense_layers = count("dense_layers");
  }
  const std::optional<ModelFault> fault = model_fault(m);
  if (!fault) return true;
  if (fault->field == "model.moe.n_dense_layers")
    io.fail("dense_layers", "are more than there are layers", "at most as many as n_layers");
  else if (fault->field == "model.moe.experts_per_token")
    io.fail("experts_per_token", "are more than there are experts", "at most as many as experts");
  else
    io.fail("n_kv_heads", "does not divide n_heads", "a divisor of n_heads");
  return false;
}

template <Scalar S>
void params(BlockRun<S>& io) {
  if (!possible(io)) return;
  const ModelDims<S> m = dims_of(io);
  const Parameters<S> p = count_parameters(m);
  const auto keep = [&io](Q q, const S& x) { io.out(q, x); };
  keep(Q::params_mlp, p.mlp), keep(Q::params_attention, p.attention), keep(Q::params_norms, p.norms);
  keep(Q::params_vocab, p.vocab), keep(Q::params_total, p.total), keep(Q::params_layer, p.layer),
      keep(Q::params_active, p.active);
  const S matrices = io.out(Q::count_matrices, p.mlp + p.attention + p.vocab);
  io.out(Q::count_no_final_norm, p.total - m.d_model);
  io.out(Q::count_mlp_share, p.mlp / matrices);
  io.out(Q::count_attention_share, p.attention / matrices);
  io.out(Q::count_vocab_share, p.vocab / matrices);
  const S b = io[Q::element_width];
  io.out(Q::count_bytes, b * p.total);
  io.out(Q::count_flops_token, constant<S>(6, unit::flop_each) * matrices);
  io.out(Q::count_flops_token_forward, constant<S>(2, unit::flop_each) * matrices);
}

// FLOPs of the forward pass of one token through one layer, of attention for one key, by the engine's own operations.
template <Scalar S>
LayerOperations<S> operations_of_token(const BlockRun<S>& io, const ModelDims<S>& m) {
  Inputs<S> in;
  in.model = m;
  in.model.is.local = false;  // the window is an input of the block
  in.sequence_length = in.microbatch_sequences = in.expert_tensor = one<S>();
  in.degrees.fill({1, one<S>()});
  in.activation_bytes = in.weight_bytes = constant<S>(2, unit::bytes_each);
  if constexpr (std::same_as<S, Traced>) in.zero = io.trace()->zero();
  LayerKey key;
  key.flops = io.flag("causal") ? FlopsConvention::exact_causal : FlopsConvention::exact;
  key.gated_mlp = m.is.gated_mlp;
  return layer_operations(in, count_parameters(m), key, one<S>());
}

template <Scalar S>
void flops(BlockRun<S>& io) {
  if (!possible(io)) return;
  const ModelDims<S> m = dims_of(io);
  const LayerOperations<S> operations = operations_of_token(io, m);
  const auto forward = [&operations](OperationKind kind) {
    return named(Q::operation_flops, static_cast<int>(kind),
                 operations.operations[static_cast<std::size_t>(kind)].flops);
  };
  using enum OperationKind;
  const S six = constant<S>(6, unit::flop_each), three = constant<S>(3);
  S mlp_forward = forward(gate_up) + forward(down);
  if (m.is.moe) mlp_forward = mlp_forward + forward(router);
  const S mlp_token = named(Q::flops_mlp_token, three * mlp_forward);
  const S projections_token = named(Q::flops_projections_token, three * (forward(qkv) + forward(attention_out)));
  const S a_key = named(Q::flops_a_key, three * forward(OperationKind::attention));
  const S vocab_token = named(Q::flops_vocab_token, three * forward(logits));

  const S T = io[Q::flops_query], keys = io[Q::flops_keys];
  const S tokens = io.out(Q::flops_tokens, io[Q::flops_sequences] * T);
  const S seen = io.knows(Q::flops_window)
                     ? named(Q::flops_seen_keys, keys_in_window(keys, io[Q::flops_window], io.flag("causal")))
                     : keys;
  const S mlp = io.out(Q::flops_mlp, tokens * mlp_token);
  const S projections = io.out(Q::flops_projections, tokens * projections_token);
  const S scores = io.out(Q::flops_scores, tokens * seen * a_key);
  const S layer = io.out(Q::flops_layer, mlp + projections + scores);
  const S vocab = io.out(Q::flops_vocab, tokens * vocab_token);
  const S total = io.out(Q::flops_total, m.n_layers * layer + vocab);
  io.out(Q::flops_forward, total / three);
  io.out(Q::flops_layer_forward, layer / three);
  io.out(Q::flops_token, total / tokens);
  const S matmuls = named(Q::flops_matmuls, mlp + projections);
  io.out(Q::flops_attention_ratio, scores / matmuls);
  io.out(Q::flops_attention_share, m.n_layers * scores / total);
  io.out(Q::flops_mlp_share, mlp / layer);
  // Sequence lengths (of full attention) from which the scores cost as much as the projections, and as all matrices.
  io.out(Q::flops_equal_projections, projections_token / a_key);
  io.out(Q::flops_equal_matmuls, (mlp_token + projections_token) / a_key);
  const S parameters = io[Q::flops_parameters];
  io.out(Q::flops_6p, six * parameters * tokens);
  io.out(Q::flops_2p, constant<S>(2, unit::flop_each) * parameters * tokens);
  io.out(Q::flops_8p, constant<S>(8, unit::flop_each) * parameters * tokens);
  io.out(Q::flops_remat_attention, scores / three * m.n_layers);
}

template <Scalar S>
void attention(BlockRun<S>& io) {
  const S T = io[Q::flops_query], K = io[Q::flops_keys], G = io[Q::attention_group], b = io[Q::element_width];
  // Of one KV head and its G query heads: 4 T K G H FLOP; queries in, outputs out, keys and values in once.
  const S four = constant<S>(4, unit::flop_each), two = constant<S>(2);
  const S H = io[Q::d_head];
  io.out(Q::attention_flops, four * T * K * (G * H));
  const S rows = named(Q::attention_rows, G * T + K);
  io.out(Q::attention_bytes, two * b * H * rows);
  const S intensity = io.out(Q::attention_intensity, four * T * K * G / (two * b * rows));
  io.out(Q::attention_prefill, four * T * G / (two * b * (G + one<S>())));
  io.out(Q::attention_decode, four * K * G / (two * b * (K + G)));
  const S ridge = io.out(Q::attention_ridge, io[Q::peak_flops] / io[Q::hbm_bandwidth]);
  io.out(Q::attention_margin, intensity / ridge);
  // Prefill as long as this is limited by arithmetic.
  io.out(Q::attention_length, two * b * ridge * (G + one<S>()) / (four * G));
}

template <Scalar S>
void moe(BlockRun<S>& io) {
  if (io.call().number("experts_per_token") > io.call().number("experts"))
    return io.fail("experts_per_token", "are more than there are experts", "at most as many as experts");
  if (io.call().number("dense_layers") > io.call().number("n_layers"))
    return io.fail("dense_layers", "are more than there are layers", "at most as many as n_layers");
  const S E = io[Q::ridge_experts], k = io[Q::ridge_experts_per_token], shared = io[Q::moe_shared];
  const S D = io[Q::d_model], Fe = io[Q::moe_d_ff], L = io[Q::n_layers], Ld = io[Q::moe_dense_layers];
  const S matrices = constant<S>(io.flag("gated_mlp") ? 3 : 2);
  // With biases one for each output of the matrices: gate and up of the MLP's width, down of the model's.
  const bool biases = io.flag("mlp_bias");
  const S ups = matrices - one<S>();
  const auto mlp_of = [&](const S& width) {
    const S weights = matrices * D * width;
    return biases ? weights + ups * width + D : weights;
  };
  const S expert = io.out(Q::moe_expert, mlp_of(Fe));
  const S dense = named(Q::moe_dense, mlp_of(io[Q::d_ff]));
  const S router = io.out(Q::moe_router, D * E);
  const S layer = named(Q::moe_layer, (E + shared) * expert + router);
  const S active_layer = named(Q::moe_active_layer, (k + shared) * expert + router);
  const S other = io[Q::moe_other];
  const S sparse_layers = named(Q::moe_layers, L - Ld);
  const S total = io.out(Q::moe_total, Ld * dense + sparse_layers * layer + other);
  const S active = io.out(Q::moe_active, Ld * dense + sparse_layers * active_layer + other);
  io.out(Q::moe_ratio, active / total);
  const S sparsity = io.out(Q::moe_sparsity, E / k);
  io.out(Q::moe_flops_token, constant<S>(6, unit::flop_each) * active);
  const S b = io[Q::element_width];
  const S ridge = named(Q::moe_ridge, io[Q::peak_flops] / io[Q::hbm_bandwidth]);
  io.out(Q::moe_batch, b / constant<S>(2, unit::flop_each) * ridge * sparsity);
  const S tokens = io[Q::tokens];
  io.out(Q::moe_tokens_expert, io[Q::moe_capacity] * tokens / sparsity);
  const S base = io[Q::moe_base_tokens];
  io.out(Q::moe_tokens_chip, base * sparsity);
  io.out(Q::moe_exchange_bytes, b * tokens * D * k);
}

template <Scalar S>
void mla(BlockRun<S>& io) {
  const S D = io[Q::d_model], N = io[Q::n_heads], rq = io[Q::mla_q_rank], rkv = io[Q::mla_kv_rank];
  const S dn = io[Q::mla_nope], dr = io[Q::mla_rope], dv = io[Q::mla_value];
  const S head = named(Q::mla_head, dn + dr);
  const S q = io.out(Q::mla_q, io.knows(Q::mla_q_rank) ? D * rq + rq * N * head : D * N * head);
  const S kv = io.out(Q::mla_kv, D * (rkv + dr) + rkv * N * (dn + dv));
  const S o = io.out(Q::mla_out, N * dv * D);
  const S norms = named(Q::mla_norms, io.knows(Q::mla_q_rank) ? rq + rkv : rkv * one<S>());
  const S layer = io.out(Q::mla_layer, q + kv + o + norms);
  io.out(Q::mla_total, io[Q::n_layers] * layer);
}

using Shape = TransformerShape;
std::optional<double> some(double x) { return x; }
std::optional<double> if_moe(const Shape& m, double x) { return m.is_moe() ? std::optional(x) : std::nullopt; }
// A rank of 0 is none.
std::optional<double> if_mla(const Shape& m, double x) {
  return m.is_mla() && x > 0 ? std::optional(x) : std::nullopt;
}
std::optional<double> outside_mlp(const Shape& m) {
  const Parameters<double> p = count_parameters(make_model_dims<double>(m, nullptr));
  // The block counts a router's matrix, not its bias, nor the gate of shared experts.
  const double a_layer =
      (m.moe.router_bias ? m.moe.n_routed_experts : 0) + (m.moe.shared_expert_gate ? m.d_model : 0);
  return p.total - p.mlp + m.n_moe_layers() * a_layer;
}
In of_model(std::string_view name, Q q, std::optional<double> (*of)(const Shape&)) {
  return number(name, q).model(of);
}
In gated() {
  In in = flag("gated_mlp", true);
  return in.model([](const Shape& m) { return some(m.gated_mlp ? 1 : 0); });
}

In biased_mlp() {
  In in = flag("mlp_bias", false);
  return in.model([](const Shape& m) { return some(m.mlp_bias ? 1 : 0); });
}

std::vector<In> expert_inputs() {
  return {of_model("experts", Q::n_routed_experts, [](const Shape& m) { return if_moe(m, m.moe.n_routed_experts); }),
          of_model("experts_per_token", Q::experts_per_token,
                   [](const Shape& m) { return if_moe(m, m.moe.experts_per_token); }),
          of_model("expert_d_ff", Q::d_ff_expert, [](const Shape& m) { return if_moe(m, m.expert_width()); })
              .from("d_ff", [](const BlockCall& c) { return std::optional(c.number("d_ff")); }),
          of_model("shared_experts", Q::n_shared_experts, [](const Shape& m) { return some(m.moe.n_shared_experts); })
              .def(0)
              .at_least(0),
          of_model("dense_layers", Q::n_dense_layers, [](const Shape& m) { return some(m.moe.n_dense_layers); })
              .def(0)
              .at_least(0)};
}

}  // namespace

std::vector<BuildingBlock> model_blocks() {
  const auto of_heads = [] {
    return number("group", Q::attention_group).def(1).from("n_heads / n_kv_heads", [](const BlockCall& c) {
      return std::optional(c.number("n_heads") / c.number("n_kv_heads"));
    });
  };
  return {
      {"params",
       "scaling book ch. 4",
       inputs(model_inputs(), expert_inputs(), element_input()),
       {out("active", Q::params_active), out("mlp", Q::params_mlp), out("attention", Q::params_attention),
        out("vocab", Q::params_vocab), out("norms", Q::params_norms), out("total", Q::params_total),
        out("matrices", Q::count_matrices), out("without_final_norm", Q::count_no_final_norm),
        out("layer", Q::params_layer), out("mlp_share", Q::count_mlp_share),
        out("attention_share", Q::count_attention_share), out("vocab_share", Q::count_vocab_share),
        out("bytes", Q::count_bytes), out("flops_per_token", Q::count_flops_token),
        out("flops_per_token_forward", Q::count_flops_token_forward)},
       params<double>,
       params<Traced>},
      {"flops",
       "scaling book ch. 4",
       inputs(model_inputs(), expert_inputs(), number("sequences", Q::flops_sequences).def(1),
              number("sequence_length", Q::flops_query),
              number("key_length", Q::flops_keys)
                  .from("sequence_length",
                        [](const BlockCall& c) { return std::optional(c.number("sequence_length")); }),
              number("window", Q::flops_window), flag("causal", false), number("parameters", Q::flops_parameters)),
       {out("tokens", Q::flops_tokens), out("mlp", Q::flops_mlp), out("projections", Q::flops_projections),
        out("attention", Q::flops_scores), out("layer", Q::flops_layer), out("layer_forward", Q::flops_layer_forward),
        out("vocab", Q::flops_vocab), out("total", Q::flops_total), out("forward", Q::flops_forward),
        out("per_token", Q::flops_token), out("attention_to_matmuls", Q::flops_attention_ratio),
        out("attention_share", Q::flops_attention_share), out("mlp_share_of_layer", Q::flops_mlp_share),
        out("length_equal_to_projections", Q::flops_equal_projections),
        out("length_equal_to_matmuls", Q::flops_equal_matmuls), out("six_p", Q::flops_6p), out("two_p", Q::flops_2p),
        out("eight_p", Q::flops_8p), out("recomputed_attention", Q::flops_remat_attention)},
       flops<double>,
       flops<Traced>},
      {"attention",
       "scaling book ch. 4",
       inputs(number("query_length", Q::flops_query), number("key_length", Q::flops_keys),
              number("n_heads", Q::n_heads), number("n_kv_heads", Q::n_kv_heads), of_heads(),
              number("d_head", Q::d_head), element_input(), dtype_input(), peak_input(), hbm_input()),
       {out("intensity", Q::attention_intensity), out("prefill_intensity", Q::attention_prefill),
        out("decode_intensity", Q::attention_decode), out("flops_per_kv_head", Q::attention_flops),
        out("bytes_per_kv_head", Q::attention_bytes), out("ridge", Q::attention_ridge),
        out_word("regime", Q::attention_margin, 1, "compute", "memory"), out("prefill_length", Q::attention_length)},
       attention<double>,
       attention<Traced>},
      {"moe",
       "scaling book ch. 4 and 12",
       inputs(
           of_model("n_layers", Q::n_layers, [](const Shape& m) { return some(m.n_layers); }),
           of_model("d_model", Q::d_model, [](const Shape& m) { return some(m.d_model); }),
           of_model("d_ff", Q::d_ff, [](const Shape& m) { return some(m.d_ff); }),
           of_model("expert_d_ff", Q::moe_d_ff, [](const Shape& m) { return if_moe(m, m.expert_width()); }),
           of_model("experts", Q::ridge_experts, [](const Shape& m) { return if_moe(m, m.moe.n_routed_experts); }),
           of_model("experts_per_token", Q::ridge_experts_per_token,
                    [](const Shape& m) { return if_moe(m, m.moe.experts_per_token); }),
           of_model("shared_experts", Q::moe_shared, [](const Shape& m) { return if_moe(m, m.moe.n_shared_experts); })
               .def(0)
               .at_least(0),
           of_model("dense_layers", Q::moe_dense_layers,
                    [](const Shape& m) { return if_moe(m, m.n_layers - m.n_moe_layers()); })
               .def(0)
               .at_least(0),
           gated(), biased_mlp(), of_model("other_parameters", Q::moe_other, outside_mlp).def(0).at_least(0),
           number("tokens", Q::tokens), number("capacity_factor", Q::moe_capacity).def(1),
           number("base_tokens_per_chip", Q::moe_base_tokens), element_input(), dtype_input(), peak_input(),
           hbm_input()),
       {out("expert", Q::moe_expert), out("router", Q::moe_router), out("total", Q::moe_total),
        out("active", Q::moe_active), out("active_share", Q::moe_ratio), out("sparsity", Q::moe_sparsity),
        out("flops_per_token", Q::moe_flops_token), out("critical_batch", Q::moe_batch),
        out("tokens_per_expert", Q::moe_tokens_expert), out("tokens_per_chip", Q::moe_tokens_chip),
        out("all_to_all_bytes", Q::moe_exchange_bytes)},
       moe<double>,
       moe<Traced>},
      {"mla",
       "DeepSeek-V2 2024, section 2.1",
       inputs(of_model("n_layers", Q::n_layers, [](const Shape& m) { return some(m.n_layers); }).def(1),
              of_model("d_model", Q::d_model, [](const Shape& m) { return some(m.d_model); }),
              of_model("n_heads", Q::n_heads, [](const Shape& m) { return some(m.n_heads); }),
              of_model("q_rank", Q::mla_q_rank, [](const Shape& m) { return if_mla(m, m.mla.q_lora_rank); }),
              of_model("kv_rank", Q::mla_kv_rank, [](const Shape& m) { return if_mla(m, m.mla.kv_lora_rank); }),
              of_model("nope_dim", Q::mla_nope, [](const Shape& m) { return if_mla(m, m.mla.qk_nope_head_dim); }),
              of_model("rope_dim", Q::mla_rope, [](const Shape& m) { return if_mla(m, m.mla.qk_rope_head_dim); }),
              of_model("value_dim", Q::mla_value, [](const Shape& m) { return if_mla(m, m.mla.v_head_dim); })),
       {out("queries", Q::mla_q), out("keys_values", Q::mla_kv), out("output", Q::mla_out),
        out("layer", Q::mla_layer), out("total", Q::mla_total)},
       mla<double>,
       mla<Traced>},
  };
}

}  // namespace roofscape::engine::block_table
