// Where the parameters of a model sit and where its training FLOPs go, part by part. Parameters add up to
// params.total, FLOPs to flops.per_token in the report's convention. FLOPs are those of the report, shared out by
// what a token is multiplied with: a weight costs as much in one matrix as in another (scaling book, chapter 4).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/base/enum_table.h"
#include "engine/report/report.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

enum class ModelPart : std::uint8_t {
  embedding,       // with learned positions
  attention,       // projections
  attention_core,  // scores and values: FLOPs without parameters
  mlp,             // of a dense model, or of the dense first layers
  experts_active,  // as many routed experts as a token passes through
  experts_idle,    // the others
  shared_experts,
  router,
  norms,
  head,  // unembedding
};
inline constexpr EnumTable<ModelPart> kModelPartIds{"embedding",      "attention",    "attention_core", "mlp",
                                                    "experts_active", "experts_idle", "shared_experts", "router",
                                                    "norms",          "head"};

struct ModelPartRow {
  ModelPart part = ModelPart::embedding;
  double params = 0;
  double flops_per_token = 0;
  Q quantity = Q::params_total;  // where its derivation is
};
// Parts the model has, in the order of the enum. Empty where the report has no parameters.
std::vector<ModelPartRow> parameter_map(const Scenario& scenario, const Report& report);

}  // namespace roofscape::engine
