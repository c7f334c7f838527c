#include "engine/evaluate/explain.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <compare>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/evaluation.h"
#include "engine/evaluate/serving_evaluation.h"
#include "engine/training/muon.h"

namespace roofscape::engine {

namespace {

// Which of the quantities of a row: of which axis, stage, ... and of which kind of layer.
struct Which {
  std::uint16_t row = 0;
  std::int16_t index = -1;
  std::uint8_t variant = 0;
  friend auto operator<=>(const Which&, const Which&) = default;
};
Which which(const TraceNode& node) { return {node.row, node.index, node.variant}; }
const Quantity& row_of(const Which& which) { return quantity(static_cast<Q>(which.row)); }

std::string index_text(const Quantity& row, int index) {
  if (index < 0) return {};
  const auto i = static_cast<std::size_t>(index);
  constexpr std::array<std::string_view, 2> kBlocks{"embedding", "head"};
  switch (index_kind(row)) {
    case IndexKind::axis:
      return std::string(kAxisIds[i]);
    case IndexKind::operation:
      return std::string(kOperationIds.ids()[i]);
    case IndexKind::block:
      return std::string(kBlocks[i]);
    case IndexKind::block_axis:
      return fmt::format("{},{}", kBlocks[i / kAxisCount], kAxisIds[i % kAxisCount]);
    case IndexKind::product: {
      constexpr std::array<std::string_view, 3> kParts{"", "shared,", "experts,"},
          kPasses{"forward", "input", "weights"};
      if (index >= kAdapterProducts) {
        const std::size_t at = i - kAdapterProducts, which = at / kLayerProducts;
        const std::size_t of = at % kLayerProducts, of_pass = of / kOperationCount;
        return fmt::format("{},adapter_{},{}{}", kOperationIds.ids()[of % kOperationCount], which == 0 ? "a" : "b",
                           kParts[of_pass / 3], kPasses[of_pass % 3]);
      }
      if (index >= kLayerProducts) {
        constexpr std::array<std::string_view, 3> kProducts{"gram", "square", "update"};
        const auto product = static_cast<std::size_t>(index - kLayerProducts);
        return fmt::format("muon,{},{}", kMuonMatrices.ids()[product / 3], kProducts[product % 3]);
      }
      const std::size_t pass = i / kOperationCount;
      return fmt::format("{},{}{}", kOperationIds.ids()[i % kOperationCount], kParts[pass / 3], kPasses[pass % 3]);
    }
    case IndexKind::level_axis:
      return fmt::format("{},{}", i / kAxisCount, kAxisIds[i % kAxisCount]);
    case IndexKind::matrix:
      return std::string(kMuonMatrices.ids()[i]);
    default:
      return fmt::format("{}", index);
  }
}

// "layer.comm_forward_s" with an index is "layer.comm_forward_s[fsdp]", of dense layers
// "layer.comm_forward_s[fsdp,dense]"; stages are numbered, the others named.
std::string name_of(const Which& which) {
  constexpr std::array<std::string_view, 3> kVariants{"", "dense", "experts"};
  const std::string index = index_text(row_of(which), which.index);
  const std::string_view variant = kVariants[which.variant];
  return index.empty() || variant.empty() ? index + std::string(variant) : fmt::format("{},{}", index, variant);
}

std::string id_of(const Which& which) {
  const std::string name = name_of(which);
  return name.empty() ? std::string(row_of(which).id) : fmt::format("{}[{}]", row_of(which).id, name);
}

// "W[]" is W_fsdp, "T[],f" is T_fsdp,f, "T_fwd[]" is T_fwd,3; without a place of its own a name is put behind.
std::string symbol_of(const Which& which) {
  std::string symbol(row_of(which).symbol);
  const std::string name = name_of(which);
  const std::size_t at = symbol.find('[');
  if (at == std::string::npos)
    return name.empty() ? symbol
                        : fmt::format("{}{}{}", symbol, symbol.find('_') == std::string::npos ? "_" : ",", name);
  const std::size_t end = symbol.find(']') + 1;
  const bool has_subscript = symbol.find('_') < at;
  return symbol.substr(0, at) + (name.empty() ? "" : (has_subscript ? "," : "_") + name) + symbol.substr(end);
}

Unit unit_of_constant(Dimension d) {
  for (const Unit& u : {unit::flop_each, unit::bytes_each, unit::seconds_each, unit::dollars})
    if (u.dimension == d) return u;
  return unit::one;
}

class Explainer {
 public:
  explicit Explainer(const Trace& trace) : trace_(trace) {
    // The last to be named is the one reported. Of a kind of layers that is what the step is made of: a sum over the
    // model, as if all its layers were of that kind, is no number of the plan.
    const auto& nodes = trace.nodes();
    std::vector<bool> used(nodes.size(), false);
    for (auto i = static_cast<std::uint32_t>(nodes.size()); i-- > 0;) {
      const TraceNode& node = nodes[i];
      const bool is_named = node.row != 0xffff;
      if (!used[i] && (!is_named || node.variant != 0)) continue;
      if (node.verb != Verb::constant && node.verb != Verb::input && node.verb != Verb::simulated)
        used[node.a] = used[node.b] = true;
      if (is_named) last_.try_emplace(which(node), i);
    }
  }

