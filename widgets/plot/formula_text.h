// A derivation's expression as one line of text, once in symbols and once with numbers put in: products with *,
// division with parentheses where they are needed, constants grouped in threes. A choice shows the side that was
// taken.
#pragma once

#include <string>
#include <vector>

#include "engine/evaluate/explain.h"
#include "widgets/canvas/number_format.h"

namespace roofscape::widgets {

std::string formula_in_symbols(const engine::Expression& expression);

// How values of a derivation are written: four digits, so that the two sides of a close decision can be told apart.
inline constexpr NumberOptions kDerivedDigits{.trim_zeros = true, .significant = 4};

// What the operands of a line are written with: as many more digits as it takes that whoever redoes the line from what
// is printed comes to its value, up to one in the last of the four digits that stand for that.
NumberOptions digits_to_redo(const engine::DerivationLine& line);
// The value of an expression made from its numbers as they are printed.
double redone(const engine::Expression& expression, const NumberOptions& digits);

// Numbers carry their unit where it is one that can be mixed up (seconds, bytes, FLOP); counts stand alone.
std::string formula_in_numbers(const engine::Expression& expression, const NumberOptions& digits = kDerivedDigits);

// Every max and min of an expression, outermost first.
std::vector<const engine::Expression*> decisions(const engine::Expression& expression);

}  // namespace roofscape::widgets
