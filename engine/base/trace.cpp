#include "engine/base/trace.h"

#include <cmath>

#include "engine/base/scalar.h"

namespace roofscape::engine {

namespace {

// Zero has every dimension: a sum may start from it.
bool is_free_zero(const TraceNode& node) { return node.verb == Verb::constant && node.value == 0; }

}  // namespace

Traced Trace::append(const TraceNode& node) {
  Traced t;
  t.value_ = node.value;
  t.trace_ = this;
  t.node_ = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back(node);
  return t;
}

std::uint32_t Trace::materialise(const Traced& x) {
  if (x.trace_ != nullptr) return x.node_;
  TraceNode node;
  node.dimension = x.dimension_;
  node.value = x.value_;
  return append(node).node_;
}

Dimension Trace::dimension_of_result(Verb verb, const TraceNode& a, const TraceNode& b) {
  switch (verb) {
    case Verb::multiply:
      return a.dimension * b.dimension;
    case Verb::divide:
      return a.dimension / b.dimension;
    case Verb::ceil:
    case Verb::floor:
      return a.dimension;
    case Verb::sqrt: {
      Dimension d = a.dimension;
      const auto half = [this](std::int8_t e) {
        if (e % 2 != 0) problems_.emplace_back("square root of an odd power");
        return static_cast<std::int8_t>(e / 2);
      };
      return {half(d.second), half(d.byte), half(d.flop), half(d.dollar)};
    }
    default:
      break;
  }
  if (is_free_zero(a)) return b.dimension;
  if (is_free_zero(b) || a.dimension == b.dimension) return a.dimension;
  problems_.emplace_back("operands of different dimension");
  return a.dimension;
}

Traced Trace::apply(Verb verb, const Traced& a, const Traced& b, double value, std::uint8_t winner) {
  Trace* trace = a.trace_ != nullptr ? a.trace_ : b.trace_;
  if (trace == nullptr) {  // two constants: still a constant
    Dimension d = a.dimension_;
    if (verb == Verb::multiply) d = a.dimension_ * b.dimension_;
    if (verb == Verb::divide) d = a.dimension_ / b.dimension_;
    return Traced::constant(value, d);
  }
  const auto is_nothing = [trace](const Traced& x) {
    return x.trace_ != nullptr && is_free_zero(trace->nodes_[x.node_]);
  };
  if (verb == Verb::add && is_nothing(a) && is_nothing(b)) return a;
  // A share of nothing is nothing too, of whatever dimension it is added to.
  if (value == 0 && verb == Verb::multiply && is_nothing(b)) return b;
  if (value == 0 && (verb == Verb::multiply || verb == Verb::divide) && is_nothing(a)) return a;
  TraceNode node;
  node.verb = verb;
  node.winner = winner;
  node.a = trace->materialise(a);
  node.b = trace->materialise(b);
  node.value = value;
  node.dimension = trace->dimension_of_result(verb, trace->nodes_[node.a], trace->nodes_[node.b]);
  return trace->append(node);
}

Traced Trace::name(Q q, int index, const Traced& x) {
  TraceNode node;
  node.verb = Verb::named;
  node.variant = static_cast<std::uint8_t>(variant_);
  node.row = static_cast<std::uint16_t>(q);
  node.index = static_cast<std::int16_t>(index);
  node.a = materialise(x);
  node.value = x.value_;
  node.dimension = quantity(q).unit.dimension;
  const TraceNode& operand = nodes_[node.a];
  if (!is_free_zero(operand) && operand.dimension != node.dimension)
    problems_.push_back("not of the dimension of its row: " + std::string(quantity(q).id));
  return append(node);
}

Traced Trace::input(Q q, int index, double value, std::string_view source) {
  TraceNode node;
  node.verb = Verb::input;
  node.row = static_cast<std::uint16_t>(q);
  node.index = static_cast<std::int16_t>(index);
  node.value = value;
  node.dimension = quantity(q).unit.dimension;
  node.source = static_cast<std::uint32_t>(sources_.size());
  sources_.emplace_back(source);
  return append(node);
}

Traced Trace::zero() { return append(TraceNode{}); }

Traced Trace::simulated(Q q, int index, double value) {
  TraceNode node;
  node.verb = Verb::simulated;
  node.row = static_cast<std::uint16_t>(q);
  node.index = static_cast<std::int16_t>(index);
  node.value = value;
  node.dimension = quantity(q).unit.dimension;
  return append(node);
}

Traced operator+(const Traced& a, const Traced& b) { return Trace::apply(Verb::add, a, b, a.value_ + b.value_); }
Traced operator-(const Traced& a, const Traced& b) { return Trace::apply(Verb::subtract, a, b, a.value_ - b.value_); }
Traced operator*(const Traced& a, const Traced& b) { return Trace::apply(Verb::multiply, a, b, a.value_ * b.value_); }
Traced operator/(const Traced& a, const Traced& b) { return Trace::apply(Verb::divide, a, b, a.value_ / b.value_); }

Traced named(Q q, int index, const Traced& x) { return x.trace() == nullptr ? x : x.trace()->name(q, index, x); }
Traced named(Q q, const Traced& x) { return named(q, -1, x); }

Traced max(const Traced& a, const Traced& b) {
  const double value = max(a.value(), b.value());
  return Trace::apply(Verb::max, a, b, value, a.value() >= b.value() ? 0 : 1);
}
Traced min(const Traced& a, const Traced& b) {
  const double value = min(a.value(), b.value());
  return Trace::apply(Verb::min, a, b, value, a.value() <= b.value() ? 0 : 1);
}
Traced ceil(const Traced& x) { return Trace::apply(Verb::ceil, x, x, std::ceil(x.value())); }
Traced floor(const Traced& x) { return Trace::apply(Verb::floor, x, x, std::floor(x.value())); }
Traced sqrt(const Traced& x) { return Trace::apply(Verb::sqrt, x, x, std::sqrt(x.value())); }
TracedCondition at_least(const Traced& a, const Traced& b) { return {a.value() >= b.value()}; }
Traced choose(TracedCondition first, const Traced& a, const Traced& b) {
  return Trace::apply(Verb::choose, a, b, first.holds ? a.value() : b.value(), first.holds ? 0 : 1);
}

}  // namespace roofscape::engine
