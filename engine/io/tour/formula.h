// Formulas of a tour: the numbers of its texts, answers and claims, computed from what a scene shows instead of typed.
// "step.time_s", "before:mfu - mfu", "state:memory_bytes / 8", "max(a, b)". A name is a quantity of a report, a field of the
// scenario, or an input or output of a building block; with "name:" before it, of another state of the scene.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/base/sentence.h"
#include "engine/base/unit.h"

namespace roofscape::io {

// A value with what it is counted in.
struct TourNumber {
  double value = 0;
  engine::Unit unit = engine::unit::one;
};

// One name in a formula. An empty state is the one that the scene shows.
struct TourReference {
  std::string state, name;
};

class TourFormula {
 public:
  enum class Operator : std::uint8_t { add, subtract, multiply, divide, negate, max, min, below, above };
  using Item = std::variant<double, TourReference, Operator>;

  TourFormula() = default;
  // What cannot be read is said by `problem`; nothing then.
  static std::optional<TourFormula> parse(std::string_view text, engine::Sentence& problem);
  static TourFormula constant(double value);

  bool empty() const { return items_.empty(); }
  const std::string& text() const { return text_; }
  // Whether it compares (has < or > between its sides): 1 where it holds, 0 where it does not.
  bool compares() const;
  std::vector<TourReference> references() const;

  using Lookup = std::function<std::optional<TourNumber>(const TourReference&)>;
  // Nothing where a name has no value, a division is by zero or the two sides of a sum are no numbers of one kind.
  std::optional<TourNumber> compute(const Lookup& lookup) const;

 private:
  friend class FormulaParser;
  std::string text_;
  std::vector<Item> items_;  // operands before their operator
};

// How a number of a text is written, after a bar: "{mfu|whole_percent}". Without one as its unit says.
//   percent 46.2 %, whole_percent 46 %, times 1.33 x, whole 1 024 (rounded), number 3.14, rough 3.1 (two digits),
//   share < 1 % (of a share of little), name (of a choice: the words of its value), millions, billions 70.6 billion,
//   trillions
// or the symbol of a unit that the value is counted in: "{a / b|years}".
inline constexpr std::array<std::string_view, 11> kTourForms{"percent",  "whole_percent", "times",    "whole",
                                                             "number",   "rough",         "share",    "name",
                                                             "millions", "billions",      "trillions"};
// The unit of this symbol: "years", "B/s".
std::optional<engine::Unit> unit_called(std::string_view symbol);

// A text cut at its formulas.
struct TourPiece {
  std::string words;  // as they are
  TourFormula formula;
  std::string form;  // of kTourForms, a unit's symbol, or empty
};
std::optional<std::vector<TourPiece>> cut_text(std::string_view text, engine::Sentence& problem);

}  // namespace roofscape::io
