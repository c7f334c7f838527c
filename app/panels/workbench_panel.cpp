// The chosen block's inputs are controls, its outputs have their derivations.
#include "app/panels/workbench_panel.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "app/core/derivation_text.h"
#include "app/panels/derivation_id.h"
#include "app/panels/field_text.h"
#include "app/panels/formula_view.h"
#include "app/panels/panel_parts.h"
#include "engine/base/number_text.h"
#include "widgets/canvas/number_format.h"
#include "widgets/plot/formula_text.h"
#include "widgets/plot/plot.h"

namespace roofscape::app {

using namespace widgets;
using engine::BlockAnswer;
using engine::BlockInput;
using engine::BlockOutput;
using engine::BuildingBlock;
using engine::InputKind;
using engine::OutputKind;

namespace {

constexpr float kLabel = 148, kWideLabel = 216, kSide = 22;
constexpr float kBesideTrack = kSide + 6 + 13;  // the way back, and the gap before the box
constexpr float kBox = 100;                     // has room for a count of parameters, in small letters
constexpr float kTrack = 60;                    // what the track keeps of a wide box
constexpr float kBesideLabel = 204;             // what track, box and the way back take at least
constexpr float kTwoColumns = 520;              // width below which outputs stand under the inputs
constexpr std::string_view kSearch = "bench.search";

std::string unit_of(engine::Q q) {
  const std::string_view symbol = engine::quantity(q).unit.symbol;
  return symbol == "1" ? std::string() : std::string(symbol);
}

std::string label_of(const PanelContext& ctx, const BlockInput& in) {
  return in.is_numeric() ? std::string(ctx.text("quantity." + std::string(engine::quantity(in.q).id) + ".label"))
                         : std::string(ctx.text("calc.input." + std::string(in.name) + ".label"));
}

bool is_numeric(const BlockOutput& o) {
  return o.kind == OutputKind::number || o.kind == OutputKind::list || o.kind == OutputKind::flags;
}

std::string label_of(const PanelContext& ctx, const BlockOutput& o) {
  return is_numeric(o) ? std::string(ctx.text("quantity." + std::string(engine::quantity(o.q).id) + ".label"))
                       : std::string(ctx.text("calc.output." + std::string(o.name) + ".label"));
}

// A word of a choice or an answer as people say it, where its id is not that already.
std::string spoken(const PanelContext& ctx, std::string_view word) {
  const std::string key = "calc.word." + std::string(word);
  return std::string(ctx.ui.texts.has(key) ? ctx.text(key) : word);
}

std::string answer_text(const PanelContext& ctx, const BlockAnswer& answer) {
  const BlockOutput& o = *answer.output;
  if (o.kind == OutputKind::word) return spoken(ctx, answer.word);
  std::string out;
  for (const double x : answer.numbers) {
    const bool truth = o.kind == OutputKind::holds || o.kind == OutputKind::flags;
    out += (out.empty() ? "" : ", ") + (truth ? std::string(ctx.text(x > 0.5 ? "ui.bench.yes" : "ui.bench.no"))
                                              : ctx.ui.texts.amount(x, engine::quantity(o.q).unit));
  }
  return out;
}

// The track of a number: three powers of ten to either side of what it was first, inside its domain. What is typed
// may lie outside of that; the block says what is wrong with it.
SliderRange range_of(const BlockInput& in, double middle) {
  SliderRange range;
  range.unit = engine::quantity(in.q).unit;
  range.minimum = std::numeric_limits<double>::lowest();
  range.maximum = std::numeric_limits<double>::max();
  range.whole = in.kind == InputKind::integer;
  const bool share = in.high <= 1;
  if (share || middle <= 0) {
    range.kind = SliderKind::linear;
    range.track_from = std::max(in.low, middle < 0 ? 4 * middle : 0.0);
    range.track_to = std::min(in.high, middle < 0 ? -4 * middle : share ? 1.0 : 10.0);
    if (!(range.track_to > range.track_from)) range.track_to = range.track_from + 1;
    return range;
  }
  const bool counted = range.whole || range.unit.notation == engine::Notation::count;
  range.kind = counted ? SliderKind::power_of_two : SliderKind::logarithmic;
  const double scale = counted ? 1024 : 1000, from = counted ? std::exp2(std::round(std::log2(middle))) : middle;
  range.track_from = std::max({from / scale, in.low, counted ? 1.0 : 0.0});
  range.track_to = std::max(range.track_from * 2, std::min(from * scale, in.high));
  return range;
}

struct Inputs {
  PanelContext& ctx;
  Workbench& bench;
  const Workbench::Kept& kept;
  float x, y, width;

