// roofscape-cli calc: the building blocks of the engine. calc NAME key=value ... [--json] [--explain], or calc --list
// [--json].
#include <fmt/format.h>

#include <string>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/output.h"
#include "app/core/derivation_text.h"
#include "app/core/text_columns.h"
#include "engine/io/export/block_json.h"

namespace roofscape::app::cli {
namespace {

struct CalcOptions {
  std::string block;
  std::vector<std::string> inputs;  // name=value
  bool json = false, explain = false, list = false;
};

void add_options(OptionList& list, CalcOptions& options) {
  list.optional("name", options.block, "cli.calc.name");
  list.optional("inputs", options.inputs, "cli.calc.inputs");
  list.json(options.json);
  list.flag("--explain", options.explain, "cli.calc.explain");
  list.flag("--list", options.list, "cli.calc.list");
}

using engine::BlockAnswer;
using engine::BlockInput;
using engine::BlockOutput;
using engine::BuildingBlock;
using engine::OutputKind;

std::string number_text(double x) { return fmt::format("{:.10g}", x); }

std::string answer_text(const BlockAnswer& answer) {
  const BlockOutput& output = *answer.output;
  if (output.kind == OutputKind::word) return answer.word;
  std::string out;
  for (const double x : answer.numbers) {
    const bool truth = output.kind == OutputKind::holds || output.kind == OutputKind::flags;
    out += (out.empty() ? "" : ", ") + (truth ? std::string(x > 0.5 ? "true" : "false") : number_text(x));
  }
  return out;
}

std::string unit_word(const BlockOutput& output) {
  if (output.kind != OutputKind::number && output.kind != OutputKind::list) return {};
  const std::string_view unit = engine::quantity(output.q).unit.symbol;
  return unit == "1" ? std::string() : std::string(unit);
}

std::string table_text(const engine::BlockTable& table) {
  Columns columns(std::vector<bool>(table.columns.size(), true));
  columns.add(std::vector<std::string>(table.columns.begin(), table.columns.end()));
  for (const auto& row : table.rows) {
    std::vector<std::string> cells;
    for (const engine::Cell& cell : row)
      cells.push_back(std::holds_alternative<double>(cell) ? number_text(std::get<double>(cell))
                                                           : std::get<std::string>(cell));
    columns.add(std::move(cells));
  }
  return columns.text(2);
}

std::string result_text(const engine::BlockResult& result) {
  Columns columns({false, true, false});
  for (const BlockAnswer& answer : result.answers)
    if (!answer.is_absent())
      columns.add({std::string(answer.output->name), answer_text(answer), unit_word(*answer.output)});
  return columns.text(0) + (result.table.columns.empty() ? std::string() : table_text(result.table));
}

std::string list_text(const Context& context) {
  const auto text = [&](const std::string& key) { return std::string(context.texts.text(key)); };
  std::string out;
  for (const BuildingBlock& block : engine::blocks()) {
    out += std::string(block.id) + ": " + text("calc." + std::string(block.id)) + " (" + std::string(block.source) +
           ")\n";
    Columns inputs({false, false, false, false});
    if (block.takes_chip()) inputs.add({"chip", "", "", text("calc.chip")});
    if (block.takes_model()) inputs.add({"model", "", "", text("calc.model")});
    for (const BlockInput& in : block.inputs)
      inputs.add({std::string(in.name), std::string(engine::unit_text(in)),
                  fmt::format("[{}] {}", io::default_text(in), engine::domain_text(in)), text(io::about_key(in))});
    out += inputs.text(2) + "  ->\n";
    Columns outputs({false, false, false});
    for (const BlockOutput& o : block.outputs)
      outputs.add({std::string(o.name), unit_word(o), text(io::about_key(o))});
    out += outputs.text(2) + "\n";
  }
  return out;
}

int run(const Context& context, const CalcOptions& options) {
  if (options.list) {
    if (!options.json) return print(list_text(context), kGood);
    const auto text = [&](const std::string& key) { return std::string(context.texts.text(key)); };
    return print(io::blocks_json(text), kGood);
  }
  if (options.block.empty())
    return refuse({{}, {}, "calc needs the name of a block", "`roofscape-cli calc --list` documents them"});
  const auto question = io::read_block_question(options.block, options.inputs, context.library);
  if (!question) return refuse(question.error());
  const auto result = io::answer(question.value());
  if (!result) return refuse(result.error());
  if (options.json) return print(io::block_json(question.value(), result.value()), kGood);
  if (!options.explain) return print(result_text(result.value()), kGood);
  std::string out;
  for (const BlockAnswer& answer : result.value().answers)
    for (const engine::Derivation& derivation : engine::derivations(result.value(), answer))
      out += (out.empty() ? "" : "\n") +
             ("== " + std::string(answer.output->name) + " = " + answer_text(answer) + "\n") +
             derivation_text(derivation, context.texts);
  return print(out, kGood);
}

}  // namespace

const Command calc_command = command<CalcOptions, add_options, run>("calc", "cli.calc");

}  // namespace roofscape::app::cli
