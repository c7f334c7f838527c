#include "app/core/report_text.h"

#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/core/gain_text.h"
#include "app/core/report_sections.h"
#include "app/core/strings.h"
#include "app/core/text_columns.h"
#include "engine/evaluate/provenance.h"
#include "engine/scenario/scenario_fields.h"
#include "engine/scenario/scenario_title.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/evidence_text.h"
#include "widgets/figures/common/step_words.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape::app {
namespace {

using engine::Q;
using engine::Report;
using widgets::TextTable;

constexpr std::size_t kLineWidth = 100;

// The id of a number, marked where it rests on a figure that nobody verified.
std::string id_text(Q q, const engine::Provenance& doubts) {
  return std::string(engine::quantity(q).id) + (doubts.reaches(q) ? " \u2020" : "");
}

std::string value_text(const Report& report, Q q, const TextTable& texts) {
  const engine::Quantity& row = engine::quantity(q);
  if (const auto value = report.quantities[q]) return texts.amount(*value, row.unit);
  return std::string(widgets::kNoValue) + "  " +
         std::string(texts.text("absence." + std::string(engine::kAbsenceIds[report.quantities.absence(q)])));
}

void append_rows(std::string& out, const std::string& title, std::span<const Q> rows, const Report& report,
                 const TextTable& texts, const engine::Provenance& doubts) {
  Columns columns({false, false, false});
  for (const Q q : rows) {
    if (report.quantities.absence(q) == engine::Absence::not_applicable) continue;
    columns.add({widgets::quantity_label(texts, q), value_text(report, q, texts), id_text(q, doubts)});
  }
  if (!columns.empty()) out += '\n' + title + '\n' + columns.text(2);
}

// Parts with their share of a total; parts that are zero are left out.
void append_parts(std::string& out, const std::string& title, std::span<const Q> parts, Q total, const Report& report,
                  const TextTable& texts, const engine::Provenance& doubts) {
  const auto sum = report.quantities[total];
  if (!sum) {
    out += '\n' + title + '\n' + "  " + widgets::quantity_label(texts, total) + "  " +
           value_text(report, total, texts) + '\n';
    return;
  }
  Columns columns({false, true, true, false});
  for (const Q q : parts) {
    const auto value = report.quantities[q];
    if (!value || *value == 0) continue;
    columns.add({widgets::quantity_label(texts, q), texts.amount(*value, engine::quantity(q).unit),
                 *sum > 0 ? widgets::format_percent(*value / *sum) : std::string(), id_text(q, doubts)});
  }
  columns.add({widgets::quantity_label(texts, total), texts.amount(*sum, engine::quantity(total).unit), "",
               id_text(total, doubts)});
  out += '\n' + title + '\n' + columns.text(2);
}

std::string plan_text(const engine::Scenario& scenario, const TextTable& texts) {
  std::string plan;
  for (int i = 0; i < engine::kAxisCount; ++i) {
    const auto axis = static_cast<engine::Axis>(i);
    const int degree = scenario.parallelism.degree(axis);
    if (degree == 1) continue;
    if (!plan.empty()) plan += ", ";
    plan += std::string(texts.text("axis." + std::string(engine::kAxisIds[static_cast<std::size_t>(i)]))) + " " +
            widgets::format_count(degree);
  }
  return plan;
}

}  // namespace

std::string verdict_text(const Report& report, const TextTable& texts) {
  const auto& values = report.quantities;
  const auto text_of = [&](Q q) {
    return texts.amount(values.value_or(q, NAN), engine::quantity(q).unit, {.trim_zeros = q == Q::hbm_capacity});
  };
  std::string out;
  for (const engine::Diagnostic& d : report.diagnostics)
    if (d.severity == engine::Severity::error)
      return texts.format("report.verdict.cannot_run",
                          {std::string(texts.text("diagnostic." + std::string(d.code) + ".title"))});
  if (const auto free = values[Q::memory_free]) {
    out = *free >= 0 ? texts.format("report.verdict.fits", {text_of(Q::memory_free), text_of(Q::hbm_capacity)})
                     : texts.format(report.stages.size() > 1 ? "report.verdict.does_not_fit.stages"
                                                             : "report.verdict.does_not_fit",
                                    {widgets::format(-*free, engine::quantity(Q::memory_free).unit),
                                     text_of(Q::hbm_capacity), widgets::format_count(report.fullest_stage)});
  } else {
    out = texts.text("report.verdict.memory_unknown");
  }
  const auto add = [&](std::string part) { out += "; " + std::move(part); };
  if (values[Q::mixed_token_time_q]) {
    add(texts.format("report.verdict.bound.decode", {widgets::bound_name(texts, report.bound)}));
    add(texts.format("report.verdict.serving",
                     {text_of(Q::mixed_token_time_q), text_of(Q::sustained_tokens), text_of(Q::ttft),
                      text_of(Q::steady_batch), text_of(Q::time_per_output_token)}));
  }
  if (values[Q::step_time]) {
    add(texts.format("report.verdict.bound", {widgets::bound_words(report, texts)}));
    if (values[Q::mfu]) add(texts.format("report.verdict.mfu", {text_of(Q::mfu)}));
    add(texts.format("report.verdict.step", {text_of(Q::step_time)}));
    const double chips = values.value_or(Q::chips_used, 0);
    if (const auto days = values[Q::run_days])
      add(texts.count("report.verdict.days", chips, {widgets::format_significant(*days)}));
  }
  return out;
}

