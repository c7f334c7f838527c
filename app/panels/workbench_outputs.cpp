#include "app/panels/workbench_outputs.h"

#include <algorithm>
#include <cmath>

#include "app/core/derivation_text.h"
#include "app/panels/formula_view.h"
#include "app/panels/panel_parts.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/blocks/block_text.h"
#include "widgets/plot/formula_text.h"
#include "widgets/plot/plot.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape::app {

using namespace widgets;
using engine::BlockAnswer;
using engine::BlockOutput;
using engine::OutputKind;

namespace {

std::string unit_of(engine::Q q) {
  const std::string_view symbol = engine::quantity(q).unit.symbol;
  return symbol == "1" ? std::string() : std::string(symbol);
}

std::string answer_text(const PanelContext& ctx, const BlockAnswer& answer) {
  const BlockOutput& o = *answer.output;
  if (o.kind == OutputKind::word) return block_word(ctx.ui.texts, answer.word);
  std::string out;
  for (const double x : answer.numbers) {
    const bool truth = o.kind == OutputKind::holds || o.kind == OutputKind::flags;
    out += (out.empty() ? "" : ", ") + (truth ? std::string(ctx.text(x > 0.5 ? "ui.bench.yes" : "ui.bench.no"))
                                              : ctx.ui.texts.amount(x, engine::quantity(o.q).unit));
  }
  return out;
}

struct Outputs {
  PanelContext& ctx;
  Workbench& bench;
  const Workbench::Kept& kept;
  float x, y, width;
  int areas = 0;

  bool area(const Rect& r, std::string_view id) {
    const std::string probe = "bench.why." + std::to_string(areas++) + "." + std::string(id);
    const ItemState s = ctx.ui.item(probe, r, Interaction::Focus::none);
    if (s.hovered) {
      ctx.ui.io.hint(
          probe, r, {quantity_label(ctx.ui.texts, id), {{std::string(ctx.text("ui.tip.quantity")), std::string(id)}}},
          quantity_about(ctx.ui.texts, id));
    }
    return s.hovered;
  }

  void prose(std::string_view words, Colour colour, float indent = 0) {
    y += draw_prose(ctx.ui.canvas, {x + indent, y}, words, ctx.style(colour, kSmallText), width - indent);
  }

  // All lines of it, as `calc --explain` prints them: formulas first, then the inputs with their sources.
  void derivation(const engine::Derivation& d) {
    const Theme& t = ctx.ui.theme;
    const float from = x, room = width, top = y;
    x += ctx.px(14);
    width -= ctx.px(14);
    for (const engine::DerivationLine& line : d.lines) {
      if (line.is_input) continue;
      y += ctx.px(4);
      prose(ctx.format("ui.bench.line", {quantity_label(ctx.ui.texts, line.id), line.id}), t.ink3);
      y += ctx.px(2);
      if (line.is_simulated)
        prose(ctx.text("derivation.simulated"), t.ink2);
      else if (line.expression.kind != engine::Expression::Kind::constant || !line.expression.children.empty())
        y += draw_equations(ctx.ui, {x, y}, width, line,
                            [this](const Rect& r, std::string_view id) { return area(r, id); });
      for (const engine::Expression* e : decisions(line.expression))
        if (const std::string words = decision_text(*e, ctx.ui.texts); !words.empty()) prose(words, t.ink2);
      if (!line.source.empty()) prose(line.source, t.ink3);
    }
    y += ctx.px(6);
    for (const engine::DerivationLine& line : d.lines) {
      if (!line.is_input) continue;
      const float h = std::round(ctx.px(22));
      Formula symbol = set_symbol(ctx.ui.canvas, line.symbol, ctx.ui.em(), t.ink2);
      const float symbol_w = std::max(ctx.px(54), symbol.width + ctx.px(10));
      TextStyle v = ctx.style(t.ink);
      v.halign = HAlign::right;
      const std::string value = ctx.ui.texts.amount(line.value, line.unit, kDerivedDigits);
      draw_formula(ctx.ui.canvas, symbol, {x, y + h / 2});
      const TextStyle name = ctx.style(t.ink2);
      const float left = width - symbol_w - ctx.ui.canvas.text_width(value, v) - ctx.px(12);
      ctx.ui.canvas.text({x + symbol_w, y + h / 2},
                         ellipsize(ctx.ui.canvas, quantity_label(ctx.ui.texts, line.id), name, left), name);
      ctx.ui.canvas.text({x + width, y + h / 2}, value, v);
      area({x, y, width, h}, line.id);
      y += h;
      if (!line.source.empty()) prose(line.source, t.ink3, symbol_w);
    }
    ctx.ui.canvas.rect({from + ctx.px(2), top, std::max(2.0f, std::round(ctx.px(2))), y - top}, {.colour = t.edge});
    x = from;
    width = room;
    y += ctx.px(8);
  }

