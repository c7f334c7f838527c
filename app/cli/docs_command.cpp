// roofscape-cli docs: the formula sheet, as Markdown. Which quantities there are, their symbols, units and sources are
// rows of the table of quantities; the formulas are those of the scenarios that ship, as they were recorded while their
// numbers were computed, in ideal and in calibrated mode. A quantity has as many as the choices of a scenario give it.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/output.h"
#include "app/core/derivation_text.h"
#include "engine/evaluate/explain.h"
#include "engine/io/scenario/scenario_json.h"
#include "widgets/plot/formula_text.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape::app::cli {
namespace {

struct DocsOptions {};

void add_options(OptionList&, DocsOptions&) {}

struct SheetRow {
  struct Formula {
    std::string of_any;  // of any axis or operation
    std::string shown;   // "T_step = ..."
  };
  std::vector<Formula> formulas;
  bool is_simulated = false;
};
using FormulaSheet = std::array<SheetRow, engine::kReportQuantityCount>;

// With the symbols of the table, "W[]" for "W_fsdp", where they are of that index.
void without_index(engine::Expression& e, std::string_view index) {
  if (e.kind == engine::Expression::Kind::operand && std::string_view(e.id).ends_with(index))
    if (const auto q = engine::find_quantity(engine::without_index(e.id))) e.symbol = engine::quantity(*q).symbol;
  for (engine::Expression& child : e.children) without_index(child, index);
}

void add_formulas(const engine::Scenario& scenario, FormulaSheet& sheet) {
  const engine::Recording recording(scenario);
  std::optional<engine::Q> before;
  for (const std::string& id : recording.explainable()) {
    const std::string_view row_id = engine::without_index(id);
    const auto q = engine::find_quantity(row_id);
    if (!q || static_cast<std::size_t>(*q) >= sheet.size()) continue;
    // Stages differ by how many layers they hold: the first speaks for them.
    const bool next_stage = q == before && engine::index_kind(engine::quantity(*q)) == engine::IndexKind::stage;
    before = q;
    if (next_stage) continue;
    const auto derivation = recording.explain(id, 1);
    if (!derivation) continue;
    const engine::DerivationLine& line = derivation->lines.front();
    SheetRow& row = sheet[static_cast<std::size_t>(*q)];
    row.is_simulated = row.is_simulated || line.is_simulated;
    if (line.expression.is_empty()) continue;
    // Of the rows of an axis or an operation one stands for those that are like it, the plain one if any is.
    const bool plain = row_id.size() == id.size();
    engine::Expression of_any = line.expression;
    if (!plain) without_index(of_any, std::string_view(id).substr(row_id.size()));
    const std::string key = widgets::formula_in_symbols(of_any);
    auto known = std::ranges::find(row.formulas, key, &SheetRow::Formula::of_any);
    if (known == row.formulas.end()) known = row.formulas.insert(known, {key, {}});
    if (plain || known->shown.empty())
      known->shown = line.symbol + " = " + widgets::formula_in_symbols(line.expression);
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
  for (const SheetRow::Formula& formula : row.formulas) out += "- `" + formula.shown + "`\n";
  if (row.is_simulated) out += '\n' + std::string(texts.text(counted_key(q))) + '\n';
  if (!row.formulas.empty() && !engine::is_input(quantity))
    out += '\n' + texts.format("docs.source", {widgets::source_text(texts, quantity.source)}) + '\n';
  return out + '\n';
}

int run(const Context& context, const DocsOptions&) {
  const widgets::TextTable& texts = context.texts;
  const FormulaSheet sheet = formula_sheet(context.library);
  std::string out =
      "# " + std::string(texts.text("docs.title")) + "\n\n" + std::string(texts.text("docs.about")) + '\n';
  std::vector<std::pair<std::string_view, std::string>> groups;  // by the first word of ids
  for (std::size_t i = 0; i < sheet.size(); ++i) {
    const auto q = static_cast<engine::Q>(i);
    const std::string_view id = engine::quantity(q).id, name = id.substr(0, id.find('.'));
    auto group = std::ranges::find(groups, name, [](const auto& one) { return one.first; });
    if (group == groups.end()) group = groups.insert(group, {name, {}});
    group->second += row_text(q, sheet[i], texts);
  }
  for (const auto& [name, rows] : groups) out += "\n## " + std::string(name) + "\n\n" + rows;
  return print(texts, out, kGood);
}

}  // namespace

const Command docs_command = command<DocsOptions, add_options, run>("docs", "cli.docs");

}  // namespace roofscape::app::cli
