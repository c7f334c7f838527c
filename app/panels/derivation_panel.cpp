// Everything named in a derivation can be clicked to go deeper.
#include "app/panels/derivation_panel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "app/core/calibration_origin.h"
#include "app/core/derivation_text.h"
#include "app/panels/derivation_id.h"
#include "app/panels/diagnostic_words.h"
#include "app/panels/formula_view.h"
#include "app/panels/panel_parts.h"
#include "app/panels/quantity_text.h"
#include "engine/studies/schedule_comparison.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/quantity_look.h"
#include "widgets/plot/formula_text.h"
#include "widgets/plot/plot.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape::app {

using namespace widgets;
using engine::DerivationLine;
using engine::Expression;
using engine::Q;

namespace {

// The number that a finding is about, where it is one with a formula.
std::optional<Q> quantity_of(const engine::Diagnostic& finding) {
  struct About {
    std::string_view code;
    Q quantity;
  };
  constexpr std::array kAbout{
      About{"mesh.too_many_chips", Q::chips_used}, About{"batch.too_few_sequences", Q::data_ranks},
      About{"batch.not_divisible", Q::data_ranks}, About{"pipeline.illegal_schedule", Q::microbatches}};
  for (const About& about : kAbout)
    if (about.code == finding.code) return about.quantity;
  return std::nullopt;
}

// What is derived before anything was clicked: of a plan that cannot be, what makes it so; of one that does not fit,
// its memory; else the time. Empty: nothing has a formula.
std::string_view first_derivation(const engine::Scenario& scenario, const engine::Report& report,
                                  const engine::Diagnostic* impossible) {
  const bool serves = scenario.serves();
  if (impossible != nullptr) {
    const auto q = quantity_of(*impossible);
    return q ? engine::quantity(*q).id : std::string_view();
  }
  return engine::quantity(!report.fits() ? Q::memory_total : serves ? Q::mixed_token_time_q : Q::step_time).id;
}

constexpr std::size_t kLongestTrail = 64;
constexpr int kDeepestShown = 2;  // the operands of one of the terms

const engine::Derivation* derive(const PanelContext& ctx, const std::string& id, DerivationState& state) {
  std::optional<DerivationState::Derived>& kept = state.derived;
  if (!kept || kept->id != id || !(kept->scenario == ctx.session.scenario())) {
    const engine::Scenario& plan = ctx.session.scenario();
    const ScopedId scoped = scoped_id(id);
    const engine::Scenario under = scoped.schedule ? engine::scenario_under(plan, *scoped.schedule) : plan;
    kept = DerivationState::Derived{
        id, plan,
        scoped.schedule ? engine::explain(under, scoped.quantity, kDeepestShown)
                        : engine::explain(plan, ctx.session.report(), scoped.quantity, kDeepestShown)};
    if (kept->derivation) tell_calibration_origins(*kept->derivation, under, state.origins, ctx.ui.texts);
  }
  return kept->derivation ? &*kept->derivation : nullptr;
}

std::string label_of(const PanelContext& ctx, std::string_view id) {
  std::string label = quantity_label(ctx.ui.texts, id);
  if (const auto open = id.find('['); open != std::string_view::npos) {
    const std::string index(id.substr(open + 1, id.size() - open - 2));
    const std::string axis = "axis." + index;
    label +=
        ", " + (ctx.ui.texts.has(axis) ? std::string(ctx.text(axis)) : ctx.format("ui.derivation.stage", {index}));
  }
  return label;
}

struct Writer {
  PanelContext& ctx;
  std::string prefix;  // of the schedule, if it is not the plan's
  float x, width, y;
  int links = 0;

  const Theme& theme() const { return ctx.ui.theme; }