  std::string id(std::string_view name) const { return "bench.in." + std::string(name); }
  float label_width() const { return std::clamp(width / ctx.px(1) - kBesideLabel, kLabel, kWideLabel); }
  float box_width() const {
    return std::clamp(width / ctx.px(1) - label_width() - kTrack - kBesideTrack, kBoxWidth, kBox);
  }
  const std::string* given(std::string_view name) const {
    const auto found = kept.given.find(name);
    return found == kept.given.end() ? nullptr : &found->second;
  }
  // The words under an input: what is wrong with it, else what it may be and where its value is from.
  std::string words(std::string_view name, std::string rest, bool& wrong) const {
    wrong = kept.reply.error && kept.reply.error->path == name;
    if (!wrong) return rest;
    const io::InputError& e = *kept.reply.error;
    return e.remedy.empty() ? e.message : ctx.format("ui.bench.wrong", {e.message, e.remedy});
  }
  void way_back(std::string_view name) {
    if (given(name) == nullptr && !bench.bench(ctx.session).start.contains(name)) return;
    const auto& start = bench.bench(ctx.session).start;
    const auto was = start.find(name);
    const bool same = was != start.end() && given(name) != nullptr && was->second == *given(name);
    const float side = std::round(ctx.px(kSide));
    const Rect r{x + width - side, y + std::round((ctx.px(kRowHeight) - side) / 2), side, side};
    const std::string tip = same || was == start.end() ? std::string(ctx.text("ui.bench.leave_out"))
                                                       : ctx.format("ui.bench.back", {was->second});
    if (!icon_button(ctx.ui, r, "bench.reset." + std::string(name), same ? Icon::close : Icon::restore, {tip, {}}))
      return;
    if (same)
      bench.leave_out(ctx.session, name);
    else
      bench.reset_input(ctx.session, name);
  }
  void under(const std::string& text, bool wrong) {
    const Theme& t = ctx.ui.theme;
    const TextStyle s = ctx.style(wrong ? mark_colour(t, Mark::error) : t.ink3, kSmallText);
    y += draw_prose(ctx.ui.canvas, {x, y}, text, s, width) + ctx.px(6);
  }
  void label(std::string_view words, bool wrong) {
    const TextStyle s = ctx.style(ctx.ui.theme.ink);
    const float middle = y + ctx.px(kRowHeight) / 2;
    ctx.ui.canvas.text({x, middle}, ellipsize(ctx.ui.canvas, words, s, ctx.px(label_width() - (wrong ? 22 : 6))), s);
    if (wrong)
      draw_mark(ctx.ui.canvas, ctx.ui.theme, {x + ctx.px(label_width() - 15), middle}, ctx.px(12), Mark::error);
  }
  Rect box(float right) const {
    const float h = std::round(ctx.px(kControlHeight)), at = x + ctx.px(label_width());
    return {at, y + std::round((ctx.px(kRowHeight) - h) / 2), std::max(ctx.px(60), x + width - right - at), h};
  }

  void preset(std::string_view name, io::PresetKind kind) {
    const auto all = ctx.session.library().list(kind);
    std::vector<Option> options{{std::string(ctx.text("ui.bench.none")), {}}};
    int now = 0;
    for (const io::Preset& p : all) {
      if (given(name) != nullptr && *given(name) == p.id) now = static_cast<int>(options.size());
      options.push_back({p.name, {}});
    }
    label(ctx.text("ui.bench." + std::string(name)), false);
    const int next = drop_down(ctx.ui, box(ctx.px(kSide + 6)), id(name), options, now, {std::string(name), {}},
                               ctx.text("calc." + std::string(name)));
    way_back(name);
    if (next == 0 && now != 0)
      bench.leave_out(ctx.session, name);
    else if (next != now)
      bench.set(ctx.session, name, all[static_cast<std::size_t>(next - 1)].id);
    y += std::round(ctx.px(kRowHeight + 6));
  }