std::string offer_text(const engine::OfferedFinding& finding, const TextTable& texts) {
  const std::string fix = suggestion_text(finding.diagnostic);
  if (fix.empty()) return {};
  const std::string gain = finding.gain ? gain_text(*finding.gain, texts) : std::string();
  return gain.empty() ? texts.format("cli.suggestion", {fix}) : texts.format("cli.suggestion.gain", {fix, gain});
}

std::string diagnostics_text(std::span<const engine::OfferedFinding> findings, const TextTable& texts) {
  std::string out;
  for (const engine::OfferedFinding& finding : findings) {
    const engine::Diagnostic& diagnostic = finding.diagnostic;
    const std::string severity(texts.text("severity." + std::string(engine::kSeverityIds[diagnostic.severity])));
    const std::string code(diagnostic.code);
    out +=
        wrapped("  " + padded_right(severity, 7) + "  ",
                std::string(texts.text("diagnostic." + code + ".title")) + ": " + diagnostic_text(diagnostic, texts),
                kLineWidth) +
        '\n';
    if (const std::string offer = offer_text(finding, texts); !offer.empty())
      out += std::string(11, ' ') + offer + '\n';
  }
  if (out.empty()) out = "  " + std::string(texts.text("cli.no_diagnostics")) + '\n';
  return out;
}

// How each mesh axis that is used lies on the links, and at what bandwidth.
void append_placement(std::string& out, const Report& report, const TextTable& texts) {
  Columns rows({false, true, false, false, true});
  for (const engine::AxisPlacement& axis : report.placement) {
    if (axis.group <= 1 || (axis.degree <= 1 && !(axis.bandwidth_bytes_per_s > 0))) continue;
    std::string where;
    if (axis.tier == engine::LinkTier::ici) {
      const std::string on(engine::kTorusAxesIds[static_cast<std::size_t>(axis.on)]);
      where = texts.count("report.placement.torus", axis.torus_axes, {on});
      where += ", " + texts.format("report.placement.links", {widgets::format_count(axis.links())}) + ", ";
      where += axis.open_axes == 0 ? std::string(texts.text("report.placement.closed"))
               : axis.open_axes == axis.torus_axes
                   ? std::string(texts.text("report.placement.open"))
                   : texts.format("report.placement.partly", {widgets::format_count(axis.torus_axes - axis.open_axes),
                                                              widgets::format_count(axis.open_axes)});
    } else if (axis.across_nodes > 1) {
      where = texts.format("report.placement.nodes",
                           {widgets::format_count(axis.inside_node), widgets::format_count(axis.across_nodes)});
    } else if (axis.inside_node > 1) {
      where = texts.text("report.placement.node");
    }
    std::string name(texts.text("axis." + std::string(engine::kAxisIds[static_cast<std::size_t>(axis.axis)])));
    if (axis.group > axis.degree)
      name = texts.format("report.placement.group", {name, std::string(texts.text("axis.context"))});
    rows.add({name, widgets::format_count(axis.group),
              std::string(texts.text("tier." + std::string(engine::kLinkTierIds[axis.tier]))), where,
              axis.bandwidth_bytes_per_s > 0 ? widgets::format(axis.bandwidth_bytes_per_s, engine::unit::bytes_per_s)
                                             : std::string()});
  }
  if (!rows.empty()) out += '\n' + std::string(texts.text("report.section.placement")) + '\n' + rows.text(2);
}

// The chips and the MFU that the two counts of days are of.
void append_run_counts(std::string& out, const Report& report, const TextTable& texts) {
  if (!report.quantities[Q::run_days]) return;
  const auto count = [&](Q q) { return widgets::format_count(report.quantities.value_or(q, 0)); };
  const auto share = [&](Q q) { return widgets::format_percent(report.quantities.value_or(q, 0)); };
  out += "  " +
         texts.format("report.run_counts",
                      {count(Q::chips_used), share(Q::mfu), count(Q::cluster_chips), share(Q::stated_mfu)}) +
         '\n';
}

