#include "engine/model/model_check.h"

#include <algorithm>

namespace roofscape::engine {

namespace {

int largest_divisor(int n, int most) {
  int divisor = std::clamp(most, 1, n);
  while (n % divisor != 0) --divisor;
  return divisor;
}

}  // namespace

std::optional<ModelFault> model_fault(const TransformerShape& m) {
  if (m.n_heads % m.n_kv_heads != 0)
    return ModelFault{"model.heads_not_divisible",
                      "model.n_kv_heads",
                      double(m.n_heads),
                      double(m.n_kv_heads),
                      {{"model.n_kv_heads", double(largest_divisor(m.n_heads, m.n_kv_heads))}}};
  if (m.is_moe() && (m.moe.experts_per_token < 1 || m.moe.experts_per_token > m.moe.n_routed_experts))
    return ModelFault{
        "model.experts_out_of_range",
        "model.moe.experts_per_token",
        double(m.moe.experts_per_token),
        double(m.moe.n_routed_experts),
        {{"model.moe.experts_per_token", double(std::clamp(m.moe.experts_per_token, 1, m.moe.n_routed_experts))}}};
  if (m.is_moe() && m.moe.n_dense_layers > m.n_layers)
    return ModelFault{"model.dense_layers_out_of_range",
                      "model.moe.n_dense_layers",
                      double(m.moe.n_dense_layers),
                      double(m.n_layers),
                      {{"model.moe.n_dense_layers", double(m.n_layers)}}};
  if (m.local_attention.n_local_layers > m.n_layers)
    return ModelFault{"model.local_layers_out_of_range",
                      "model.local_attention.n_local_layers",
                      double(m.local_attention.n_local_layers),
                      double(m.n_layers),
                      {{"model.local_attention.n_local_layers", double(m.n_layers)}}};
  const bool no_keys = m.mla.qk_nope_head_dim + m.mla.qk_rope_head_dim < 1, no_values = m.mla.v_head_dim < 1;
  if (m.is_mla() && (no_keys || no_values)) {
    ModelFault fault{"model.latent_without_heads", no_keys ? "model.mla.qk_nope_head_dim" : "model.mla.v_head_dim",
                     double(m.mla.kv_lora_rank), 0};
    // As wide as heads without a latent.
    if (no_keys) fault.remedy.push_back({"model.mla.qk_nope_head_dim", double(m.d_head)});
    if (no_values) fault.remedy.push_back({"model.mla.v_head_dim", double(m.d_head)});
    return fault;
  }
  return std::nullopt;
}

}  // namespace roofscape::engine
