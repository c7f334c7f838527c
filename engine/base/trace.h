// Traced: a number that remembers how it was made. Every operation appends a node to a Trace owned by the caller of
// explain(); the value is computed exactly as for double, in the same order, so both agree to the last bit. Nodes
// carry the dimension of their value; adding seconds to bytes, or naming a number as a quantity of another dimension,
// is noted as a problem (a test asks that there be none).
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/quantity.h"
#include "engine/base/unit.h"

namespace roofscape::engine {

enum class Verb : std::uint8_t {
  constant,
  input,
  simulated,
  named,
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

struct TraceNode {
  Verb verb = Verb::constant;
  std::uint8_t winner = 0;     // max, min, choose: 0 or 1
  std::uint8_t variant = 0;    // named: a Variant
  std::uint16_t row = 0xffff;  // input, simulated, named: row of the quantity table
  std::int16_t index = -1;     // of an indexed quantity
  Dimension dimension;
  std::uint32_t a = 0, b = 0;  // operands
  std::uint32_t source = 0;    // input: in Trace::sources
  double value = 0;
};

class Trace;

// What a quantity is of, where the same formulas run for several kinds of a thing: in a model whose first layers are
// dense and whose others have experts, the layers of either kind.
enum class Variant : std::uint8_t { none, dense_layer, expert_layer };

class Traced {
 public:
  Traced() = default;
  Traced(double) = delete;  // say constant<S>(x, unit): a bare number has no dimension
  static constexpr Traced constant(double value, Dimension dimension) {
    Traced t;
    t.value_ = value;
    t.dimension_ = dimension;
    return t;
  }
  constexpr double value() const { return value_; }
  Trace* trace() const { return trace_; }
  std::uint32_t node() const { return node_; }

  friend Traced operator+(const Traced& a, const Traced& b);
  friend Traced operator-(const Traced& a, const Traced& b);
  friend Traced operator*(const Traced& a, const Traced& b);
  friend Traced operator/(const Traced& a, const Traced& b);

 private:
  friend class Trace;
  double value_ = 0;
  Trace* trace_ = nullptr;  // null in constants that no operation has touched yet
  std::uint32_t node_ = 0;
  Dimension dimension_;  // of constants; for others the node's counts
};
static_assert(sizeof(Traced) == 24);

struct TracedCondition {
  bool holds = false;
};

Traced named(Q q, const Traced& x);
Traced named(Q q, int index, const Traced& x);
Traced max(const Traced& a, const Traced& b);
Traced min(const Traced& a, const Traced& b);
Traced ceil(const Traced& x);
Traced floor(const Traced& x);
Traced sqrt(const Traced& x);
TracedCondition at_least(const Traced& a, const Traced& b);
Traced choose(TracedCondition first, const Traced& a, const Traced& b);

class Trace {
 public:
  // A leaf: an input of the scenario, with the place its value comes from.
  Traced input(Q q, int index, double value, std::string_view source);
  // A zero of any dimension that is in the trace, so that quantities that are zero can be explained too.
  Traced zero();
  // A leaf that a simulation produced.
  Traced simulated(Q q, int index, double value);

  const std::vector<TraceNode>& nodes() const { return nodes_; }
  const std::string& source(const TraceNode& node) const { return sources_[node.source]; }
  // Dimension mistakes found so far, in words; empty in a correct engine.
  const std::vector<std::string>& problems() const { return problems_; }

  // All that is named until the next call is of this variant.
  void set_variant(Variant variant) { variant_ = variant; }

  // For the verbs above; not for formulas.
  static Traced apply(Verb verb, const Traced& a, const Traced& b, double value, std::uint8_t winner = 0);
  Traced name(Q q, int index, const Traced& x);

 private:
  std::uint32_t materialise(const Traced& x);
  Traced append(const TraceNode& node);
  Dimension dimension_of_result(Verb verb, const TraceNode& a, const TraceNode& b);

  std::vector<TraceNode> nodes_;
  std::vector<std::string> sources_{std::string()};
  std::vector<std::string> problems_;
  Variant variant_ = Variant::none;
};

// Names quantities as those of a variant while it lives. Without a trace it does nothing.
class VariantScope {
 public:
  VariantScope(Trace* trace, Variant variant) : trace_(trace) {
    if (trace_ != nullptr) trace_->set_variant(variant);
  }
  ~VariantScope() {
    if (trace_ != nullptr) trace_->set_variant(Variant::none);
  }
  VariantScope(const VariantScope&) = delete;
  VariantScope& operator=(const VariantScope&) = delete;

 private:
  Trace* trace_;
};

}  // namespace roofscape::engine
