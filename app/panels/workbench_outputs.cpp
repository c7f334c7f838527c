#include "app/panels/workbench_outputs.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <variant>
#include <vector>

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

constexpr float kWantedBox = 104;  // of the value that is typed
constexpr float kLeastValue = 28;  // of a value, to be clicked

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
        prose(ctx.text(counted_key(line.quantity)), t.ink2);
      else if (!line.expression.is_empty())
        y += draw_equations(ctx.ui, {x, y}, width, line,
                            [this](const Rect& r, std::string_view id) { return area(r, id); });
      for (const engine::Expression* e : decisions(line.expression))
        if (const std::string words = decision_text(*e, ctx.ui.texts); !words.empty()) prose(words, t.ink2);
      if (!line.source.empty()) prose(source_text(ctx.ui.texts, line.source), t.ink3);
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
      if (!line.source.empty()) prose(source_text(ctx.ui.texts, line.source), t.ink3, symbol_w);
    }
    ctx.ui.canvas.rect({from + ctx.px(2), top, std::max(2.0f, std::round(ctx.px(2))), y - top}, {.colour = t.edge});
    x = from;
    width = room;
    y += ctx.px(8);
  }

  void table(const engine::BlockTable& table) {
    constexpr double kLargest = 1e7;  // written out
    const auto cell_text = [](const engine::Cell& c) {
      const double* number = std::get_if<double>(&c);
      if (number == nullptr) return std::get<std::string>(c);
      return std::abs(*number) < kLargest ? format_significant(*number, 6, true)
                                          : format_si(*number, "", {.trim_zeros = true});
    };
    const float h = std::round(ctx.px(21));
    const TextStyle head = ctx.style(ctx.ui.theme.ink3, kSmallText), cell = ctx.style(ctx.ui.theme.ink, kSmallText);
    const std::vector<float> ends = column_ends(table, head, cell, cell_text);
    const auto row = [&](std::size_t i, const std::string& text, const TextStyle& s) {
      TextStyle right = s;
      right.halign = HAlign::right;
      const float room = ends[i] - (i > 0 ? ends[i - 1] : 0);
      ctx.ui.canvas.text({x + ends[i] - ctx.px(4), y + h / 2}, ellipsize(ctx.ui.canvas, text, s, room - ctx.px(6)),
                         right);
    };
    for (std::size_t i = 0; i < table.columns.size(); ++i) row(i, std::string(table.columns[i]), head);
    y += h;
    for (const auto& cells : table.rows) {
      // Rows out of sight cost nothing.
      if (y + h > ctx.ui.canvas.clip_rect().y && y < ctx.ui.canvas.clip_rect().bottom())
        for (std::size_t i = 0; i < cells.size() && i < table.columns.size(); ++i) row(i, cell_text(cells[i]), cell);
      y += h;
    }
    y += ctx.px(6);
  }

  // Where the columns of a table end: each as wide as its cells are, what is left to the heads that are wider. Where
  // cells alone are too wide, the widest columns give way.
  template <class CellText>
  std::vector<float> column_ends(const engine::BlockTable& table, const TextStyle& head, const TextStyle& cell,
                                 const CellText& text_of) const {
    constexpr std::size_t kMeasuredRows = 32;
    const std::size_t columns = table.columns.size();
    std::vector<float> widths(columns, 0), wanted(columns, 0);
    float taken = 0, more = 0;
    for (std::size_t i = 0; i < columns; ++i) {
      for (std::size_t r = 0; r < std::min(kMeasuredRows, table.rows.size()); ++r)
        if (i < table.rows[r].size())
          widths[i] = std::max(widths[i], ctx.ui.canvas.text_width(text_of(table.rows[r][i]), cell) + ctx.px(8));
      wanted[i] = std::max(0.0f, ctx.ui.canvas.text_width(table.columns[i], head) + ctx.px(8) - widths[i]);
      taken += widths[i], more += wanted[i];
    }
    const float left = width - taken;
    for (std::size_t i = 0; i < columns && left > 0; ++i)
      widths[i] += more > 0 ? left * wanted[i] / more : left / static_cast<float>(columns);
    if (left < 0) {
      std::vector<float> sorted = widths;
      std::sort(sorted.begin(), sorted.end());
      float widest = 0, room = width;
      for (std::size_t i = 0; i < columns; ++i) {
        widest = room / static_cast<float>(columns - i);
        if (sorted[i] >= widest) break;
        room -= sorted[i];
      }
      for (float& w : widths) w = std::min(w, widest);
    }
    std::partial_sum(widths.begin(), widths.end(), widths.begin());
    return widths;
  }

  // What its box starts with: as it is typed.
  std::string typed_text(const BlockAnswer* answer) const {
    if (answer == nullptr || answer->is_absent()) return {};
    if (answer->output->kind == OutputKind::word) return answer->word;
    if (answer->output->kind == OutputKind::holds) return answer->numbers.front() > 0.5 ? "true" : "false";
    const double value = answer->numbers.front();
    // Above 1 a bare number is read as per cent.
    const bool is_share = engine::quantity(answer->output->q).unit.notation == engine::Notation::percent;
    return is_share && value > 1 ? input_text(100 * value) + "%" : input_text(value);
  }

  // The value of the output that is asked backwards, or is about to be, in a box.
  void wanted_box(const BlockOutput& o, const Rect& r, const std::string& id, const std::string& now) {
    const bool before = ctx.ui.io.editing(id);
    const auto typed = typed_line(ctx, r, id, now, "");
    if (typed)
      bench.want(ctx.session, o.name, truth_word(o, *typed));
    else if (before && !ctx.ui.io.editing(id))
      bench.ask_forwards(ctx.session);
    else if (!before && r.contains(ctx.ui.io.pointer()))
      ctx.ui.io.hint(id, r, {std::string(ctx.text("ui.bench.backwards")), {}},
                     std::string(ctx.text("ui.bench.backwards.clear")));
  }
  // A truth is shown and may be typed in the language's words.
  std::string truth_word(const BlockOutput& o, const std::string& typed) const {
    if (o.kind != OutputKind::holds) return typed;
    if (typed == ctx.text("ui.bench.yes")) return "true";
    return typed == ctx.text("ui.bench.no") ? "false" : typed;
  }

  std::string kept_text(std::string_view output) const {
    const auto found = kept.given.find(output);
    return found == kept.given.end() ? std::string() : found->second;
  }
  // A value that a click makes a box of.
  void ask_for(const Rect& r, const std::string& id, const std::string& text) {
    const Readout tip{std::string(ctx.text("ui.bench.backwards")),
                      {{std::string(ctx.text("ui.tip.click")), std::string(ctx.text("ui.bench.backwards.click"))}}};
    if (link(ctx.ui, r, id, tip, Interaction::Focus::tab_stop)) ctx.ui.io.start_entry(id, text);
  }

  // Under it: which input is open, with the choice of others, and what was found for it.
  void backwards(const Workbench::Bench::Backwards& ask) {
    const auto solve = kept.given.find("solve");
    std::vector<Option> options;
    int now = -1;
    for (const std::string& name : ask.inputs) {
      if (solve != kept.given.end() && solve->second == name) now = static_cast<int>(options.size());
      options.push_back({input_label(ctx.ui.texts, *bench.shown().find_input(name)), {}});
    }
    const float h = std::round(ctx.px(kControlHeight)), side = std::round(ctx.px(22)), label = ctx.px(100);
    const float middle = y + ctx.px(kRowHeight) / 2;
    if (!options.empty()) {
      const TextStyle s = ctx.style(ctx.ui.theme.ink2, kSmallText);
      ctx.ui.canvas.text({x, middle}, ellipsize(ctx.ui.canvas, ctx.text("ui.bench.solve"), s, label), s);
      const Rect r{x + label, std::round(middle - h / 2), width - label - side - ctx.px(6), h};
      const int next = drop_down(ctx.ui, r, "bench.solve", options, now,
                                 {std::string(ctx.text("ui.bench.solve")), {}}, ctx.text("ui.bench.solve.about"));
      if (next != now && next >= 0) bench.solve_for(ctx.session, ask.inputs[static_cast<std::size_t>(next)]);
    }
    const Rect clear{x + width - side, std::round(middle - side / 2), side, side};
    if (icon_button(ctx.ui, clear, "bench.forwards", Icon::close, {std::string(ctx.text("ui.bench.forwards")), {}}))
      bench.ask_forwards(ctx.session);
    y += std::round(ctx.px(kRowHeight));
    if (const auto& question = kept.reply.question; question && question->solved) {
      const engine::SolvedInput& s = *question->solved;
      const BlockOutput& o = *std::find_if(bench.shown().outputs.begin(), bench.shown().outputs.end(),
                                           [&](const BlockOutput& out) { return out.name == s.wanted.output; });
      const engine::BlockInput& in = *bench.shown().find_input(s.input);
      const auto amount = [&](double v, engine::Q q) { return ctx.ui.texts.amount(v, engine::quantity(q).unit); };
      prose(ctx.format("ui.bench.found.is", {input_label(ctx.ui.texts, in), amount(s.value, in.q)}),
            ctx.ui.theme.ink);
      if (s.next_value)
        prose(ctx.format("ui.bench.found.next",
                         {amount(*s.reached, o.q), amount(*s.next_value, in.q), amount(*s.next_reached, o.q)}),
              ctx.ui.theme.ink3);
    }
    y += ctx.px(6);
  }

  void output(const BlockOutput& o) {
    const Theme& t = ctx.ui.theme;
    const BlockAnswer* answer = kept.reply.result ? kept.reply.result->find(o.name) : nullptr;
    const bool derivable = answer != nullptr && !answer->nodes.empty();
    const std::string probe = "bench.out." + std::string(o.name);
    const Rect whole{x, y, width, std::round(ctx.px(kRowHeight))};
    const bool absent = answer == nullptr || (answer->is_absent() && o.kind != OutputKind::table);
    TextStyle v = ctx.style(absent ? t.ink3 : t.ink, 1, absent ? Weight::regular : Weight::bold);
    v.halign = HAlign::right;
    const std::string value = absent                        ? std::string("\u2014")
                              : o.kind == OutputKind::table ? std::string()
                                                            : answer_text(ctx, *answer);
    float value_w = std::min(width * 0.62f, ctx.ui.canvas.text_width(value, v));
    // The value is a control of its own where it can be typed.
    const auto& backwards_now = bench.bench(ctx.session).backwards;
    const bool asked = backwards_now && backwards_now->output == o.name;
    const bool can_ask = can_ask_backwards(bench.shown(), o);
    const std::string entry = "bench.want." + std::string(o.name);
    const bool boxed = asked || ctx.ui.io.editing(entry);
    if (boxed) value_w = ctx.px(kWantedBox);
    const float own = can_ask ? std::max(value_w, ctx.px(kLeastValue)) : 0;
    const Rect row{x, y, width - own - (can_ask ? ctx.px(4) : 0), whole.h};
    const ItemState s = ctx.ui.item(probe, row, derivable ? Interaction::Focus::tab_stop : Interaction::Focus::none);
    const bool shown = kept.derived == o.name && derivable;
    if (s.hovered || shown)
      ctx.ui.canvas.rect(whole.inset(-ctx.px(6), 0), {.colour = mix(t.panel, t.ctl, 0.8f)}, ctx.px(3));
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
    const float chevron = derivable ? ctx.px(20) : 0;
    if (derivable)
      draw_icon(ctx.ui.canvas, {x + ctx.px(6), row.centre().y}, ctx.px(9),
                shown ? Icon::chevron_down : Icon::chevron_right, t.ink2);
    const float h = std::round(ctx.px(kControlHeight));
    const Rect box{x + width - own, std::round(whole.centre().y - h / 2), own, h};
    if (boxed) {
      wanted_box(o, box, entry, asked ? kept_text(o.name) : typed_text(answer));
    } else {
      if (can_ask) ask_for(box, entry, typed_text(answer));
      ctx.ui.canvas.text({x + width, row.centre().y}, ellipsize(ctx.ui.canvas, value, v, width * 0.62f), v);
    }
    const TextStyle name = ctx.style(absent ? t.ink3 : t.ink);
    ctx.ui.canvas.text(
        {x + chevron, row.centre().y},
        ellipsize(ctx.ui.canvas, output_label(ctx.ui.texts, o), name, width - chevron - value_w - ctx.px(12)), name);
    y += row.h;
    // A copy: what stands under it may end the asking.
    if (asked && backwards_now) backwards(Workbench::Bench::Backwards(*backwards_now));
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
    const std::string words =
        error->path == block || error->path.empty()
            ? ctx.format("ui.bench.wrong", {ctx.ui.texts.write(error->message), ctx.ui.texts.write(error->remedy)})
            : ctx.format("ui.bench.wrong_input", {error->path, ctx.ui.texts.write(error->message)});
    out.y += draw_prose(ctx.ui.canvas, {out.x, out.y}, words,
                        ctx.style(mark_colour(ctx.ui.theme, Mark::error), kSmallText), width) +
             ctx.px(6);
  }
  for (const BlockOutput& one : bench.shown().outputs) out.output(one);
  return out.y;
}

}  // namespace roofscape::app
