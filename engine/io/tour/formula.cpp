#include "engine/io/tour/formula.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "engine/io/json/result.h"

namespace roofscape::io {

using engine::say;
using engine::Sentence;
using engine::Unit;

namespace {

namespace unit = engine::unit;
constexpr std::array kUnits{
    unit::one,        unit::parameters,  unit::tokens,        unit::tokens_per_chip, unit::sequences,    unit::chips,
    unit::layers,     unit::ways,        unit::elements,      unit::steps,           unit::microbatches, unit::days,
    unit::hours,      unit::years,       unit::chip_hours,    unit::seconds,         unit::bytes,        unit::flop,
    unit::flop_per_s, unit::bytes_per_s, unit::flop_per_byte, unit::tokens_per_s,    unit::dollars};

constexpr std::size_t kMostItems = 200;
constexpr int kMostDepth = 20;

bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool in_name(char c) { return starts_name(c) || (c >= '0' && c <= '9') || c == '.' || c == '[' || c == ']'; }

// What a product or quotient is counted in: by its dimension, where only one unit has it.
Unit unit_of(engine::Dimension dimension) {
  for (const Unit& candidate : {unit::one, unit::seconds, unit::bytes, unit::flop, unit::flop_per_s,
                                unit::bytes_per_s, unit::flop_per_byte, unit::dollars, unit::tokens_per_s})
    if (candidate.dimension == dimension) return candidate;
  return unit::one;
}

bool is_one(const Unit& u) { return u.symbol == "1"; }

}  // namespace

std::optional<Unit> unit_called(std::string_view symbol) {
  for (const Unit& candidate : kUnits)
    if (candidate.symbol == symbol) return candidate;
  return std::nullopt;
}

// sum := product (+|- product)*, product := factor (*|/ factor)*, factor := number | name | (sum) | max(sum, sum)
class FormulaParser {
 public:
  FormulaParser(std::string_view text, Sentence& problem) : text_(text), problem_(problem) {}

  std::optional<TourFormula> parse() {
    if (!sum(0)) return std::nullopt;
    skip();
    if (at_ < text_.size() && (text_[at_] == '<' || text_[at_] == '>')) {
      const auto op = text_[at_++] == '<' ? TourFormula::Operator::below : TourFormula::Operator::above;
      if (!sum(0)) return std::nullopt;
      push(op);
    }
    skip();
    if (at_ < text_.size()) return fail(say("error.tour.formula.rest", in_quotes(text_.substr(at_))));
    if (out_.items_.size() > kMostItems) return fail(say("error.tour.formula.long", kMostItems));
    out_.text_ = std::string(text_);
    return std::move(out_);
  }

 private:
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void push(TourFormula::Item item) { out_.items_.push_back(std::move(item)); }
  std::nullopt_t fail(Sentence why) {
    if (problem_.empty()) problem_ = std::move(why);
    return std::nullopt;
  }
  bool refuse(Sentence why) {
    fail(std::move(why));
    return false;
  }

  bool sum(int depth) {
    if (!product(depth)) return false;
    while (true) {
      if (take('+')) {
        if (!product(depth)) return false;
        push(TourFormula::Operator::add);
      } else if (take('-')) {
        if (!product(depth)) return false;
        push(TourFormula::Operator::subtract);
      } else {
        return true;
      }
    }
  }
  bool product(int depth) {
    if (!factor(depth)) return false;
    while (true) {
      if (take('*')) {
        if (!factor(depth)) return false;
        push(TourFormula::Operator::multiply);
      } else if (take('/')) {
        if (!factor(depth)) return false;
        push(TourFormula::Operator::divide);
      } else {
        return true;
      }
    }
  }
  bool factor(int depth) {
    if (depth > kMostDepth) return refuse(say("error.tour.formula.long", kMostItems));
    if (take('-')) {
      if (!factor(depth + 1)) return false;
      push(TourFormula::Operator::negate);
      return true;
    }
    if (take('(')) {
      if (!sum(depth + 1)) return false;
      return take(')') || refuse(say("error.tour.formula.open"));
    }
    skip();
    if (at_ >= text_.size()) return refuse(say("error.tour.formula.ends"));
    if (!starts_name(text_[at_])) return number();
    const std::string_view first = name();
    if ((first == "max" || first == "min") && take('(')) {
      if (!sum(depth + 1)) return false;
      if (!take(',')) return refuse(say("error.tour.formula.open"));
      if (!sum(depth + 1)) return false;
      if (!take(')')) return refuse(say("error.tour.formula.open"));
      push(first == "max" ? TourFormula::Operator::max : TourFormula::Operator::min);
      return true;
    }
    if (at_ < text_.size() && text_[at_] == ':') {
      ++at_;
      if (at_ >= text_.size() || !starts_name(text_[at_])) return refuse(say("error.tour.formula.ends"));
      push(TourReference{std::string(first), std::string(name())});
      return true;
    }
    push(TourReference{{}, std::string(first)});
    return true;
  }
  std::string_view name() {
    const std::size_t from = at_;
    while (at_ < text_.size() && in_name(text_[at_])) ++at_;
    return text_.substr(from, at_ - from);
  }
  bool number() {
    double value = 0;
    const char* const from = text_.data() + at_;
    const auto [end, error] = std::from_chars(from, text_.data() + text_.size(), value);
    if (error != std::errc() || !std::isfinite(value))
      return refuse(say("error.tour.formula.rest", in_quotes(text_.substr(at_))));
    at_ += static_cast<std::size_t>(end - from);
    push(value);
    return true;
  }

