#include "app/panels/formula_view.h"

#include <algorithm>

#include "widgets/canvas/number_format.h"
#include "widgets/plot/formula_text.h"
#include "widgets/plot/plot.h"
#include "widgets/ui/controls.h"

namespace roofscape::app {

using namespace widgets;
using engine::Expression;
using Kind = engine::Expression::Kind;

namespace {

class Setter {
 public:
  Setter(const Canvas& canvas, const Theme& theme, const TextTable& texts, const FormulaStyle& style)
      : set_(canvas.metrics(), style.em), theme_(theme), texts_(texts), style_(style) {}

  Formula set(const Expression& e, Colour ink, Weight weight = Weight::regular) const {
    switch (e.kind) {
      case Kind::operand:
        return operand(e, ink, weight);
      case Kind::constant:
        return text(constant(e), ink, weight);
      case Kind::add:
        return joined(e, " + ", ink, weight);
      case Kind::subtract:
        return joined(e, std::string(" ") + std::string(kMinus) + " ", ink, weight);
      case Kind::multiply:
        return product(e, ink, weight);
      case Kind::divide:
        return e.children.size() == 2 ? fraction(e, ink, weight) : joined(e, " / ", ink, weight);
      case Kind::max:
        return decision(e, "max", ink);
      case Kind::min:
        return decision(e, "min", ink);
      case Kind::ceil:
        return enclosed(e, "\u2308", "\u2309", ink, weight);
      case Kind::floor:
        return enclosed(e, "\u230a", "\u230b", ink, weight);
      case Kind::sqrt:
        return e.children.empty() ? Formula{} : set_.root(set(e.children.front(), ink, weight), ink);
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
    return set_.text(words, ink, weight);
  }

  Formula operand(const Expression& e, Colour ink, Weight weight) const {
    Formula f = style_.numbers ? text(texts_.amount(e.value, e.unit, style_.digits), ink, weight)
                               : set_.symbol(e.symbol, ink, weight);
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
    return set_.fraction(set(e.children[0], ink, weight), set(e.children[1], ink, weight), ink);
  }

  Formula decision(const Expression& e, std::string_view name, Colour ink) const {
    Formula f = text(std::string(name) + "\u202f(", theme_.ink2);
    f.runs.front().colour = ink;
    for (std::size_t i = 0; i < e.children.size(); ++i) {
      if (i > 0) append(f, text(", ", theme_.ink2));
      const bool won = static_cast<int>(i) == e.winner;
      Formula part = set(e.children[i], style_.numbers && !won ? theme_.ink3 : ink,
                         won && style_.numbers ? Weight::bold : Weight::regular);
      if (won && style_.numbers) part = set_.underlined(std::move(part), ink);
      append(f, std::move(part));
    }
    append(f, text("\u202f)", theme_.ink2));
    return f;
  }

  Formula enclosed(const Expression& e, std::string_view open, std::string_view close, Colour ink,
                   Weight weight) const {
    Formula f = text(open, theme_.ink2);
    if (!e.children.empty()) append(f, set(e.children.front(), ink, weight));
    append(f, text(close, theme_.ink2));
    return f;
  }

  FormulaSetter set_;
  const Theme& theme_;
  const TextTable& texts_;
  FormulaStyle style_;
};

}  // namespace

Formula set_symbol(const Canvas& canvas, std::string_view symbol, float em, Colour colour, Weight weight) {
  return FormulaSetter(canvas.metrics(), em).symbol(symbol, colour, weight);
}

Formula set_formula(const Canvas& canvas, const Theme& theme, const TextTable& texts, const Expression& expression,
                    const FormulaStyle& style) {
  return Setter(canvas, theme, texts, style).set(expression, theme.ink);
}

float draw_equations(Ui& ui, Point top_left, float width, const engine::DerivationLine& line,
                     const std::function<bool(const Rect&, std::string_view id)>& area) {
  const Theme& theme = ui.theme;
  const float x = top_left.x;
  float y = top_left.y;
  const float em = ui.em();
  Formula head = set_symbol(ui.canvas, line.symbol, em, theme.ink);
  Formula equals = set_symbol(ui.canvas, "=", em, theme.ink2);
  const float gap = em * 0.45f, indent = std::min(head.width, width * 0.3f) + gap;
  const NumberOptions digits = digits_to_redo(line);
  for (const bool numbers : {false, true}) {
    Formula f = set_formula(ui.canvas, theme, ui.texts, line.expression, {em, numbers, digits});
    const float room = width - indent - equals.width - gap;
    if (f.width > room)
      f = set_formula(ui.canvas, theme, ui.texts, line.expression, {em * kSmallText, numbers, digits});
    if (f.width > room) {
      // Too long to be set: as wrapped text.
      const std::string words =
          "= " + (numbers ? formula_in_numbers(line.expression, digits) : formula_in_symbols(line.expression));
      if (!numbers) {
        draw_formula(ui.canvas, head, {x, y + head.above});
        y += head.height();
      }
      y += draw_prose(ui.canvas, {x + em, y}, words, text_style(ui, numbers ? theme.ink : theme.ink2, kSmallText),
                      width - em);
      y += ui.px(3);
      continue;
    }
    const float axis = y + std::max(f.above, head.above);
    if (!numbers) draw_formula(ui.canvas, head, {x, axis});
    draw_formula(ui.canvas, equals, {x + indent, axis});
    const Point at{x + indent + equals.width + gap, axis};
    for (const Formula::Area& a : f.areas) {
      const Rect r = a.rect.moved(at.x, at.y);
      if (area(r, a.id)) ui.canvas.rect(r.inset(-ui.px(2), 0), {.colour = theme.ctlh}, ui.px(2));
    }
    draw_formula(ui.canvas, f, at);
    y = axis + f.below + ui.px(4);
    if (numbers) {
      Formula result = equals;
      const std::string value = ui.texts.amount(line.value, line.unit, kDerivedDigits);
      const float need =
          gap + equals.width + gap + ui.canvas.text_width(value, text_style(ui, theme.ink, 1, Weight::bold));
      Point p{at.x + f.width + gap, axis};
      if (f.width + need > room) {
        p = {x + indent, y + result.above};
        y += result.height() + ui.px(2);
      }
      draw_formula(ui.canvas, result, p);
      Formula bold = set_symbol(ui.canvas, value, em, theme.ink, Weight::bold);
      draw_formula(ui.canvas, bold, {p.x + equals.width + gap, p.y});
    }
  }
  return y - top_left.y;
}

}  // namespace roofscape::app