std::string published_text(const io::PublishedRun& run, const engine::Scenario& scenario, const Report& report,
                           const TextTable& texts) {
  const engine::Field& mode = *engine::find_field("assumptions.mode");
  const std::string mode_word(texts.text("choice.assumptions.mode." +
                                         std::string(mode.choices[static_cast<std::size_t>(mode.get(scenario))])));
  std::string out;
  for (const io::PublishedFigure& figure : run.figures) {
    const auto here = report.quantities[figure.quantity];
    const engine::Unit& unit = engine::quantity(figure.quantity).unit;
    out += (out.empty() ? "" : "; ") +
           texts.format("report.published.figure",
                        {widgets::quantity_label(texts, figure.quantity), texts.amount(figure.value, unit), mode_word,
                         here ? texts.amount(*here, unit) : std::string(widgets::kNoValue)});
  }
  return out;
}

std::string report_text(const engine::Scenario& scenario, const Report& report, const TextTable& texts,
                        const io::PublishedRun* published) {
  const engine::Provenance doubts = engine::unverified_inputs(scenario, report);
  std::string out = engine::scenario_title(scenario);
  if (out.empty()) out = engine::model_title(scenario.model);
  out += '\n' + verdict_text(report, texts) + '\n';
  Columns head({false, false});
  head.add(
      {std::string(texts.text("report.chips")),
       texts.format("report.chips_used", {widgets::format_count(report.quantities.value_or(Q::chips_used, NAN)),
                                          widgets::format_count(report.quantities.value_or(Q::cluster_chips, NAN))}) +
           " " + engine::chip_title(scenario.cluster.chip)});
  if (const std::string plan = plan_text(scenario, texts); !plan.empty())
    head.add({std::string(texts.text("report.plan")), plan});
  out += head.text(2);
  if (const std::string_view source = engine::scenario_source(scenario); !source.empty())
    out += wrapped("  " + std::string(texts.text("report.source")) + "  ", source, kLineWidth) + '\n';
  if (published != nullptr && !published->figures.empty())
    out += "  " + std::string(texts.text("report.published")) + "  " +
           published_text(*published, scenario, report, texts) + '\n';
  for (const ReportSection& section : report_sections(scenario)) {
    const std::string title = texts.format(section.title, {widgets::format_count(report.fullest_stage),
                                                           widgets::format_count(scenario.parallelism.pipeline)});
    if (section.total)
      append_parts(out, title, section.rows, *section.total, report, texts, doubts);
    else
      append_rows(out, title, section.rows, report, texts, doubts);
    if (section.below == ReportSection::Below::placement) append_placement(out, report, texts);
    if (section.below == ReportSection::Below::run_counts) append_run_counts(out, report, texts);
  }
  out += '\n' + std::string(texts.text("report.section.diagnostics")) + '\n' +
         diagnostics_text(engine::offered_findings(scenario, report), texts);
  return out;
}

std::string evidence_text(const engine::Scenario& scenario, const Report& report, const engine::Evidence& evidence,
                          const TextTable& texts) {
  Columns columns({false, false, false});
  for (const engine::BandedQuantity& row : engine::banded_quantities(scenario)) {
    const auto value = report.quantities[row.quantity];
    if (!value) continue;
    const engine::ErrorBand band = engine::error_band(evidence.points, scenario, row.kind);
    const engine::Unit& unit = engine::quantity(row.quantity).unit;
    if (!band.validated()) {
      columns.add({widgets::quantity_label(texts, row.quantity), std::string(texts.text("evidence.none")),
                   widgets::outside_text(texts, band, scenario)});
      continue;
    }
    columns.add({widgets::quantity_label(texts, row.quantity),
                 row.rate ? widgets::range_text(texts, band.least_rate(*value), band.most_rate(*value), unit)
                          : widgets::range_text(texts, band.least(*value), band.most(*value), unit),
                 texts.format("report.evidence.runs", {widgets::format_count(static_cast<double>(band.near.size())),
                                                       widgets::errors_text(texts, band.low, band.high)})});
  }
  return '\n' + std::string(texts.text("report.section.evidence")) + '\n' + columns.text(2);
}

std::string plan_list_text(const widgets::search::PlanTable& table, int present_rank, const TextTable& texts) {
  std::vector<bool> right{true};
  std::vector<std::string> head{{}};
  for (const widgets::search::PlanColumn& column : table.columns) {
    right.push_back(column.number);
    head.push_back(column.heading);
  }
  Columns columns(std::move(right));
  columns.add(std::move(head));
  const auto add = [&columns](std::string rank, const std::vector<std::string>& cells) {
    std::vector<std::string> row{std::move(rank)};
    row.insert(row.end(), cells.begin(), cells.end());
    columns.add(std::move(row));
  };
  for (std::size_t i = 0; i < table.rows.size(); ++i) add(std::to_string(i + 1), table.rows[i]);
  if (!table.present.empty() && present_rank == 0) add(std::string(texts.text("ui.search.now")), table.present);
  return columns.text(0);
}

}  // namespace roofscape::app
