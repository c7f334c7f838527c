// roofscape-cli calc: the building blocks of the engine. calc NAME key=value ... [--json] [--explain], calc NAME --help,
// calc --list [--json], or calc --search WORDS.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/output.h"
#include "app/core/block_search.h"
#include "app/core/derivation_text.h"
#include "app/core/text_columns.h"
#include "engine/io/export/block_json.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape::app::cli {

using engine::say;
namespace {

struct CalcOptions {
  std::string block;
  std::vector<std::string> inputs;  // name=value
  std::string search;               // words
  bool json = false, explain = false, list = false;
};

void add_options(OptionList& list, CalcOptions& options) {
  list.optional("name", options.block, "cli.calc.name");
  list.optional("inputs", options.inputs, "cli.calc.inputs");
  list.json(options.json);
  list.flag("--explain", options.explain, "cli.calc.explain");
  list.flag("--list", options.list, "cli.calc.list");
  list.option("--search", options.search, "cli.calc.search");
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

// What has no value, and why: outputs with the same reason together.
std::string absent_text(const Context& context, const io::BlockQuestion& question,
                        const engine::BlockResult& result) {
  constexpr std::size_t kWidth = 100;
  std::vector<std::pair<std::string, std::string>> groups;  // reason, outputs
  std::vector<std::string> unknown;                         // to the chip or model that was asked
  for (const BlockAnswer& answer : result.answers) {
    if (!answer.is_absent() || answer.output->kind == OutputKind::table) continue;
    std::string why;
    for (const std::string& input : answer.missing) {
      why += (why.empty() ? "" : ", ") + input;
      const bool is_said = std::find(unknown.begin(), unknown.end(), input) != unknown.end();
      if (!is_said && !question.call.value(input).source.empty()) unknown.push_back(input);
    }
    why = why.empty() ? std::string(context.texts.text(
                            "calc.absent." + std::string(answer.reason.empty() ? "not_applicable" : answer.reason)))
                      : context.texts.format("cli.calc.needs", {why});
    const auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == why; });
    const std::string name(answer.output->name);
    if (found == groups.end())
      groups.emplace_back(why, name);
    else
      found->second += ", " + name;
  }
  std::string out;
  for (const auto& [why, outputs] : groups) out += wrapped("  ", outputs + ": " + why, kWidth) + "\n";
  for (const std::string& input : unknown)
    out +=
        wrapped("  ", input + ": " + widgets::source_text(context.texts, question.call.value(input).source), kWidth) +
        "\n";
  return out.empty() ? out : std::string(context.texts.text("cli.calc.absent")) + "\n" + out;
}

std::string result_text(const engine::BlockResult& result) {
  Columns columns({false, true, false});
  for (const BlockAnswer& answer : result.answers)
    if (!answer.is_absent())
      columns.add({std::string(answer.output->name), answer_text(answer), unit_word(*answer.output)});
  return columns.text(0) + (result.table.columns.empty() ? std::string() : table_text(result.table));
}

// "chips = 6186 for days = 30 (29.998)", and what the next whole number comes to.
std::string solved_text(const Context& context, const io::BlockQuestion& question) {
  if (!question.solved) return {};
  const engine::SolvedInput& s = *question.solved;
  std::string out =
      context.texts.format("cli.calc.solved", {s.input, number_text(s.value), s.wanted.output, s.wanted.text});
  if (s.next_value)
    out += "; " +
           context.texts.format("cli.calc.solved.next", {s.wanted.output, number_text(*s.reached),
                                                         number_text(*s.next_value), number_text(*s.next_reached)});
  return out + "\n";
}

// Which equation the input was found from, by what, and how closely it holds; the output's derivation follows.
std::string equation_text(const Context& context, const io::BlockQuestion& question) {
  if (!question.solved) return {};
  const engine::SolvedInput& s = *question.solved;
  std::string out = "== " + s.input + " = " + number_text(s.value) + "\n" +
                    context.texts.format("cli.calc.equation", {s.wanted.output, s.input, s.wanted.text}) + "\n" +
                    context.texts.format("cli.calc.equation.trials", {std::to_string(s.trials), s.input}) + "\n";
  if (s.residual)
    out += context.texts.format("cli.calc.equation.residual", {s.wanted.output, number_text(s.value),
                                                               number_text(*s.reached), number_text(*s.residual)}) +
           "\n";
  if (s.next_value)
    out += context.texts.format("cli.calc.equation.whole",
                                {s.input, number_text(*s.next_value), number_text(*s.next_reached)}) +
           "\n";
  return out + "\n";
}

// All of a block: what it answers, its inputs with default and domain, its outputs.
std::string document_text(const widgets::TextTable& texts, const BuildingBlock& block) {
  const auto text = [&](const std::string& key) { return std::string(texts.text(key)); };
  std::string out = std::string(block.id) + ": " + text("calc." + std::string(block.id)) + " (" +
                    widgets::source_text(texts, block.source) + ")\n";
  Columns inputs({false, false, false, false});
  if (block.takes_chip()) inputs.add({"chip", "", "", text("calc.chip")});
  if (block.takes_model()) inputs.add({"model", "", "", text("calc.model")});
  for (const BlockInput& in : block.inputs)
    inputs.add({std::string(in.name), std::string(engine::unit_text(in)),
                fmt::format("[{}] {}", texts.write(io::default_of(in)), texts.write(engine::domain_of(in))),
                text(io::about_key(in))});
  out += inputs.text(2) + "  ->\n";
  Columns outputs({false, false, false});
  for (const BlockOutput& o : block.outputs) outputs.add({std::string(o.name), unit_word(o), text(io::about_key(o))});
  return out + outputs.text(2);
}

