// A Transformer counted: parameters, FLOPs by part, attention, mixtures of experts.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "engine/blocks/spec.h"
#include "engine/model/layer_operations.h"
#include "engine/model/parameters.h"
#include "engine/training/book_bounds.h"

namespace roofscape::engine::block_table {

namespace {

template <Scalar S>
void params(BlockRun<S>& io) {
  if (!is_possible(io)) return;
  const ModelDims<S> m = dims_of(io);
  const Parameters<S> p = count_parameters(m);
  const auto keep = [&io](Q q, const S& x) { io.out(q, x); };
  keep(Q::params_mlp, p.mlp), keep(Q::params_attention, p.attention), keep(Q::params_norms, p.norms);
  keep(Q::params_vocab, p.vocab), keep(Q::params_total, p.total), keep(Q::params_layer, p.layer),
      keep(Q::params_active, p.active), keep(Q::params_layer_active, p.layer_active);
  keep(Q::params_embedding, p.embedding), keep(Q::params_unembedding, p.unembedding);
  keep(Q::params_mlp_layer, p.mlp_layer), keep(Q::params_attention_layer, p.attention_layer);
  if (m.is.moe) {
    keep(Q::params_expert, p.expert), keep(Q::params_experts, p.experts), keep(Q::params_router, p.router);
  } else {
    io.without({Q::params_expert, Q::params_experts, Q::params_router}, "dense_model");
  }
  const S matrices = io.out(Q::count_matrices, p.mlp + p.attention + p.vocab);
  io.out(Q::count_no_final_norm, p.total - m.d_model);
  io.out(Q::count_mlp_share, p.mlp / matrices);
  io.out(Q::count_attention_share, p.attention / matrices);
  io.out(Q::count_vocab_share, p.vocab / matrices);
  io.out(Q::count_active_share, p.active / p.total);
  const S b = io[Q::element_width];
  io.out(Q::count_bytes, b * p.total);
  io.out(Q::count_active_bytes, b * p.active);
  const S six = constant<S>(6, unit::flop_each);
  io.out(Q::count_flops_token, training_flops_per_token(alone(io, m, one<S>()), p, FlopsConvention::six_p));
  io.out(Q::count_flops_token_forward, constant<S>(2, unit::flop_each) * p.active);
  io.out(Q::count_flops_matrices,
         six * (m.is.moe ? named(Q::count_active_matrices, matrices - p.inactive) : matrices));
}

template <Scalar S>
void flops(BlockRun<S>& io) {
  if (!is_possible(io)) return;
  const ModelDims<S> m = dims_of(io);
  const Parameters<S> p = count_parameters(m);
  const bool causal = io.flag("causal");
  const FlopsConvention convention = causal ? FlopsConvention::exact_causal : FlopsConvention::exact;
  // The forward pass of one token through the mean layer, of attention for one key, by the engine's own operations.
  Inputs<S> a_key_of = alone(io, m, one<S>());
  a_key_of.model.is.local = false;
  LayerKey key;
  key.flops = convention;
  key.gated_mlp = m.is.gated_mlp;
  const LayerOperations<S> operations = layer_operations(a_key_of, p, key, one<S>());
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
  S seen = keys;
  if (m.is.local) {
    const S local = named(Q::flops_local_keys, keys_in_window(keys, m.window_tokens, causal));
    const bool is_everywhere = io.call().number("local_layers") == io.call().number("n_layers") ||
                               !io.call().value("local_layers").is_known();
    seen = named(Q::flops_seen_keys, is_everywhere ? one<S>() * local : mean_of_layers(m, keys, local));
  }
  const S mlp = io.out(Q::flops_mlp, tokens * mlp_token);
  const S projections = io.out(Q::flops_projections, tokens * projections_token);
  const S scores = io.out(Q::flops_scores, tokens * seen * a_key);
  const S layer = io.out(Q::flops_layer, mlp + projections + scores);
  io.out(Q::flops_vocab, tokens * vocab_token);
  const S token = io.out(Q::flops_token, training_flops_per_token(alone(io, m, keys), p, convention));
  const S total = io.out(Q::flops_total, token * tokens);
  io.out(Q::flops_token_forward, token / three);
  io.out(Q::flops_forward, total / three);
  io.out(Q::flops_layer_forward, layer / three);
  const S matmuls = named(Q::flops_matmuls, mlp + projections);
  io.out(Q::flops_attention_ratio, scores / matmuls);
  const S attention_token =
      io.out(Q::flops_attention_token, attention_flops_per_token(alone(io, m, keys), convention));
  io.out(Q::flops_attention_share, attention_token / token);
  io.out(Q::flops_mlp_share, mlp / layer);
  // Sequence lengths (of full attention) from which the scores cost as much as the projections, and as all matrices.
  io.out(Q::flops_equal_projections, projections_token / a_key);
  io.out(Q::flops_equal_matmuls, (mlp_token + projections_token) / a_key);
  const S parameters = io[Q::flops_parameters];
  io.out(Q::flops_6p, six * parameters * tokens);
  io.out(Q::flops_2p, constant<S>(2, unit::flop_each) * parameters * tokens);
  io.out(Q::flops_8p, constant<S>(8, unit::flop_each) * parameters * tokens);
  io.out(Q::flops_remat_attention, attention_token / three * tokens);
}

// The one latent is read for all query heads at once, as a KV head is for its group: the queries are carried into it
// (absorbed), scored over latent and rotary part, and the values are taken out of the latent. A prefill writes keys
// and values of each head out and is as that of groups of one.
template <Scalar S>
void latent_attention(BlockRun<S>& io) {
  const S T = io[Q::flops_query], K = io[Q::flops_keys], N = io[Q::n_heads], b = io[Q::element_width];
  const S rank = io[Q::kv_lora_rank];
  const S two = constant<S>(2), two_flop = constant<S>(2, unit::flop_each);
  const S kept = named(Q::attention_latent_width, rank + io[Q::qk_rope_head_dim]);
  const S both = named(Q::attention_latent_both, kept + rank);
  io.out(Q::attention_flops, two_flop * T * K * N * both);
  // Queries in and outputs out of all heads, the latent of each key once.
  io.out(Q::attention_bytes, b * (T * N * both + K * kept));
  const S intensity = io.out(Q::attention_intensity, two_flop * T * K * N * both / (b * (T * N * both + K * kept)));
  io.out(Q::attention_prefill, two_flop * T / (two * b));
  io.out(Q::attention_decode, two_flop * K * N * both / (b * (N * both + K * kept)));
  io.out(Q::attention_decode_limit, two_flop * N * both / (b * kept));
  const S ridge = io.out(Q::attention_ridge, io[Q::peak_flops] / io[Q::hbm_bandwidth]);
  io.out(Q::attention_margin, intensity / ridge);
  io.out(Q::attention_length, two * b * ridge / two_flop);
}

template <Scalar S>
void attention(BlockRun<S>& io) {
  // Of latent attention all heads read one latent; KV heads of a preset are no groups of it.
  const BlockCall& call = io.call();
  if (io.knows(Q::kv_lora_rank) && !call.is_typed("n_kv_heads") && !call.is_typed("group"))
    return latent_attention(io);
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
  io.out(Q::attention_decode_limit, four * G / (two * b));
  const S ridge = io.out(Q::attention_ridge, io[Q::peak_flops] / io[Q::hbm_bandwidth]);
  io.out(Q::attention_margin, intensity / ridge);
  // Prefill as long as this is limited by arithmetic.
  io.out(Q::attention_length, two * b * ridge * (G + one<S>()) / (four * G));
}

template <Scalar S>
void moe(BlockRun<S>& io) {
  if (!is_possible(io)) return;
  ModelDims<S> m = dims_of(io);
  m.is.mlp_bias = io.flag("mlp_bias");
  const S six = constant<S>(6, unit::flop_each), b = io[Q::element_width], tokens = io[Q::tokens];
  const S sparsity = io.out(Q::moe_sparsity, m.n_experts / m.experts_per_token);
  const S ridge = named(Q::moe_ridge, io[Q::peak_flops] / io[Q::hbm_bandwidth]);
  io.out(Q::moe_batch, b / constant<S>(2, unit::flop_each) * ridge * sparsity);
  io.out(Q::moe_tokens_expert, io[Q::moe_capacity] * tokens / sparsity);
  io.out(Q::moe_tokens_chip, io[Q::moe_base_tokens] * sparsity);
  io.out(Q::moe_exchange_bytes, b * tokens * m.d_model * m.experts_per_token);
  // Each token chooses at random; a power that the trace has no node for.
  const std::pair<Q, std::string_view> hit_by[] = {
      {Q::tokens, "tokens"}, {Q::n_routed_experts, "experts"}, {Q::experts_per_token, "experts_per_token"}};
  bool is_decided = true;
  for (const auto& [q, input] : hit_by)
    if (!io.knows(q)) {
      io.needs(Q::moe_hit, input);
      is_decided = false;
    }
  if (is_decided)
    io.simulated(Q::moe_hit, -1,
                 value_of(m.n_experts) * (1 - std::pow(1 - 1 / value_of(sparsity), value_of(tokens))));
  if (!m.is.moe) return io.rest_needs("experts");
  const Parameters<S> p = count_parameters(m);
  const S expert = io.out(Q::moe_expert, p.expert);
  io.out(Q::moe_router, m.d_model * m.n_experts);
  io.out(Q::moe_experts, p.experts);
  const S total = io.out(Q::moe_total, p.mlp + io[Q::moe_other]);
  const S active = io.out(Q::moe_active, total - p.inactive);
  io.out(Q::moe_ratio, active / total);
  const S token = io.out(Q::moe_flops_token, six * active);
  io.out(Q::moe_flops, token * tokens);
  io.out(Q::moe_dense, sqrt(total * active));
  io.out(Q::moe_expert_bytes, b * expert);
  io.out(Q::moe_bytes, b * total);
  io.out(Q::moe_active_bytes, b * active);
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
  const S L = io[Q::n_layers], b = io[Q::element_width];
  io.out(Q::mla_total, L * layer);
  const S kept = io.out(Q::mla_cache, rkv + dr);
  const S cache = io.out(Q::mla_cache_bytes, b * L * kept);
  const S plain = io.out(Q::mla_plain_bytes, b * L * N * (dn + dv));
  io.out(Q::mla_reduction, plain / cache);
  io.out(Q::mla_groups, kept / (dn + dv));
  // A query against a key in all heads.
  const S two_flop = constant<S>(2, unit::flop_each);
  const S absorbed = io.out(Q::mla_absorbed, two_flop * N * (kept + rkv));
  const S expanded = io.out(Q::mla_expanded, two_flop * N * (head + dv));
  io.out(Q::mla_absorbed_ratio, absorbed / expanded);
}

using Shape = TransformerShape;
// A rank of 0 is none.
std::optional<double> if_mla(const Shape& m, double x) {
  return m.is_mla() && x > 0 ? std::optional(x) : std::nullopt;
}
In of_model(std::string_view name, Q q, std::optional<double> (*of)(const Shape&)) {
  return whole(name, q).model(of);
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
       {out("active", Q::params_active),
        out("mlp", Q::params_mlp),
        out("attention", Q::params_attention),
        out("vocab", Q::params_vocab),
        out("norms", Q::params_norms),
        out("total", Q::params_total),
        out("active_share", Q::count_active_share),
        out("matrices", Q::count_matrices),
        out("without_final_norm", Q::count_no_final_norm),
        out("layer", Q::params_layer),
        out("layer_active", Q::params_layer_active),
        out("mlp_layer", Q::params_mlp_layer),
        out("attention_layer", Q::params_attention_layer),
        out("embedding", Q::params_embedding),
        out("unembedding", Q::params_unembedding),
        out("expert", Q::params_expert),
        out("experts", Q::params_experts),
        out("router", Q::params_router),
        out("mlp_share", Q::count_mlp_share),
        out("attention_share", Q::count_attention_share),
        out("vocab_share", Q::count_vocab_share),
        out("bytes", Q::count_bytes),
        out("active_bytes", Q::count_active_bytes),
        out("flops_per_token", Q::count_flops_token),
        out("flops_per_token_forward", Q::count_flops_token_forward),
        out("matrix_flops_per_token", Q::count_flops_matrices)},
       params<double>,
       params<Traced>},
      {"flops",
       "scaling book ch. 4",
       inputs(model_inputs(), expert_inputs(), number("sequences", Q::flops_sequences).def(1),
              whole("sequence_length", Q::flops_query),
              whole("key_length", Q::flops_keys)
                  .from("sequence_length",
                        [](const BlockCall& c) { return std::optional(c.number("sequence_length")); }),
              window_inputs(), flag("causal", false),
              number("parameters", Q::flops_parameters).model([](const Shape& m) {
                return some(parameters_of(m).active);
              })),
       {out("tokens", Q::flops_tokens),
        out("mlp", Q::flops_mlp),
        out("projections", Q::flops_projections),
        out("attention", Q::flops_scores),
        out("layer", Q::flops_layer),
        out("layer_forward", Q::flops_layer_forward),
        out("vocab", Q::flops_vocab),
        out("total", Q::flops_total),
        out("forward", Q::flops_forward),
        out("per_token", Q::flops_token),
        out("per_token_forward", Q::flops_token_forward),
        out("attention_per_token", Q::flops_attention_token),
        out("attention_to_matmuls", Q::flops_attention_ratio),
        out("attention_share", Q::flops_attention_share),
        out("mlp_share_of_layer", Q::flops_mlp_share),
        out("length_equal_to_projections", Q::flops_equal_projections),
        out("length_equal_to_matmuls", Q::flops_equal_matmuls),
        out("six_p", Q::flops_6p),
        out("two_p", Q::flops_2p),
        out("eight_p", Q::flops_8p),
        out("recomputed_attention", Q::flops_remat_attention)},
       flops<double>,
       flops<Traced>},
      {"attention",
       "scaling book ch. 4",
       inputs(whole("query_length", Q::flops_query), whole("key_length", Q::flops_keys), size_input("n_heads"),
              size_input("n_kv_heads"), of_heads(), size_input("d_head"), latent_inputs(), element_input(),
              dtype_input(), peak_input(), hbm_input()),
       {out("intensity", Q::attention_intensity), out("prefill_intensity", Q::attention_prefill),
        out("decode_intensity", Q::attention_decode), out("decode_intensity_limit", Q::attention_decode_limit),
        out("flops_per_kv_head", Q::attention_flops), out("bytes_per_kv_head", Q::attention_bytes),
        out("ridge", Q::attention_ridge), out_word("regime", Q::attention_margin, 1, "compute", "memory"),
        out("prefill_length", Q::attention_length)},
       attention<double>,
       attention<Traced>},
      {"moe",
       "scaling book ch. 4 and 12",
       inputs(size_input("n_layers"), size_input("d_model"), size_input("d_ff"), expert_inputs(),
              flag("gated_mlp", true).model([](const Shape& m) { return some(m.gated_mlp ? 1 : 0); }),
              flag("mlp_bias", false).model([](const Shape& m) { return some(m.mlp_bias ? 1 : 0); }),
              number("other_parameters", Q::moe_other)
                  .model([](const Shape& m) { return some(parameters_of(m).total - parameters_of(m).mlp); })
                  .def(0)
                  .at_least(0),
              number("tokens", Q::tokens), number("capacity_factor", Q::moe_capacity).def(1),
              number("base_tokens_per_chip", Q::moe_base_tokens), element_input(), dtype_input(), peak_input(),
              hbm_input()),
       {out("expert", Q::moe_expert), out("experts", Q::moe_experts), out("router", Q::moe_router),
        out("total", Q::moe_total), out("expert_bytes", Q::moe_expert_bytes), out("bytes", Q::moe_bytes),
        out("active_bytes", Q::moe_active_bytes), out("active", Q::moe_active), out("active_share", Q::moe_ratio),
        out("sparsity", Q::moe_sparsity), out("flops_per_token", Q::moe_flops_token),
        out("critical_batch", Q::moe_batch), out("tokens_per_expert", Q::moe_tokens_expert),
        out("tokens_per_chip", Q::moe_tokens_chip), out("all_to_all_bytes", Q::moe_exchange_bytes),
        out("experts_hit", Q::moe_hit), out("training_flops", Q::moe_flops), out("dense_equivalent", Q::moe_dense)},
       moe<double>,
       moe<Traced>},
      {"mla",
       "DeepSeek-V2 2024, section 2.1",
       inputs(size_input("n_layers").def(1), size_input("d_model"), size_input("n_heads"),
              of_model("q_rank", Q::mla_q_rank, [](const Shape& m) { return if_mla(m, m.mla.q_lora_rank); }),
              of_model("kv_rank", Q::mla_kv_rank, [](const Shape& m) { return if_mla(m, m.mla.kv_lora_rank); }),
              of_model("nope_dim", Q::mla_nope, [](const Shape& m) { return if_mla(m, m.mla.qk_nope_head_dim); }),
              of_model("rope_dim", Q::mla_rope, [](const Shape& m) { return if_mla(m, m.mla.qk_rope_head_dim); }),
              of_model("value_dim", Q::mla_value, [](const Shape& m) { return if_mla(m, m.mla.v_head_dim); }),
              element_input()),
       {out("queries", Q::mla_q), out("keys_values", Q::mla_kv), out("output", Q::mla_out),
        out("layer", Q::mla_layer), out("total", Q::mla_total), out("cache_elements", Q::mla_cache),
        out("cache_bytes_per_token", Q::mla_cache_bytes), out("all_heads_bytes_per_token", Q::mla_plain_bytes),
        out("cache_reduction", Q::mla_reduction), out("equivalent_kv_heads", Q::mla_groups),
        out("absorbed_flops_per_key", Q::mla_absorbed), out("expanded_flops_per_key", Q::mla_expanded),
        out("absorbed_to_expanded", Q::mla_absorbed_ratio)},
       mla<double>,
       mla<Traced>},
  };
}

}  // namespace roofscape::engine::block_table
