#include "app/core/derivation_text.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <vector>

#include "app/core/strings.h"
#include "app/core/text_columns.h"
#include "engine/blocks/block.h"
#include "engine/evaluate/critical_path_parts.h"
#include "engine/scenario/scenario_fields.h"
#include "widgets/canvas/number_format.h"
#include "widgets/plot/formula_text.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape::app {
namespace {

using engine::DerivationLine;
using engine::Expression;
using widgets::TextTable;

constexpr std::size_t kLongestSum = 5;  // terms a reader takes in at a glance
constexpr int kDeepestIndent = 10;
constexpr std::size_t kWidth = 100;  // of lines, where words allow it
constexpr std::size_t kSourceColumn = 64;
constexpr std::size_t kSourceIndent = 6;  // of a source below its line
constexpr std::size_t kLeastSource = 24;  // of a source beside its input

bool is_long_sum(const Expression& e) { return e.kind == Expression::Kind::add && e.children.size() > kLongestSum; }

std::string id_and_source(const DerivationLine& of, const TextTable& texts) {
  return of.source.empty() ? "(" + of.id + ")" : "(" + of.id + "; " + widgets::source_text(texts, of.source) + ")";
}
// "(step.time_s; source)" at the right of the first line, or below all of them where that would be too long.
std::string with_source(std::string first, const std::string& rest, const DerivationLine& of,
                        const TextTable& texts) {
  const std::string source = id_and_source(of, texts);
  if (kSourceColumn + 3 + display_width(source) <= kWidth && display_width(first) <= kSourceColumn)
    return padded_right(std::move(first), kSourceColumn) + "   " + source + '\n' + rest;
  const std::size_t indent = first.find_first_not_of(' ') + kSourceIndent;
  return first + '\n' + rest + wrapped(std::string(indent, ' '), source, kWidth) + '\n';
}

// `lead` and a formula after it, broken at its spaces where it would be too long.
std::string formula_line(const std::string& lead, const std::string& formula) {
  return wrapped(lead, formula, kWidth);
}

void append_sum(std::string& out, const DerivationLine& line, const std::string& pad, const TextTable& texts) {
  const std::string total = texts.amount(line.value, line.unit, widgets::kDerivedDigits);
  const widgets::NumberOptions digits = widgets::digits_to_redo(line);
  out += with_source(pad + line.symbol + " = " +
                         texts.format("derivation.sum", {std::to_string(line.expression.children.size())}) + " = " +
                         total,
                     {}, line, texts);
  Columns terms({false, true});
  std::string zeros;
  for (const Expression& term : line.expression.children) {
    const std::string symbol = widgets::formula_in_symbols(term);
    if (term.value != 0)
      terms.add({symbol, texts.amount(term.value, term.unit.symbol.empty() ? line.unit : term.unit, digits)});
    else
      zeros += (zeros.empty() ? "" : ", ") + symbol;
  }
  const std::size_t indent = pad.size() + 4;
  out += terms.text(indent);
  if (!zeros.empty())
    out += wrapped(std::string(indent, ' '), texts.format("derivation.zero", {zeros}), kWidth) + '\n';
}

void append_formula(std::string& out, const DerivationLine& line, const std::string& pad, const TextTable& texts) {
  const std::string value = texts.amount(line.value, line.unit, widgets::kDerivedDigits);
  if (line.expression.is_empty()) {
    std::string made_of;
    if (line.is_simulated) made_of = "   " + std::string(texts.text(counted_key(line.quantity)));
    out += with_source(pad + line.symbol + " = " + value + made_of, {}, line, texts);
    return;
  }
  const std::string numbers = widgets::formula_in_numbers(line.expression, widgets::digits_to_redo(line));
  const std::string lead = pad + std::string(display_width(line.symbol), ' ') + " = ";
  const bool bare = line.expression.kind == Expression::Kind::operand;  // P_active = P needs its number once
  const std::string second = bare || numbers == value ? value : numbers + " = " + value;
  std::string notes;
  for (const Expression* decision : widgets::decisions(line.expression)) {
    const std::string note = decision_text(*decision, texts);
    if (!note.empty()) notes += (notes.empty() ? "   <- " : "; ") + note;
  }
  out += with_source(formula_line(pad + line.symbol + " = ", widgets::formula_in_symbols(line.expression)),
                     formula_line(lead, second + notes) + '\n', line, texts);
}

// The inputs, each with where it is from at its right.
std::string with_sources(const Columns& inputs, std::span<const std::string> sources) {
  const std::string text = inputs.text(2);
  std::vector<std::string> lines;
  std::size_t widest = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    widest = std::max(widest, display_width(lines.back()));
    at = end + 1;
  }
  std::string out;
  for (std::size_t i = 0; i < lines.size(); ++i)
    out += (sources[i].empty() ? lines[i]
                               : wrapped(padded_right(lines[i], widest) + "  ", sources[i],
                                         std::max(kWidth, widest + kLeastSource))) +
           '\n';
  return out;
}

}  // namespace

