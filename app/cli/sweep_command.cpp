// roofscape-cli sweep S --vary path=a,b,c [--vary ...]: a table of quantities over every combination of the values, as
// text, CSV or JSON.
#include <string>
#include <utility>
#include <vector>

#include "app/cli/output.h"
#include "app/cli/scenario_input.h"
#include "app/core/text_columns.h"
#include "engine/io/export/sweep.h"
#include "widgets/canvas/number_format.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape::app::cli {

using engine::say;
namespace {

struct SweepOptions {
  ScenarioInput input;
  std::vector<std::string> vary;  // path=a,b,c
  std::string quantities;         // ids with commas
  bool csv = false, json = false;
};

void add_options(OptionList& list, SweepOptions& options) {
  list.scenario(options.input.scenario);
  list.repeated("--vary", options.vary, "cli.sweep.vary");
  list.option("--quantities", options.quantities, "cli.sweep.quantities");
  list.flag("--csv", options.csv, "cli.sweep.csv");
  list.json(options.json);
  add_edits(list, options.input);
}

std::string table_text(const io::SweepTable& table, const widgets::TextTable& texts) {
  std::vector<bool> right(table.varied.size() + table.quantities.size(), true);
  right.insert(right.end(), {false, false, false});
  Columns columns(right);
  std::vector<std::string> head;
  for (const io::VariedField& v : table.varied) head.push_back(v.path);
  for (const engine::Q q : table.quantities) head.emplace_back(widgets::quantity_label(texts, q));
  for (const char* key : {"cli.sweep.memory", "cli.sweep.bound"}) head.emplace_back(texts.text(key));
  head.emplace_back(table.has_errors() ? texts.text("cli.sweep.error") : std::string_view());
  columns.add(std::move(head));
  for (const engine::SweepRow& row : table.rows) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < table.varied.size(); ++i) cells.push_back(table.varied[i].values[row.choice[i]]);
    for (std::size_t i = 0; i < table.quantities.size(); ++i)
      cells.push_back(row.quantities[i] ? texts.amount(*row.quantities[i], engine::quantity(table.quantities[i]).unit)
                                        : std::string(widgets::kNoValue));
    const bool runs = row.error.empty();
    const char* verdict = row.fits ? "cli.sweep.fits" : "cli.sweep.does_not_fit";
    cells.emplace_back(runs ? texts.text(verdict) : std::string_view());
    cells.emplace_back(runs ? texts.text("bound." + row.bound) : std::string_view());
    cells.emplace_back(row.error.empty() ? std::string()
                                         : std::string(texts.text("diagnostic." + row.error + ".title")));
    columns.add(std::move(cells));
  }
  return columns.text(0);
}

int run(const Context& context, const SweepOptions& options) {
  const auto scenario = read_scenario(context, options.input);
  if (!scenario) return kBadInput;
  if (options.json && options.csv) return refuse_two_formats(context.texts);
  if (options.vary.empty())
    return refuse(context.texts, {{}, {}, say("error.cli.sweep.vary"), say("error.cli.sweep.vary.remedy")});
  std::vector<io::VariedField> varied;
  for (const std::string& option : options.vary) {
    auto field = io::read_varied_field(option);
    if (!field) return refuse(context.texts, field.error());
    varied.push_back(std::move(field).value());
  }
  auto quantities = io::read_sweep_quantities(options.quantities, scenario->workload.kind);
  if (!quantities) return refuse(context.texts, quantities.error());
  const auto table =
      io::run_sweep(scenario.value(), std::move(varied), std::move(quantities).value(), context.library);
  if (!table) return refuse(context.texts, table.error());
  const int code = table->has_errors() ? kHasErrors : kGood;
  if (options.csv) return print(context.texts, io::sweep_csv(table.value()), code);
  if (options.json) return print(context.texts, io::sweep_json(table.value()), code);
  return print(context.texts, table_text(table.value(), context.texts), code);
}

}  // namespace

const Command sweep_command = command<SweepOptions, add_options, run>("sweep", "cli.sweep");

}  // namespace roofscape::app::cli
