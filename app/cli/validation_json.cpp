#include "app/cli/validation_json.h"

#include <nlohmann/json.hpp>

#include "engine/io/json/pretty.h"
#include "engine/scenario/scenario_fields.h"

namespace roofscape::app::cli {

namespace {

using Json = nlohmann::ordered_json;

Json summary_json(const evidence::ValidationSummary& s) {
  return {{"name", s.name},
          {"n", s.n},
          {"not_predicted", s.not_predicted},
          {"median_absolute_error", s.median},
          {"mean_absolute_error", s.mean},
          {"p90_absolute_error", s.p90},
          {"worst_absolute_error", s.worst},
          {"bias", s.bias},
          {"false_out_of_memory", s.false_out_of_memory}};
}

}  // namespace

std::string validation_json(const evidence::Validation& validation, engine::Mode mode, const engine::Words& words) {
  Json json;
  const engine::Field* field = engine::find_field("assumptions.mode");
  json["mode"] = std::string(field->choices[static_cast<std::size_t>(mode)]);
  json["entries"] = Json::array();
  for (const evidence::ValidationRow& row : validation.rows) {
    Json entry;
    entry["id"] = row.id;
    entry["family"] = row.family;
    if (!row.chip.empty()) entry["chip"] = row.chip;
    entry["kind"] = row.kind;
    entry["quantity"] = row.quantity;
    entry["measured"] = row.measured;
    if (row.predicted) {
      entry["predicted"] = *row.predicted;
      entry["error"] = row.error;
      if (row.false_out_of_memory) entry["false_out_of_memory"] = true;
    } else {
      entry["reason"] = words.write(row.reason);
    }
    for (const engine::Sentence& guess : row.assumed) entry["assumed"].push_back(words.write(guess));
    json["entries"].push_back(std::move(entry));
  }
  const auto summaries = [](const std::vector<evidence::ValidationSummary>& list) {
    Json out = Json::array();
    for (const evidence::ValidationSummary& s : list) out.push_back(summary_json(s));
    return out;
  };
  json["families"] = summaries(validation.families);
  json["kinds"] = summaries(validation.kinds);
  json["overall"] = summary_json(validation.overall);
  return io::pretty_text(json);
}

}  // namespace roofscape::app::cli
