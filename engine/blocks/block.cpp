#include "engine/blocks/block.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "engine/base/read_number.h"

namespace roofscape::engine {

namespace {

std::string joined(std::span<const std::string_view> words) {
  std::string out;
  for (const std::string_view w : words) out += (out.empty() ? "" : ", ") + std::string(w);
  return out;
}

std::optional<double> parse_flag(std::string_view text) {
  if (text == "true" || text == "1" || text == "yes") return 1;
  if (text == "false" || text == "0" || text == "no") return 0;
  return std::nullopt;
}

std::optional<double> parse_entry(const BlockInput& in, std::string_view text) {
  switch (in.kind) {
    case InputKind::flag:
    case InputKind::flags:
      return parse_flag(text);
    case InputKind::choice:
    case InputKind::words: {
      const auto found = std::find(in.choices.begin(), in.choices.end(), text);
      if (found == in.choices.end()) return std::nullopt;
      return static_cast<double>(found - in.choices.begin());
    }
    default:
      break;
  }
  const NumberReading x = read_number(text, quantity(in.q).unit);
  if (!x) return std::nullopt;
  const bool whole = in.kind == InputKind::integer || in.kind == InputKind::integers;
  if (whole && *x != std::floor(*x)) return std::nullopt;
  if (*x < in.low || *x > in.high || (in.above_low && *x == in.low)) return std::nullopt;
  return x.value;
}

// Why an entry was not taken: it is no number of this unit, or one that is not possible.
BlockError refusal(const BlockInput& in, std::string_view text) {
  if (in.is_numeric())
    if (const NumberReading read = read_number(text, quantity(in.q).unit); !read)
      return {std::string(in.name), read.problem, say("error.both", read.remedy, domain_of(in))};
  return {std::string(in.name), say("error.calc.domain", fmt::format("\"{}\"", text)), domain_of(in)};
}

constexpr std::string_view kTypedIn = "typed in", kSolvedFor = "solved for";

// The figure of this key of chip files.
Sourced chip_figure(const Chip& chip, std::string_view key) {
  for (const ChipFieldRow& row : kChipFields)
    if (row.id == key) return chip[row.field];
  return {};
}

const BlockInput* input_of(const BuildingBlock& block, Q q) {
  for (const BlockInput& in : block.inputs)
    if (in.is_numeric() && in.q == q) return &in;
  return nullptr;
}

}  // namespace

Sentence domain_of(const BlockInput& in) {
  if (in.kind == InputKind::choice) return say("error.domain.choice", joined(in.choices));
  if (in.kind == InputKind::words) return say("error.some_of", joined(in.choices));
  if (in.kind == InputKind::flag) return say("error.domain.boolean");
  if (in.kind == InputKind::flags) return say("error.flags");
  const bool whole = in.kind == InputKind::integer || in.kind == InputKind::integers;
  Sentence out = whole ? say("error.domain.whole_word") : say("error.domain.number_word");
  const std::string least = fmt::format("{} {:g}", in.above_low ? ">" : ">=", in.low);
  if (in.high < 1e15)
    out = say("error.domain.bounds", std::move(out), least, fmt::format("{:g}", in.high));
  else if (in.low > std::numeric_limits<double>::lowest())
    out = say("error.of_value", std::move(out), least);
  if (in.is_list()) out = say("error.domain.list", std::move(out), in.longest);
  return out;
}

std::string_view unit_text(const BlockInput& in) { return in.is_numeric() ? quantity(in.q).unit.symbol : ""; }

const BlockInput* BuildingBlock::find_input(std::string_view name) const {
  const auto found =
      std::find_if(inputs.begin(), inputs.end(), [name](const BlockInput& in) { return in.name == name; });
  return found == inputs.end() ? nullptr : &*found;
}
bool BuildingBlock::takes_chip() const {
  return std::any_of(inputs.begin(), inputs.end(), [](const BlockInput& in) { return in.takes_chip(); });
}
bool BuildingBlock::takes_model() const {
  return std::any_of(inputs.begin(), inputs.end(), [](const BlockInput& in) { return in.of_model != nullptr; });
}

// ---- asking ----

std::optional<BlockError> BlockCall::set(std::string_view name, std::string_view text) {
  const BlockInput* in = block_->find_input(name);
  if (in == nullptr) return BlockError{std::string(name), say("error.calc.no_input"), {}};
  BlockValue value;
  value.source = kTypedIn;
  std::string_view rest = text;
  while (true) {
    const std::size_t comma = in->is_list() ? rest.find(',') : std::string_view::npos;
    const auto entry = parse_entry(*in, rest.substr(0, comma));
    if (!entry) return refusal(*in, rest.substr(0, comma));
    value.numbers.push_back(*entry);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (in->is_list() && value.numbers.size() > in->longest)
    return BlockError{std::string(name), say("error.calc.too_many", fmt::format("\"{}\"", text)), domain_of(*in)};
  values_[static_cast<std::size_t>(in - block_->inputs.data())] = std::move(value);
  return std::nullopt;
}

void BlockCall::assume(std::string_view name, double x) {
  if (const BlockInput* in = block_->find_input(name))
    values_[static_cast<std::size_t>(in - block_->inputs.data())] = {{x}, std::string(kSolvedFor)};
}

void BlockCall::complete(const Chip* chip, const TransformerShape* model) {
  chip_ = chip;
  model_ = model;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const BlockInput& in = block_->inputs[i];
    BlockValue& value = values_[i];
    if (value.is_known()) continue;
    bool is_asked = false;
    if (chip != nullptr && in.takes_chip()) {
      if (in.list_of_chip != nullptr) {
        value = in.list_of_chip(*chip);
      } else {
        const Sourced figure = in.of_chip != nullptr ? in.of_chip(*chip, *this) : chip_figure(*chip, in.chip_field);
        value.source = figure.source;
        if (figure.value) value.numbers = {*figure.value};
      }
      if (value.is_known()) continue;
      is_asked = true;
    }
    if (model != nullptr && in.of_model != nullptr && !is_typed(in.yields_to))
      if (const auto x = in.of_model(*model)) {
        value = {{*x}, model->source};
        continue;
      }
    if (in.computed != nullptr)
      if (const auto x = in.computed(*this); x && std::isfinite(*x)) {
        value = {{*x}, "default: " + std::string(in.computed_text)};
        continue;
      }
    if (!in.fallback.empty() && !is_asked) value = {in.fallback, "default"};
  }
}

BlockCall BlockCall::with(std::string_view name, double x) const {
  BlockCall out(*block_);
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (block_->inputs[i].name == name)
      out.values_[i] = {{x}, std::string(kTypedIn)};
    else if (is_typed(block_->inputs[i].name))
      out.values_[i] = values_[i];
  }
  out.complete(chip_, model_);
  return out;
}

