// Each number can be pointed at and opens its derivation. A tall cell shows the network figure below them, and one a
// little too tall stretches the rows, so that no part of the cell is left empty.
#include "app/panels/numbers_panel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "app/panels/figure_menu.h"
#include "app/panels/panel_parts.h"
#include "app/panels/quantity_text.h"
#include "app/session/layout.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/plot/plot.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape::app {

using namespace widgets;
using engine::Q;

namespace {

constexpr std::string_view kPicture = "network";     // the figure of a tall cell
constexpr float kLeastPicture = 230;                 // height from which it can be read, its name included
constexpr float kMostStretch = 1.4f;                 // of rows: beyond it they no longer read as a table
constexpr float kLimitsHeight = 92, kLimitRow = 24;  // of the line of limits without its rows, and of a row

struct Group {
  std::string_view key;
  std::vector<Q> rows;
};

// Whether the unit is worth its room: labels say tokens, chips and ways themselves.
bool says_unit(const engine::Unit& unit) {
  return unit.notation != engine::Notation::count && !(unit == engine::unit::ways_real) &&
         !(unit == engine::unit::tokens_per_chip);
}

// A row: label and value. Returns its height.
float number_row(PanelContext& ctx, float x, float y, float width, float height, Q q) {
  const Theme& t = ctx.ui.theme;
  const engine::Quantity& row = engine::quantity(q);
  const auto value = ctx.session.report().quantities[q];
  const std::string id = "number." + std::string(row.id);
  const std::string label = quantity_label(ctx.ui.texts, q);
  const Rect r{x - ctx.px(6), y, width + ctx.px(12), height};
  const ItemState s = ctx.ui.item(id, r, Interaction::Focus::none);
  if (s.hovered && value) {
    ctx.ui.canvas.rect(r, {.colour = mix(t.panel, t.ctl, 0.8f)}, ctx.px(3));
    ctx.ui.io.set_cursor(Cursor::hand);
    ctx.ui.io.hint(id, r, quantity_tip(ctx, q), quantity_about(ctx.ui.texts, q));
    if (is_step_part(q)) ctx.next_hovered.part = q;
    if (s.clicked) ctx.requests.explain(row.id);
  }
  const std::string text = value ? format(*value, row.unit, {.unit = says_unit(row.unit)}) : std::string(kNoValue);
  TextStyle v = ctx.style(value ? t.ink : t.ink3);
  v.halign = HAlign::right;
  const float middle = y + height / 2;
  float used = ctx.ui.canvas.text_width(text, v);
  ctx.ui.canvas.text({x + width, middle}, text, v);
  if (const std::string change = change_from_baseline(ctx, q); !change.empty()) {
    const TextStyle small = ctx.style(t.ink3, kSmallText);
    const float wide = ctx.ui.canvas.text_width(change, small);
    if (ctx.ui.canvas.text_width(label, ctx.style(t.ink2)) + wide + used + ctx.px(34) <= width) {
      TextStyle at = small;
      at.halign = HAlign::right;
      ctx.ui.canvas.text({x + width - used - ctx.px(12), middle}, change, at);
      used += wide + ctx.px(12);
    }
  }
  const TextStyle l = ctx.style(t.ink2);
  ctx.ui.canvas.text({x, middle}, ellipsize(ctx.ui.canvas, label, l, width - used - ctx.px(14)), l);
  return height;
}

// A logarithmic line of what the plan has, tokens a chip or sequences, and the limits beside it.
struct LimitLine {
  Q now;
  std::vector<Q> limits;
  std::string_view axis;  // key of its words
  bool of_plan = false;   // limits of this plan; else the book's, of strategies that it may not use
};

// Training: the book's bounds, tokens a chip from which plain strategies hide two MLP matrices. Serving: sequences
// below which reading weights decides, and beyond which there is no room.
LimitLine limit_line(bool serving) {
  if (serving) return {Q::serving_batch, {Q::critical_sequences, Q::max_batch}, "ui.limit.axis.sequences", true};
  return {Q::tokens_per_chip,
          {Q::bound_fsdp_1, Q::bound_fsdp_2, Q::bound_fsdp_3, Q::bound_mixed_sum, Q::bound_mixed_max},
          "ui.limit.axis"};
}

struct Limit {
  Q q;
  double value;
  std::string text;
};

// Those that the plan has a value of, none where it has no present value to compare them with.
std::vector<Limit> known_limits(const PanelContext& ctx, const LimitLine& line_of) {
  const auto& q = ctx.session.report().quantities;
  std::vector<Limit> all;
  if (q.value_or(line_of.now, 0) <= 0) return all;
  for (const Q each : line_of.limits)
    if (const auto v = q[each]; v && *v > 0) {
      const std::string key = "ui.limit." + std::string(engine::quantity(each).id);
      all.push_back({each, *v, std::string(ctx.text(key))});
    }
  return all;
}

void limits(PanelContext& ctx, const Rect& r, const LimitLine& line_of, float row_h) {
  const Theme& t = ctx.ui.theme;
  std::vector<Limit> all = known_limits(ctx, line_of);
  if (all.empty()) return;
  const auto now = ctx.session.report().quantities[line_of.now];
  double low = *now, high = *now;
  for (const Limit& l : all) {
    low = std::min(low, l.value);
    high = std::max(high, l.value);
  }
  const Scale scale(ScaleKind::log2, std::exp2(std::floor(std::log2(low) - 0.4)),
                    std::exp2(std::ceil(std::log2(high) + 0.4)), static_cast<double>(r.x),
                    static_cast<double>(r.right()));
  const float line = r.y + ctx.px(42);
  ctx.ui.canvas.line({r.x, line}, {r.right(), line}, {t.axis, std::max(1.0f, ctx.px(1)), {}});
  const TextStyle small = ctx.style(t.ink3, kSmallText);
  float last = r.x - ctx.px(40);
  for (double v = scale.from(); v <= scale.to() * 1.001; v *= 2) {
    const float x = scale(v);
    ctx.ui.canvas.line({x, line}, {x, line + ctx.px(4)}, {t.axis, std::max(1.0f, ctx.px(1)), {}});
    const std::string number = format_count(v);
    TextStyle c = small;
    c.halign = HAlign::centre;
    const float w = ctx.ui.canvas.text_width(number, c);
    if (x - w / 2 < last + ctx.px(8) || x - w / 2 < r.x - ctx.px(4) || x + w / 2 > r.right() + ctx.px(4)) continue;
    ctx.ui.canvas.text({x, line + ctx.px(13)}, number, c);
    last = x + w / 2;
  }
  TextStyle title = small;
  title.halign = HAlign::right;
  ctx.ui.canvas.text({r.right(), line + ctx.px(31)}, ctx.text(line_of.axis), title);
  const float here = scale(*now);
  // The limits, each a drop with its name in a column of its own height, so that near ones do not overlap.
  std::sort(all.begin(), all.end(), [](const Limit& a, const Limit& b) { return a.value < b.value; });
  float y = r.y + ctx.px(kLimitsHeight);
  for (const Limit& l : all) {
    const float x = scale(l.value);
    const bool below = l.q == Q::max_batch ? *now > l.value : *now < l.value;
    // A bound of the book that is not reached says nothing of a plan that is no such strategy: no warning.
    const bool warns = below && line_of.of_plan;
    const Colour ink = warns ? t.warn : below ? t.ink3 : t.ok;
    ctx.ui.canvas.line({x, line - ctx.px(7)}, {x, line + ctx.px(0)}, {ink, std::max(1.5f, ctx.px(2)), {}});
    const Rect row{r.x - ctx.px(6), y, r.w + ctx.px(12), row_h};
    const std::string id = "limit." + std::string(engine::quantity(l.q).id);
    const ItemState s = ctx.ui.item(id, row, Interaction::Focus::none);
    if (s.hovered) {
      ctx.ui.canvas.rect(row, {.colour = mix(t.panel, t.ctl, 0.8f)}, ctx.px(3));
      ctx.ui.io.set_cursor(Cursor::hand);
      ctx.ui.io.hint(id, row, quantity_tip(ctx, l.q), quantity_about(ctx.ui.texts, l.q));
    }
    if (s.clicked) ctx.requests.explain(engine::quantity(l.q).id);
    if (warns || !below)
      draw_mark(ctx.ui.canvas, t, {r.x + ctx.px(7), row.centre().y}, ctx.px(12), warns ? Mark::warning : Mark::good);
    TextStyle v = ctx.style(t.ink);
    v.halign = HAlign::right;
    const std::string number = format(l.value, engine::unit::tokens_per_chip, {.unit = false});
    ctx.ui.canvas.text({r.right(), row.centre().y}, number, v);
    const TextStyle name = ctx.style(t.ink2);
    ctx.ui.canvas.text({r.x + ctx.px(22), row.centre().y},
                       ellipsize(ctx.ui.canvas, l.text, name, r.w - ctx.px(34) - ctx.ui.canvas.text_width(number, v)),
                       name);
    y += row.h;
  }
  draw_now(ctx.ui.canvas, t, rect_between(r.x, r.y + ctx.px(22), r.right(), line), here,
           ctx.format("ui.limit.now", {format(*now, engine::unit::tokens_per_chip, {.unit = false})}));
}

// What is known of one stage.
void stage_group(PanelContext& ctx, float x, float y, float width, float row_h, float head_h, int stage) {
  const Theme& t = ctx.ui.theme;
  const engine::StageRow& row = ctx.session.report().stages[static_cast<std::size_t>(stage)];
  ctx.ui.canvas.rect({x - ctx.px(6), y, width + ctx.px(12), head_h + 4 * row_h},
                     {.colour = mix(t.panel, t.ctl, 0.8f)}, ctx.px(3));
  ctx.ui.canvas.text({x, y + head_h / 2},
                     ctx.format("ui.numbers.stage", {format_count(stage), format_count(row.layers)}),
                     ctx.style(t.ink, kSmallText));
  y += head_h;
  for (const auto& [key, value] :
       {std::pair<std::string_view, std::string>{"quantity.memory.chip_total_bytes.label",
                                                 format(row.memory_total_bytes, engine::unit::bytes)},
        {"ui.numbers.in_flight", format_count(row.in_flight_microbatches)},
        {"ui.numbers.pass", format_duration(row.forward_s) + " + " + format_duration(row.backward_s)},
        {"ui.numbers.idle", format_duration(row.idle_s)}}) {
    TextStyle v = ctx.style(t.ink);
    v.halign = HAlign::right;
    const TextStyle l = ctx.style(t.ink2);
    ctx.ui.canvas.text({x + width, y + row_h / 2}, value, v);
    ctx.ui.canvas.text(
        {x, y + row_h / 2},
        ellipsize(ctx.ui.canvas, ctx.text(key), l, width - ctx.ui.canvas.text_width(value, v) - ctx.px(12)), l);
    y += row_h;
  }
}

// Where the groups stand, each in the column that is filled less; those without room are left out.
struct Place {
  const Group* group;
  int column;
  float y;
};

struct Places {
  std::vector<Place> groups;
  float bottom = 0;   // of the longer column
  bool whole = true;  // every group found room
};

struct Pitch {
  float row, head, gap;
};

Places place_groups(const PanelContext& ctx, const std::vector<Group>& groups, const Rect& rest, bool one,
                    std::size_t limit_rows, const Pitch& pitch) {
  const auto& q = ctx.session.report().quantities;
  Places out;
  const float limits_h =
      limit_rows > 0 ? ctx.px(kLimitsHeight) + static_cast<float>(limit_rows) * pitch.row + pitch.gap : 0;
  std::array<float, 2> bottoms{rest.y + limits_h, rest.y};
  for (const Group& g : groups) {
    const auto known = std::count_if(g.rows.begin(), g.rows.end(), [&](Q row) { return q[row].has_value(); });
    if (known == 0) continue;
    const float need = pitch.head + static_cast<float>(known) * pitch.row;
    std::size_t column = bottoms[0] < bottoms[1] ? 0 : 1;
    if (bottoms[column] + need > rest.bottom()) column = 1 - column;
    if (one) column = 0;
    if (bottoms[column] + need > rest.bottom()) {
      out.whole = false;
      continue;
    }
    out.groups.push_back({&g, static_cast<int>(column), bottoms[column]});
    bottoms[column] += need + pitch.gap;
  }
  out.bottom = std::max(bottoms[0], one ? 0.0f : bottoms[1]);
  return out;
}

// Whether the network figure is drawn of this workload.
bool has_picture(const PanelContext& ctx) {
  const FigureRow* row = find_figure(kPicture);
  return row != nullptr && ctx.session.drawable() && shows(*row, ctx.session.scenario());
}

// What a figure says, as briefly as the room asks for, as in the head of its own cell.
void draw_takeaway(PanelContext& ctx, Point at, const FigureHead& words, float room) {
  const TextStyle phrase = ctx.style(ctx.ui.theme.ink2);
  const bool whole = words.brief.empty() || ctx.ui.canvas.text_width(words.takeaway, phrase) <= room;
  ctx.ui.canvas.text(at, ellipsize(ctx.ui.canvas, whole ? words.takeaway : words.brief, phrase, room), phrase);
}

// The network figure with its name and what it says.
void draw_picture(PanelContext& ctx, Rect r, FiguresState& state, engine::Scenario& scenario) {
  const std::size_t index = figure_index(*find_figure(kPicture));
  const Rect head = r.cut_top(std::round(ctx.px(28)));
  const FigureView view = figure_view(ctx, state, index);
  const FigureHead words = figure_head(figures()[index], figure_input(ctx), view);
  const TextStyle bold = ctx.style(ctx.ui.theme.ink, 1, Weight::bold);
  ctx.ui.canvas.text({head.x, head.centre().y}, words.title, bold);
  const float x = head.x + ctx.ui.canvas.text_width(words.title, bold) + ctx.px(12);
  draw_takeaway(ctx, {x, head.centre().y}, words, head.right() - x);
  take_figure_menu(ctx, state, index);
  figure_picture(ctx, r, state, index, view, scenario);
}

}  // namespace