  std::vector<std::string> ids() const {
    std::vector<std::string> out;
    for (const auto& [key, node] : last_)
      if (std::isfinite(trace_.nodes()[node].value)) out.push_back(id_of(key));
    return out;
  }

  // What was computed, of a quantity without an index. Inputs are recorded whether they matter to the plan or not.
  std::optional<double> computed(Q q) const {
    const auto found = last_.find(Which{static_cast<std::uint16_t>(q)});
    if (found == last_.end()) return std::nullopt;
    const TraceNode& node = trace_.nodes()[found->second];
    return node.verb == Verb::input ? std::nullopt : std::optional(node.value);
  }

  std::optional<std::uint32_t> find(std::string_view id) const {
    const auto q = find_quantity(without_index(id));
    if (!q) return std::nullopt;
    const auto row = static_cast<std::uint16_t>(*q);
    for (auto at = last_.lower_bound(Which{row}); at != last_.end() && at->first.row == row; ++at)
      if (id_of(at->first) == id) return at->second;
    return std::nullopt;
  }

  Derivation derive(std::uint32_t root, int deepest) {
    Derivation out;
    for (auto& [which, called] : names_) called.has_line = false;
    if (deepest == kToTheInputs) {
      visit(root, out);
      return out;
    }
    std::vector<std::uint32_t> level{root}, below;
    for (int depth = 0; depth <= deepest; ++depth) {
      below.clear();
      for (const std::uint32_t at : level) add_line(at, depth, out, below);
      level.swap(below);
    }
    return out;
  }

 private:
  const TraceNode& node(std::uint32_t i) const { return trace_.nodes()[i]; }
  static bool is_named(const TraceNode& n) { return n.row != 0xffff; }

  // What a quantity is called, made once: a derivation says it at each place where it is used.
  struct Names {
    std::string id, symbol;
    bool has_line = false;
  };
  Names& names(const Which& which) {
    const auto [at, is_new] = names_.try_emplace(which);
    if (is_new) at->second = {id_of(which), symbol_of(which)};
    return at->second;
  }

  void visit(std::uint32_t at, Derivation& out, int depth = 0) {
    std::vector<std::uint32_t> operands;
    add_line(at, depth, out, operands);
    for (const std::uint32_t o : operands) visit(o, out, depth + 1);
  }

  // And what it is made of to `operands`; nothing where it has a line.
  void add_line(std::uint32_t at, int depth, Derivation& out, std::vector<std::uint32_t>& operands) {
    const TraceNode& n = node(at);
    const Which self = which(n);
    Names& called = names(self);
    if (std::exchange(called.has_line, true)) return;
    const Quantity& row = quantity(static_cast<Q>(n.row));
    DerivationLine line;
    line.quantity = static_cast<Q>(n.row);
    line.id = called.id;
    line.symbol = called.symbol;
    line.value = n.value;
    line.unit = row.unit;
    line.is_input = n.verb == Verb::input;
    line.is_simulated = n.verb == Verb::simulated;
    line.source = line.is_input ? trace_.source(n) : std::string(row.source);
    line.depth = depth;
    const auto first = static_cast<std::ptrdiff_t>(operands.size());
    line.is_folded = depth > 0 && n.verb == Verb::named && n.value == 0;
    if (n.verb == Verb::named && !line.is_folded) line.expression = build(n.a, self, operands);
    std::vector<Which> used;
    std::for_each(operands.begin() + first, operands.end(), [&](std::uint32_t o) {
      const Which one = which(node(o));
      if (std::find(used.begin(), used.end(), one) != used.end()) return;
      used.push_back(one);
      line.uses.push_back(names(one).id);
    });
    out.lines.push_back(std::move(line));
  }

