#include "engine/io/export/block_json.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/io/json/json_text.h"
#include "engine/io/json/nearest.h"
#include "engine/io/json/pretty.h"
#include "engine/io/presets/parts_file.h"

namespace roofscape::io {

namespace {

using engine::BlockAnswer;
using engine::BlockInput;
using engine::BlockOutput;
using engine::BuildingBlock;
using engine::InputKind;
using engine::OutputKind;
using engine::say;
using engine::Sentence;

// The nearest that is known, else where they are listed.
Sentence near_or(std::string_view word, std::span<const std::string_view> known, Sentence listed_where) {
  const std::string_view near = nearest_word(word, known);
  return near.empty() ? std::move(listed_where) : did_you_mean(near);
}

InputError at_input(std::string name, InputError error) {
  error.path = std::move(name);
  return error;
}

OrderedJson entry_json(const BlockInput& in, double x) {
  if (in.kind == InputKind::flag || in.kind == InputKind::flags) return x > 0.5;
  if (!in.is_numeric()) return std::string(in.choices[static_cast<std::size_t>(x)]);
  return number_json(x);
}

OrderedJson value_json(const BlockInput& in, const std::vector<double>& numbers) {
  if (!in.is_list()) return entry_json(in, numbers.front());
  OrderedJson out = OrderedJson::array();
  for (const double x : numbers) out.push_back(entry_json(in, x));
  return out;
}

OrderedJson table_json(const engine::BlockTable& table) {
  OrderedJson out = OrderedJson::array();
  for (const auto& row : table.rows) {
    OrderedJson entry = OrderedJson::object();
    for (std::size_t i = 0; i < row.size() && i < table.columns.size(); ++i) {
      const std::string key(table.columns[i]);
      if (const double* x = std::get_if<double>(&row[i]))
        entry[key] = number_json(*x);
      else
        entry[key] = std::get<std::string>(row[i]);
    }
    out.push_back(std::move(entry));
  }
  return out;
}

std::string unit_of(const BlockOutput& output) {
  const bool plain = output.kind == OutputKind::number || output.kind == OutputKind::list;
  return plain ? std::string(engine::quantity(output.q).unit.symbol) : std::string();
}

OrderedJson answer_json(const BlockAnswer& answer) {
  const BlockOutput& output = *answer.output;
  if (output.kind == OutputKind::word) return answer.word.empty() ? OrderedJson() : OrderedJson(answer.word);
  if (answer.numbers.empty()) return nullptr;
  if (output.kind == OutputKind::holds) return answer.numbers.front() > 0.5;
  if (output.kind == OutputKind::number) return number_json(answer.numbers.front());
  OrderedJson out = OrderedJson::array();
  for (const double x : answer.numbers)
    out.push_back(output.kind == OutputKind::flags ? OrderedJson(x > 0.5) : number_json(x));
  return out;
}

}  // namespace

Result<BlockQuestion> read_block_question(std::string_view id, std::span<const std::string> assignments,
                                          const PresetLibrary& library) {
  const BuildingBlock* block = engine::find_block(id);
  if (block == nullptr) {
    std::vector<std::string_view> ids;
    for (const BuildingBlock& b : engine::blocks()) ids.push_back(b.id);
    return InputError{
        {}, {}, say("error.calc.unknown_block", in_quotes(id)), near_or(id, ids, say("error.calc.list"))};
  }
  BlockQuestion question{engine::BlockCall(*block), {}, {}, {}};
  const engine::Chip* chip = nullptr;
  const engine::TransformerShape* model = nullptr;
  std::optional<engine::TransformerShape> of_file;
  std::vector<std::string_view> names;
  for (const BlockInput& in : block->inputs) names.push_back(in.name);
  if (block->takes_chip()) names.push_back("chip");
  if (block->takes_model()) names.push_back("model");
  std::vector<std::string_view> seen;
  std::optional<engine::WantedOutput> wanted;
  std::string_view open;
  const auto output_of = [block](std::string_view name) {
    return std::any_of(block->outputs.begin(), block->outputs.end(),
                       [name](const BlockOutput& o) { return o.name == name && engine::can_be_wanted(o); });
  };
  // A name that is both goes in, unless something is solved for and no other output is asked for.
  const auto name_of = [](const std::string& assignment) {
    return std::string_view(assignment).substr(0, assignment.find('='));
  };
  const bool is_solving = std::any_of(assignments.begin(), assignments.end(),
                                      [&](const std::string& a) { return name_of(a) == "solve"; });
  const bool is_plain_output = std::any_of(assignments.begin(), assignments.end(), [&](const std::string& a) {
    return output_of(name_of(a)) && block->find_input(name_of(a)) == nullptr;
  });
  const auto is_wanted = [&](std::string_view name) {
    return output_of(name) && (block->find_input(name) == nullptr || (is_solving && !is_plain_output && !wanted));
  };
  for (const std::string& assignment : assignments) {
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0)
      return InputError{
          {}, {}, say("error.calc.not_input", in_quotes(assignment)), say("error.calc.not_input.remedy")};
    const std::string_view name = std::string_view(assignment).substr(0, equals);
    const std::string_view text = std::string_view(assignment).substr(equals + 1);
    for (const std::string_view s : seen)
      if (s == name)
        return InputError{{}, std::string(name), say("error.calc.twice"), say("error.calc.twice.remedy")};
    seen.push_back(name);
    if (name == "chip" && block->takes_chip()) {
      const Preset* meant = library.meant(PresetKind::chip, text);
      if (meant == nullptr) return at_input("chip", library.not_meant(PresetKind::chip, text));
      chip = library.find_chip(meant->id);
      question.chip = meant->id;
      continue;
    }
    if (name == "model" && block->takes_model()) {
      const Preset* meant = library.meant(PresetKind::model, text);
      if (meant == nullptr && looks_like_file(text)) {
        auto read = read_named_part<engine::TransformerShape>(std::string(text), PresetKind::model,
                                                              PartContext{{}, "model", library, {}, {}}, read_model);
        if (!read) return read.error();
        of_file = std::move(read).value();
        model = &*of_file;
        question.model = text;
        continue;
      }
      if (meant == nullptr) return at_input("model", library.not_meant(PresetKind::model, text));
      model = library.find_model(meant->id);
      question.model = meant->id;
      continue;
    }
    if (name == "solve") {
      open = text;
      continue;
    }
    if (is_wanted(name)) {
      if (wanted) return InputError{{}, std::string(name), say("error.calc.second"), say("error.calc.second.remedy")};
      wanted = engine::WantedOutput{std::string(name), std::string(text)};
      continue;
    }
    if (block->find_input(name) == nullptr) {
      return InputError{{},
                        std::string(id),
                        say("error.calc.unknown_input", in_quotes(name)),
                        near_or(name, names, say("error.there_are", listed(names)))};
    }
    if (const auto wrong = question.call.set(name, text))
      return InputError{{}, wrong->input, wrong->message, wrong->remedy};
  }
  if (!wanted && !open.empty())
    return InputError{{}, "solve", say("error.calc.lacks"), say("error.calc.lacks.remedy")};
  if (wanted) {
    question.solved.emplace();
    if (const auto wrong = engine::solve_block(question.call, *wanted, open, chip, model, *question.solved))
      return InputError{{}, wrong->input, wrong->message, wrong->remedy};
  }
  question.call.complete(chip, model);
  return question;
}