  // Makes a region open a derivation; says what it is when pointed at.
  bool region(const Rect& r, std::string_view id) {
    const std::string probe = "why." + std::to_string(links++) + "." + std::string(id);
    const ItemState s = ctx.ui.item(probe, r, Interaction::Focus::none);
    if (s.hovered) {
      ctx.ui.io.set_cursor(Cursor::hand);
      Readout tip{label_of(ctx, id), {}};
      tip.rows.emplace_back(ctx.text("ui.tip.quantity"), std::string(id));
      ctx.ui.io.hint(probe, r, tip, quantity_about(ctx.ui.texts, id));
    }
    if (s.clicked) ctx.requests.explain(prefix + std::string(id));
    // The same part lights up in the bar of the step and in the roofline, and from there.
    const auto q = engine::find_quantity(engine::without_index(id));
    if (q && is_step_part(*q)) {
      if (s.hovered) ctx.next_hovered.part = q;
      return s.hovered || ctx.hovered.part == q;
    }
    return s.hovered;
  }

  void formula_lines(const DerivationLine& line) {
    y += draw_equations(ctx.ui, {x, y}, width, line,
                        [this](const Rect& r, std::string_view id) { return region(r, id); });
  }

  // "compute wins by 1.33x": which side of a decision won, and by how much.
  void decisions_of(const DerivationLine& line) {
    for (const Expression* e : decisions(line.expression)) {
      if (e->winner < 0 || e->children.size() < 2) continue;
      const auto winner = static_cast<std::size_t>(e->winner);
      double other = e->kind == Expression::Kind::max ? -1e300 : 1e300;
      for (std::size_t i = 0; i < e->children.size(); ++i)
        if (i != winner)
          other = e->kind == Expression::Kind::max ? std::max(other, e->children[i].value)
                                                   : std::min(other, e->children[i].value);
      const double mine = e->children[winner].value;
      const Expression& w = e->children[winner];
      const std::string name = w.kind == Expression::Kind::operand ? label_of(ctx, w.id) : formula_in_symbols(w);
      const double small = std::min(mine, other), large = std::max(mine, other);
      if (!(small > 0)) continue;
      const std::string words = ctx.format("ui.derivation.wins", {name, format_ratio(large / small)});
      y += draw_prose(ctx.ui.canvas, {x, y}, words, ctx.style(theme().ink2, kSmallText), width);
    }
  }