const BlockValue& BlockCall::value(std::string_view name) const {
  static const BlockValue unknown;
  const BlockInput* in = block_->find_input(name);
  return in == nullptr ? unknown : values_[static_cast<std::size_t>(in - block_->inputs.data())];
}
double BlockCall::number(std::string_view name) const {
  const BlockValue& v = value(name);
  return v.is_known() ? v.numbers.front() : std::numeric_limits<double>::quiet_NaN();
}
std::string_view BlockCall::word(std::string_view name) const {
  const BlockInput* in = block_->find_input(name);
  const BlockValue& v = value(name);
  return in == nullptr || !v.is_known() ? std::string_view()
                                        : in->choices[static_cast<std::size_t>(v.numbers.front())];
}

bool BlockCall::is_typed(std::string_view name) const {
  const BlockValue& v = value(name);
  return v.is_known() && (v.source == kTypedIn || v.source == kSolvedFor);
}

bool BlockCall::is_decided_by(const BlockInput& in, const std::vector<std::string>& names) const {
  if (in.computed == nullptr) return false;
  constexpr double kAny = 8;
  BlockCall given = *this;
  for (std::size_t i = 0; i < given.values_.size(); ++i) {
    const BlockInput& other = block_->inputs[i];
    const bool is_named = std::find(names.begin(), names.end(), other.name) != names.end();
    if (is_named && &other != &in && !given.values_[i].is_known())
      given.values_[i].numbers = {std::clamp(kAny, other.low, other.high)};
  }
  const auto x = in.computed(given);
  return x && std::isfinite(*x);
}

