#include "engine/studies/parameter_map.h"

#include <algorithm>

namespace roofscape::engine {

std::vector<ModelPartRow> parameter_map(const Scenario& s, const Report& report) {
  const auto value = [&report](Q q) { return report.quantities.value_or(q, 0); };
  std::vector<ModelPartRow> out;
  if (value(Q::params_total) <= 0) return out;

  const double head = s.model.tied_embeddings ? 0 : value(Q::params_unembedding);
  const double mlp = s.model.is_moe() ? value(Q::params_dense_mlp) : value(Q::params_mlp);
  const double active_experts = value(Q::params_experts) - value(Q::params_inactive);
  out = {{ModelPart::embedding, value(Q::params_vocab) - head, 0, Q::params_embedding},
         {ModelPart::attention, value(Q::params_attention), 0, Q::params_attention},
         {ModelPart::attention_core, 0, 0, Q::flops_attention_per_token},
         {ModelPart::mlp, mlp, 0, s.model.is_moe() ? Q::params_dense_mlp : Q::params_mlp},
         {ModelPart::experts_active, active_experts, 0, Q::params_experts},
         {ModelPart::experts_idle, value(Q::params_inactive), 0, Q::params_inactive},
         {ModelPart::shared_experts, value(Q::params_shared_experts), 0, Q::params_shared_experts},
         {ModelPart::router, value(Q::params_router), 0, Q::params_router},
         {ModelPart::norms, value(Q::params_norms), 0, Q::params_norms},
         {ModelPart::head, head, 0, Q::params_head}};

  // What a token is multiplied with: all active parameters in the book's convention, else the matrices alone, of
  // which the unembedding is one even where it is the embedding's.
  const bool all = s.assumptions.flops == FlopsConvention::six_p;
  const double attention_matrices =
      report.quantities.value_or(Q::params_attention_matrices, value(Q::params_attention_layer)) * s.model.n_layers;
  const auto multiplied = [&](const ModelPartRow& row) -> double {
    switch (row.part) {
      case ModelPart::experts_idle:
      case ModelPart::attention_core:
        return 0;
      case ModelPart::attention:
        return all ? row.params : attention_matrices;
      case ModelPart::embedding:
      case ModelPart::norms:
        return all ? row.params : 0;
      case ModelPart::head:
        return all ? row.params : value(Q::params_unembedding);
      default:
        return row.params;
    }
  };
  const double flops = value(Q::flops_per_token);
  // The step's arithmetic is split as its FLOPs are: both parts run at the same peak.
  const double arithmetic = value(Q::step_matmul) + value(Q::step_attention);
  const double core = arithmetic > 0 ? flops * value(Q::step_attention) / arithmetic : 0;
  double sum = 0;
  for (const ModelPartRow& row : out) sum += multiplied(row);
  for (ModelPartRow& row : out) {
    if (row.part == ModelPart::attention_core)
      row.flops_per_token = core;
    else if (sum > 0)
      row.flops_per_token = (flops - core) * multiplied(row) / sum;
  }
  std::erase_if(out, [](const ModelPartRow& row) { return row.params <= 0 && row.flops_per_token <= 0; });
  return out;
}

}  // namespace roofscape::engine
