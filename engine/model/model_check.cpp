#include "engine/model/model_check.h"

#include <algorithm>

namespace roofscape::engine {

std::optional<ModelFault> model_fault(const TransformerShape& m) {
  if (m.n_heads % m.n_kv_heads != 0)
    return ModelFault{"model.heads_not_divisible", "model.n_kv_heads", double(m.n_heads), double(m.n_kv_heads), {}};
  if (m.is_moe() && (m.moe.experts_per_token < 1 || m.moe.experts_per_token > m.moe.n_routed_experts))
    return ModelFault{"model.experts_out_of_range", "model.moe.experts_per_token", double(m.moe.experts_per_token),
                      double(m.moe.n_routed_experts),
                      double(std::clamp(m.moe.experts_per_token, 1, m.moe.n_routed_experts))};
  if (m.is_moe() && m.moe.n_dense_layers > m.n_layers)
    return ModelFault{"model.dense_layers_out_of_range", "model.moe.n_dense_layers", double(m.moe.n_dense_layers),
                      double(m.n_layers), double(m.n_layers)};
  if (m.local_attention.n_local_layers > m.n_layers)
    return ModelFault{"model.local_layers_out_of_range", "model.local_attention.n_local_layers",
                      double(m.local_attention.n_local_layers), double(m.n_layers), double(m.n_layers)};
  if (m.is_mla() && (m.mla.qk_nope_head_dim + m.mla.qk_rope_head_dim < 1 || m.mla.v_head_dim < 1))
    return ModelFault{"model.latent_without_heads", "model.mla.v_head_dim", double(m.mla.kv_lora_rank), 0, {}};
  return std::nullopt;
}

}  // namespace roofscape::engine
