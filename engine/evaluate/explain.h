// Derivations: how a quantity came about, recorded from the arithmetic that produced it. explain() runs the same
// formulas as evaluate() over the number type that remembers (Traced), so a derivation cannot disagree with the
// report. The result is data; how it is worded or set is up to whoever shows it (widgets/plot/formula_text.h writes it as
// text).
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/quantity.h"
#include "engine/base/trace.h"
#include "engine/report/report.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

// One side of an equation. Leaves are operands: named quantities, or constants such as 2 FLOP of a multiply-add.
struct Expression {
  enum class Kind : std::uint8_t {
    operand,
    constant,
    add,
    subtract,
    multiply,
    divide,
    max,
    min,
    ceil,
    floor,
    sqrt,
    choose
  };
  Kind kind = Kind::constant;
  std::string id;      // operand: its line in the derivation, "step.time_s" or "links.bytes_per_s[fsdp]"
  std::string symbol;  // operand: "T_step", "W_fsdp"
  double value = 0;    // of this expression
  Unit unit;           // operand: of its row. constant: what its dimension says (unit::flop_each, unit::one ...)
  std::vector<Expression> children;  // add and multiply are flat: any number of terms or factors
  int winner = -1;                   // max, min, choose: which child decided
  bool is_empty() const { return kind == Kind::constant && children.empty(); }  // no formula: an input, or counted
};

// One line of a derivation: symbol = expression = value. Inputs have no expression.
struct DerivationLine {
  Q quantity = Q::step_time;
  std::string id;  // "step.time_s"; indexed rows "links.bytes_per_s[fsdp]"
  std::string symbol;
  double value = 0;
  Unit unit;
  std::string source;  // of the formula; for an input the publication, preset or setting it came from
  bool is_input = false;
  bool is_simulated = false;      // came out of the pipeline simulation, not of a formula
  bool is_folded = false;         // zero, and not what was asked for: its formula is left to a derivation of its own
  Expression expression;          // empty constant for inputs
  int depth = 0;                  // 0 is the quantity asked for
  std::vector<std::string> uses;  // ids of the lines it is made of, in order, each once
};

struct Derivation {
  // Every quantity once; the first is the one asked for. Depth first, or of a derivation that was asked for down to a
  // depth, level by level.
  std::vector<DerivationLine> lines;
  const DerivationLine* find(std::string_view id) const;
};

inline constexpr int kToTheInputs = std::numeric_limits<int>::max();

// `id` is a quantity's id, with [index] for indexed ones ("layer.comm_forward_s[fsdp]", "stage.forward_s[3]").
// Empty if there is no such quantity or it has no value in this scenario, as what is of a run has none where the plan
// cannot run (Absence::cannot_run). Lines deeper than `deepest` are left out: one look shows a formula or two.
std::optional<Derivation> explain(const Scenario&, std::string_view id, int deepest = kToTheInputs);
// The same beside evaluate()'s report of that scenario, whose pipeline is not run again: in a window, frame by frame.
std::optional<Derivation> explain(const Scenario&, const Report&, std::string_view id, int deepest = kToTheInputs);

// A scenario's run over Traced, recorded once for many derivations; explain() makes one for each.
class Recording {
 public:
  explicit Recording(const Scenario&);
  Recording(const Scenario&, const Report&);  // evaluate()'s of it
  ~Recording();
  Recording(Recording&&) noexcept;
  Recording& operator=(Recording&&) noexcept;

  std::optional<Derivation> explain(std::string_view id, int deepest = kToTheInputs) const;
  std::vector<std::string> explainable() const;

 private:
  struct Run;
  std::unique_ptr<Run> run_;
};

// The quantities of a report and those that only stand between two of them ("offload.update_s"), which evaluate() leaves
// out, from the same derivations. It takes a traced run: for what is written out whole or asked for by name.
QuantityValues all_quantities(const Scenario&, const Report&);

// The same of any recording: how the named node or input `root` came about.
Derivation derive(const Trace&, std::uint32_t root);

// All ids that can be explained in this scenario, indexed ones included.
std::vector<std::string> explainable(const Scenario&);

}  // namespace roofscape::engine
