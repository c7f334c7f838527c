#include "app/core/comparison_text.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "app/core/report_sections.h"
#include "app/core/report_text.h"
#include "app/core/scenario_changes.h"
#include "app/core/strings.h"
#include "app/core/text_columns.h"
#include "engine/scenario/scenario_title.h"
#include "widgets/canvas/number_format.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape::app {
namespace {

using engine::Q;
using engine::Report;
using widgets::TextTable;

// Numbers with their unit, all else as it is written in a scenario.
std::string field_text(const engine::Field& field, double value) {
  if (field.kind == engine::FieldKind::choice || field.kind == engine::FieldKind::boolean)
    return field_value_text(field, value);
  return widgets::format(value, field.unit,
                         {.unit = field.unit.notation != engine::Notation::count, .trim_zeros = true});
}

void append_changes(std::string& out, const engine::Scenario& a, const engine::Scenario& b, const TextTable& texts) {
  out += '\n' + std::string(texts.text("comparison.differs")) + '\n';
  const std::vector<ScenarioChange> changes = scenario_changes(a, b);
  if (changes.empty()) out += "  " + std::string(texts.text("comparison.same_plan")) + '\n';
  Columns columns({false, false, false, false});
  for (const ScenarioChange& change : changes) {
    const auto value_in = [&](const engine::Scenario& s, const std::string& name) {
      if (change.field != nullptr) return field_text(*change.field, change.field->get(s));
      if (change.figure == nullptr) return name;
      const auto& value = s.cluster.chip[change.figure->field].value;
      return value ? texts.amount(*value, change.figure->unit, {.trim_zeros = true, .significant = 4})
                   : std::string(widgets::kNoValue);
    };
    columns.add({change.what, value_in(a, change.before), "\u2192", value_in(b, change.now)});
  }
  out += columns.text(2);
}

// Shares by points, all else by its ratio: "+0.3 points", "\u221216 %", "\u00d7 12.5"; empty where one has no value.
std::string change_text(std::optional<double> a, std::optional<double> b, const engine::Unit& unit,
                        const TextTable& texts) {
  if (!a || !b || *a == *b) return {};
  if (unit.notation == engine::Notation::percent)
    return texts.format("ui.pin.points",
                        {widgets::format((*b - *a) * 100, engine::unit::one, {.unit = false, .sign = true})});
  if (!(*a > 0)) return texts.amount(*b - *a, unit, {.sign = true});
  constexpr double kManyTimes = 10;
  if (*b >= kManyTimes * *a) return "\u00d7 " + widgets::format_significant(*b / *a);
  return widgets::format(*b / *a - 1, engine::unit::fraction, {.sign = true});
}

// Of a section with nothing that differs nothing is said.
void append_section(std::string& out, const ReportSection& section, const Report& a, const Report& b,
                    const TextTable& texts) {
  Columns columns({false, true, true, true, false});
  columns.add({{}, "A", "B", std::string(texts.text("comparison.change"))});
  bool differs = false;
  const auto add = [&](Q q, bool always) {
    const engine::Quantity& row = engine::quantity(q);
    const auto in_a = a.quantities[q], in_b = b.quantities[q];
    if (in_a == in_b && !always) return;
    // A part that one plan has none of is not worth a line beside one that cannot run.
    if (section.total && in_a.value_or(0) == 0 && in_b.value_or(0) == 0 && !always) return;
    differs = differs || in_a != in_b;
    const auto cell = [&](std::optional<double> value) {
      return value ? texts.amount(*value, row.unit) : std::string(widgets::kNoValue);
    };
    columns.add({widgets::quantity_label(texts, q), cell(in_a), cell(in_b), change_text(in_a, in_b, row.unit, texts),
                 std::string(row.id)});
  };
  for (const Q q : section.rows) add(q, false);
  if (section.total) add(*section.total, true);
  if (!differs) return;
  // Which stage is the fullest may differ too.
  const std::string_view title = section.total == Q::memory_total ? "report.section.memory" : section.title;
  out += '\n' + std::string(texts.text(title)) + '\n' + columns.text(2);
}

// What is found of one of the two alone, without notes.
void append_findings(std::string& out, const Report& a, const Report& b, const TextTable& texts) {
  Columns columns({false, false, false});
  const auto add = [&](std::string_view letter, const Report& of, const Report& other) {
    for (const engine::Diagnostic& d : of.diagnostics) {
      const auto is_same = [&](const engine::Diagnostic& o) { return o.code == d.code; };
      if (d.severity == engine::Severity::note || std::ranges::any_of(other.diagnostics, is_same)) continue;
      columns.add({std::string(letter),
                   std::string(texts.text("severity." + std::string(engine::kSeverityIds[d.severity]))),
                   std::string(texts.text("diagnostic." + std::string(d.code) + ".title"))});
    }
  };
  add("A", a, b), add("B", b, a);
  if (!columns.empty()) out += '\n' + std::string(texts.text("comparison.findings")) + '\n' + columns.text(2);
}

}  // namespace

std::string comparison_text(const ComparedPlan& a, const ComparedPlan& b, const std::string& pairs,
                            const TextTable& texts) {
  std::string out;
  const auto add_head = [&](std::string_view letter, const ComparedPlan& plan) {
    std::string title = engine::scenario_title(plan.scenario);
    if (title.empty()) title = engine::model_title(plan.scenario.model);
    out += std::string(letter) + "  " + title + "\n   " + verdict_text(plan.report, texts) + '\n';
  };
  add_head("A", a), add_head("B", b);
  append_changes(out, a.scenario, b.scenario, texts);
  const bool a_has_more = a.scenario.parallelism.pipeline > 1;  // sections
  for (const ReportSection& section : report_sections(a_has_more ? a.scenario : b.scenario))
    append_section(out, section, a.report, b.report, texts);
  append_findings(out, a.report, b.report, texts);
  out += '\n' + std::string(texts.text("comparison.left_out")) + '\n';
  if (!pairs.empty()) out += pairs + '\n';
  return out;
}

}  // namespace roofscape::app
