#include "app/session/workbench.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

#include "app/core/block_search.h"
#include "engine/blocks/block_picture.h"
#include "engine/blocks/solve.h"

namespace roofscape::app {

bool can_ask_backwards(const engine::BuildingBlock& block, const engine::BlockOutput& output) {
  return engine::can_be_wanted(output) && block.find_input(output.name) == nullptr;
}

namespace {

using engine::BlockInput;
using engine::BuildingBlock;
using engine::InputKind;

constexpr std::string_view kChip = "chip", kModel = "model", kSolve = "solve";

std::vector<std::string> assignments(const BlockInputs& given) {
  std::vector<std::string> out;
  for (const auto& [name, text] : given) out.push_back(name + "=" + text);
  return out;
}

// Presets first, then in the order of the table.
std::vector<std::string_view> names_in_order(const BuildingBlock& block) {
  std::vector<std::string_view> names{kChip, kModel};
  for (const BlockInput& in : block.inputs) names.push_back(in.name);
  for (const engine::BlockOutput& out : block.outputs)
    if (can_ask_backwards(block, out)) names.push_back(out.name);
  names.push_back(kSolve);
  return names;
}

// The scenario's own value: of the same quantity, or of the one whose last word is the input's name.
std::optional<double> value_in(const engine::Report& report, const BlockInput& in) {
  if (const auto value = report.quantities[in.q]) return value;
  for (const engine::Quantity& row : engine::kQuantities) {
    const std::string_view id = row.id;
    if (engine::is_indexed(row) || !id.ends_with(in.name) ||
        !(row.unit.dimension == engine::quantity(in.q).unit.dimension))
      continue;
    if (id.size() == in.name.size() || id[id.size() - in.name.size() - 1] != '.') continue;
    if (const auto q = engine::find_quantity(id))
      if (const auto value = report.quantities[*q]) return value;
  }
  return std::nullopt;
}

std::string example_text(const BlockInput& in) {
  if (in.kind == InputKind::flag || in.kind == InputKind::flags) return "true";
  if (!in.is_numeric()) return std::string(in.choices.front());
  return input_text(engine::typical_value(in));
}

std::size_t answers(const BlockReply& reply) {
  if (!reply.result) return 0;
  return static_cast<std::size_t>(std::count_if(reply.result->answers.begin(), reply.result->answers.end(),
                                                [](const auto& a) { return !a.is_absent(); }));
}

// The unknown inputs an answer waits for; where none says so, all that are unknown.
std::vector<std::string> wanted(const BuildingBlock& block, const BlockReply& reply) {
  std::vector<std::string> out;
  if (!reply.question) return out;
  const engine::BlockResult all = engine::run_block(reply.question->call);
  for (const auto& a : all.answers)
    for (const std::string& name : a.missing)
      if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
  if (out.empty() && answers(reply) == 0)
    for (const BlockInput& in : block.inputs)
      if (!reply.question->call.value(in.name).is_known()) out.emplace_back(in.name);
  return out;
}

bool is_solved_for(const Workbench::Bench& b, std::string_view name) {
  const auto solve = b.given.find(kSolve);
  return b.backwards && solve != b.given.end() && solve->second == name;
}

// The inputs with one of them open and the output given; with an empty name none is open.
BlockInputs backwards(const Workbench::Bench::Backwards& ask, const std::string& text, const std::string& open) {
  BlockInputs given = ask.before;
  given.insert_or_assign(ask.output, text);
  if (open.empty()) return given;
  given.erase(open);
  given.insert_or_assign(std::string(kSolve), open);
  return given;
}

bool plain_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("._,+-=/:").find(c) != std::string_view::npos;
  });
}

}  // namespace