  // The terms of a sum as bars, largest first.
  void bars(const engine::Derivation& all, const DerivationLine& line) {
    struct Term {
      std::string id;
      double value;
    };
    std::vector<Term> terms;
    for (const Expression& e : line.expression.children)
      if (e.kind == Expression::Kind::operand) terms.push_back({e.id, e.value});
    std::stable_sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.value > b.value; });
    double largest = 0;
    for (const Term& t : terms) largest = std::max(largest, t.value);
    float label_w = 0;
    const TextStyle plain = ctx.style(theme().ink2);
    for (const Term& t : terms)
      if (t.value > 0) label_w = std::max(label_w, ctx.ui.canvas.text_width(label_of(ctx, t.id), plain));
    label_w = std::min(label_w, width * 0.45f);
    const float value_w = ctx.px(76), row_h = std::round(ctx.px(23));
    int zeros = 0;
    for (const Term& t : terms) {
      if (!(t.value > 0)) {
        ++zeros;
        continue;
      }
      const Rect row{x, y, width, row_h};
      if (region(row, t.id))
        ctx.ui.canvas.rect(row.inset(-ctx.px(6), 0), {.colour = mix(theme().panel, theme().ctl, 0.8f)}, ctx.px(3));
      ctx.ui.canvas.text({x, row.centre().y}, ellipsize(ctx.ui.canvas, label_of(ctx, t.id), plain, label_w), plain);
      const float from = x + label_w + ctx.px(12), room = width - label_w - ctx.px(12) - value_w;
      const auto q = engine::find_quantity(engine::without_index(t.id));
      const float w = std::max(ctx.px(1.5f), room * static_cast<float>(t.value / largest));
      Fill fill = q ? fill_of(theme(), *q, ctx.ui.em()) : Fill{.colour = theme().ink2};
      const Rect bar{from, std::round(row.centre().y - ctx.px(4)), w, std::round(ctx.px(9))};
      ctx.ui.canvas.rect(bar, fill);
      if (q == Q::step_bubble) ctx.ui.canvas.frame(bar, {theme().bub, std::max(1.0f, ctx.px(1)), {}});
      TextStyle v = ctx.style(theme().ink);
      v.halign = HAlign::right;
      const DerivationLine* term = all.find(t.id);
      ctx.ui.canvas.text({x + width, row.centre().y},
                         ctx.ui.texts.amount(t.value, term != nullptr ? term->unit : line.unit), v);
      y += row_h;
    }
    if (zeros > 0) {
      y += draw_prose(ctx.ui.canvas, {x, y}, ctx.format("ui.derivation.zeros", {format_count(zeros)}),
                      ctx.style(theme().ink3, kSmallText), width);
    }
  }

  void heading(const DerivationLine& line) {
    const float h = std::round(ctx.px(26));
    TextStyle v = ctx.style(theme().ink, 1, Weight::bold);
    v.halign = HAlign::right;
    const std::string value = ctx.ui.texts.amount(line.value, line.unit);
    const Rect row{x, y, width, h};
    if (region(row, line.id))
      ctx.ui.canvas.rect(row.inset(-ctx.px(6), 0), {.colour = mix(theme().panel, theme().ctl, 0.8f)}, ctx.px(3));
    ctx.ui.canvas.text({x + width, y + h / 2}, value, v);
    const TextStyle name = ctx.style(theme().ink, 1, Weight::bold);
    ctx.ui.canvas.text({x, y + h / 2},
                       ellipsize(ctx.ui.canvas, label_of(ctx, line.id), name,
                                 width - ctx.ui.canvas.text_width(value, v) - ctx.px(12)),
                       name);
    y += h;
  }

  void body(const engine::Derivation& all, const DerivationLine& line) {
    if (line.is_input) {
      y += draw_prose(ctx.ui.canvas, {x, y}, source_text(ctx.ui.texts, line.source),
                      ctx.style(theme().ink2, kSmallText), width);
      return;
    }
    if (line.is_simulated) {
      y += draw_prose(ctx.ui.canvas, {x, y}, ctx.text(counted_key(line.quantity)),
                      ctx.style(theme().ink2, kSmallText), width);
      if (line.quantity == Q::pipeline_makespan && prefix.empty())
        y += draw_prose(ctx.ui.canvas, {x, y}, critical_path_text(ctx.session.report().pipeline, ctx.ui.texts),
                        ctx.style(theme().ink2, kSmallText), width);
    }
    const bool sum = line.expression.kind == Expression::Kind::add && line.expression.children.size() >= 4;
    if (sum) {
      bars(all, line);
    } else if (line.expression.kind != Expression::Kind::constant) {
      formula_lines(line);
      decisions_of(line);
    }
  }

  // One operand: symbol, label, value; under it the source where it is an input.
  void used(const DerivationLine& line) {
    const float h = std::round(ctx.px(24));
    Formula symbol = set_symbol(ctx.ui.canvas, line.symbol, ctx.ui.em(), theme().ink2);
    const float symbol_w = std::max(ctx.px(62), symbol.width + ctx.px(10));
    TextStyle v = ctx.style(theme().ink);
    v.halign = HAlign::right;
    const bool counted = line.unit.notation == engine::Notation::count;  // the label says what is counted
    // With the digits it has in the formula above.
    const std::string value = counted ? format(line.value, line.unit, {.unit = false})
                                      : ctx.ui.texts.amount(line.value, line.unit, kDerivedDigits);
    const TextStyle small = ctx.style(theme().ink3, kSmallText);
    const TextStyle name = ctx.style(theme().ink2);
    const std::string label = label_of(ctx, line.id);
    float room = width - symbol_w - ctx.ui.canvas.text_width(value, v) - ctx.px(12);
    // In a narrow column the value goes below the label, so that the label is not cut.
    const bool below = ctx.ui.canvas.text_width(label, name) > room;
    if (below) room = width - symbol_w;
    const float value_y = below ? y + 1.5f * h - ctx.px(4) : y + h / 2;
    float row_h = below ? 2 * h - ctx.px(4) : h;
    const float foot = y + row_h - ctx.px(3);
    const std::string from = line.is_input ? source_text(ctx.ui.texts, line.source) : std::string();
    std::vector<std::string_view> source;
    if (line.is_input) {
      source = wrapped_lines(ctx.ui.canvas, from, small, width - symbol_w);
      row_h += prose_height(small, source.size()) - ctx.px(3);
    }
    const Rect row{x, y, width, row_h};
    if (region(row, line.id))
      ctx.ui.canvas.rect(row.inset(-ctx.px(6), 0), {.colour = mix(theme().panel, theme().ctl, 0.8f)}, ctx.px(3));
    draw_formula(ctx.ui.canvas, symbol, {x, y + h / 2});
    ctx.ui.canvas.text({x + symbol_w, y + h / 2}, ellipsize(ctx.ui.canvas, label, name, room), name);
    ctx.ui.canvas.text({x + width, value_y}, value, v);
    float sy = foot;
    for (const std::string_view s : source) {
      sy += draw_prose(ctx.ui.canvas, {x + symbol_w, sy}, s, small, width);
    }
    y += row_h + ctx.px(2);
  }
};

