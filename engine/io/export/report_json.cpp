#include "engine/io/export/report_json.h"

#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "engine/evaluate/explain.h"
#include "engine/io/json/pretty.h"
#include "engine/io/presets/parts_json.h"
#include "engine/io/scenario/published_run.h"
#include "engine/io/scenario/scenario_write.h"

namespace roofscape::io {
namespace {

using engine::Report;

std::string word(std::string_view text) { return std::string(text); }

std::string_view axis_id(engine::Axis axis) { return engine::kAxisIds[axis]; }

OrderedJson quantities_json(const engine::Scenario& scenario, const Report& report) {
  const engine::QuantityValues values = engine::all_quantities(scenario, report);
  OrderedJson out = OrderedJson::object();
  for (std::size_t i = 0; i < engine::kReportQuantityCount; ++i) {
    const auto q = static_cast<engine::Q>(i);
    const engine::Quantity& row = engine::quantity(q);
    if (engine::is_indexed(row)) continue;
    OrderedJson entry;
    if (const auto value = values[q]) {
      entry["value"] = number_json(*value);
      entry["unit"] = word(row.unit.symbol);
    } else {
      entry["value"] = nullptr;
      entry["unit"] = word(row.unit.symbol);
      entry["reason"] = word(engine::kAbsenceIds[values.absence(q)]);
    }
    out[word(row.id)] = std::move(entry);
  }
  if (report.bound.kind == engine::BoundKind::none)
    out["bound"] = OrderedJson{
        {"value", nullptr}, {"unit", "1"}, {"reason", word(engine::kAbsenceIds[engine::Absence::cannot_run])}};
  else
    out["bound"] = OrderedJson{{"value", word(report.bound.id())}, {"unit", "1"}};
  return out;
}

OrderedJson operations_json(const Report& report) {
  OrderedJson out = OrderedJson::array();
  for (const engine::OperationRow& row : report.operations) {
    OrderedJson entry;
    entry["id"] = word(engine::kOperationIds[row.kind]);
    entry["flops"] = number_json(row.flops);
    entry["hbm_bytes"] = number_json(row.hbm_bytes);
    entry["intensity_flop_per_byte"] = number_json(row.intensity_flop_per_byte);
    entry["achieved_flop_per_s"] = number_json(row.achieved_flop_per_s);
    entry["time_s"] = number_json(row.time_s);
    entry["share_of_step"] = number_json(row.share_of_step);
    out.push_back(std::move(entry));
  }
  return out;
}

OrderedJson collectives_json(const Report& report) {
  OrderedJson out = OrderedJson::array();
  for (const engine::CollectiveRow& row : report.collectives) {
    OrderedJson entry;
    entry["axis"] = word(axis_id(row.axis));
    entry["kind"] = word(engine::kCollectiveIds[row.kind]);
    entry["direction"] = row.of_update ? "update" : row.end_of_step ? "step" : row.backward ? "backward" : "forward";
    entry["bytes"] = number_json(row.bytes);
    if (row.experts_bytes > 0) entry["experts_bytes"] = number_json(row.experts_bytes);
    entry["calls_per_step"] = number_json(row.calls_per_step);
    entry["time_s"] = number_json(row.time_s);
    entry["bandwidth_bytes_per_s"] = number_json(row.bandwidth_bytes_per_s);
    out.push_back(std::move(entry));
  }
  return out;
}

OrderedJson placement_json(const engine::Scenario& scenario, const Report& report) {
  OrderedJson out = OrderedJson::array();
  for (const engine::AxisPlacement& row : report.placement) {
    OrderedJson entry;
    entry["axis"] = word(axis_id(row.axis));
    entry["degree"] = row.degree;
    entry["tier"] = word(engine::kLinkTierIds[row.tier]);
    entry["group"] = row.group;
    entry["torus_axes"] = row.torus_axes;
    if (row.tier == engine::LinkTier::ici) {
      entry["on"] = word(engine::kTorusAxesIds[static_cast<std::size_t>(row.on)]);
      entry["closed_axes"] = row.torus_axes - row.open_axes;
      entry["links"] = row.links();
    }
    entry["inside_node"] = row.inside_node;
    entry["across_nodes"] = row.across_nodes;
    const auto level = static_cast<std::size_t>(row.fabric_level);
    if (row.fabric_level >= 0 && level < scenario.cluster.fabric.size())
      entry["limited_by"] = scenario.cluster.fabric[level].name;
    entry["bandwidth_bytes_per_s"] = number_json(row.bandwidth_bytes_per_s);
    out.push_back(std::move(entry));
  }
  return out;
}

OrderedJson stages_json(const Report& report) {
  OrderedJson out = OrderedJson::array();
  for (const engine::StageRow& row : report.stages) {
    OrderedJson entry;
    entry["first_layer"] = row.first_layer;
    entry["layers"] = row.layers;
    if (row.dense_layers > 0) entry["dense_layers"] = row.dense_layers;
    entry["embedding"] = row.has_embedding;
    entry["head"] = row.has_head;
    entry["params"] = number_json(row.params);
    const bool runs = !report.has_errors();
    const auto seconds = [runs](double value) { return runs ? number_json(value) : OrderedJson(nullptr); };
    entry["forward_s"] = seconds(row.forward_s);
    entry["backward_s"] = seconds(row.backward_s);
    entry["in_flight_microbatches"] = number_json(row.in_flight_microbatches);
    entry["idle_s"] = seconds(row.idle_s);
    OrderedJson memory;
    for (std::size_t i = 0; i < engine::kMemoryPartCount; ++i)
      memory[word(engine::quantity(engine::kMemoryParts[i]).id)] = number_json(row.memory_bytes[i]);
    entry["memory"] = std::move(memory);
    entry["memory_total_bytes"] = number_json(row.memory_total_bytes);
    out.push_back(std::move(entry));
  }
  return out;
}

OrderedJson pipeline_json(const Report& report) {
  const engine::PipelineReport& pipeline = report.pipeline;
  OrderedJson out;
  out["schedule"] = word(engine::schedule_id(pipeline.shape.kind));
  if (pipeline.shape.order) out["given_order"] = true;
  out["stages"] = pipeline.shape.stages;
  out["microbatches"] = pipeline.shape.microbatches;
  out["virtual_stages"] = pipeline.shape.virtual_stages;
  out["legal"] = pipeline.status.legal();
  out["simulated"] = pipeline.drawn();
  out["operations"] = pipeline.orders.ops.size();
  out["step_end_s"] = report.has_errors() ? OrderedJson(nullptr) : number_json(pipeline.step_end_s);
  out["fullest_stage"] = report.fullest_stage;
  return out;
}

OrderedJson gain_json(const engine::Gain& gain) {
  const engine::Unit& unit = gain.measure == engine::GainMeasure::memory ? engine::unit::bytes
                             : gain.timed                                ? engine::unit::seconds
                                                                         : engine::unit::tokens_per_s;
  return {{"measure", word(engine::kGainIds[gain.measure])},
          {"unit", word(unit.symbol)},
          {"before", number_json(gain.before)},
          {"after", number_json(gain.after)},
          {"memory_bytes", number_json(gain.memory_bytes)}};
}

OrderedJson list_of_diagnostics(std::span<const engine::OfferedFinding> findings, const DiagnosticText& text) {
  OrderedJson out = OrderedJson::array();
  for (const engine::OfferedFinding& finding : findings) {
    const engine::Diagnostic& diagnostic = finding.diagnostic;
    OrderedJson entry;
    entry["severity"] = word(engine::kSeverityIds[diagnostic.severity]);
    entry["code"] = word(diagnostic.code);
    if (!diagnostic.detail.empty()) entry["reason"] = word(diagnostic.detail);
    if (text) entry["text"] = text(diagnostic);
    if (!diagnostic.field_path.empty()) entry["field"] = word(diagnostic.field_path);
    OrderedJson values = OrderedJson::array();
    for (const engine::DiagnosticValue& value : diagnostic.values)
      values.push_back({{"value", number_json(value.value)}, {"unit", word(value.unit.symbol)}});
    entry["values"] = std::move(values);
    OrderedJson fix = OrderedJson::object();
    for (const engine::FieldEdit& edit : diagnostic.fix)
      if (edit.field != nullptr) fix[word(edit.field->path)] = field_json(*edit.field, edit.value);
    entry["fix"] = std::move(fix);
    if (finding.gain) entry["gain"] = gain_json(*finding.gain);
    out.push_back(std::move(entry));
  }
  return out;
}

OrderedJson band_json(const engine::ErrorBand& band, double value, bool rate) {
  if (!band.validated()) return {{"outside", word(engine::kEvidenceFeatureIds[band.outside])}, {"runs", band.left}};
  return {{"least", number_json(rate ? band.least_rate(value) : band.least(value))},
          {"most", number_json(rate ? band.most_rate(value) : band.most(value))},
          {"error_low", number_json(band.low)},
          {"error_high", number_json(band.high)},
          {"runs", band.near.size()},
          {"widened_by", number_json(band.trial.widened)},
          {"sources", band.families}};
}

OrderedJson evidence_json(const engine::Scenario& scenario, const Report& report, const engine::Evidence& evidence) {
  OrderedJson out = OrderedJson::object();
  for (const engine::BandedQuantity& row : engine::banded_quantities(scenario))
    if (const auto value = report.quantities[row.quantity])
      out[word(engine::quantity(row.quantity).id)] =
          band_json(engine::error_band(evidence.points, scenario, row.kind), *value, row.rate);
  return out;
}

// What was published of the run that the scenario is, under the ids of what is said of it here.
OrderedJson published_json(const PublishedRun& run) {
  OrderedJson out;
  out["id"] = run.id;
  out["source"] = run.source;
  for (const PublishedFigure& figure : run.figures)
    out["quantities"][word(engine::quantity(figure.quantity).id)] = figure.value;
  return out;
}

}  // namespace

std::string report_json(const engine::Scenario& scenario, const Report& report, const PresetLibrary& library,
                        const DiagnosticText& text, const engine::Evidence* evidence) {
  OrderedJson out;
  out["scenario"] = scenario_json(scenario, library);
  out["quantities"] = quantities_json(scenario, report);
  out["operations"] = operations_json(report);
  out["collectives"] = collectives_json(report);
  out["placement"] = placement_json(scenario, report);
  out["stages"] = stages_json(report);
  out["pipeline"] = pipeline_json(report);
  out["diagnostics"] = list_of_diagnostics(engine::offered_findings(scenario, report), text);
  if (const auto run = published_run(scenario, library)) out["published"] = published_json(*run);
  if (evidence != nullptr) out["evidence"] = evidence_json(scenario, report, *evidence);
  return pretty_text(out);
}

std::string diagnostics_json(std::span<const engine::OfferedFinding> findings, const DiagnosticText& text) {
  OrderedJson out;
  out["diagnostics"] = list_of_diagnostics(findings, text);
  return pretty_text(out);
}

std::string presets_json(const PresetLibrary& library) {
  OrderedJson out;
  for (std::size_t kind = 0; kind < kPresetFolders.size(); ++kind) {
    OrderedJson list = OrderedJson::array();
    for (const Preset& preset : library.list(static_cast<PresetKind>(kind)))
      list.push_back({{"id", preset.id}, {"name", preset.name}, {"origin", preset.origin}});
    out[word(kPresetFolders.ids()[kind])] = std::move(list);
  }
  return pretty_text(out);
}

}  // namespace roofscape::io
