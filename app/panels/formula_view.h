// An expression set as a formula: rows, fractions, subscripts, roots and decisions, once in symbols and once with the
// numbers put in. The side of a max or min that decided is bold and underlined, the others step back.
#pragma once

#include <string>
#include <vector>

#include "engine/explain.h"
#include "widgets/canvas.h"
#include "widgets/theme.h"

namespace roofscape::app {

struct FormulaStyle {
  float em = 15;
  bool numbers = false;  // values instead of symbols
};

// A formula laid out about the left end of its axis (the height of a minus sign).
struct Formula {
  struct Run {
    widgets::Point at;  // baseline
    std::string text;
    float em = 0;
    widgets::Weight weight = widgets::Weight::regular;
    widgets::Colour colour;
  };
  struct Rule {
    widgets::Rect rect;
    widgets::Colour colour;
  };
  struct Area {  // a named operand, for pointing at
    std::string id;
    widgets::Rect rect;
  };
  float width = 0, above = 0, below = 0;  // of the axis
  std::vector<Run> runs;
  std::vector<Rule> rules;
  std::vector<Area> areas;
  float height() const { return above + below; }
};

Formula set_formula(const widgets::Canvas& canvas, const widgets::Theme& theme, const engine::Expression& expression,
                    const FormulaStyle& style);
// A symbol with its subscript: T_step.
Formula set_symbol(const widgets::Canvas& canvas, std::string_view symbol, float em, widgets::Colour colour,
                   widgets::Weight weight = widgets::Weight::regular);
void draw_formula(widgets::Canvas& canvas, const Formula& formula, widgets::Point left_axis);

}  // namespace roofscape::app