// What a tenth more of each input would do: a bar to the right of the middle where the number grows, to the left
// where it shrinks.
void sensitivity_rows(Writer& w, const std::string& id, std::optional<DerivationState::Sensitivities>& kept) {
  PanelContext& ctx = w.ctx;
  constexpr std::size_t kMost = 7;
  const bool known = kept && kept->id == id;
  // A plan that comes to fit under the hand is asked about its time instead of its memory, and waits for the release.
  if (ctx.ui.io.anything_held()) {
    if (!known) return;
  } else if (!known || !(kept->scenario == ctx.session.scenario())) {
    const engine::Scenario& plan = ctx.session.scenario();
    const auto to_the_inputs = engine::explain(plan, ctx.session.report(), id);
    kept = DerivationState::Sensitivities{id, plan, engine::sensitivity(plan, to_the_inputs.value())};
  }
  // A count of two or three cannot be had a tenth larger; what it does when it doubles is another question.
  std::erase_if(kept->rows, [](const engine::SensitivityRow& row) { return row.more > 0.2; });
  if (kept->rows.empty()) return;
  const Theme& t = w.theme();
  w.y += ctx.px(8);
  separator(ctx, w.x, w.x + w.width, w.y);
  w.y += ctx.px(4);
  w.y += section_head(ctx, {w.x, w.y}, w.width, ctx.text("ui.sensitivity.title"));
  const bool stale = !(kept->scenario == ctx.session.scenario());
  double largest = 0;
  for (const engine::SensitivityRow& row : kept->rows) largest = std::max(largest, std::abs(row.change()));
  const float row_h = std::round(ctx.px(23)), label_w = w.width * 0.46f, value_w = ctx.px(70);
  const float middle = w.x + label_w + (w.width - label_w - value_w) / 2,
              half = (w.width - label_w - value_w) / 2 - ctx.px(8);
  for (std::size_t i = 0; i < std::min(kMost, kept->rows.size()); ++i) {
    const engine::SensitivityRow& row = kept->rows[i];
    const std::string input(engine::quantity(row.input).id);
    const Rect area{w.x, w.y, w.width, row_h};
    if (w.region(area, input))
      ctx.ui.canvas.rect(area.inset(-ctx.px(6), 0), {.colour = mix(t.panel, t.ctl, 0.8f)}, ctx.px(3));
    const float y = area.centre().y;
    const float length = std::max(ctx.px(1.5f), half * static_cast<float>(std::abs(row.change()) / largest));
    const Rect bar{row.change() < 0 ? middle - length : middle, std::round(y - ctx.px(4)), length,
                   std::round(ctx.px(8))};
    // The label has the room up to the bar. A count cannot grow by a tenth of itself exactly: by how much it does is
    // never cut.
    const TextStyle l = ctx.style(stale ? t.ink3 : t.ink2);
    const auto with_growth = [&](std::string_view name) {
      if (std::abs(row.more - 0.1) <= 0.005) return std::string(name);
      return ctx.format("ui.sensitivity.count", {std::string(name), format(row.more, engine::unit::fraction,
                                                                           {.sign = true, .trim_zeros = true})});
    };
    const float room = bar.x - ctx.px(8) - w.x;
    std::string label = label_of(ctx, input);
    if (const float over = ctx.ui.canvas.text_width(with_growth(label), l) - room; over > 0)
      label = ellipsize(ctx.ui.canvas, label, l, ctx.ui.canvas.text_width(label, l) - over);
    ctx.ui.canvas.text({w.x, y}, with_growth(label), l);
    ctx.ui.canvas.rect(bar, {.colour = stale ? t.edge : t.ink2});
    ctx.ui.canvas.rect(
        {std::round(middle), w.y + ctx.px(2), std::max(1.0f, std::round(ctx.px(1))), row_h - ctx.px(4)},
        {.colour = t.axis});
    TextStyle v = ctx.style(stale ? t.ink3 : t.ink);
    v.halign = HAlign::right;
    ctx.ui.canvas.text({w.x + w.width, y}, format(row.change(), engine::unit::fraction, {.sign = true}), v);
    w.y += row_h;
  }
}

