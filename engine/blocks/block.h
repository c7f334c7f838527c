// Building blocks: the small questions of the scaling book and the lecture, each an entry of one table with
// documented inputs and outputs, answered by the engine's own formulas. `roofscape-cli calc` runs them; a workbench
// can be made from the same table. What a thing means in words is in the texts (quantity.<id>, calc.<block>,
// calc.input.<name>).
//
// An input that is left out and has no default is unknown; outputs that need it are absent and say what they miss. So
// a block answers every part of its question that the given inputs decide.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/base/enum_table.h"
#include "engine/base/quantity.h"
#include "engine/base/scalar.h"
#include "engine/base/sentence.h"
#include "engine/evaluate/explain.h"
#include "engine/scenario/chip.h"
#include "engine/scenario/transformer_shape.h"

namespace roofscape::engine {

struct BlockInput;
class BlockCall;

struct BlockValue {
  std::vector<double> numbers;  // one of a plain input, any number of a list, none while unknown
  std::string source;           // "typed in", a publication, "default"; of an unknown one why the preset has none
  bool is_known() const { return !numbers.empty(); }
};

enum class InputKind : std::uint8_t {
  number,
  integer,
  choice,   // one of `choices`
  flag,     // true or false
  numbers,  // a list with commas
  integers,
  flags,
  words,  // a list of `choices`
};

struct BlockInput {
  std::string_view name;
  InputKind kind = InputKind::number;
  Q q = Q::n_layers;  // number and list kinds: what it is, with unit and symbol
  std::vector<std::string_view> choices;
  double low = 0, high = std::numeric_limits<double>::max();
  bool above_low = true;    // the low end itself is outside
  std::size_t longest = 5;  // lists: entries allowed
  // Value when left out; a choice's index, a flag's 0 or 1; empty: unknown. Never for what a chip preset was asked for
  // and does not know: a default is a fact about some other chip.
  std::vector<double> fallback;
  std::string_view chip_field;  // key of chip files that gives the value of chip=PRESET
  Sourced (*of_chip)(const Chip&, const BlockCall&) = nullptr;           // made of several figures or other inputs
  BlockValue (*list_of_chip)(const Chip&) = nullptr;                     // of a list
  std::optional<double> (*of_model)(const TransformerShape&) = nullptr;  // of model=PRESET
  std::string_view yields_to;  // not of the model where the input of this name is typed in
  std::optional<double> (*computed)(const BlockCall&) = nullptr;  // from the inputs before it
  std::string_view computed_text;                                 // "d_model / n_heads"

  bool is_list() const { return kind >= InputKind::numbers; }
  bool is_whole() const { return kind == InputKind::integer; }
  bool is_numeric() const {
    return kind == InputKind::number || kind == InputKind::integer || kind == InputKind::numbers ||
           kind == InputKind::integers;
  }
  bool takes_chip() const { return !chip_field.empty() || of_chip != nullptr || list_of_chip != nullptr; }
};
// "> 0", "1 .. 64, whole", "one of: bf16, fp8": what values are allowed.
Sentence domain_of(const BlockInput&);
std::string_view unit_text(const BlockInput&);  // "" for choices and flags

enum class OutputKind : std::uint8_t {
  number,
  list,   // an indexed quantity, in order
  flags,  // an indexed quantity, each true if not zero
  holds,  // true if the quantity is at least `threshold`
  word,   // words[0] if the quantity is at least `threshold`, else words[1]; or what the block said
  table,  // rows of named columns
};

struct BlockOutput {
  std::string_view name;
  OutputKind kind = OutputKind::number;
  Q q = Q::n_layers;
  double threshold = 0;
  std::vector<std::string_view> words;
};

struct BlockError {
  std::string input;  // which one is wrong; empty: the whole
  Sentence message;
  Sentence remedy;
};

template <Scalar S>
class BlockRun;

// What a block is about, in the order of the table.
enum class BlockTopic : std::uint8_t {
  roofline,
  hardware,
  network,
  sharding,
  model,
  memory,
  bounds,
  parallelism,
  pipeline,
  run,
  serving,
};
inline constexpr EnumTable<BlockTopic> kBlockTopicIds{"roofline", "hardware", "network", "sharding",
                                                      "model",    "memory",   "bounds",  "parallelism",
                                                      "pipeline", "run",      "serving"};

struct BuildingBlock {
  std::string_view id;
  std::string_view source;  // chapter or paper
  std::vector<BlockInput> inputs;
  std::vector<BlockOutput> outputs;
  void (*run)(BlockRun<double>&) = nullptr;
  void (*run_traced)(BlockRun<Traced>&) = nullptr;
  BlockTopic topic = BlockTopic::roofline;
  bool is_simulated = false;  // a run takes as long as what it plays through

  const BlockInput* find_input(std::string_view name) const;
  bool takes_chip() const;
  bool takes_model() const;
};

// All of them, by topic. find_block: null if there is none of that id.
std::span<const BuildingBlock> blocks();
const BuildingBlock* find_block(std::string_view id);

// ---- asking ----

// A block with values for its inputs. set() what is known, then complete() fills in the rest.
class BlockCall {
 public:
  explicit BlockCall(const BuildingBlock& block) : block_(&block), values_(block.inputs.size()) {}

