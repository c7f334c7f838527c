// roofscape-cli docs: the formula sheet, as Markdown. Which quantities there are, their symbols, units and sources are
// rows of the table of quantities; the formulas are those of the scenarios that ship, as they were recorded while their
// numbers were computed, in ideal and in calibrated mode. A quantity has as many as the choices of a scenario give it.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/output.h"
#include "engine/evaluate/explain.h"
#include "engine/io/scenario/scenario_json.h"
#include "widgets/plot/formula_text.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape::app::cli {
namespace {

struct DocsOptions {};

void add_options(OptionList&, DocsOptions&) {}

struct SheetRow {
  std::vector<std::string> formulas;  // "T_step = ...", each once
  bool is_simulated = false;
};
using FormulaSheet = std::array<SheetRow, engine::kReportQuantityCount>;

// Formulas differ from axis to axis. Those of stages, operations and products are alike: the first speaks for them.
bool differs_by_index(engine::Q q) {
  using enum engine::IndexKind;
  const engine::IndexKind kind = engine::index_kind(engine::quantity(q));
  return kind == axis || kind == block_axis || kind == level_axis;
}

void add_formulas(const engine::Scenario& scenario, FormulaSheet& sheet) {
  const engine::Recording recording(scenario);
  std::optional<engine::Q> before;
  for (const std::string& id : recording.explainable()) {
    const auto q = engine::find_quantity(engine::without_index(id));
    if (!q || static_cast<std::size_t>(*q) >= sheet.size() || (q == before && !differs_by_index(*q))) continue;
    before = q;
    const auto derivation = recording.explain(id, 1);
    if (!derivation) continue;
    const engine::DerivationLine& line = derivation->lines.front();
    SheetRow& row = sheet[static_cast<std::size_t>(*q)];
    row.is_simulated = row.is_simulated || line.is_simulated;
    if (line.expression.kind == engine::Expression::Kind::constant && line.expression.children.empty()) continue;
    const std::string formula = line.symbol + " = " + widgets::formula_in_symbols(line.expression);
    if (std::ranges::find(row.formulas, formula) == row.formulas.end()) row.formulas.push_back(formula);
  }
}

FormulaSheet formula_sheet(const io::PresetLibrary& library) {
  FormulaSheet sheet;
  for (const io::Preset& preset : library.list(io::PresetKind::scenario)) {
    const auto read = io::read_scenario(*library.find_scenario_text(preset.id), preset.id, library);
    if (!read) continue;  // a user's own; the other commands say what is wrong with it
    engine::Scenario scenario = read.value();
    for (const engine::Mode mode : {engine::Mode::ideal, engine::Mode::calibrated}) {
      scenario.assumptions.mode = mode;
      add_formulas(scenario, sheet);
    }
  }
  return sheet;
}

std::string row_text(engine::Q q, const SheetRow& row, const widgets::TextTable& texts) {
  const engine::Quantity& quantity = engine::quantity(q);
  std::string out = "### " + widgets::quantity_label(texts, q) + "\n\n`" + std::string(quantity.symbol) + '`';
  if (!quantity.unit.symbol.empty() && quantity.unit.symbol != "1") out += ", " + std::string(quantity.unit.symbol);
  out += " (`" + std::string(quantity.id) + "`). " + widgets::quantity_about(texts, q) + '\n';
  if (!row.formulas.empty()) out += '\n';
  for (const std::string& formula : row.formulas) out += "- `" + formula + "`\n";
  if (row.is_simulated) out += '\n' + std::string(texts.text("derivation.simulated")) + '\n';
  if (!row.formulas.empty() && !engine::is_input(quantity))
    out += '\n' + texts.format("docs.source", {widgets::source_text(texts, quantity.source)}) + '\n';
  return out + '\n';
}

int run(const Context& context, const DocsOptions&) {
  const widgets::TextTable& texts = context.texts;
  const FormulaSheet sheet = formula_sheet(context.library);
  std::string out =
      "# " + std::string(texts.text("docs.title")) + "\n\n" + std::string(texts.text("docs.about")) + '\n';
  const auto group_of = [](std::size_t i) {
    const std::string_view id = engine::quantity(static_cast<engine::Q>(i)).id;
    return id.substr(0, id.find('.'));
  };
  std::vector<std::string_view> groups;
  for (std::size_t i = 0; i < sheet.size(); ++i)
    if (std::ranges::find(groups, group_of(i)) == groups.end()) groups.push_back(group_of(i));
  for (const std::string_view group : groups) {
    out += "\n## " + std::string(group) + "\n\n";
    for (std::size_t i = 0; i < sheet.size(); ++i)
      if (group_of(i) == group) out += row_text(static_cast<engine::Q>(i), sheet[i], texts);
  }
  return print(texts, out, kGood);
}

}  // namespace

const Command docs_command = command<DocsOptions, add_options, run>("docs", "cli.docs");

}  // namespace roofscape::app::cli