std::optional<std::string_view> numbers_panel(PanelContext& ctx, const Rect& cell, FiguresState& state, bool picture,
                                              engine::Scenario& scenario) {
  const Theme& t = ctx.ui.theme;
  ctx.ui.canvas.rect(cell, {.colour = t.panel});
  const auto clip = ctx.ui.canvas.clip(cell);
  Rect rest = cell.inset(std::round(ctx.px(14)), 0);
  rest.cut_bottom(ctx.px(8));
  const Rect head = rest.cut_top(std::round(ctx.px(34)));
  const CellTitle title = cell_title(ctx, head, kNumbersCell, ctx.text("ui.numbers.title"), true);
  const float x = title.right + ctx.px(6);
  const auto& q = ctx.session.report().quantities;
  const bool serving = scenario.serves();
  const LimitLine line = limit_line(serving);
  FigureHead words;
  const auto now = q[line.now];
  if (const std::optional<double> bound = q[Q::critical_sequences]; serving && now && bound) {
    words.takeaway = ctx.format(*now < *bound ? "ui.numbers.below_sequences" : "ui.numbers.above_sequences",
                                {format(*bound, engine::unit::tokens_per_chip, {.unit = false})});
  } else if (!serving && ctx.session.drawable()) {
    // Of the plan's own network, in the words of its figure: the bounds below are those of the book's strategies.
    words = figure_head(*find_figure(kPicture), figure_input(ctx), FigureView{});
  }

  // The stage that is pointed at in another figure, in the place of the run.
  const auto& stages = ctx.session.report().stages;
  const auto stage = ctx.hovered.stage;
  const bool one_stage =
      stage && stages.size() > 1 && *stage >= 0 && static_cast<std::size_t>(*stage) < stages.size();

  // Two columns: the network's limits, and the sizes of the job in groups as there is room.
  // One column where two would cut the names.
  const bool one = rest.w < ctx.px(500);
  const float gap = std::round(ctx.px(36)), w = one ? rest.w : std::floor((rest.w - gap) / 2);
  std::vector<Group> groups{
      {"ui.numbers.job", {Q::params_total, Q::flops_per_token, Q::flops_model_per_step, Q::tokens_per_step}},
      {"ui.numbers.mesh", {Q::chips_used, Q::tokens_per_chip, Q::bound_x_opt, Q::bound_tensor, Q::memory_min_chips}},
      {"ui.numbers.run", {Q::flops_run, Q::stated_run_days, Q::hfu, Q::run_chip_hours}}};
  if (serving)
    groups = {
        {"ui.numbers.decoding",
         {Q::time_per_output_token, Q::serving_tokens_per_s, Q::kv_plateau, Q::critical_batch, Q::accepted_per_step}},
        {"ui.numbers.steady",
         {Q::sustained_tokens, Q::steady_batch, Q::requests_per_s, Q::request_time, Q::prefill_chip_ratio}},
        {"ui.numbers.job",
         {Q::params_total, Q::weights_bytes_all, Q::kv_sequence_bytes, Q::kv_total_bytes, Q::kv_ways}},
        {"ui.numbers.slices", {Q::slice_bf16, Q::slice_int8, Q::slice_int4}}};
  const std::size_t limit_rows = known_limits(ctx, line).size();
  const auto pitched = [&](float stretch) {
    return Pitch{std::floor(ctx.px(kLimitRow) * stretch), std::floor(ctx.px(28) * stretch),
                 std::floor(ctx.px(6) * stretch)};
  };
  Pitch pitch = pitched(1);
  Places places = place_groups(ctx, groups, rest, one, limit_rows, pitch);
  const bool tall =
      picture && places.whole && !one && rest.bottom() - places.bottom >= ctx.px(kLeastPicture) && has_picture(ctx);
  // The figure says the same of the plan itself.
  if (!tall) draw_takeaway(ctx, {x, head.centre().y}, words, head.right() - x);
  if (!tall && places.whole) {
    // The widest rows with which every group still has room.
    for (float stretch = kMostStretch; stretch > 1.01f; stretch -= 0.05f) {
      Places wider = place_groups(ctx, groups, rest, one, limit_rows, pitched(stretch));
      if (!wider.whole || wider.bottom > rest.bottom()) continue;
      pitch = pitched(stretch);
      places = std::move(wider);
      break;
    }
  }
  limits(ctx, {rest.x, rest.y, w, rest.h}, line, pitch.row);
  for (const Place& p : places.groups) {
    const float cx = rest.x + static_cast<float>(p.column) * (w + gap);
    float y = p.y;
    if (one_stage && p.group->key == "ui.numbers.run") {
      stage_group(ctx, cx, y, w, pitch.row, pitch.head, *stage);
      continue;
    }
    ctx.ui.canvas.text({cx, y + pitch.head / 2}, ctx.text(p.group->key), ctx.style(t.ink3, kSmallText));
    y += pitch.head;
    for (const Q row : p.group->rows)
      if (q[row]) y += number_row(ctx, cx, y, w, pitch.row, row);
  }
  if (tall) {
    const float top = places.bottom + ctx.px(8);
    separator(ctx, cell.x, cell.right(), top);
    draw_picture(ctx, rect_between(rest.x, top + ctx.px(6), rest.right(), rest.bottom()), state, scenario);
  }
  return title.chosen;
}

}  // namespace roofscape::app
