#include "engine/io/export/plan_json.h"

#include "engine/io/json/field_json.h"

#include <nlohmann/json.hpp>
#include <string>

#include "engine/search/plan_dimensions.h"

namespace roofscape::io {

OrderedJson plan_json(const engine::Plan& plan) {
  OrderedJson json;
  for (const engine::PlanDimension& dimension : engine::plan_dimensions())
    json[std::string(dimension.path)] = field_json(*dimension.field, dimension.get(plan));
  return json;
}

OrderedJson plan_json(const engine::DecodingPlan& plan) {
  return {{"parallelism.data", plan.data},         {"parallelism.fsdp", 1},
          {"parallelism.tensor", plan.tensor},     {"parallelism.expert", plan.expert},
          {"parallelism.pipeline", plan.pipeline}, {"workload.batch", plan.batch}};
}

}  // namespace roofscape::io
