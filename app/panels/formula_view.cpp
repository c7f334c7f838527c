#include "app/panels/formula_view.h"

#include <algorithm>
#include <cmath>

#include "widgets/formula_text.h"
#include "widgets/number_format.h"

namespace roofscape::app {

using namespace widgets;
using engine::Expression;
using Kind = engine::Expression::Kind;

namespace {

void append(Formula& row, Formula part, float gap = 0) {
  const float dx = row.width + gap;
  for (Formula::Run& r : part.runs) r.at.x += dx, row.runs.push_back(std::move(r));
  for (Formula::Rule& r : part.rules) r.rect.x += dx, row.rules.push_back(r);
  for (Formula::Area& a : part.areas) a.rect.x += dx, row.areas.push_back(std::move(a));
  row.width = dx + part.width;
  row.above = std::max(row.above, part.above);
  row.below = std::max(row.below, part.below);
}

void shift(Formula& f, float dx, float dy) {
  for (auto& r : f.runs) r.at = r.at + Point{dx, dy};
  for (auto& r : f.rules) r.rect = r.rect.moved(dx, dy);
  for (auto& a : f.areas) a.rect = a.rect.moved(dx, dy);
}

class Setter {
 public:
  Setter(const Canvas& canvas, const Theme& theme, const FormulaStyle& style) : canvas_(canvas), theme_(theme), style_(style) {}

  Formula set(const Expression& e, Colour ink, Weight weight = Weight::regular) const {
    switch (e.kind) {
      case Kind::operand: return operand(e, ink, weight);
      case Kind::constant: return text(constant(e), ink, weight);
      case Kind::add: return joined(e, " + ", ink, weight);
      case Kind::subtract: return joined(e, std::string(" ") + std::string(kMinus) + " ", ink, weight);
      case Kind::multiply: return product(e, ink, weight);
      case Kind::divide: return e.children.size() == 2 ? fraction(e, ink, weight) : joined(e, " / ", ink, weight);
      case Kind::max: return decision(e, "max", ink);
      case Kind::min: return decision(e, "min", ink);
      case Kind::ceil: return enclosed(e, "\u2308", "\u2309", ink, weight);
      case Kind::floor: return enclosed(e, "\u230a", "\u230b", ink, weight);
      case Kind::sqrt: return enclosed(e, "\u221a(", ")", ink, weight);
      case Kind::choose: {
        const auto i = static_cast<std::size_t>(std::max(0, e.winner));
        if (i < e.children.size()) return set(e.children[i], ink, weight);
        return text(constant(e), ink, weight);
      }
    }
    return {};
  }

 private:
  std::string constant(const Expression& e) const { return format_significant(e.value, 6, true); }

  Formula text(std::string_view words, Colour ink, Weight weight = Weight::regular) const {
    Formula f;
    const FontStack& fonts = canvas_.metrics();
    const float axis = fonts.x_height() * style_.em * 0.52f;
    f.runs.push_back({{0, axis}, std::string(words), style_.em, weight, ink});
    f.width = fonts.width(words, style_.em, weight);
    f.above = style_.em * 0.72f;
    f.below = style_.em * 0.55f;
    return f;
  }

  Formula operand(const Expression& e, Colour ink, Weight weight) const {
    Formula f = style_.numbers ? text(derived_value(e.value, e.unit), ink, weight)
                               : set_symbol(canvas_, e.symbol, style_.em, ink, weight);
    f.areas.push_back({e.id, {0, -f.above, f.width, f.height()}});
    return f;
  }

  static bool loose(const Expression& e) { return e.kind == Kind::add || e.kind == Kind::subtract; }

  Formula bracketed(const Expression& e, Colour ink, Weight weight) const {
    Formula f = text("(", theme_.ink2);
    append(f, set(e, ink, weight));
    append(f, text(")", theme_.ink2));
    return f;
  }

  Formula joined(const Expression& e, std::string_view sign, Colour ink, Weight weight) const {
    Formula f;
    for (std::size_t i = 0; i < e.children.size(); ++i) {
      if (i > 0) append(f, text(sign, theme_.ink2));
      const bool wrap_it = i > 0 && e.kind == Kind::subtract && loose(e.children[i]);
      append(f, wrap_it ? bracketed(e.children[i], ink, weight) : set(e.children[i], ink, weight));
    }
    return f;
  }

