#include "app/search_wishes.h"

#include <algorithm>

#include "engine/scenario_fields.h"

namespace roofscape::app {

using engine::Allowed;
using engine::PlanSpace;
using engine::Scenario;

namespace {

constexpr std::size_t kBest = 30, kSample = 1500;
constexpr int kMostOffered = 64;  // of a degree

constexpr std::array<SearchDimension, kSearchDimensions> kDimensions{{
    {"data", {&PlanSpace::data}, {"parallelism.data"}},
    {"fsdp", {&PlanSpace::fsdp}, {"parallelism.fsdp"}},
    {"tensor", {&PlanSpace::tensor}, {"parallelism.tensor"}},
    {"context", {&PlanSpace::context}, {"parallelism.context"}},
    {"expert", {&PlanSpace::expert}, {"parallelism.expert"}, true},
    {"pipeline", {&PlanSpace::pipeline}, {"parallelism.pipeline"}},
    {"schedule", {&PlanSpace::schedule}, {"pipeline.schedule"}},
    {"virtual_stages", {&PlanSpace::virtual_stages}, {"pipeline.virtual_stages"}},
    {"microbatch", {&PlanSpace::microbatch}, {"pipeline.microbatch_sequences"}},
    {"zero_stage", {&PlanSpace::zero_stage}, {"parallelism.zero_stage"}},
    {"sequence_parallel", {&PlanSpace::sequence_parallel}, {"parallelism.sequence_parallel"}},
    {"policy", {&PlanSpace::policy}, {"checkpointing.policy"}},
    {"offload", {&PlanSpace::offload_optimizer, &PlanSpace::offload_activations}, {"offload.optimizer", "offload.activations"}},
}};

Allowed just(int value) { return {value, value, {value}}; }

int own_value(const Scenario& scenario, std::string_view path) { return static_cast<int>(engine::find_field(path)->get(scenario)); }

}  // namespace

std::span<const SearchDimension> search_dimensions() { return kDimensions; }

engine::SearchRequest request_of(const Scenario& scenario, const SearchWishes& wishes) {
  engine::SearchRequest request;
  request.space = engine::space_of(scenario);
  request.objective = wishes.objective;
  request.limit = kBest;
  request.sample = kSample;
  request.space.min_free = wishes.min_free;
  request.space.tensor_across_nodes = wishes.tensor_across_nodes;
  for (std::size_t i = 0; i < kSearchDimensions; ++i) {
    const Wish& wish = wishes.wishes[i];
    const SearchDimension& dimension = kDimensions[i];
    if (dimension.of_experts && !scenario.model.is_moe()) continue;
    for (std::size_t k = 0; k < dimension.allowed.size() && dimension.allowed[k] != nullptr; ++k) {
      Allowed& allowed = request.space.*dimension.allowed[k];
      switch (wish.kind) {
        case WishKind::any: break;
        case WishKind::as_plan: allowed = just(own_value(scenario, dimension.fields[k])); break;
        case WishKind::at_most: allowed.max = std::min(allowed.max, wish.value); break;
        case WishKind::only: allowed = just(wish.value); break;
      }
    }
  }
  return request;
}

std::vector<Wish> offered_wishes(const Scenario& scenario, const SearchDimension& dimension) {
  std::vector<Wish> out{{WishKind::any, 0}};
  const engine::Field* field = engine::find_field(dimension.fields[0]);
  const bool number = field->kind != engine::FieldKind::choice && field->kind != engine::FieldKind::boolean;
  if (dimension.id == "offload") {
    out.push_back({WishKind::only, 0});
  } else if (dimension.id == "zero_stage") {
    for (int stage = 0; stage <= 3; ++stage) out.push_back({WishKind::only, stage});
  } else if (number) {
    const int most = std::min<int>(kMostOffered, static_cast<int>(engine::chip_count(scenario.cluster)));
    out.push_back({WishKind::only, 1});
    for (int n = 2; n <= most; n *= 2) out.push_back({WishKind::at_most, n});
  } else {
    const Allowed allowed = engine::space_of(scenario).*dimension.allowed[0];
    const int count = field->kind == engine::FieldKind::boolean ? 2 : static_cast<int>(field->choices.size());
    for (int i = 0; i < count; ++i)
      if (allowed.allows(i)) out.push_back({WishKind::only, i});
  }
  return out;
}

}  // namespace roofscape::app
