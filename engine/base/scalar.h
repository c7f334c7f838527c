// The two number types of the engine's formulas. Formulas are templates over Scalar, written once: with `double` they
// compile to plain arithmetic, with `Traced` they record themselves (trace.h), and explain() reads the record.
//
// Verbs both types have: + - * /, max, min, ceil, floor, sqrt, choose(at_least(a, b), x, y), index_of_largest,
// named(Q, x), named(Q, index, x). Traced has no comparison operators on purpose: an `if` on a computed value does
// not compile, so every branch on values goes through a verb that records which side decided. Branch freely on enums
// and degrees.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>

#include "engine/base/quantity.h"
#include "engine/base/trace.h"
#include "engine/base/unit.h"

namespace roofscape::engine {

template <class S>
concept Scalar = std::same_as<S, double> || std::same_as<S, Traced>;

// A number that stands in a formula, with the dimension it has there: constant<S>(2, unit::flop_each) of a
// multiply-add.
template <Scalar S>
constexpr S constant(double value, const Unit& u = unit::one) {
  if constexpr (std::same_as<S, double>) {
    (void)u;
    return value;
  } else {
    return Traced::constant(value, u.dimension);
  }
}

constexpr double named(Q, double x) { return x; }
constexpr double named(Q, int /*index*/, double x) { return x; }
constexpr double value_of(double x) { return x; }
inline double value_of(const Traced& x) { return x.value(); }
constexpr Trace* trace_of(double) { return nullptr; }
inline Trace* trace_of(const Traced& x) { return x.trace(); }

// An unknown input is NaN inside the engine and makes unknown all that depends on it; it never leaves (report.h).
constexpr double max(double a, double b) { return (a >= b || a != a) ? a : b; }
constexpr double min(double a, double b) { return (a <= b || a != a) ? a : b; }
inline double ceil(double x) { return std::ceil(x); }
inline double floor(double x) { return std::floor(x); }
inline double sqrt(double x) { return std::sqrt(x); }
constexpr bool at_least(double a, double b) { return a >= b; }
constexpr double choose(bool first, double a, double b) { return first ? a : b; }

// Which of the numbers is the largest (the first of equals): for "the fullest stage decides".
// `number` picks it from an element of `rows`.
template <Scalar S, class Rows, class F>
std::size_t index_of_largest(const Rows& rows, F&& number) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const S& x = number(rows[i]);
    const S& largest = number(rows[best]);
    if (value_of(x) > value_of(largest)) best = i;
  }
  return best;
}

// A sum that may have no terms: a derivation has none where nothing is added, and no zero to begin with.
template <Scalar S>
struct Terms {
  S sum{};
  bool any = false;
  void add(const S& x) {
    sum = any ? sum + x : x;
    any = true;
  }
  S or_zero(const S& zero) const { return any ? sum : zero; }
};

// The leaves of a derivation: an input with the place it comes from, and a number that a simulation produced. `trace`
// is where Traced ones are recorded; for double only the value counts.
template <Scalar S>
S input_leaf(Trace* trace, Q q, int index, double value, std::string_view source) {
  if constexpr (std::same_as<S, double>) {
    (void)trace, (void)q, (void)index, (void)source;
    return value;
  } else {
    return trace->input(q, index, value, source);
  }
}
template <Scalar S>
S simulated_leaf(Trace* trace, Q q, int index, double value) {
  if constexpr (std::same_as<S, double>) {
    (void)trace, (void)q, (void)index;
    return value;
  } else {
    return trace->simulated(q, index, value);
  }
}

// A degree of the mesh or another small integer: `n` to branch on, `x` to calculate with (in a derivation a bare
// integer would be a number without a name).
template <Scalar S>
struct Degree {
  int n = 1;
  S x{};
};

}  // namespace roofscape::engine