  std::string_view text_;
  Sentence& problem_;
  std::size_t at_ = 0;
  TourFormula out_;
};

std::optional<TourFormula> TourFormula::parse(std::string_view text, Sentence& problem) {
  problem = {};
  return FormulaParser(text, problem).parse();
}

TourFormula TourFormula::constant(double value) {
  TourFormula out;
  out.items_.emplace_back(value);
  return out;
}

bool TourFormula::compares() const {
  if (items_.empty()) return false;
  const auto* last = std::get_if<Operator>(&items_.back());
  return last != nullptr && (*last == Operator::below || *last == Operator::above);
}

std::vector<TourReference> TourFormula::references() const {
  std::vector<TourReference> out;
  for (const Item& item : items_)
    if (const auto* reference = std::get_if<TourReference>(&item)) out.push_back(*reference);
  return out;
}

std::optional<TourNumber> TourFormula::compute(const Lookup& lookup) const {
  struct Operand {
    TourNumber number;
    bool literal = false;  // takes the unit of what it is put together with
  };
  std::vector<Operand> stack;
  for (const Item& item : items_) {
    if (const auto* value = std::get_if<double>(&item)) {
      stack.push_back({{*value, unit::one}, true});
      continue;
    }
    if (const auto* reference = std::get_if<TourReference>(&item)) {
      const auto found = lookup(*reference);
      if (!found || !std::isfinite(found->value)) return std::nullopt;
      stack.push_back({*found, false});
      continue;
    }
    const Operator op = std::get<Operator>(item);
    if (op == Operator::negate) {
      stack.back().number.value = -stack.back().number.value;
      continue;
    }
    const Operand b = stack.back();
    stack.pop_back();
    Operand& a = stack.back();
    const Unit ua = a.number.unit, ub = b.number.unit;
    const double x = a.number.value, y = b.number.value;
    Unit result = a.literal ? ub : ua;
    double value = 0;
    switch (op) {
      case Operator::multiply:
        value = x * y;
        if (!a.literal && !b.literal && !is_one(ua) && !is_one(ub)) result = unit_of(ua.dimension * ub.dimension);
        if (!a.literal && is_one(ua)) result = ub;
        break;
      case Operator::divide:
        if (y == 0) return std::nullopt;
        value = x / y;
        if (a.literal && !b.literal && !is_one(ub)) result = unit_of(unit::one.dimension / ub.dimension);
        if (!a.literal && !b.literal && !is_one(ub))
          result = ua == ub ? unit::one : unit_of(ua.dimension / ub.dimension);
        if (!a.literal && !b.literal && is_one(ua) && is_one(ub)) result = unit::one;
        break;
      default:
        if (!a.literal && !b.literal && ua.dimension != ub.dimension) return std::nullopt;
        value = op == Operator::add        ? x + y
                : op == Operator::subtract ? x - y
                : op == Operator::max      ? std::max(x, y)
                : op == Operator::min      ? std::min(x, y)
                : op == Operator::below    ? (x < y ? 1.0 : 0.0)
                                           : (x > y ? 1.0 : 0.0);
        break;
    }
    if (!std::isfinite(value)) return std::nullopt;
    a = {{value, result}, a.literal && b.literal};
  }
  if (stack.size() != 1) return std::nullopt;
  return stack.front().number;
}

std::optional<std::vector<TourPiece>> cut_text(std::string_view text, Sentence& problem) {
  problem = {};
  std::vector<TourPiece> out;
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    if (open != 0) {
      const std::string_view words = text.substr(0, open);
      if (words.find('}') != std::string_view::npos) {
        problem = say("error.tour.text.brace");
        return std::nullopt;
      }
      out.push_back({std::string(words), {}, {}});
      text.remove_prefix(std::min(open, text.size()));
      continue;
    }
    const std::size_t close = text.find('}');
    if (close == std::string_view::npos) {
      problem = say("error.tour.text.brace");
      return std::nullopt;
    }
    std::string_view inside = text.substr(1, close - 1);
    text.remove_prefix(close + 1);
    TourPiece piece;
    if (const std::size_t bar = inside.find('|'); bar != std::string_view::npos) {
      piece.form = std::string(inside.substr(bar + 1));
      inside = inside.substr(0, bar);
      if (std::find(kTourForms.begin(), kTourForms.end(), piece.form) == kTourForms.end() &&
          !unit_called(piece.form)) {
        problem = say("error.tour.text.form", in_quotes(piece.form), listed(kTourForms));
        return std::nullopt;
      }
    }
    auto formula = TourFormula::parse(inside, problem);
    if (!formula) return std::nullopt;
    piece.formula = *std::move(formula);
    out.push_back(std::move(piece));
  }
  return out;
}

}  // namespace roofscape::io
