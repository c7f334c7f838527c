#include "engine/io/export/plan_json.h"

#include <nlohmann/json.hpp>
#include <string>

#include "engine/search/plan_dimensions.h"

namespace roofscape::io {

OrderedJson plan_json(const engine::Plan& plan) {
  OrderedJson json;
  for (const engine::PlanDimension& dimension : engine::plan_dimensions()) {
    const engine::Field& field = *dimension.field;
    const int value = dimension.get(plan);
    const std::string key(dimension.path);
    switch (field.kind) {
      case engine::FieldKind::boolean:
        json[key] = value != 0;
        break;
      case engine::FieldKind::choice:
        json[key] = std::string(field.choices[static_cast<std::size_t>(value)]);
        break;
      default:
        json[key] = number_json(value);
    }
  }
  return json;
}

OrderedJson plan_json(const engine::DecodingPlan& plan) {
  return {{"parallelism.data", plan.data},         {"parallelism.fsdp", 1},
          {"parallelism.tensor", plan.tensor},     {"parallelism.expert", plan.expert},
          {"parallelism.pipeline", plan.pipeline}, {"workload.batch", plan.batch}};
}

}  // namespace roofscape::io
