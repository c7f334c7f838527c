#include "app/cli/validation_json.h"

#include <nlohmann/json.hpp>

#include "engine/io/json/pretty.h"
#include "engine/scenario/scenario_fields.h"

namespace roofscape::app::cli {

namespace {

using Json = nlohmann::ordered_json;

Json summary_json(const evidence::ValidationSummary& s) {
  Json out{{"name", s.name},
           {"n", s.n},
           {"not_predicted", s.not_predicted},
           {"median_absolute_error", s.median},
           {"mean_absolute_error", s.mean},
           {"p90_absolute_error", s.p90},
           {"worst_absolute_error", s.worst},
           {"bias", s.bias},
           {"false_out_of_memory", s.false_out_of_memory}};
  const auto errors_json = [](const evidence::ValidationSummary::Without& of) {
    return Json{{"n", of.n}, {"median_absolute_error", of.median}, {"p90_absolute_error", of.p90}};
  };
  if (s.held_out.n > 0) out["held_out"] = errors_json(s.held_out);
  for (std::size_t k = 0; k < io::kLeftOutKinds; ++k)
    if (const auto& without = s.left_out[k]; without.n > 0)
      out["left_out"][std::string(io::kLeftOutIds.ids()[k])] = errors_json(without);
  return out;
}

Json pairs_json(std::string_view name, const evidence::PairSummary& s) {
  return {{"change", name},
          {"pairs", s.pairs},
          {"apart", s.apart},
          {"right", s.right},
          {"median_error_of_ratio", s.error}};
}

}  // namespace

std::string validation_json(const evidence::Validation& validation, std::span<const engine::CoverageRow> coverage,
                            std::span<const evidence::OneChangePair> pairs,
                            std::span<const evidence::PeerComparison> peers, engine::Mode mode,
                            const engine::Words& words) {
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
    if (!row.operation.empty()) entry["operation"] = row.operation;
    if (row.held_out) entry["held_out"] = true;
    if (row.contradicts) entry["contradicts_neighbours"] = true;
    entry["quantity"] = row.quantity;
    entry["measured"] = row.measured;
    if (row.predicted) {
      entry["predicted"] = *row.predicted;
      entry["error"] = row.error;
      for (std::size_t k = 0; k < io::kLeftOutKinds; ++k)
        if (row.left_out[k]) entry["left_out"][std::string(io::kLeftOutIds.ids()[k])] = *row.left_out[k];
      if (row.restates) entry["restates"] = true;
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
  json["contradicting"] = summary_json(validation.contradicting);
  json["training"] = summaries(validation.chips);
  json["serving"] = summaries(validation.serving);
  json["operations"] = summaries(validation.operations);
  json["bands"] = Json::array();
  for (const engine::CoverageRow& row : coverage) {
    json["bands"].push_back({{"name", row.name()},
                             {"n", row.coverage.all},
                             {"with_band", row.coverage.n},
                             {"inside", row.coverage.inside},
                             {"with_band_without_model", row.without_model.n},
                             {"inside_without_model", row.without_model.inside}});
    if (row.trial) {
      json["bands"].back()["widened_by"] = row.trial->widened;
      json["bands"].back()["shown"] = row.trial->holds();
    }
  }
  json["one_change_pairs"] = Json::array();
  for (std::size_t i = 0; i < engine::kPlanChangeIds.size(); ++i)
    json["one_change_pairs"].push_back(pairs_json(
        engine::kPlanChangeIds.ids()[i], evidence::pair_summary(pairs, static_cast<evidence::PlanChange>(i))));
  json["one_change_pairs"].push_back(pairs_json("all", evidence::pair_summary(pairs)));
  for (const evidence::PeerComparison& c : peers) {
    json["peers"].push_back({{"name", std::string(c.peer->name)},
                             {"on", std::string(c.peer->on)},
                             {"published_error", c.peer->error},
                             {"rows", c.rows},
                             {"fitted", c.fitted},
                             {"left_out", nullptr},
                             {"published_rows", nullptr}});
    if (c.rows_left_out > 0) json["peers"].back()["left_out"] = c.left_out;
    if (c.peer->rows > 0) json["peers"].back()["published_rows"] = c.peer->rows;
  }
  return io::pretty_text(json);
}

}  // namespace roofscape::app::cli
