#include "engine/io/export/plan_json.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/scenario/scenario_fields.h"

namespace roofscape::io {

OrderedJson plan_json(const engine::Plan& plan) {
  engine::Scenario scenario;
  engine::apply(scenario, plan);
  OrderedJson json;
  for (const std::string_view path : kPlanPaths) {
    const engine::Field* field = engine::find_field(path);
    const double value = field->get(scenario);
    const std::string key(path);
    switch (field->kind) {
      case engine::FieldKind::boolean:
        json[key] = value != 0;
        break;
      case engine::FieldKind::choice:
        json[key] = std::string(field->choices[static_cast<std::size_t>(value)]);
        break;
      default:
        json[key] = number_json(value);
    }
  }
  return json;
}

}  // namespace roofscape::io