std::string input_text(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

std::string input_text(const BlockInput& in, const engine::BlockValue& value) {
  std::string out;
  for (const double x : value.numbers) {
    if (!out.empty()) out += ',';
    if (in.kind == InputKind::flag || in.kind == InputKind::flags)
      out += x > 0.5 ? "true" : "false";
    else if (!in.is_numeric())
      out += in.choices[static_cast<std::size_t>(x)];
    else
      out += input_text(x);
  }
  return out;
}

BlockReply ask_block(const BuildingBlock& block, const BlockInputs& given, const io::PresetLibrary& library) {
  BlockReply reply;
  auto question = io::read_block_question(block.id, assignments(given), library);
  if (!question.ok()) {
    reply.error = question.error();
    BlockInputs rest = given;  // the other controls keep their values
    if (rest.erase(question.error().path) > 0) reply.question = ask_block(block, rest, library).question;
    return reply;
  }
  reply.question = std::move(question).value();
  auto result = io::answer(*reply.question);
  if (result.ok())
    reply.result = std::move(result).value();
  else
    reply.error = result.error();
  return reply;
}

BlockInputs start_inputs(const BuildingBlock& block, const Session& session) {
  const io::PresetLibrary& library = session.library();
  const engine::Scenario& scenario = session.scenario();
  BlockInputs given;
  if (block.takes_chip() && library.find_chip(scenario.cluster.chip.id) != nullptr)
    given.emplace(kChip, scenario.cluster.chip.id);
  if (block.takes_model() && library.find_model(scenario.model.id) != nullptr)
    given.emplace(kModel, scenario.model.id);
  BlockReply reply = ask_block(block, given, library);
  std::vector<std::string> tried, examples;
  const auto try_one = [&](const std::string& name, std::string text) {
    tried.push_back(name);
    BlockInputs more = given;
    more.insert_or_assign(name, std::move(text));
    BlockReply next = ask_block(block, more, library);
    // That too little is known yet is no error of this input, nor is what was wrong before.
    const bool before = reply.error && next.error && reply.error->path == next.error->path;
    if (next.error && next.error->path != block.id && !before) return false;
    if (answers(next) < answers(reply)) return false;
    given = std::move(more);
    reply = std::move(next);
    return true;
  };
  const auto untried = [&] {
    std::vector<std::string> names = wanted(block, reply);
    std::erase_if(names,
                  [&](const std::string& n) { return std::find(tried.begin(), tried.end(), n) != tried.end(); });
    return names;
  };
  for (bool found = true; found;) {
    found = false;
    for (const std::string& name : untried())
      if (const BlockInput* in = block.find_input(name); in != nullptr && in->is_numeric() && !in->is_list())
        if (const auto value = value_in(session.report(), *in); value && try_one(name, input_text(*value))) {
          found = true;
          break;
        }
  }
  while (answers(reply) * 2 < block.outputs.size()) {
    const auto names = untried();
    if (names.empty()) break;
    const BlockInput* in = block.find_input(names.front());
    if (in == nullptr) break;
    if (try_one(names.front(), example_text(*in))) examples.push_back(names.front());
  }
  // An example that no answer needs says nothing.
  for (const std::string& name : examples) {
    BlockInputs less = given;
    less.erase(name);
    BlockReply next = ask_block(block, less, library);
    if (answers(next) < answers(reply) || answers(next) == 0) continue;
    given = std::move(less);
    reply = std::move(next);
  }
  return given;
}

std::string command_line(const BuildingBlock& block, const BlockInputs& given) {
  std::string out = "roofscape-cli calc " + std::string(block.id);
  for (const std::string_view name : names_in_order(block)) {
    const auto found = given.find(name);
    if (found == given.end()) continue;
    out += " " + std::string(name) + "=";
    if (plain_word(found->second)) {
      out += found->second;
      continue;
    }
    out += '\'';
    for (const char c : found->second) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    out += '\'';
  }
  return out;
}

const std::vector<const BuildingBlock*>& Workbench::list(const widgets::TextTable& texts) {
  if (listed_for != search) {
    listed_for = search;
    listed.clear();
    if (search.find_first_not_of(' ') == std::string::npos)
      for (const BuildingBlock& one : engine::blocks()) listed.push_back(&one);
    else
      for (const FoundBlock& one : find_blocks(texts, search)) listed.push_back(one.block);
  }
  return listed;
}

void Workbench::show(std::string_view id) {
  open = true;
  if (engine::find_block(id) != nullptr) block = id;
}

const BuildingBlock& Workbench::shown() const {
  const BuildingBlock* found = engine::find_block(block);
  return found == nullptr ? engine::blocks().front() : *found;
}

Workbench::Bench& Workbench::bench(const Session& session) {
  const BuildingBlock& now = shown();
  const auto found = benches.find(now.id);
  if (found != benches.end()) return found->second;
  Bench fresh;
  fresh.start = fresh.given = start_inputs(now, session);
  return benches.emplace(now.id, std::move(fresh)).first->second;
}

const Workbench::Kept& Workbench::reply(const Session& session) {
  const BuildingBlock& now = shown();
  Bench& b = bench(session);
  const bool asked = !kept || kept->block != now.id || kept->given != b.given;
  if (asked) {
    kept.emplace();
    kept->block = now.id;
    kept->given = b.given;
    kept->reply = ask_block(now, b.given, session.library());
  }
  if (asked || kept->over != b.over || kept->show != b.show) {
    kept->over = b.over;
    kept->show = b.show;
    kept->data = {};
    std::vector<std::string> shown;
    if (!b.show.empty()) shown.push_back(b.show);
    engine::PictureAnswer picture = engine::picture_with(now, b.over, shown);
    // A list has no place over an input: the block's own outputs have.
    if (picture.error) picture = engine::picture_with(now, b.over, {});
    if (picture.error) picture = {engine::picture_of(now), {}};
    kept->picture = std::move(picture.picture);
    if (kept->reply.result && kept->reply.question)
      kept->data = engine::picture_data(kept->reply.question->call, kept->picture);
  }
  if (kept->derived != b.derived) {
    kept->derived = b.derived;
    kept->derivations.clear();
    if (kept->reply.result)
      if (const engine::BlockAnswer* answer = kept->reply.result->find(b.derived))
        kept->derivations = engine::derivations(*kept->reply.result, *answer);
  }
  if (kept->reply.question)
    for (std::size_t i = 0; i < now.inputs.size(); ++i)
      if (const auto& value = kept->reply.question->call.values()[i]; value.is_known())
        b.middle.try_emplace(std::string(now.inputs[i].name), value.numbers.front());
  return *kept;
}

void Workbench::reset(const Session& session) {
  benches.erase(std::string(shown().id));
  bench(session);
}

void Workbench::reset_input(const Session& session, std::string_view name) {
  const Bench& b = bench(session);
  if (const auto start = b.start.find(name); start != b.start.end())
    set(session, name, start->second);
  else
    leave_out(session, name);
}

void Workbench::set(const Session& session, std::string_view name, std::string text) {
  if (text.empty()) return leave_out(session, name);
  Bench& b = bench(session);
  if (is_solved_for(b, name)) ask_forwards(session);
  if (b.backwards) b.backwards->before.insert_or_assign(std::string(name), text);
  b.given.insert_or_assign(std::string(name), std::move(text));
}

void Workbench::leave_out(const Session& session, std::string_view name) {
  Bench& b = bench(session);
  if (is_solved_for(b, name)) ask_forwards(session);
  if (b.backwards) b.backwards->before.erase(std::string(name));
  b.given.erase(std::string(name));
}

void Workbench::want(const Session& session, std::string_view output, const std::string& text) {
  const BuildingBlock& now = shown();
  Bench& b = bench(session);
  const std::string solved =
      b.backwards && b.given.contains(kSolve) ? b.given.at(std::string(kSolve)) : std::string();
  ask_forwards(session);
  const auto found = std::find_if(now.outputs.begin(), now.outputs.end(),
                                  [&](const engine::BlockOutput& o) { return o.name == output; });
  if (text.empty() || found == now.outputs.end() || !can_ask_backwards(now, *found)) return;
  Bench::Backwards ask{std::string(output), {}, b.given};
  const BlockReply forwards = ask_block(now, b.given, session.library());
  if (forwards.question) ask.inputs = engine::inputs_behind(forwards.question->call, *found);
  // The one that was open stays so, where it can.
  if (const auto at = std::find(ask.inputs.begin(), ask.inputs.end(), solved); at != ask.inputs.end())
    std::rotate(ask.inputs.begin(), at, at + 1);
  std::optional<BlockInputs> first;
  for (const std::string& input : ask.inputs) {
    BlockInputs tried = backwards(ask, text, input);
    if (!first) first = tried;
    if (ask_block(now, tried, session.library()).error) continue;
    first = std::move(tried);
    break;
  }
  b.given = first ? *first : backwards(ask, text, {});
  std::sort(ask.inputs.begin(), ask.inputs.end(),
            [&now](const std::string& x, const std::string& y) { return now.find_input(x) < now.find_input(y); });
  b.backwards = std::move(ask);
}

void Workbench::solve_for(const Session& session, std::string_view input) {
  Bench& b = bench(session);
  if (b.backwards) b.given = backwards(*b.backwards, b.given.at(b.backwards->output), std::string(input));
}

void Workbench::ask_forwards(const Session& session) {
  Bench& b = bench(session);
  if (!b.backwards) return;
  b.given = b.backwards->before;
  b.backwards.reset();
}

}  // namespace roofscape::app