std::string line_of(const widgets::TextTable& texts, const BuildingBlock& block) {
  return std::string(texts.text("calc." + std::string(block.id)));
}

// A line for each block, by topic.
std::string list_text(const widgets::TextTable& texts) {
  std::size_t width = 0;
  for (const BuildingBlock& block : engine::blocks()) width = std::max(width, block.id.size());
  std::string out;
  std::optional<engine::BlockTopic> topic;
  for (const BuildingBlock& block : engine::blocks()) {
    if (topic != block.topic)
      out += (out.empty() ? "" : "\n") +
             std::string(texts.text("calc.topic." + std::string(engine::kBlockTopicIds[block.topic]))) + '\n';
    topic = block.topic;
    out += "  " + padded_right(std::string(block.id), width) + "  " + line_of(texts, block) + '\n';
  }
  return out + '\n' + std::string(texts.text("cli.calc.list.more")) + '\n';
}

constexpr std::size_t kMostFound = 10;

int search(const Context& context, const std::string& words) {
  const std::vector<FoundBlock> found = find_blocks(context.texts, words);
  if (found.empty())
    return refuse(context.texts,
                  {{}, {}, say("error.cli.calc.search", io::in_quotes(words)), say("error.calc.list")});
  Columns lines({false, false});
  for (std::size_t i = 0; i < std::min(found.size(), kMostFound); ++i)
    lines.add({std::string(found[i].block->id), line_of(context.texts, *found[i].block)});
  return print(context.texts, lines.text(0), kGood);
}

// A name that no block has: those that have to do with it, where its spelling is near none.
io::InputError unknown_block(const Context& context, io::InputError error, const std::string& name) {
  const std::vector<FoundBlock> found = find_blocks(context.texts, name);
  if (found.empty() || error.remedy.key == "error.did_you_mean") return error;
  error.remedy = say("error.cli.calc.others", io::in_quotes(found.front().block->id), name);
  return error;
}

std::string help(const widgets::TextTable& texts, const CalcOptions& options) {
  const BuildingBlock* block = engine::find_block(options.block);
  return block == nullptr ? std::string() : document_text(texts, *block);
}

// What is said of one block, where blocks are listed or looked for.
std::optional<io::InputError> unused_option(const CalcOptions& options) {
  if (!options.list && options.search.empty()) return std::nullopt;
  const std::string_view asked = options.list ? "--list" : "--search";
  if (options.list && !options.search.empty())
    return io::InputError{"--search", {}, say("error.cli.calc.two"), say("error.cli.calc.two.remedy")};
  if (!options.block.empty())
    return io::InputError{options.block, {}, say("error.cli.calc.of_all", asked), say("error.cli.leave_out")};
  if (options.explain)
    return io::InputError{"--explain", {}, say("error.cli.calc.of_one"), say("error.cli.calc.of_one.remedy")};
  if (options.json && !options.list)
    return io::InputError{"--json", {}, say("error.cli.calc.json"), say("error.cli.calc.json.remedy")};
  return std::nullopt;
}

int run(const Context& context, const CalcOptions& options) {
  if (const auto error = unused_option(options)) return refuse(context.texts, *error);
  if (options.list) {
    if (!options.json) return print(context.texts, list_text(context.texts), kGood);
    const auto text = [&](const std::string& key) { return std::string(context.texts.text(key)); };
    return print(context.texts, io::blocks_json(text, context.texts), kGood);
  }
  if (!options.search.empty()) return search(context, options.search);
  if (options.block.empty())
    return refuse(context.texts, {{}, {}, say("error.cli.calc.name"), say("error.calc.list")});
  const auto question = io::read_block_question(options.block, options.inputs, context.library);
  if (!question)
    return refuse(context.texts, engine::find_block(options.block) != nullptr
                                     ? question.error()
                                     : unknown_block(context, question.error(), options.block));
  const auto result = io::answer(question.value());
  if (!result) return refuse(context.texts, result.error());
  if (options.json) return print(context.texts, io::block_json(question.value(), result.value()), kGood);
  if (!options.explain)
    return print(context.texts,
                 solved_text(context, question.value()) + result_text(result.value()) +
                     absent_text(context, question.value(), result.value()),
                 kGood);
  std::string out;
  // The output that was asked for first: its derivation is the equation that was solved.
  std::vector<const BlockAnswer*> answers;
  for (const BlockAnswer& answer : result.value().answers) answers.push_back(&answer);
  if (const auto& solved = question.value().solved)
    std::stable_partition(answers.begin(), answers.end(),
                          [&](const BlockAnswer* a) { return a->output->name == solved->wanted.output; });
  for (const BlockAnswer* one : answers)
    for (const engine::Derivation& derivation : engine::derivations(result.value(), *one))
      out += (out.empty() ? "" : "\n") + ("== " + std::string(one->output->name) + " = " + answer_text(*one) + "\n") +
             derivation_text(derivation, context.texts);
  return print(context.texts, equation_text(context, question.value()) + out, kGood);
}

}  // namespace

const Command calc_command = command<CalcOptions, add_options, run, help>("calc", "cli.calc");

}  // namespace roofscape::app::cli