  void input(const BlockInput& in) {
    const engine::BlockValue* value = kept.reply.question ? &kept.reply.question->call.value(in.name) : nullptr;
    const std::string* text = given(in.name);
    const std::string domain = engine::domain_text(in), unit = std::string(engine::unit_text(in));
    const std::string source = text != nullptr                         ? std::string(ctx.text("ui.bench.given"))
                               : value != nullptr && value->is_known() ? value->source
                                                                       : std::string(ctx.text("ui.bench.unknown"));
    std::string rest = unit.empty() || unit == "1" ? ctx.format("ui.bench.domain", {domain, source})
                                                   : ctx.format("ui.bench.domain_unit", {unit, domain, source});
    bool wrong = false;
    rest = words(in.name, std::move(rest), wrong);
    Readout tip{label_of(ctx, in), {}};
    tip.rows.emplace_back(ctx.text("ui.bench.input"), std::string(in.name));
    tip.rows.emplace_back(ctx.text("ui.bench.default"), io::default_text(in));
    const auto& key = io::about_key(bench.shown(), in);
    const std::string about(ctx.text(key));
    const float right = ctx.px(kSide + 6);
    if (in.kind == InputKind::choice && value != nullptr && value->is_known()) {
      std::vector<Option> options;
      for (const std::string_view c : in.choices) options.push_back({spoken(ctx, c), {}});
      const int now = static_cast<int>(value->numbers.front());
      label(label_of(ctx, in), wrong);
      const int next = drop_down(ctx.ui, box(right), id(in.name), options, now, tip, about);
      if (next != now && next >= 0)
        bench.set(ctx.session, in.name, std::string(in.choices[static_cast<std::size_t>(next)]));
    } else if (in.kind == InputKind::flag && value != nullptr && value->is_known()) {
      const bool now = value->numbers.front() > 0.5;
      if (check_box(ctx.ui, {x, y + ctx.px(kRowHeight) / 2}, id(in.name), label_of(ctx, in), now, tip, about) != now)
        bench.set(ctx.session, in.name, now ? "false" : "true");
    } else if (const auto number = number_of(in, text, value)) {
      ControlInfo info;
      const std::string control = id(in.name);
      info.id = control;
      info.label = label_of(ctx, in);
      info.label_width = label_width();
      info.box_width = box_width();
      info.off = text == nullptr;
      info.tip = tip;
      info.about = about;
      if (wrong) info.mark = Mark::error;
      const auto middle = bench.bench(ctx.session).middle.find(in.name);
      SliderRange range = range_of(in, middle == bench.bench(ctx.session).middle.end() ? *number : middle->second);
      const Edited edited = slider(ctx.ui, {x, y}, width - right, info, range, *number);
      if (edited.value != *number) bench.set(ctx.session, in.name, input_text(edited.value));
      tell_refused(ctx, edited, label_of(ctx, in), engine::domain_text(in));
    } else {
      label(label_of(ctx, in), wrong);
      const std::string now = text != nullptr ? *text : value != nullptr ? input_text(in, *value) : std::string();
      const Rect r = box(right);
      if (const auto typed = typed_line(ctx, r, id(in.name), now, ctx.text("ui.bench.unknown"));
          typed && *typed != now) {
        std::string entered;  // "4, 8" is what the command line writes as "4,8"
        std::copy_if(typed->begin(), typed->end(), std::back_inserter(entered), [](char c) { return c != ' '; });
        if (in.is_numeric() && !in.is_list())
          if (const auto n = engine::read_number(entered, engine::quantity(in.q).unit)) entered = input_text(*n);
        bench.set(ctx.session, in.name, std::move(entered));
      }
      if (!ctx.ui.io.editing(id(in.name)) && r.contains(ctx.ui.io.pointer()))
        ctx.ui.io.hint(id(in.name), r, tip, about);
    }
    way_back(in.name);
    y += std::round(ctx.px(kRowHeight));
    under(rest, wrong);
  }