  Expression build(std::uint32_t at, const Which& owner, std::vector<std::uint32_t>& operands) {
    const TraceNode& n = node(at);
    if (is_named(n) && which(n) != owner) {
      operands.push_back(at);
      Expression e;
      e.kind = Expression::Kind::operand;
      const Names& called = names(which(n));
      e.id = called.id;
      e.symbol = called.symbol;
      e.value = n.value;
      e.unit = quantity(static_cast<Q>(n.row)).unit;
      return e;
    }
    // A quantity that was named, extended and named again: its first form is written out.
    if (is_named(n)) return n.verb == Verb::named ? build(n.a, owner, operands) : constant_of(n);
    switch (n.verb) {
      case Verb::add:
      case Verb::subtract:
        return sum(at, owner, operands);
      case Verb::multiply:
      case Verb::divide:
        return product(at, owner, operands);
      case Verb::max:
        return choice(Expression::Kind::max, n, owner, operands);
      case Verb::min:
        return choice(Expression::Kind::min, n, owner, operands);
      case Verb::choose:
        return choice(Expression::Kind::choose, n, owner, operands);
      case Verb::ceil:
        return unary(Expression::Kind::ceil, n, owner, operands);
      case Verb::floor:
        return unary(Expression::Kind::floor, n, owner, operands);
      case Verb::sqrt:
        return unary(Expression::Kind::sqrt, n, owner, operands);
      default:
        return constant_of(n);
    }
  }

  static Expression of_kind(Expression::Kind kind, const TraceNode& n) {
    Expression e;
    e.kind = kind;
    e.value = n.value;
    e.unit = unit_of_constant(n.dimension);
    return e;
  }
  static Expression constant_of(const TraceNode& n) { return of_kind(Expression::Kind::constant, n); }

  static bool is_zero(const Expression& e) { return e.kind == Expression::Kind::constant && e.value == 0; }

  Expression sum(std::uint32_t at, const Which& owner, std::vector<std::uint32_t>& operands) {
    const TraceNode& n = node(at);
    const bool minus = n.verb == Verb::subtract;
    Expression a = build(n.a, owner, operands), b = build(n.b, owner, operands);
    if (!minus && is_zero(a)) return b;
    if (is_zero(b)) return a;
    Expression e = of_kind(minus ? Expression::Kind::subtract : Expression::Kind::add, n);
    if (!minus && a.kind == Expression::Kind::add)
      e.children = std::move(a.children);
    else
      e.children.push_back(std::move(a));
    e.children.push_back(std::move(b));
    return e;
  }

  // Flat numerator and denominator of a tree of products and quotients.
  void factors(std::uint32_t at, bool above, const Which& owner, std::vector<std::uint32_t>& operands,
               std::vector<Expression>& numerator, std::vector<Expression>& denominator) {
    const TraceNode& n = node(at);
    if (!is_named(n) && (n.verb == Verb::multiply || n.verb == Verb::divide)) {
      factors(n.a, above, owner, operands, numerator, denominator);
      factors(n.b, n.verb == Verb::multiply ? above : !above, owner, operands, numerator, denominator);
      return;
    }
    (above ? numerator : denominator).push_back(build(at, owner, operands));
  }

  static Expression product_of(std::vector<Expression> terms) {
    if (terms.size() == 1) return std::move(terms[0]);
    Expression e;
    e.kind = Expression::Kind::multiply;
    e.value = 1;
    for (const Expression& t : terms) e.value *= t.value;
    e.unit = unit::one;
    e.children = std::move(terms);
    return e;
  }

  Expression product(std::uint32_t at, const Which& owner, std::vector<std::uint32_t>& operands) {
    std::vector<Expression> numerator, denominator;
    factors(at, true, owner, operands, numerator, denominator);
    const auto is_one = [](const Expression& e) { return e.kind == Expression::Kind::constant && e.value == 1; };
    std::erase_if(denominator, is_one);
    if (numerator.size() > 1) std::erase_if(numerator, is_one);
    const TraceNode& n = node(at);
    Expression top = product_of(std::move(numerator));
    if (denominator.empty()) {
      top.value = n.value;
      return top;
    }
    Expression e = of_kind(Expression::Kind::divide, n);
    e.children.push_back(std::move(top));
    e.children.push_back(product_of(std::move(denominator)));
    return e;
  }