std::string decision_text(const Expression& e, const TextTable& texts) {
  const bool is_max = e.kind == Expression::Kind::max;
  if (!is_max && e.kind != Expression::Kind::min) return {};
  if (e.winner < 0 || static_cast<std::size_t>(e.winner) >= e.children.size() || e.children.size() < 2) return {};
  const Expression& winner = e.children[static_cast<std::size_t>(e.winner)];
  const Expression* second = nullptr;
  for (const Expression& child : e.children)
    if (&child != &winner &&
        (second == nullptr || (is_max ? child.value > second->value : child.value < second->value)))
      second = &child;
  const std::string name = widgets::formula_in_symbols(winner), other = widgets::formula_in_symbols(*second);
  if (winner.value == second->value) return std::string(texts.text("derivation.equal"));
  if (!(winner.value > 0) || !(second->value > 0)) return texts.format("derivation.decides", {name});
  const double ratio = winner.value / second->value;
  if (ratio < 1) return texts.format("derivation.by_percent_less", {name, widgets::format_percent(1 - ratio), other});
  if (ratio < 2) return texts.format("derivation.by_percent", {name, widgets::format_percent(ratio - 1), other});
  return texts.format("derivation.by_ratio", {name, widgets::format_significant(ratio), other});
}

std::string zero_text(const engine::ZeroReason& reason, const engine::Scenario& scenario, const TextTable& texts) {
  const std::string axis(engine::kAxisIds[static_cast<std::size_t>(reason.axis)]);
  const std::string key = "zero." + std::string(engine::kZeroKindIds[reason.kind]);
  if (reason.kind == engine::ZeroKind::convention) {
    const engine::Field& convention = *engine::find_field("assumptions.flops");
    return texts.format(key, {field_value_text(convention, convention.get(scenario))});
  }
  return texts.format(key, {axis, widgets::format_duration(reason.hidden_s)});
}

std::string_view counted_key(engine::Q quantity) {
  for (const engine::BuildingBlock& block : engine::blocks())
    for (const engine::BlockOutput& output : block.outputs)
      if (output.q == quantity && !block.is_simulated &&
          static_cast<std::size_t>(quantity) >= engine::kReportQuantityCount)
        return "derivation.counted";
  return "derivation.simulated";
}

std::string critical_path_text(const engine::PipelineReport& pipeline, const TextTable& texts) {
  std::string parts;
  for (const engine::CriticalPathPart& one : engine::critical_path_parts(pipeline)) {
    const std::string key = "critical_path." + std::string(engine::kPathPartIds[one.part]);
    const std::string text = texts.format(texts.plural_key(key, one.count),
                                          {widgets::format_count(one.count), widgets::format_duration(one.time_s)});
    parts += (parts.empty() ? "" : " + ") + text;
  }
  return parts.empty() ? parts : texts.format("critical_path", {parts});
}

std::string derivation_text(const engine::Derivation& derivation, const TextTable& texts, int levels,
                            const DerivationNotes& notes) {
  std::string out;
  if (derivation.lines.empty()) return out;
  const engine::Q derived = derivation.lines.front().quantity;
  out +=
      wrapped({}, widgets::quantity_label(texts, derived) + ": " + widgets::quantity_about(texts, derived), kWidth) +
      '\n';
  if (!notes.asked.empty()) out += wrapped({}, notes.asked, kWidth) + '\n';
  out += '\n';
  Columns inputs({false, true, false});
  std::vector<std::string> sources;
  for (const DerivationLine& line : derivation.lines) {
    if (line.depth >= levels + (line.is_input ? 1 : 0)) continue;
    if (line.is_input) {
      inputs.add({line.symbol, texts.amount(line.value, line.unit, widgets::kDerivedDigits), line.id});
      sources.push_back(widgets::source_text(texts, line.source));
      continue;
    }
    const std::string pad(static_cast<std::size_t>(2 * std::clamp(line.depth, 0, kDeepestIndent)), ' ');
    if (is_long_sum(line.expression))
      append_sum(out, line, pad, texts);
    else
      append_formula(out, line, pad, texts);
    if (line.quantity == engine::Q::pipeline_makespan && line.is_simulated && !notes.critical_path.empty())
      out += wrapped(pad + "    ", notes.critical_path, kWidth) + '\n';
  }
  if (!inputs.empty())
    out += '\n' + std::string(texts.text("derivation.inputs")) + '\n' + with_sources(inputs, sources);
  return out;
}

}  // namespace roofscape::app
