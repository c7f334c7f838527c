#include "engine/model/adapter.h"

namespace roofscape::engine {

template <Scalar S>
AdapterParameters<S> adapter_parameters(const Inputs<S>& in, const Parameters<S>& params) {
  const ModelDims<S>& m = in.model;
  const AdapterInputs<S>& adapter = in.adapter;
  const S &r = adapter.rank, &D = m.d_model;
  AdapterParameters<S> out;
  Terms<S> qkv{};
  const auto beside = [&](bool has, const S& from, const S& to) {
    if (has) qkv.add(r * (from + to)), ++out.in_qkv;
  };
  S heads;
  if (m.is.mla) {
    const S query = named(Q::adapter_query_width, m.n_heads * (m.qk_nope_head_dim + m.qk_rope_head_dim));
    if (m.is.q_lora) {
      beside(adapter.query, D, m.q_lora_rank);
      beside(adapter.query, m.q_lora_rank, query);
    } else {
      beside(adapter.query, D, query);
    }
    beside(adapter.key, D, S(m.kv_lora_rank + m.qk_rope_head_dim));
    beside(adapter.value, m.kv_lora_rank, S(m.n_heads * (m.qk_nope_head_dim + m.v_head_dim)));
    heads = named(Q::adapter_output_width, m.n_heads * m.v_head_dim);
  } else {
    heads = named(Q::adapter_output_width, m.n_heads * m.d_head);
    beside(adapter.query, D, heads);
    beside(adapter.key, D, S(m.n_kv_heads * m.d_head));
    beside(adapter.value, D, S(m.n_kv_heads * m.d_head));
  }
  out.qkv = named(Q::adapter_qkv, qkv.or_zero(in.zero));
  out.attention_out = named(Q::adapter_attention_out, adapter.output ? r * (heads + D) : in.zero);
  // Of one matrix of an MLP, and of the mean layer's MLPs.
  const auto one = [&](const S& width) { return r * (D + width); };
  const S ups = constant<S>(m.is.gated_mlp ? 2 : 1);
  S stored = in.zero, active = in.zero, experts = in.zero;
  if (adapter.mlp && !m.is.moe) {
    stored = active = one(m.d_ff);
  } else if (adapter.mlp) {
    Terms<S> rest{};
    const S& share = params.moe_share;
    if (m.is.dense_layers) rest.add((constant<S>(1) - share) * one(m.d_ff));
    if (m.is.shared_experts) rest.add(share * one(S(m.n_shared_experts * m.d_ff_expert)));
    stored = active = rest.or_zero(in.zero);
    if (adapter.experts) {
      const S each = named(Q::adapter_expert, share * one(m.d_ff_expert));
      experts = m.n_experts * each;
      stored = rest.any ? rest.sum + experts : experts;
      active = rest.any ? rest.sum + m.experts_per_token * each : m.experts_per_token * each;
    }
  }
  const S mlp = named(Q::adapter_mlp, stored), mlp_active = named(Q::adapter_mlp_active, active);
  out.gate_up = ups * mlp, out.down = mlp;
  out.gate_up_active = ups * mlp_active, out.down_active = mlp_active;
  out.experts = named(Q::adapter_experts, (ups + constant<S>(1)) * experts);
  const S matrices = ups + constant<S>(1);
  out.layer = named(Q::adapter_layer, out.qkv + out.attention_out + matrices * mlp);
  out.active = named(Q::adapter_active, out.qkv + out.attention_out + matrices * mlp_active);
  return out;
}

template AdapterParameters<double> adapter_parameters<double>(const Inputs<double>&, const Parameters<double>&);
template AdapterParameters<Traced> adapter_parameters<Traced>(const Inputs<Traced>&, const Parameters<Traced>&);

}  // namespace roofscape::engine
