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
// Numbers carry their unit where it is one that can be mixed up (seconds, bytes, FLOP); counts stand alone.
std::string formula_in_numbers(const engine::Expression& expression);

// How values of a derivation are written: four digits, so that the two sides of a close decision can be told apart.
inline constexpr NumberOptions kDerivedDigits{.trim_zeros = true, .significant = 4};

// Every max and min of an expression, outermost first.
std::vector<const engine::Expression*> decisions(const engine::Expression& expression);

}  // namespace roofscape::widgets
