#include "engine/io/search_json.h"

#include "engine/io/pretty.h"
#include "engine/scenario_fields.h"

namespace roofscape::io {
namespace {

// A plan by the paths of the scenario's fields, so that it can be given to --set again.
OrderedJson plan_json(const engine::Plan& plan) {
  engine::Scenario scenario;
  engine::apply(scenario, plan);
  OrderedJson json;
  for (const std::string_view path :
       {"parallelism.data", "parallelism.fsdp", "parallelism.tensor", "parallelism.context", "parallelism.pipeline",
        "parallelism.expert", "parallelism.sequence_parallel", "parallelism.zero_stage", "pipeline.schedule",
        "pipeline.microbatch_sequences", "pipeline.virtual_stages", "checkpointing.policy", "offload.optimizer",
        "offload.activations"}) {
    const engine::Field* field = engine::find_field(path);
    const double value = field->get(scenario);
    const std::string key(path);
    switch (field->kind) {
      case engine::FieldKind::boolean: json[key] = value != 0; break;
      case engine::FieldKind::choice: json[key] = std::string(field->choices[static_cast<std::size_t>(value)]); break;
      default: json[key] = number_json(value);
    }
  }
  return json;
}

}  // namespace

std::string s1_json(const engine::S1Result& result, double seconds) {
  OrderedJson json;
  json["points"] = result.points.size();
  json["fit"] = result.fit;
  json["illegal"] = result.illegal;
  json["simulated"] = result.simulated;
  json["seconds"] = seconds;
  json["points_per_s"] = static_cast<double>(result.points.size()) / seconds;
  OrderedJson top = OrderedJson::array();
  for (const std::size_t i : result.best) {
    const engine::S1Point& point = result.points[i];
    OrderedJson row = {{"plan", plan_json(point.plan)},
                       {"step_s", point.step_time_s},
                       {"memory_bytes", point.memory_bytes},
                       {"mfu", point.mfu}};
    if (top.empty()) json["best"] = row;
    top.push_back(std::move(row));
  }
  json["top"] = std::move(top);
  return pretty_text(json);
}

}  // namespace roofscape::io