Result<engine::BlockResult> answer(const BlockQuestion& question) {
  engine::BlockResult result = engine::run_block(question.call);
  if (result.error) return InputError{{}, result.error->input, result.error->message, result.error->remedy};
  std::vector<std::string> missing;
  for (const BlockAnswer& a : result.answers) {
    if (!a.is_absent() && a.output->q != engine::Q::n_layers) return result;
    if (!a.word.empty()) return result;
    for (const std::string& name : a.missing)
      if (std::find(missing.begin(), missing.end(), name) == missing.end()) missing.push_back(name);
  }
  std::string names;
  for (const std::string& name : missing) names += (names.empty() ? "" : ", ") + name;
  // Of a preset the question is whole: that it lacks a figure is the answer.
  if (!question.chip.empty() || !question.model.empty()) return result;
  const bool chip = question.call.block().takes_chip() && question.chip.empty();
  return InputError{{},
                    std::string(question.call.block().id),
                    say("error.calc.decide"),
                    chip ? say("error.calc.decide.chip.remedy", names) : say("error.calc.decide.remedy", names)};
}

std::string block_json(const BlockQuestion& question, const engine::BlockResult& result) {
  OrderedJson out;
  const BuildingBlock& block = question.call.block();
  out["block"] = std::string(block.id);
  OrderedJson inputs = OrderedJson::object();
  if (!question.chip.empty()) inputs["chip"] = question.chip;
  if (!question.model.empty()) inputs["model"] = question.model;
  for (std::size_t i = 0; i < block.inputs.size(); ++i)
    if (question.call.values()[i].is_known())
      inputs[std::string(block.inputs[i].name)] = value_json(block.inputs[i], question.call.values()[i].numbers);
  out["inputs"] = std::move(inputs);
  if (const auto& solved = question.solved) {
    OrderedJson entry;
    entry["input"] = solved->input;
    entry["value"] = number_json(solved->value);
    entry["output"] = solved->wanted.output;
    entry["wanted"] = solved->wanted.text;
    if (solved->reached) entry["reached"] = number_json(*solved->reached);
    if (solved->residual) entry["residual"] = number_json(*solved->residual);
    entry["trials"] = solved->trials;
    if (solved->next_value) {
      entry["next_value"] = number_json(*solved->next_value);
      entry["next_reached"] = number_json(*solved->next_reached);
    }
    out["solved"] = std::move(entry);
  }
  OrderedJson outputs = OrderedJson::object();
  for (const BlockAnswer& a : result.answers) {
    const std::string name(a.output->name);
    if (a.output->kind == OutputKind::table) {
      if (!result.table.columns.empty()) outputs[name] = table_json(result.table);
      continue;
    }
    OrderedJson entry;
    entry["value"] = answer_json(a);
    entry["unit"] = unit_of(*a.output);
    if (a.is_absent()) {
      if (a.missing.empty())
        entry["reason"] = std::string(a.reason.empty() ? "not_applicable" : a.reason);
      else
        entry["needs"] = a.missing;
      OrderedJson because = OrderedJson::object();
      for (const std::string& input : a.missing)
        if (const std::string& why = question.call.value(input).source; !why.empty()) because[input] = why;
      if (!because.empty()) entry["because"] = std::move(because);
    }
    outputs[name] = std::move(entry);
  }
  out["outputs"] = std::move(outputs);
  return pretty_text(out);
}