// Which part of a sum or decision is worth showing at once: the largest that has a formula.
const DerivationLine* dominant(const engine::Derivation& all, const DerivationLine& top) {
  const DerivationLine* best = nullptr;
  for (const std::string& id : top.uses) {
    const DerivationLine* line = all.find(id);
    if (line == nullptr || line->is_input) continue;
    if (!(line->unit == top.unit)) continue;
    if (best == nullptr || line->value > best->value) best = line;
  }
  return best;
}

// Where a plan that cannot be leads to: the button's words, its id and the command it runs.
struct WayOut {
  std::string_view text, id, command;
};
// All the plans there are, beside the one change that the finding suggests.
constexpr WayOut kToPlans{"ui.derivation.search", "why.search", "view.search"};
// The chip lacks a figure, which no plan mends.
constexpr WayOut kToFigure{"ui.derivation.enter_figure", "why.enter_figure", "editor.cluster"};

// Of a plan that cannot be, before anything was clicked or where what was clicked has no value: `none` says so if it
// is not empty, then the way out, and how the number that is wrong came about. Title at `x` of the head.
void why_impossible(PanelContext& ctx, const Rect& r, const Rect& head, float x, const Rect& rest,
                    const std::string& none, const engine::Derivation* derivation, const WayOut& way) {
  const Theme& t = ctx.ui.theme;
  const float pad = std::round(ctx.px(16));
  ctx.ui.canvas.text({x, head.centre().y}, ctx.text("ui.derivation.why_impossible"),
                     ctx.style(t.ink, 1.25f, Weight::bold));
  const auto inner = ctx.ui.canvas.clip(rest);
  const ScrollRegion scroll = begin_scroll(ctx.ui, "derivation", rest);
  Writer w{ctx, {}, r.x + pad, r.w - 2 * pad, scroll.content_top};  // why, the diagnostics above say
  if (!none.empty()) w.y += draw_prose(ctx.ui.canvas, {w.x, w.y}, none, ctx.style(t.ink2), w.width) + ctx.px(8);
  const std::string_view label = ctx.text(way.text);
  const float wide = std::min(w.width, ctx.ui.canvas.text_width(label, ctx.style(t.ink)) + ctx.px(24));
  const Rect b{w.x, std::round(w.y), std::round(wide), std::round(ctx.px(kControlHeight))};
  if (button(ctx.ui, b, way.id, label)) ctx.requests.run(way.command);
  w.y = b.bottom() + ctx.px(10);
  if (derivation != nullptr && !derivation->lines.empty()) {
    const DerivationLine& top = derivation->lines.front();
    separator(ctx, w.x, w.x + w.width, w.y);
    w.y += ctx.px(4);
    w.heading(top);
    w.body(*derivation, top);
    w.y += ctx.px(4);
    for (const std::string& use : top.uses)
      if (const DerivationLine* line = derivation->find(use)) w.used(*line);
  }
  end_scroll(ctx.ui, scroll, w.y + ctx.px(12));
}

}  // namespace