  Formula product(const Expression& e, Colour ink, Weight weight) const {
    Formula f;
    for (std::size_t i = 0; i < e.children.size(); ++i) {
      if (i > 0) append(f, style_.numbers ? text(" \u00d7 ", theme_.ink2) : text("\u202f", ink), 0);
      append(f, loose(e.children[i]) ? bracketed(e.children[i], ink, weight) : set(e.children[i], ink, weight));
    }
    return f;
  }

  Formula fraction(const Expression& e, Colour ink, Weight weight) const {
    Formula top = set(e.children[0], ink, weight), bottom = set(e.children[1], ink, weight);
    const float pad = style_.em * 0.3f, gap = style_.em * 0.16f;
    Formula f;
    f.width = std::max(top.width, bottom.width) + 2 * pad;
    shift(top, (f.width - top.width) / 2, -gap - top.below);
    shift(bottom, (f.width - bottom.width) / 2, gap + bottom.above);
    f.above = gap + top.height();
    f.below = gap + bottom.height();
    f.rules.push_back({{0, -0.5f, f.width, std::max(1.0f, style_.em / 15)}, ink});
    for (Formula* part : {&top, &bottom}) {
      std::move(part->runs.begin(), part->runs.end(), std::back_inserter(f.runs));
      std::move(part->rules.begin(), part->rules.end(), std::back_inserter(f.rules));
      std::move(part->areas.begin(), part->areas.end(), std::back_inserter(f.areas));
    }
    return f;
  }

  Formula decision(const Expression& e, std::string_view name, Colour ink) const {
    Formula f = text(std::string(name) + "\u202f(", theme_.ink2);
    f.runs.front().colour = ink;
    for (std::size_t i = 0; i < e.children.size(); ++i) {
      if (i > 0) append(f, text(", ", theme_.ink2));
      const bool won = static_cast<int>(i) == e.winner;
      Formula part = set(e.children[i], style_.numbers && !won ? theme_.ink3 : ink,
                         won && style_.numbers ? Weight::bold : Weight::regular);
      if (won && style_.numbers)
        part.rules.push_back({{0, part.below + style_.em * 0.04f, part.width, std::max(1.0f, style_.em / 9)}, ink});
      append(f, std::move(part));
    }
    append(f, text("\u202f)", theme_.ink2));
    f.below += style_.em * 0.15f;
    return f;
  }

  Formula enclosed(const Expression& e, std::string_view open, std::string_view close, Colour ink, Weight weight) const {
    Formula f = text(open, theme_.ink2);
    if (!e.children.empty()) append(f, set(e.children.front(), ink, weight));
    append(f, text(close, theme_.ink2));
    return f;
  }

  const Canvas& canvas_;
  const Theme& theme_;
  FormulaStyle style_;
};

}  // namespace

Formula set_symbol(const Canvas& canvas, std::string_view symbol, float em, Colour colour, Weight weight) {
  Formula f;
  const FontStack& fonts = canvas.metrics();
  const float axis = fonts.x_height() * em * 0.52f;
  const auto underscore = symbol.find('_');
  const std::string_view main = symbol.substr(0, underscore);
  f.runs.push_back({{0, axis}, std::string(main), em, weight, colour});
  f.width = fonts.width(main, em, weight);
  f.above = em * 0.72f;
  f.below = em * 0.55f;
  if (underscore != std::string_view::npos) {
    const std::string_view sub = symbol.substr(underscore + 1);
    const float small = em * 0.85f;
    f.runs.push_back({{f.width + em * 0.03f, axis + em * 0.26f}, std::string(sub), small, weight, colour});
    f.width += em * 0.03f + fonts.width(sub, small, weight);
    f.below = em * 0.72f;
  }
  return f;
}

Formula set_formula(const Canvas& canvas, const Theme& theme, const Expression& expression, const FormulaStyle& style) {
  return Setter(canvas, theme, style).set(expression, theme.ink);
}

void draw_formula(Canvas& canvas, const Formula& formula, Point p) {
  for (const Formula::Rule& r : formula.rules) canvas.rect(r.rect.moved(p.x, std::round(p.y)), {.colour = r.colour});
  for (const Formula::Run& r : formula.runs) {
    TextStyle s;
    s.em = r.em;
    s.weight = r.weight;
    s.colour = r.colour;
    canvas.text(p + r.at, r.text, s);
  }
}

}  // namespace roofscape::app