  // The value as it is typed: "8", "1e12", "true", "4,8,2", "ring".
  std::optional<BlockError> set(std::string_view name, std::string_view text);
  // The same of a value that was found, not typed: it wins over presets and defaults as a typed one does.
  void assume(std::string_view name, double x);
  // What was left out: from the chip, the model, other inputs, or the documented default. Chip and model must outlive
  // this.
  void complete(const Chip* chip, const TransformerShape* model);

  // The same question with this input at another value, as if it had been typed: what was filled in is so anew.
  BlockCall with(std::string_view name, double value) const;

  const BuildingBlock& block() const { return *block_; }
  const Chip* chip() const { return chip_; }                // of the preset; null without one
  const TransformerShape* model() const { return model_; }  // of the preset; null without one
  std::span<const BlockValue> values() const { return values_; }
  const BlockValue& value(std::string_view name) const;
  // NaN while unknown.
  double number(std::string_view name) const;
  std::string_view word(std::string_view name) const;  // of a choice
  bool is_typed(std::string_view name) const;          // set() or assumed, not filled in
  // The input would be filled in from others, if those of these names were known.
  bool is_decided_by(const BlockInput& in, const std::vector<std::string>& names) const;

 private:
  const BuildingBlock* block_;
  const Chip* chip_ = nullptr;
  const TransformerShape* model_ = nullptr;
  std::vector<BlockValue> values_;
};

// ---- answers ----

using Cell = std::variant<double, std::string>;
struct BlockTable {
  std::vector<std::string_view> columns;
  std::vector<std::vector<Cell>> rows;
};

struct BlockAnswer {
  const BlockOutput* output = nullptr;
  std::vector<double> numbers;  // empty: absent. flags: 0 and 1
  std::string word;
  std::vector<std::string> missing;  // names of inputs without which it is unknown
  std::string_view reason;           // why it has no value though nothing is missing: calc.absent.<reason>
  std::vector<std::uint32_t> nodes;  // in the trace, for its derivation
  bool is_absent() const { return numbers.empty() && word.empty(); }
};

struct BlockResult {
  std::optional<BlockError> error;   // the inputs contradict each other
  std::vector<BlockAnswer> answers;  // by output
  BlockTable table;
  std::unique_ptr<Trace> trace;  // null where it was run over double

  const BlockAnswer* find(std::string_view name) const;
};

BlockResult run_block(const BlockCall&);        // over Traced: answers can be derived
BlockResult run_block_plain(const BlockCall&);  // over double; the same numbers to the last bit
// Why an answer is what it is; empty for texts and absent ones.
std::vector<Derivation> derivations(const BlockResult&, const BlockAnswer&);

// ---- for the blocks themselves ----

template <Scalar S>
class BlockRun {
 public:
  BlockRun(const BlockCall& call, Trace* trace) : call_(call), trace_(trace) {}

  S operator[](Q q) const;         // a plain input; unknown ones make unknown what depends on them
  std::vector<S> list(Q q) const;  // entries of a list; empty while unknown
  bool knows(Q q) const;
  int integer(Q q) const;  // 1 while unknown: to branch on only
  std::vector<int> integers(Q q) const;
  std::string_view choice(std::string_view name) const { return call_.word(name); }
  bool flag(std::string_view name) const { return call_.number(name) > 0.5; }
  const BlockValue& value(std::string_view name) const { return call_.value(name); }
  const BlockCall& call() const { return call_; }
  Trace* trace() const { return trace_; }

  // Names x and makes it the answer of the output with this quantity, if there is one.
  S out(Q q, const S& x) { return out(q, -1, x); }
  S out(Q q, int index, const S& x);
  S simulated(Q q, int index, double value);  // came out of a simulation or a table of rules
  void say(std::string_view output, std::string word) { words_.emplace_back(output, std::move(word)); }
  // The output has no value for these inputs, whatever else is given; calc.absent.<reason> says why.
  void without(Q q, std::string_view reason) { absences_.push_back({q, reason}); }
  void without(std::initializer_list<Q> all, std::string_view reason) {
    for (const Q q : all) without(q, reason);
  }
  // The output needs this input, which is unknown, though no number says so.
  void needs(Q q, std::string_view input) { needs_.push_back({q, input}); }
  // Whatever is not made yet needs this input, which is unknown: of a list, where there is no number to branch on.
  void rest_needs(std::string_view input) { rest_needs_ = input; }
  void fail(std::string_view input, Sentence message, Sentence remedy = {});

  struct Made {
    Q q;
    int index;
    S x;
  };
  const std::vector<Made>& made() const { return made_; }
  const std::vector<std::pair<std::string_view, std::string>>& words() const { return words_; }
  const std::vector<std::pair<Q, std::string_view>>& absences() const { return absences_; }
  const std::vector<std::pair<Q, std::string_view>>& needs() const { return needs_; }
  std::string_view rest_needs() const { return rest_needs_; }
  const std::optional<BlockError>& error() const { return error_; }
  BlockTable table;

 private:
  std::size_t slot(Q q) const;
  const BlockCall& call_;
  Trace* trace_;
  mutable std::vector<Made> leaves_;
  std::vector<Made> made_;
  std::vector<std::pair<std::string_view, std::string>> words_;
  std::vector<std::pair<Q, std::string_view>> absences_, needs_;
  std::string_view rest_needs_;
  std::optional<BlockError> error_;
};
extern template class BlockRun<double>;
extern template class BlockRun<Traced>;

}  // namespace roofscape::engine