  void table(const engine::BlockTable& table) {
    const auto cell_text = [](const engine::Cell& c) {
      return std::holds_alternative<double>(c) ? format_significant(std::get<double>(c), 6, true)
                                               : std::get<std::string>(c);
    };
    const float h = std::round(ctx.px(21)),
                column = width / static_cast<float>(std::max<std::size_t>(1, table.columns.size()));
    const auto row = [&](std::size_t i, const std::string& text, const TextStyle& s) {
      TextStyle right = s;
      right.halign = HAlign::right;
      ctx.ui.canvas.text({x + column * static_cast<float>(i + 1) - ctx.px(4), y + h / 2},
                         ellipsize(ctx.ui.canvas, text, s, column - ctx.px(6)), right);
    };
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      row(i, std::string(table.columns[i]), ctx.style(ctx.ui.theme.ink3, kSmallText));
    y += h;
    for (const auto& cells : table.rows) {
      // Rows out of sight cost nothing.
      if (y + h > ctx.ui.canvas.clip_rect().y && y < ctx.ui.canvas.clip_rect().bottom())
        for (std::size_t i = 0; i < cells.size() && i < table.columns.size(); ++i)
          row(i, cell_text(cells[i]), ctx.style(ctx.ui.theme.ink, kSmallText));
      y += h;
    }
    y += ctx.px(6);
  }

  void output(const BlockOutput& o) {
    const Theme& t = ctx.ui.theme;
    const BlockAnswer* answer = kept.reply.result ? kept.reply.result->find(o.name) : nullptr;
    const bool derivable = answer != nullptr && !answer->nodes.empty();
    const std::string probe = "bench.out." + std::string(o.name);
    const Rect row{x, y, width, std::round(ctx.px(kRowHeight))};
    const ItemState s = ctx.ui.item(probe, row, derivable ? Interaction::Focus::tab_stop : Interaction::Focus::none);
    const bool shown = kept.derived == o.name && derivable;
    if (s.hovered || shown)
      ctx.ui.canvas.rect(row.inset(-ctx.px(6), 0), {.colour = mix(t.panel, t.ctl, 0.8f)}, ctx.px(3));
    if (s.ring) ctx.ui.canvas.frame(row.inset(-ctx.px(6), 0), {t.ink, ctx.px(2), {}}, ctx.px(3));
    if (s.hovered) {
      Readout tip{output_label(ctx.ui.texts, o), {}};
      tip.rows.emplace_back(ctx.text("ui.bench.output"), std::string(o.name));
      if (is_quantity(o) && !unit_of(o.q).empty()) tip.rows.emplace_back(ctx.text("ui.tip.unit"), unit_of(o.q));
      if (derivable) {
        tip.rows.emplace_back(ctx.text("ui.tip.click"), ctx.text("ui.tip.derivation"));
        ctx.ui.io.set_cursor(Cursor::hand);
      }
      ctx.ui.io.hint(probe, row, tip, std::string(ctx.text(io::about_key(o))));
    }
    if (s.clicked && derivable) bench.bench(ctx.session).derived = shown ? std::string() : std::string(o.name);
    const bool absent = answer == nullptr || (answer->is_absent() && o.kind != OutputKind::table);
    TextStyle v = ctx.style(absent ? t.ink3 : t.ink, 1, absent ? Weight::regular : Weight::bold);
    v.halign = HAlign::right;
    const std::string value = absent                        ? std::string("\u2014")
                              : o.kind == OutputKind::table ? std::string()
                                                            : answer_text(ctx, *answer);
    const float chevron = derivable ? ctx.px(20) : 0;
    if (derivable)
      draw_icon(ctx.ui.canvas, {x + ctx.px(6), row.centre().y}, ctx.px(9),
                shown ? Icon::chevron_down : Icon::chevron_right, t.ink2);
    const float value_w = std::min(width * 0.62f, ctx.ui.canvas.text_width(value, v));
    ctx.ui.canvas.text({x + width, row.centre().y}, ellipsize(ctx.ui.canvas, value, v, width * 0.62f), v);
    const TextStyle name = ctx.style(absent ? t.ink3 : t.ink);
    ctx.ui.canvas.text(
        {x + chevron, row.centre().y},
        ellipsize(ctx.ui.canvas, output_label(ctx.ui.texts, o), name, width - chevron - value_w - ctx.px(12)), name);
    y += row.h;
    if (absent && answer != nullptr && !answer->missing.empty()) {
      std::string names;
      for (const std::string& m : answer->missing) names += (names.empty() ? "" : ", ") + m;
      prose(ctx.format("ui.bench.needs", {names}), t.ink3);
      y += ctx.px(4);
    } else if (absent && answer != nullptr && !answer->reason.empty()) {
      prose(ctx.text("calc.absent." + std::string(answer->reason)), t.ink3);
      y += ctx.px(4);
    }
    if (o.kind == OutputKind::table && kept.reply.result) table(kept.reply.result->table);
    if (shown)
      for (const engine::Derivation& d : kept.derivations) derivation(d);
  }
};

}  // namespace

float block_outputs(PanelContext& ctx, Point top_left, float width, Workbench& bench, const Workbench::Kept& kept) {
  Outputs out{ctx, bench, kept, top_left.x, top_left.y, width};
  const std::string_view block = bench.shown().id;
  out.y += section_head(ctx, top_left, width, ctx.text("ui.bench.outputs"));
  if (const auto& error = kept.reply.error) {
    const std::string words = error->path == block || error->path.empty()
                                  ? ctx.format("ui.bench.wrong", {error->message, error->remedy})
                                  : ctx.format("ui.bench.wrong_input", {error->path, error->message});
    out.y += draw_prose(ctx.ui.canvas, {out.x, out.y}, words,
                        ctx.style(mark_colour(ctx.ui.theme, Mark::error), kSmallText), width) +
             ctx.px(6);
  }
  for (const BlockOutput& one : bench.shown().outputs) out.output(one);
  return out.y;
}

}  // namespace roofscape::app
