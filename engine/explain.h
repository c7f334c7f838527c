// Derivations: how a quantity came about, recorded from the arithmetic that produced it. explain() runs the same formulas
// as evaluate() over the number type that remembers (Traced), so a derivation cannot disagree with the report.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/quantity.h"
#include "engine/scenario.h"

namespace roofscape::engine {

// One line of a derivation: symbol = formula = formula with numbers = value.
struct DerivationLine {
  std::optional<Q> quantity;      // the row it derives or the input it states
  std::string id;                 // "step.time_s"; indexed rows: "links.bytes_per_s[fsdp]"
  std::string symbol;             // "T_step"
  std::string formula;            // in symbols; empty for inputs. "a * b / c", "max(x, y)"
  std::string numbers;            // the same with the values put in
  double value = 0;
  Unit unit;
  std::string source;             // of the formula, or of the input
  std::string decided;            // symbol of the side that won a max or min, empty if there was none
  double margin = 0;              // by how much it won, as a ratio (1.33: a third more); 0 if there was none
  bool is_input = false;
  int depth = 0;                  // 0 is the quantity asked for
  std::vector<std::string> uses;  // ids of the lines it is made of, in order
  // Sums of more than five terms are listed instead of written in a row: one entry a term that is not zero.
  struct Term { std::string id, symbol; double value = 0; Unit unit; };
  std::vector<Term> terms;
};

struct Derivation {
  std::vector<DerivationLine> lines;  // depth first, every quantity once; the first is the one asked for
};

// `id` is a quantity's id, with [index] for indexed ones ("layer.comm_forward_s[fsdp]", "stage.forward_s[3]").
// Empty if there is no such quantity or it has no value in this scenario.
std::optional<Derivation> explain(const Scenario&, std::string_view id);

// All ids that can be explained in this scenario, indexed ones included.
std::vector<std::string> explainable(const Scenario&);

}  // namespace roofscape::engine
