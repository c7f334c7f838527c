// An expression set as a formula: rows, fractions, subscripts, roots and decisions, once in symbols and once with the
// numbers put in. The side of a max or min that decided is bold and underlined, the others step back.
#pragma once

#include <functional>
#include <string_view>

#include "engine/evaluate/explain.h"
#include "widgets/canvas/canvas.h"
#include "widgets/canvas/theme.h"
#include "widgets/plot/formula_layout.h"
#include "widgets/plot/formula_text.h"
#include "widgets/plot/text_table.h"
#include "widgets/ui/interaction.h"

namespace roofscape::app {

struct FormulaStyle {
  float em = 15;
  bool numbers = false;  // values instead of symbols
  widgets::NumberOptions digits = widgets::kDerivedDigits;
};

widgets::Formula set_formula(const widgets::Canvas& canvas, const widgets::Theme& theme,
                             const widgets::TextTable& texts, const engine::Expression& expression,
                             const FormulaStyle& style);
// A symbol with its subscript: T_step.
widgets::Formula set_symbol(const widgets::Canvas& canvas, std::string_view symbol, float em, widgets::Colour colour,
                            widgets::Weight weight = widgets::Weight::regular);

// A line of a derivation as equations: symbol = formula, and under it the numbers and what they give; too long ones
// as wrapped text. `area` is told where each quantity of a formula stands, and says whether it is lit. Returns the
// height.
float draw_equations(widgets::Ui& ui, widgets::Point top_left, float width, const engine::DerivationLine& line,
                     const std::function<bool(const widgets::Rect&, std::string_view id)>& area);

}  // namespace roofscape::app
