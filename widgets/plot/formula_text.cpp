#include "widgets/plot/formula_text.h"

#include <cmath>

#include "widgets/canvas/number_format.h"

namespace roofscape::widgets {
namespace {

using engine::Expression;
using Kind = Expression::Kind;

enum class Writing { symbols, numbers };

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

std::string leaf(const Expression& e, Writing writing) {
  if (e.kind == Kind::operand && writing == Writing::symbols) return e.symbol;
  if (e.kind == Kind::operand && has_dimension(e.unit)) return format(e.value, e.unit, kDerivedDigits);
  if (e.kind == Kind::operand && e.unit.notation == engine::Notation::percent)
    return format_significant(e.value, 4, true);
  if (e.value == std::floor(e.value)) return format_count(e.value);
  return format_significant(e.value, 4, true);
}

// The child a choice took.
const Expression& resolved(const Expression& e) {
  const Expression* at = &e;
  while (at->kind == Kind::choose && at->winner >= 0 && static_cast<std::size_t>(at->winner) < at->children.size())
    at = &at->children[static_cast<std::size_t>(at->winner)];
  return *at;
}

std::string write(const Expression& expression, Writing writing);

std::string write_child(const Expression& child, int needed, Writing writing) {
  const Expression& e = resolved(child);
  std::string text = write(e, writing);
  const bool negative = writing == Writing::numbers && binding(e) == kAtom && e.value < 0;
  return binding(e) < needed || negative ? "(" + text + ")" : text;
}

std::string joined(const Expression& e, std::string_view sign, int first, int rest, Writing writing) {
  std::string text;
  for (std::size_t i = 0; i < e.children.size(); ++i) {
    if (i > 0) text += sign;
    text += write_child(e.children[i], i == 0 ? first : rest, writing);
  }
  return text;
}

std::string call(std::string_view name, const Expression& e, Writing writing) {
  return std::string(name) + "(" + joined(e, ", ", 0, 0, writing) + ")";
}

std::string write(const Expression& expression, Writing writing) {
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

std::string formula_in_symbols(const Expression& expression) { return write(expression, Writing::symbols); }
std::string formula_in_numbers(const Expression& expression) { return write(expression, Writing::numbers); }

std::vector<const Expression*> decisions(const Expression& expression) {
  std::vector<const Expression*> out;
  collect(expression, out);
  return out;
}

}  // namespace roofscape::widgets