  // The number that stands in a slider; none for lists, and for what is unknown or no number.
  std::optional<double> number_of(const BlockInput& in, const std::string* text,
                                  const engine::BlockValue* value) const {
    if (in.is_list() || !in.is_numeric()) return std::nullopt;
    if (text != nullptr) {
      double number = 0;
      const auto read = std::from_chars(text->data(), text->data() + text->size(), number);
      if (read.ec != std::errc{} || read.ptr != text->data() + text->size() || !std::isfinite(number))
        return std::nullopt;
      return number;
    }
    if (value == nullptr || !value->is_known()) return std::nullopt;
    return value->numbers.front();
  }
};

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
      const std::string key = "quantity." + std::string(without_index(id));
      ctx.ui.io.hint(
          probe, r,
          {std::string(ctx.text(key + ".label")), {{std::string(ctx.text("ui.tip.quantity")), std::string(id)}}},
          std::string(ctx.text(key + ".about")));
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
      prose(
          ctx.format("ui.bench.line",
                     {std::string(ctx.text("quantity." + std::string(without_index(line.id)) + ".label")), line.id}),
          t.ink3);
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
      ctx.ui.canvas.text(
          {x + symbol_w, y + h / 2},
          ellipsize(ctx.ui.canvas, ctx.text("quantity." + std::string(without_index(line.id)) + ".label"), name,
                    left),
          name);
      ctx.ui.canvas.text({x + width, y + h / 2}, value, v);
      area({x, y, width, h}, line.id);
      y += h;
      if (!line.source.empty()) prose(line.source, t.ink3, symbol_w);
    }
    ctx.ui.canvas.rect({from + ctx.px(2), top, std::max(2.0f, std::round(ctx.px(2))), y - top}, {.colour = t.edge});
    x = from, width = room;
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
      Readout tip{label_of(ctx, o), {}};
      tip.rows.emplace_back(ctx.text("ui.bench.output"), std::string(o.name));
      if (is_numeric(o) && !unit_of(o.q).empty()) tip.rows.emplace_back(ctx.text("ui.tip.unit"), unit_of(o.q));
      if (derivable) {
        tip.rows.emplace_back(ctx.text("ui.tip.click"), ctx.text("ui.tip.derivation"));
        ctx.ui.io.set_cursor(Cursor::hand);
      }
      ctx.ui.io.hint(probe, row, tip, std::string(ctx.text(io::about_key(bench.shown(), o))));
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
    ctx.ui.canvas.text({x + chevron, row.centre().y},
                       ellipsize(ctx.ui.canvas, label_of(ctx, o), name, width - chevron - value_w - ctx.px(12)),
                       name);
    y += row.h;
    if (absent && answer != nullptr && !answer->missing.empty()) {
      std::string names;
      for (const std::string& m : answer->missing) names += (names.empty() ? "" : ", ") + m;
      prose(ctx.format("ui.bench.needs", {names}), t.ink3);
      y += ctx.px(4);
    }
    if (o.kind == OutputKind::table && kept.reply.result) table(kept.reply.result->table);
    if (shown)
      for (const engine::Derivation& d : kept.derivations) derivation(d);
  }
};

void block_list(PanelContext& ctx, Rect r, Workbench& bench) {
  const Theme& t = ctx.ui.theme;
  Interaction& io = ctx.ui.io;
  const float pad = std::round(ctx.px(8)), row_h = std::round(ctx.px(26));
  const Rect box = r.cut_top(std::round(ctx.px(42))).inset(pad, std::round(ctx.px(7)));
  const auto accepted = typed_line(ctx, box, kSearch, bench.search, ctx.text("ui.bench.search"));
  if (io.editing(kSearch))
    bench.search = io.entry().text;
  else if (accepted)
    bench.search = *accepted;
  const auto clip = ctx.ui.canvas.clip(r);
  const ScrollRegion scroll = begin_scroll(ctx.ui, "bench.list", r);
  float y = scroll.content_top;
  bool first = true;
  const std::string_view now = bench.shown().id;
  std::string next;
  for (const BuildingBlock& block : engine::blocks()) {
    if (!finds_block(block, ctx.ui.texts, bench.search)) continue;
    if (accepted && first && !bench.search.empty() && io.pointer().x < r.right()) next = block.id;
    first = false;
    const Rect row{r.x, y, r.w - ctx.px(10), row_h};
    y += row_h;
    const std::string id = "bench.block." + std::string(block.id);
    const ItemState s = ctx.ui.item(id, row);
    const bool shown = block.id == now;
    if (shown || s.hovered)
      ctx.ui.canvas.rect(row.inset(ctx.px(4), 0), {.colour = shown ? t.ctlh : t.ctl}, ctx.px(3));
    if (s.ring) ctx.ui.canvas.frame(row.inset(ctx.px(4), 0), {t.ink, ctx.px(2), {}}, ctx.px(3));
    const TextStyle name = ctx.style(t.ink, 1, shown ? Weight::bold : Weight::regular);
    ctx.ui.canvas.text({row.x + ctx.px(12), row.centre().y},
                       ellipsize(ctx.ui.canvas, block.id, name, row.w - ctx.px(20)), name);
    if (s.hovered)
      ctx.ui.io.hint(id, row,
                     {std::string(block.id), {{std::string(ctx.text("ui.bench.source")), std::string(block.source)}}},
                     std::string(ctx.text("calc." + std::string(block.id))));
    if (s.clicked) next = block.id;
  }
  if (first)
    y += draw_prose(ctx.ui.canvas, {r.x + ctx.px(12), y + ctx.px(6)}, ctx.format("ui.list.none", {bench.search}),
                    ctx.style(t.ink2, kSmallText), r.w - ctx.px(24));
  end_scroll(ctx.ui, scroll, y + ctx.px(8));
  if (!next.empty()) bench.show(next);
}

}  // namespace

