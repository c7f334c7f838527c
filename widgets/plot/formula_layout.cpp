#include "widgets/plot/formula_layout.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "widgets/plot/plot.h"

namespace roofscape::widgets {
namespace {

// In em of the formula.
constexpr float kAbove = 0.72f, kBelow = 0.55f;        // a row of text, from its axis
constexpr float kAxis = 0.52f;                         // of the x height, from the baseline
constexpr float kBarPad = 0.3f, kBarGap = 0.16f;       // of a fraction
constexpr float kSubDrop = 0.26f, kSuperRise = 0.36f;  // of scripts, to their baseline
constexpr float kScriptGap = 0.03f;
constexpr float kRootHook = 0.55f, kRootGap = 0.12f;
constexpr float kUnderlineGap = 0.04f;

template <class T>
void take(std::vector<T>& to, std::vector<T>& from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

// The marks of `part`, without its size.
void include(Formula& whole, Formula part) {
  take(whole.runs, part.runs);
  take(whole.rules, part.rules);
  take(whole.radicals, part.radicals);
  take(whole.areas, part.areas);
}

}  // namespace

Formula moved(Formula f, float dx, float dy) {
  for (auto& r : f.runs) r.at = r.at + Point{dx, dy};
  for (auto& r : f.rules) r.rect = r.rect.moved(dx, dy);
  for (auto& r : f.radicals)
    for (Point& p : r.points) p = p + Point{dx, dy};
  for (auto& a : f.areas) a.rect = a.rect.moved(dx, dy);
  return f;
}

void append(Formula& row, Formula part, float gap) {
  const float dx = row.width + gap;
  row.width = dx + part.width;
  row.above = std::max(row.above, part.above);
  row.below = std::max(row.below, part.below);
  include(row, moved(std::move(part), dx, 0));
}

float FormulaSetter::rule() const { return std::max(1.0f, em_ / 15); }

FormulaSetter FormulaSetter::smaller() const { return {fonts_, em_ * kSmallText}; }

Formula FormulaSetter::text(std::string_view words, Colour colour, Weight weight) const {
  Formula f;
  f.runs.push_back({{0, fonts_.x_height() * em_ * kAxis}, std::string(words), em_, weight, colour});
  f.width = fonts_.width(words, em_, weight);
  f.above = em_ * kAbove;
  f.below = em_ * kBelow;
  return f;
}

Formula FormulaSetter::symbol(std::string_view name, Colour colour, Weight weight) const {
  const auto underscore = name.find('_');
  Formula base = text(name.substr(0, underscore), colour, weight);
  if (underscore == std::string_view::npos) return base;
  return scripts(std::move(base), smaller().text(name.substr(underscore + 1), colour, weight), {});
}

Formula FormulaSetter::fraction(Formula top, Formula bottom, Colour bar) const {
  const float gap = em_ * kBarGap;
  Formula f;
  f.width = std::max(top.width, bottom.width) + 2 * em_ * kBarPad;
  f.above = gap + top.height();
  f.below = gap + bottom.height();
  f.rules.push_back({{0, -rule() / 2, f.width, rule()}, bar});
  const Point up{(f.width - top.width) / 2, -gap - top.below}, down{(f.width - bottom.width) / 2, gap + bottom.above};
  include(f, moved(std::move(top), up.x, up.y));
  include(f, moved(std::move(bottom), down.x, down.y));
  return f;
}

Formula FormulaSetter::scripts(Formula base, Formula below, Formula above) const {
  // Baselines are stated from that of the base; a script's own axis lies higher than its baseline.
  const float step = fonts_.x_height() * kAxis * (em_ - smaller().em());
  const float left = base.width + em_ * kScriptGap;
  base.width = left + std::max(below.width, above.width);
  if (!below.runs.empty()) {
    const float dy = em_ * kSubDrop + step;
    base.below = std::max(base.below, em_ * kAbove);
    include(base, moved(std::move(below), left, dy));
  }
  if (!above.runs.empty()) {
    const float dy = step - em_ * kSuperRise;
    base.above = std::max(base.above, above.above - dy);
    include(base, moved(std::move(above), left, dy));
  }
  return base;
}

Formula FormulaSetter::root(Formula inside, Colour colour) const {
  Formula f;
  const float hook = em_ * kRootHook, gap = em_ * kRootGap, line = rule();
  const float top = -inside.above - gap, bottom = inside.below * 0.7f;
  f.width = hook + inside.width + gap;
  f.above = inside.above + gap + line;
  f.below = inside.below;
  f.radicals.push_back({{{hook * 0.08f, em_ * 0.02f},
                         {hook * 0.3f, -em_ * 0.1f},
                         {hook * 0.55f, bottom},
                         {hook * 0.92f, top},
                         {f.width, top}},
                        colour,
                        line});
  include(f, moved(std::move(inside), hook, 0));
  return f;
}

Formula FormulaSetter::underlined(Formula inside, Colour colour) const {
  const float line = std::max(1.0f, em_ / 9);
  inside.rules.push_back({{0, inside.below + em_ * kUnderlineGap, inside.width, line}, colour});
  inside.below += em_ * kUnderlineGap + line;
  return inside;
}

void draw_formula(Canvas& canvas, const Formula& formula, Point p) {
  for (const Formula::Rule& r : formula.rules) canvas.rect(r.rect.moved(p.x, p.y), {.colour = r.colour});
  for (const Formula::Radical& r : formula.radicals) {
    std::vector<Point> points = r.points;
    for (Point& q : points) q = q + p;
    canvas.polyline(points, {r.colour, r.width, {}});
  }
  for (const Formula::Run& r : formula.runs) {
    TextStyle s;
    s.em = r.em;
    s.weight = r.weight;
    s.colour = r.colour;
    canvas.text(p + r.at, r.text, s);
  }
}

}  // namespace roofscape::widgets