void DerivationState::open(std::string id) {
  if (id.empty()) return;
  if (trail.empty() || trail.back() != id) trail.push_back(std::move(id));
  if (trail.size() > kLongestTrail) trail.erase(trail.begin());
}

engine::Scenario derivation_panel(PanelContext& ctx, const Rect& r, DerivationState& state,
                                  engine::Scenario scenario) {
  const Theme& t = ctx.ui.theme;
  const float pad = std::round(ctx.px(16));
  const engine::Report& report = ctx.session.report();
  const engine::Diagnostic* impossible = report.has_errors() ? worst_diagnostic(report) : nullptr;
  const bool asked = !state.trail.empty();
  const std::string id =
      asked ? state.trail.back() : std::string(first_derivation(ctx.session.scenario(), report, impossible));
  const auto clip = ctx.ui.canvas.clip(r);
  Rect rest = r;
  const Rect head = rest.cut_top(std::round(ctx.px(40)));
  float x = head.x + pad;
  if (state.trail.size() > 1) {
    const float side = std::round(ctx.px(22));
    if (icon_button(ctx.ui, {x - ctx.px(5), head.centre().y - side / 2, side, side}, "why.back", Icon::chevron_left,
                    {std::string(ctx.text("ui.derivation.back")), {}}))
      state.trail.pop_back();
    x += side;
  }
  const engine::Derivation* derivation = derive(ctx, id, state);
  const ScopedId scoped = scoped_id(id);
  const bool nothing = derivation == nullptr || derivation->lines.empty();
  if (impossible != nullptr && (!asked || nothing)) {
    const std::string none =
        asked ? ctx.format("ui.derivation.none_impossible", {label_of(ctx, scoped.quantity)}) : std::string();
    why_impossible(ctx, r, head, x, rest, none, derivation,
                   impossible->code == "chip.missing_figure" ? kToFigure : kToPlans);
    return scenario;
  }
  if (nothing) {
    ctx.ui.canvas.text({x, head.centre().y}, ctx.text("ui.derivation.title"), ctx.style(t.ink, 1, Weight::bold));
    draw_prose(ctx.ui.canvas, {r.x + pad, rest.y}, ctx.format("ui.derivation.none", {label_of(ctx, scoped.quantity)}),
               ctx.style(t.ink2), r.w - 2 * pad);
    return scenario;
  }
  const DerivationLine& top = derivation->lines.front();
  const std::string value = ctx.ui.texts.amount(top.value, top.unit, {.trim_zeros = top.is_input});
  const std::string title = ctx.format("ui.derivation.why", {value});
  // A narrow rail has no room for the large type of a long unit.
  const float width = head.right() - pad - x;
  TextStyle bold = ctx.style(t.ink, 1.25f, Weight::bold);
  if (ctx.ui.canvas.text_width(title, bold) > width) bold = ctx.style(t.ink, 1, Weight::bold);
  ctx.ui.canvas.text({x, head.centre().y}, ellipsize(ctx.ui.canvas, title, bold, width), bold);
  TextStyle small = ctx.style(t.ink3, kSmallText);
  small.halign = HAlign::right;
  const float room = width - ctx.ui.canvas.text_width(title, bold) - ctx.px(12);
  ctx.ui.canvas.text({head.right() - pad, head.centre().y}, ellipsize(ctx.ui.canvas, id, small, room), small);

  const auto inner = ctx.ui.canvas.clip(rest);
  const ScrollRegion scroll = begin_scroll(ctx.ui, "derivation", rest);
  Writer w{ctx, std::string(scoped.prefix), r.x + pad, r.w - 2 * pad, scroll.content_top};
  // The formulas give numbers of a mesh that cannot be, too; nobody should take them for a prediction.
  if (impossible != nullptr) {
    const std::string words(ctx.text("ui.derivation.impossible"));
    draw_mark(ctx.ui.canvas, t, {w.x + ctx.px(7), w.y + ctx.px(10)}, ctx.px(14), Mark::error);
    w.y += draw_prose(ctx.ui.canvas, {w.x + ctx.px(24), w.y}, words, ctx.style(t.ink2, kSmallText),
                      w.width - ctx.px(24)) +
           ctx.px(6);
  }
  if (scoped.schedule) {
    const std::string name(
        ctx.text("choice.pipeline.schedule." + std::string(engine::schedule_id(*scoped.schedule))));
    w.y += draw_prose(ctx.ui.canvas, {w.x, w.y}, ctx.format("ui.derivation.under", {name}),
                      ctx.style(t.ink, 1, Weight::bold), w.width) +
           ctx.px(4);
  }
  w.y += draw_prose(ctx.ui.canvas, {w.x, w.y}, quantity_about(ctx.ui.texts, scoped.quantity),
                    ctx.style(t.ink2, kSmallText), w.width) +
         ctx.px(6);
  // Why a number is zero: a formula of zeros does not say it.
  if (const auto q = engine::find_quantity(scoped.quantity); q && !scoped.schedule && impossible == nullptr)
    if (const auto reason = engine::zero_reason(ctx.session.scenario(), report, *q))
      w.y += draw_prose(ctx.ui.canvas, {w.x, w.y}, zero_text(*reason, ctx.session.scenario(), ctx.ui.texts),
                        ctx.style(t.ink), w.width) +
             ctx.px(6);
  const bool sum = top.expression.kind == Expression::Kind::add && top.expression.children.size() >= 4;
  w.body(*derivation, top);
  if (!top.is_input && !sum && !top.source.empty())
    w.y += draw_prose(ctx.ui.canvas, {w.x, w.y + ctx.px(2)}, source_text(ctx.ui.texts, top.source),
                      ctx.style(t.ink3, kSmallText), w.width) +
           ctx.px(4);
  const DerivationLine* next = sum ? dominant(*derivation, top) : nullptr;
  if (next != nullptr) {
    w.y += ctx.px(6);
    separator(ctx, r.x + pad, r.right() - pad, w.y);
    w.y += ctx.px(4);
    w.heading(*next);
    w.body(*derivation, *next);
  }
  const DerivationLine& shown = next != nullptr ? *next : top;
  if (!shown.uses.empty() && !(next == nullptr && sum)) {
    w.y += ctx.px(6);
    separator(ctx, r.x + pad, r.right() - pad, w.y);
    w.y += ctx.px(4);
    for (const std::string& use : shown.uses)
      if (const DerivationLine* line = derivation->find(use)) w.used(*line);
  }
  if (w.prefix.empty() && impossible == nullptr)
    sensitivity_rows(w, top.id, state.sensitivities);  // the scenario's own schedule alone is evaluated again
  end_scroll(ctx.ui, scroll, w.y + ctx.px(12));
  return scenario;
}

}  // namespace roofscape::app