void workbench_panel(PanelContext& ctx, const Rect& r, Workbench& bench) {
  const Theme& t = ctx.ui.theme;
  const float pad = std::round(ctx.px(14));
  ctx.ui.canvas.rect(r, {.colour = t.panel});
  const auto clip = ctx.ui.canvas.clip(r);
  Rect rest = r;
  const Rect left = rest.cut_left(std::round(std::min(ctx.px(200), r.w * 0.24f)));
  block_list(ctx, left, bench);
  vertical_separator(ctx, left.right(), r.y, r.bottom());

  const BuildingBlock& block = bench.shown();
  Rect head = rest.cut_top(std::round(ctx.px(46))).inset(pad, 0);
  const float side = std::round(ctx.px(24)), button_h = std::round(ctx.px(kControlHeight));
  const auto middle = [&](Rect b, float h) { return Rect{b.x, std::round(head.centre().y - h / 2), b.w, h}; };
  if (icon_button(ctx.ui, middle(head.cut_right(side), side), "bench.close", Icon::close,
                  {std::string(ctx.text("ui.bench.close")), {}}))
    bench.open = false;
  head.cut_right(ctx.px(8));
  for (const std::string_view id : {"workbench.reset", "workbench.copy"}) {
    const std::string words(ctx.text("ui.bench." + std::string(id.substr(id.find('.') + 1))));
    const float w = std::round(ctx.ui.canvas.text_width(words, ctx.style(t.ink)) + ctx.px(24));
    if (button(ctx.ui, middle(head.cut_right(w), button_h), id, words)) ctx.requests.run(id);
    head.cut_right(ctx.px(8));
  }
  const TextStyle title = ctx.style(t.ink, 1.25f, Weight::bold);
  ctx.ui.canvas.text({head.x, head.centre().y}, ellipsize(ctx.ui.canvas, block.id, title, head.w), title);
  rest.y -= ctx.px(4);
  rest.h += ctx.px(4);
  const std::string about = ctx.format(
      "ui.bench.about", {std::string(ctx.text("calc." + std::string(block.id))), std::string(block.source)});
  rest.cut_top(
      draw_prose(ctx.ui.canvas, {rest.x + pad, rest.y}, about, ctx.style(t.ink2, kSmallText), rest.w - 2 * pad) +
      ctx.px(8));
  separator(ctx, rest.x, rest.right(), rest.y);

  // Edits of this frame are answered in the next.
  const Workbench::Kept& kept = bench.reply(ctx.session);
  const bool narrow = rest.w < ctx.px(kTwoColumns);  // outputs under the inputs
  const Rect inputs = narrow ? rest.cut_top(std::round(rest.h * 0.5f)) : rest.cut_left(std::round(rest.w * 0.47f));
  {
    const auto inner = ctx.ui.canvas.clip(inputs);
    const std::string region = "bench.inputs." + std::string(block.id);
    const ScrollRegion scroll = begin_scroll(ctx.ui, region, inputs);
    Inputs in{ctx, bench, kept, inputs.x + pad, scroll.content_top + ctx.px(4), inputs.w - 2 * pad};
    in.y += section_head(ctx, {in.x, in.y}, in.width, ctx.text("ui.bench.inputs"));
    if (block.takes_chip()) in.preset("chip", io::PresetKind::chip);
    if (block.takes_model()) in.preset("model", io::PresetKind::model);
    for (const BlockInput& one : block.inputs) in.input(one);
    end_scroll(ctx.ui, scroll, in.y + ctx.px(12));
  }
  if (narrow)
    separator(ctx, rest.x, rest.right(), rest.y);
  else
    vertical_separator(ctx, inputs.right(), rest.y, rest.bottom());
  const auto inner = ctx.ui.canvas.clip(rest);
  const std::string region = "bench.outputs." + std::string(block.id);
  const ScrollRegion scroll = begin_scroll(ctx.ui, region, rest);
  Outputs out{ctx, bench, kept, rest.x + pad, scroll.content_top + ctx.px(4), rest.w - 2 * pad};
  out.y += section_head(ctx, {out.x, out.y}, out.width, ctx.text("ui.bench.outputs"));
  if (const auto& error = kept.reply.error) {
    const std::string words = error->path == block.id || error->path.empty()
                                  ? ctx.format("ui.bench.wrong", {error->message, error->remedy})
                                  : ctx.format("ui.bench.wrong_input", {error->path, error->message});
    out.y += draw_prose(ctx.ui.canvas, {out.x, out.y}, words, ctx.style(mark_colour(t, Mark::error), kSmallText),
                        out.width) +
             ctx.px(6);
  }
  for (const BlockOutput& one : block.outputs) out.output(one);
  end_scroll(ctx.ui, scroll, out.y + ctx.px(12));
}

}  // namespace roofscape::app