  Expression choice(Expression::Kind kind, const TraceNode& n, const Which& owner,
                    std::vector<std::uint32_t>& operands) {
    Expression e = of_kind(kind, n);
    e.winner = n.winner;
    e.children.push_back(build(n.a, owner, operands));
    e.children.push_back(build(n.b, owner, operands));
    // max(max(a, b), c) is one maximum of three.
    if (kind != Expression::Kind::choose && e.children[0].kind == kind) {
      Expression inner = std::move(e.children[0]);
      Expression last = std::move(e.children[1]);
      e.winner = n.winner == 0 ? inner.winner : static_cast<int>(inner.children.size());
      e.children = std::move(inner.children);
      e.children.push_back(std::move(last));
    }
    return e;
  }

  Expression unary(Expression::Kind kind, const TraceNode& n, const Which& owner,
                   std::vector<std::uint32_t>& operands) {
    Expression e = of_kind(kind, n);
    e.children.push_back(build(n.a, owner, operands));
    return e;
  }

  const Trace& trace_;
  std::map<Which, std::uint32_t> last_;
  std::map<Which, Names> names_;
};

}  // namespace

const DerivationLine* Derivation::find(std::string_view id) const {
  const auto found = std::find_if(lines.begin(), lines.end(), [id](const DerivationLine& l) { return l.id == id; });
  return found == lines.end() ? nullptr : &*found;
}

namespace {

// `report`: evaluate()'s of the same scenario, whose pipeline need not be run again.
std::unique_ptr<Trace> recorded(const Scenario& scenario, const Report* report) {
  auto trace = std::make_unique<Trace>();
  if (scenario.serves()) {
    (void)run_serving<Traced>(scenario, trace.get());
  } else {
    PipelineReport pipeline;
    StepLength length;
    if (report != nullptr && report->pipeline.simulated) length.found = &*report->pipeline.simulated;
    (void)run_evaluation<Traced>(scenario, trace.get(), pipeline, length);
  }
  return trace;
}

// "layer.comm_forward_s[fsdp]" is of layer.comm_forward_s.
bool is_id_of_a_run(std::string_view id) {
  const auto q = find_quantity(without_index(id));
  return q && is_of_a_run(*q);
}

}  // namespace

struct Recording::Run {
  Run(const Scenario& scenario, const Report& report)
      : trace(recorded(scenario, &report)), has_errors(report.has_errors()) {}
  std::unique_ptr<Trace> trace;
  Explainer explainer{*trace};
  bool has_errors;
};

Recording::Recording(const Scenario& scenario) : Recording(scenario, evaluate(scenario)) {}
Recording::Recording(const Scenario& scenario, const Report& report)
    : run_(std::make_unique<Run>(scenario, report)) {}
Recording::~Recording() = default;
Recording::Recording(Recording&&) noexcept = default;
Recording& Recording::operator=(Recording&&) noexcept = default;

std::optional<Derivation> Recording::explain(std::string_view id, int deepest) const {
  if (run_->has_errors && is_id_of_a_run(id)) return std::nullopt;
  const auto node = run_->explainer.find(id);
  if (!node || !std::isfinite(run_->trace->nodes()[*node].value)) return std::nullopt;
  return run_->explainer.derive(*node, deepest);
}

std::vector<std::string> Recording::explainable() const {
  std::vector<std::string> ids = run_->explainer.ids();
  if (run_->has_errors) std::erase_if(ids, is_id_of_a_run);
  return ids;
}

std::optional<Derivation> explain(const Scenario& scenario, std::string_view id, int deepest) {
  return Recording(scenario).explain(id, deepest);
}
std::optional<Derivation> explain(const Scenario& scenario, const Report& report, std::string_view id, int deepest) {
  return Recording(scenario, report).explain(id, deepest);
}

QuantityValues all_quantities(const Scenario& scenario, const Report& report) {
  const std::unique_ptr<Trace> trace = recorded(scenario, &report);
  const Explainer explainer(*trace);
  const bool runs = !report.has_errors();
  QuantityValues values = report.quantities;
  for (std::size_t i = 0; i < kReportQuantityCount; ++i) {
    const auto q = static_cast<Q>(i);
    if (values.absence(q) != Absence::not_applicable || (!runs && is_of_a_run(q))) continue;
    if (const auto value = explainer.computed(q)) values.set(q, *value);
  }
  return values;
}

Derivation derive(const Trace& trace, std::uint32_t root) { return Explainer(trace).derive(root, kToTheInputs); }

std::vector<std::string> explainable(const Scenario& scenario) { return Recording(scenario).explainable(); }

}  // namespace roofscape::engine