std::string about_key(engine::Q q) { return "quantity." + std::string(engine::quantity(q).id) + ".about"; }
std::string about_key(const BlockInput& input) {
  return input.is_numeric() ? about_key(input.q) : "calc.input." + std::string(input.name);
}
std::string about_key(const BlockOutput& output) {
  const bool of_quantity =
      output.kind == OutputKind::number || output.kind == OutputKind::list || output.kind == OutputKind::flags;
  return of_quantity ? about_key(output.q) : "calc.output." + std::string(output.name);
}

Sentence default_of(const BlockInput& in) {
  Sentence out;
  const auto add = [&out](Sentence part) {
    out = out.empty() ? std::move(part) : say("error.default.else", std::move(out), std::move(part));
  };
  if (in.takes_chip()) add(say("error.default.chip"));
  if (in.of_model != nullptr) add(say("error.default.model"));
  if (in.computed != nullptr) add(std::string(in.computed_text));
  if (!in.fallback.empty()) {
    std::string text;
    for (const double x : in.fallback)
      text += (text.empty() ? "" : ",") + (in.kind == InputKind::flag ? std::string(x > 0.5 ? "true" : "false")
                                           : in.is_numeric()          ? fmt::format("{:g}", x)
                                                             : std::string(in.choices[static_cast<std::size_t>(x)]));
    add(text);
  }
  return out.empty() ? say("error.default.none") : out;
}

std::string blocks_json(const std::function<std::string(const std::string&)>& text, const engine::Words& words) {
  OrderedJson out = OrderedJson::array();
  for (const BuildingBlock& block : engine::blocks()) {
    OrderedJson entry;
    entry["block"] = std::string(block.id);
    entry["about"] = text("calc." + std::string(block.id));
    entry["source"] = std::string(block.source);
    entry["topic"] = std::string(engine::kBlockTopicIds[block.topic]);
    entry["chip"] = block.takes_chip();
    entry["model"] = block.takes_model();
    OrderedJson inputs = OrderedJson::object(), outputs = OrderedJson::object();
    for (const BlockInput& in : block.inputs)
      inputs[std::string(in.name)] = {{"unit", std::string(engine::unit_text(in))},
                                      {"default", words.write(default_of(in))},
                                      {"domain", words.write(engine::domain_of(in))},
                                      {"about", text(about_key(in))}};
    for (const BlockOutput& o : block.outputs)
      outputs[std::string(o.name)] = {{"unit", unit_of(o)}, {"about", text(about_key(o))}};
    entry["inputs"] = std::move(inputs);
    entry["outputs"] = std::move(outputs);
    out.push_back(std::move(entry));
  }
  return pretty_text(out);
}

}  // namespace roofscape::io