// ---- running ----

template <Scalar S>
std::size_t BlockRun<S>::slot(Q q) const {
  const BlockInput* in = input_of(call_.block(), q);
  return in == nullptr ? call_.values().size() : static_cast<std::size_t>(in - call_.block().inputs.data());
}

template <Scalar S>
S BlockRun<S>::operator[](Q q) const {
  for (const Made& m : leaves_)
    if (m.q == q && m.index < 0) return m.x;
  const std::size_t at = slot(q);
  double value = std::numeric_limits<double>::quiet_NaN();
  std::string_view source;
  if (at < call_.values().size() && call_.values()[at].is_known())
    value = call_.values()[at].numbers.front(), source = call_.values()[at].source;
  leaves_.push_back({q, -1, input_leaf<S>(trace_, q, -1, value, source)});
  return leaves_.back().x;
}

template <Scalar S>
std::vector<S> BlockRun<S>::list(Q q) const {
  std::vector<S> out;
  const std::size_t at = slot(q);
  if (at >= call_.values().size()) return out;
  const BlockValue& value = call_.values()[at];
  for (std::size_t i = 0; i < value.numbers.size(); ++i)
    out.push_back(input_leaf<S>(trace_, q, static_cast<int>(i), value.numbers[i], value.source));
  return out;
}

template <Scalar S>
bool BlockRun<S>::knows(Q q) const {
  const std::size_t at = slot(q);
  return at < call_.values().size() && call_.values()[at].is_known();
}

template <Scalar S>
int BlockRun<S>::integer(Q q) const {
  const std::size_t at = slot(q);
  if (at >= call_.values().size() || !call_.values()[at].is_known()) return 1;
  return static_cast<int>(std::clamp(call_.values()[at].numbers.front(), -2e9, 2e9));
}

template <Scalar S>
std::vector<int> BlockRun<S>::integers(Q q) const {
  std::vector<int> out;
  const std::size_t at = slot(q);
  if (at < call_.values().size())
    for (const double x : call_.values()[at].numbers) out.push_back(static_cast<int>(std::clamp(x, -2e9, 2e9)));
  return out;
}

template <Scalar S>
S BlockRun<S>::out(Q q, int index, const S& x) {
  made_.push_back({q, index, index < 0 ? named(q, x) : named(q, index, x)});
  return made_.back().x;
}

template <Scalar S>
S BlockRun<S>::simulated(Q q, int index, double value) {
  if constexpr (std::same_as<S, double>)
    made_.push_back({q, index, value});
  else
    made_.push_back({q, index, trace_->simulated(q, index, value)});
  return made_.back().x;
}

template <Scalar S>
void BlockRun<S>::fail(std::string_view input, Sentence message, Sentence remedy) {
  if (!error_) error_ = BlockError{std::string(input), std::move(message), std::move(remedy)};
}

template class BlockRun<double>;
template class BlockRun<Traced>;

// ---- answers ----

