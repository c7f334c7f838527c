#include "widgets/plot/formula_text.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/base/read_number.h"
#include "widgets/canvas/number_format.h"

namespace roofscape::widgets {
namespace {

using engine::Expression;
using Kind = Expression::Kind;

// Symbols where there are no digits, else numbers.
using Writing = std::optional<NumberOptions>;

// How tightly a kind binds; a child that binds less than its place needs parentheses.
constexpr int kSum = 1, kProduct = 2, kAtom = 3;

int binding(const Expression& e) {
  switch (e.kind) {
    case Kind::add:
    case Kind::subtract:
      return kSum;
    case Kind::multiply:
    case Kind::divide:
      return kProduct;
    default:
      return kAtom;
  }
}

bool has_dimension(const engine::Unit& unit) { return unit.dimension != engine::Dimension{}; }

std::string leaf(const Expression& e, const Writing& writing) {
  if (e.kind == Kind::operand && !writing) return e.symbol;
  const NumberOptions digits = writing.value_or(kDerivedDigits);
  if (e.kind == Kind::operand && has_dimension(e.unit)) return format(e.value, e.unit, digits);
  if (e.kind == Kind::operand && e.unit.notation == engine::Notation::percent)
    return format_significant(e.value, digits.significant, true);
  if (e.value == std::floor(e.value)) return format_count(e.value);
  return format_significant(e.value, digits.significant, true);
}

// The child a choice took.
const Expression& resolved(const Expression& e) {
  const Expression* at = &e;
  while (at->kind == Kind::choose && at->winner >= 0 && static_cast<std::size_t>(at->winner) < at->children.size())
    at = &at->children[static_cast<std::size_t>(at->winner)];
  return *at;
}

std::string write(const Expression& expression, const Writing& writing);

std::string write_child(const Expression& child, int needed, const Writing& writing) {
  const Expression& e = resolved(child);
  std::string text = write(e, writing);
  const bool negative = writing && binding(e) == kAtom && e.value < 0;
  return binding(e) < needed || negative ? "(" + text + ")" : text;
}

std::string joined(const Expression& e, std::string_view sign, int first, int rest, const Writing& writing) {
  std::string text;
  for (std::size_t i = 0; i < e.children.size(); ++i) {
    if (i > 0) text += sign;
    text += write_child(e.children[i], i == 0 ? first : rest, writing);
  }
  return text;
}

std::string call(std::string_view name, const Expression& e, const Writing& writing) {
  return std::string(name) + "(" + joined(e, ", ", 0, 0, writing) + ")";
}

std::string write(const Expression& expression, const Writing& writing) {
  const Expression& e = resolved(expression);
  switch (e.kind) {
    case Kind::operand:
    case Kind::constant:
    case Kind::choose:
      return leaf(e, writing);
    case Kind::add:
      return joined(e, " + ", kSum, kSum, writing);
    case Kind::subtract:
      return joined(e, " \u2212 ", kSum, kProduct, writing);
    case Kind::multiply:
      return joined(e, " * ", kProduct, kProduct, writing);
    case Kind::divide:
      return joined(e, " / ", kProduct, kAtom, writing);
    case Kind::max:
      return call("max", e, writing);
    case Kind::min:
      return call("min", e, writing);
    case Kind::ceil:
      return call("ceil", e, writing);
    case Kind::floor:
      return call("floor", e, writing);
    case Kind::sqrt:
      return call("sqrt", e, writing);
  }
  return {};
}

void collect(const Expression& expression, std::vector<const Expression*>& out) {
  const Expression& e = resolved(expression);
  if ((e.kind == Kind::max || e.kind == Kind::min) && e.winner >= 0) out.push_back(&e);
  for (const Expression& child : e.children) collect(child, out);
}

}  // namespace

std::string formula_in_symbols(const Expression& expression) { return write(expression, std::nullopt); }
std::string formula_in_numbers(const Expression& expression, const NumberOptions& digits) {
  return write(expression, digits);
}

double redone(const Expression& expression, const NumberOptions& digits) {
  const Expression& e = resolved(expression);
  if (e.kind == Kind::operand || e.kind == Kind::constant || e.kind == Kind::choose || e.children.empty()) {
    const bool has_unit = e.kind == Kind::operand && has_dimension(e.unit);
    const auto read = engine::read_number(leaf(e, digits), has_unit ? e.unit : engine::unit::one);
    return read ? *read : e.value;
  }
  double value = redone(e.children.front(), digits);
  if (e.kind == Kind::ceil) return std::ceil(value);
  if (e.kind == Kind::floor) return std::floor(value);
  if (e.kind == Kind::sqrt) return std::sqrt(value);
  for (std::size_t i = 1; i < e.children.size(); ++i) {
    const double next = redone(e.children[i], digits);
    if (e.kind == Kind::add) value += next;
    if (e.kind == Kind::subtract) value -= next;
    if (e.kind == Kind::multiply) value *= next;
    if (e.kind == Kind::divide) value /= next;
    if (e.kind == Kind::max) value = std::max(value, next);
    if (e.kind == Kind::min) value = std::min(value, next);
  }
  return value;
}

NumberOptions digits_to_redo(const engine::DerivationLine& line) {
  constexpr int kMostDigits = 15;
  NumberOptions digits = kDerivedDigits;
  if (line.value == 0 || !std::isfinite(line.value)) return digits;
  const double last = std::pow(10, std::floor(std::log10(std::abs(line.value))) - (kDerivedDigits.significant - 1));
  while (digits.significant < kMostDigits && !(std::abs(redone(line.expression, digits) - line.value) <= last))
    ++digits.significant;
  return digits;
}

std::vector<const Expression*> decisions(const Expression& expression) {
  std::vector<const Expression*> out;
  collect(expression, out);
  return out;
}

}  // namespace roofscape::widgets