namespace {

// Names of the unknown inputs below a node.
std::vector<std::string> missing_below(const BuildingBlock& block, const Trace& trace, std::uint32_t root) {
  std::vector<std::string> out;
  std::vector<std::uint32_t> open{root};
  std::set<std::uint32_t> seen;
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    if (!seen.insert(at).second) continue;
    const TraceNode& n = trace.nodes()[at];
    if (std::isfinite(n.value)) continue;
    if (n.verb == Verb::input) {
      const BlockInput* in = input_of(block, static_cast<Q>(n.row));
      if (in != nullptr && std::find(out.begin(), out.end(), in->name) == out.end()) out.emplace_back(in->name);
      continue;
    }
    if (n.verb == Verb::constant || n.verb == Verb::simulated) continue;
    // A name has one operand, and of a choice only the side that was taken counts.
    const bool is_choice = n.verb == Verb::choose;
    if (n.verb != Verb::named && !(is_choice && n.winner == 0)) open.push_back(n.b);
    if (!(is_choice && n.winner == 1)) open.push_back(n.a);
  }
  return out;
}

// Without those that the others of the list decide.
void drop_decided(const BlockCall& call, std::vector<std::string>& missing) {
  const auto all = missing;
  std::erase_if(missing, [&](const std::string& name) {
    const BlockInput* in = call.block().find_input(name);
    return in != nullptr && call.is_decided_by(*in, all);
  });
}

template <Scalar S>
BlockResult collect(const BlockCall& call, BlockRun<S>& run) {
  BlockResult result;
  result.error = run.error();
  result.table = std::move(run.table);
  for (const BlockOutput& output : call.block().outputs) {
    BlockAnswer answer;
    answer.output = &output;
    for (const auto& [name, word] : run.words())
      if (name == output.name) answer.word = word;
    const bool is_list = output.kind == OutputKind::list || output.kind == OutputKind::flags;
    bool unknown = false;
    if (answer.word.empty() && output.kind != OutputKind::table)
      for (const auto& made : run.made()) {
        if (made.q != output.q || (made.index >= 0) != is_list) continue;
        const double x = value_of(made.x);
        if constexpr (std::same_as<S, Traced>) {
          if (!std::isfinite(x) && made.x.trace() != nullptr)
            answer.missing = missing_below(call.block(), *made.x.trace(), made.x.node());
          if (made.x.trace() != nullptr) answer.nodes.push_back(made.x.node());
        }
        unknown = unknown || !std::isfinite(x);
        answer.numbers.push_back(x);
      }
    if (unknown) answer.numbers.clear(), answer.nodes.clear();
    drop_decided(call, answer.missing);
    if (answer.is_absent() && answer.missing.empty()) {
      for (const auto& [q, reason] : run.absences())
        if (q == output.q) answer.reason = reason;
      for (const auto& [q, input] : run.needs())
        if (q == output.q) answer.missing.emplace_back(input);
      if (unknown && std::same_as<S, Traced>) answer.reason = "not_finite";
      if (answer.reason.empty() && answer.missing.empty() && !run.rest_needs().empty())
        answer.missing.emplace_back(run.rest_needs());
    }
    if (!answer.numbers.empty()) {
      if (output.kind == OutputKind::word)
        answer.word = output.words[answer.numbers.front() >= output.threshold ? 0 : 1];
      if (output.kind == OutputKind::holds) answer.numbers = {answer.numbers.front() >= output.threshold ? 1.0 : 0.0};
    }
    result.answers.push_back(std::move(answer));
  }
  return result;
}

}  // namespace

const BlockAnswer* BlockResult::find(std::string_view name) const {
  for (const BlockAnswer& a : answers)
    if (a.output->name == name) return &a;
  return nullptr;
}

BlockResult run_block(const BlockCall& call) {
  auto trace = std::make_unique<Trace>();
  BlockRun<Traced> run(call, trace.get());
  call.block().run_traced(run);
  BlockResult result = collect(call, run);
  result.trace = std::move(trace);
  return result;
}

BlockResult run_block_plain(const BlockCall& call) {
  BlockRun<double> run(call, nullptr);
  call.block().run(run);
  return collect(call, run);
}

std::vector<Derivation> derivations(const BlockResult& result, const BlockAnswer& answer) {
  std::vector<Derivation> out;
  if (result.trace == nullptr) return out;
  for (const std::uint32_t node : answer.nodes) out.push_back(derive(*result.trace, node));
  return out;
}

}  // namespace roofscape::engine
