#include "app/panels/search_panel.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "app/panels/diagnostic_words.h"
#include "app/panels/panel_parts.h"
#include "app/panels/search_list.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/figures.h"
#include "widgets/plot/plot.h"

namespace roofscape::app {

using namespace widgets;
using engine::Plan;
using engine::Scenario;

namespace {

constexpr float kNarrowColumn = 76;  // of words that are cut
constexpr float kHead = 38, kPlanRow = 26, kBar = 54;
constexpr float kScrollBar = 12;                         // at the right of the rows and under them
constexpr float kTwoFigures = 820, kLeastFigures = 170;  // room of the grid for two figures side by side, and for any

std::string number(int n) { return format_count(n); }

// The list's columns. What has no room is scrolled to; the number and the first result stay in sight.
class Table {
 public:
  Table(PanelContext& ctx, const Rect& r, const PlanList& list) : ctx_(ctx), r_(r), list_(list) {
    for (std::size_t i = 0; i < list.columns.size(); ++i) {
      Placed column{i, 0, ctx.ui.canvas.text_width(list.columns[i].heading, small()), false};
      const auto measure = [&](const PlanRow& row) {
        column.width = std::max(column.width, ctx.ui.canvas.text_width(row.cells[i], ctx.style({}, 1, Weight::bold)));
      };
      for (const PlanRow& row : list.rows) measure(row);
      if (list.present) measure(*list.present);
      if (is_memory(i)) column.width += ctx.px(kBar);
      columns_.push_back(column);
    }
    place();
  }

  bool scrolled() const { return content_ > 0; }
  // The bar under the rows, where there is one; `rows`: what a wheel turned sideways means.
  void scroll(const Rect& rows) {
    if (!scrolled()) return;
    const Rect view{moving_, rows.y, r_.right() - ctx_.px(kScrollBar) - moving_, rows.h};
    const float offset = scroll_across(ctx_.ui, "search.list.across", view, content_);
    for (Placed& c : columns_) {
      if (c.stays) continue;
      c.x -= offset;
      // In part in sight is not: a number that is cut reads as another.
      c.seen = c.x >= view.x - 1 && c.x + c.width <= view.right() + 1;
    }
  }
  void head(float y) {
    for (const Placed& c : columns_)
      if (c.seen) put(c, y, list_.columns[c.index].heading, small());
  }
  void row(float y, const PlanRow& row, std::string_view rank, bool present, bool lit) {
    const Theme& t = ctx_.ui.theme;
    TextStyle r = ctx_.style(present ? t.ink : t.ink2, 1, Weight::bold);
    r.halign = HAlign::right;
    ctx_.ui.canvas.text({r_.x + rank_, y}, rank, r);
    const double capacity = list_.capacity_bytes;
    for (const Placed& c : columns_) {
      if (!c.seen) continue;
      const bool memory = is_memory(c.index), over = memory && capacity > 0 && row.memory_bytes > capacity;
      put(c, y, row.cells[c.index],
          ctx_.style(over                                              ? t.err
                     : list_.columns[c.index].result || lit || present ? t.ink
                                                                       : t.ink2));
      if (memory && capacity > 0) {
        const Rect bar{c.x, y - ctx_.px(3), ctx_.px(kBar - 10), ctx_.px(6)};
        ctx_.ui.canvas.rect(bar, {.colour = t.ctlh});
        ctx_.ui.canvas.rect(
            {bar.x, bar.y, bar.w * static_cast<float>(std::min(1.0, row.memory_bytes / capacity)), bar.h},
            {.colour = over ? t.err : t.ink2});
      }
    }
  }

 private:
  struct Placed {
    std::size_t index = 0;   // of the list's columns
    float x = 0, width = 0;  // width: of the text
    bool stays = false;      // where others are scrolled
    bool seen = true;
  };
  bool is_memory(std::size_t column) const { return list_.columns[column].id == "memory"; }
  TextStyle small() const { return ctx_.style(ctx_.ui.theme.ink3, kSmallText); }
  void put(const Placed& c, float y, std::string_view text, TextStyle style) {
    const bool right = list_.columns[c.index].number;
    style.halign = right ? HAlign::right : HAlign::left;
    const Point at{right ? c.x + c.width : c.x, y};
    if (list_.columns[c.index].spare)  // may be narrower than its words; the tip has them whole
      ctx_.ui.canvas.text(at, ellipsize(ctx_.ui.canvas, text, style, c.width + 1), style);
    else
      ctx_.ui.canvas.text(at, text, style);
  }
  // Spare columns that have no room are narrowed and then go, the last first; what is left over is shared out. Where all others have none
  // either, all but the first result are scrolled.
  void place() {
    rank_ = ctx_.px(44);
    const float least = ctx_.px(10), narrow = ctx_.px(kNarrowColumn), room = r_.w - rank_ - ctx_.px(26);
    const auto taken = [&] {
      float sum = 0;
      for (const Placed& c : columns_) sum += c.width + least;
      return sum;
    };
    const auto spare = [this](const Placed& c) { return list_.columns[c.index].spare; };
    while (taken() > room) {
      const auto last = std::find_if(columns_.rbegin(), columns_.rend(), spare);
      if (last == columns_.rend()) break;
      const float over = taken() - room;
      if (last->width - over >= narrow) {
        last->width -= over;
        break;
      }
      columns_.erase(std::next(last).base());
    }
    float gap = least + std::clamp((room - taken()) / static_cast<float>(columns_.size()), 0.0f, ctx_.px(30));
    float x = r_.x + rank_;
    const bool scrolls = taken() > room;
    if (scrolls) {
      const auto first = std::find_if(columns_.begin(), columns_.end(),
                                      [this](const Placed& c) { return list_.columns[c.index].result; });
      if (first != columns_.end()) {
        first->stays = true;
        std::rotate(columns_.begin(), first, std::next(first));
      }
      gap = least;
    }
    for (Placed& c : columns_) {
      x += gap;
      c.x = x;
      x += c.width;
      if (c.stays) moving_ = x + gap;
    }
    if (scrolls) content_ = x - moving_ + gap;
  }

  PanelContext& ctx_;
  Rect r_;
  const PlanList& list_;
  std::vector<Placed> columns_;
  float rank_ = 0;
  float moving_ = 0, content_ = 0;  // where scrolled columns begin, and their width; 0: none is scrolled
};

// One sentence in the middle, with a button under it.
bool middle(PanelContext& ctx, const Rect& r, std::string_view id, const std::string& words,
            const std::string& label) {
  const Theme& t = ctx.ui.theme;
  const TextStyle prose = ctx.style(t.ink2);
  const float width = std::min(r.w - ctx.px(48), ctx.px(560));
  const float text_h = prose_height(prose, wrapped_lines(ctx.ui.canvas, words, prose, width).size());
  const float button_h = label.empty() ? 0 : std::round(ctx.px(kControlHeight)) + ctx.px(10);
  float y = std::round(r.centre().y - (text_h + button_h) / 2);
  const float wide = std::min(width, ctx.ui.canvas.text_width(words, prose));
  y += draw_prose(ctx.ui.canvas, {std::round(r.centre().x - wide / 2), y}, words, prose, width);
  if (label.empty()) return false;
  const float w = std::round(ctx.ui.canvas.text_width(label, prose) + ctx.px(24));
  return button(ctx.ui,
                {std::round(r.centre().x - w / 2), std::round(y + ctx.px(10)), w, std::round(ctx.px(kControlHeight))},
                id, label);
}

// What is said instead of a list; empty where there is one.
bool no_list(PanelContext& ctx, const Rect& r, SearchView& view) {
  if (view.found == nullptr) {
    if (view.state == SearchJob::State::cancelled) {
      if (middle(ctx, r, "search.again", std::string(ctx.text("ui.search.cancelled")),
                 std::string(ctx.text("ui.search.again"))))
        view.ask = SearchView::Ask::again;
    } else {
      middle(ctx, r, {}, ctx.format("ui.search.first", {format_share(view.progress)}), {});
    }
    return true;
  }
  const SearchOutcome& found = *view.found;
  const bool serves = found.query.serves();
  if (!found.finished()) {
    middle(ctx, r, {}, std::string(ctx.text("figure.search.unknown_chip")), {});
    return true;
  }
  if (!(serves ? found.serving.best.empty() : found.result.best.empty())) return false;
  if (limits(view.preferences, found.query.scenario.workload.kind)) {
    if (middle(ctx, r, "search.widen", std::string(ctx.text("ui.search.none_limited")),
               std::string(ctx.text("ui.search.widen"))))
      ctx.requests.run("search.reset");
  } else if (serves && (found.query.serving.most_token_s > 0 || found.query.serving.most_ttft_s > 0)) {
    if (middle(ctx, r, "search.unpromised", std::string(ctx.text("ui.search.none_kept")),
               std::string(ctx.text("ui.search.unpromised"))))
      view.preferences.serving.keeps_promises = false;
  } else {
    middle(ctx, r, {}, std::string(ctx.text("ui.search.none")), {});
  }
  return true;
}

// Title, what is listed, and at the right what the job does.
void list_head(PanelContext& ctx, Rect head, SearchView& view) {
  const Theme& t = ctx.ui.theme;
  const float y = head.centre().y, h = std::round(ctx.px(kControlHeight));
  const auto right_button = [&](std::string_view id, std::string_view words, SearchView::Ask ask) {
    const float w = std::round(ctx.ui.canvas.text_width(words, ctx.style(t.ink)) + ctx.px(24));
    const Rect b = head.cut_right(w);
    head.cut_right(ctx.px(10));
    if (button(ctx.ui, {b.x, std::round(y - h / 2), b.w, h}, id, words)) view.ask = ask;
  };
  std::string doing;
  if (view.state == SearchJob::State::running) {
    right_button("search.cancel", ctx.text("ui.search.cancel"), SearchView::Ask::cancel);
    doing = ctx.format("ui.search.running", {format_share(view.progress)});
  } else if (view.state == SearchJob::State::cancelled && view.found != nullptr) {
    right_button("search.again", ctx.text("ui.search.again"), SearchView::Ask::again);
    doing = ctx.text("ui.search.cancelled.short");
  }
  if (!doing.empty()) {
    TextStyle s = ctx.style(t.ink2, kSmallText);
    const float w = ctx.ui.canvas.text_width(doing, s);
    s.halign = HAlign::right;
    ctx.ui.canvas.text({head.right(), y}, doing, s);
    if (view.state == SearchJob::State::running) {
      const Rect bar{head.right() - w, y + ctx.px(9), w, std::max(2.0f, std::round(ctx.px(2)))};
      ctx.ui.canvas.rect(bar, {.colour = t.ctlh});
      ctx.ui.canvas.rect({bar.x, bar.y, bar.w * static_cast<float>(view.progress), bar.h}, {.colour = t.ink2});
    }
    head.cut_right(w + ctx.px(14));
  }
  const TextStyle bold = ctx.style(t.ink, 1, Weight::bold), phrase = ctx.style(t.ink2);
  const std::string title(ctx.text("ui.search.best"));
  ctx.ui.canvas.text({head.x, y}, title, bold);
  const float x = head.x + ctx.ui.canvas.text_width(title, bold) + ctx.px(12);
  std::string words;
  if (view.found != nullptr && view.found->finished() && !view.found->counted())
    words = ctx.format("ui.search.so_far", {ranking_word(ctx, *view.found)});
  else if (view.found != nullptr && view.found->finished())
    words = ctx.format(view.stale ? "ui.search.stale" : "ui.search.ranked",
                       {ranking_word(ctx, *view.found), space_words(ctx, *view.found)});
  if (head.right() - x > ctx.px(40))
    ctx.ui.canvas.text({x, y}, ellipsize(ctx.ui.canvas, words, phrase, head.right() - x), phrase);
}

// Why the present plan is not in the list, where it cannot run; empty: it can.
std::string present_problem(const PanelContext& ctx) {
  const engine::Report& report = ctx.session.report();
  const auto& all = report.diagnostics;
  const auto error = std::find_if(all.begin(), all.end(),
                                  [](const engine::Diagnostic& d) { return d.severity == engine::Severity::error; });
  return error == all.end() ? std::string() : ctx.format("ui.search.present_cannot", {diagnostic_text(ctx, *error)});
}

// Under the rows, what their order is worth.
void close_foot(PanelContext& ctx, Rect& rows, const std::string& words) {
  if (words.empty()) return;
  const TextStyle prose = ctx.style(ctx.ui.theme.ink2, kSmallText);
  const float x = rows.x + ctx.px(14), width = rows.w - ctx.px(28), pad = ctx.px(4);
  const float height = prose_height(prose, wrapped_lines(ctx.ui.canvas, words, prose, width).size()) + 2 * pad;
  if (height > rows.h / 3) return;  // rows are worth more than what is said of them
  const Rect foot = rows.cut_bottom(std::round(height));
  draw_prose(ctx.ui.canvas, {x, std::round(foot.y + pad)}, words, prose, width);
}

void list(PanelContext& ctx, Rect r, SearchView& view, Scenario& scenario) {
  const Theme& t = ctx.ui.theme;
  ctx.ui.canvas.rect(r, {.colour = t.panel});
  const auto clip = ctx.ui.canvas.clip(r);
  list_head(ctx, r.cut_top(std::round(ctx.px(kHead))).inset(std::round(ctx.px(14)), 0), view);
  if (no_list(ctx, r, view)) return;
  const SearchOutcome& found = *view.found;
  const PlanList plans = plan_list(ctx, view.found);
  const float row_h = std::round(ctx.px(kPlanRow));
  Table table(ctx, r, plans);
  table.scroll(r);
  if (table.scrolled()) r.cut_bottom(ctx.px(kScrollBar));
  table.head(r.cut_top(row_h).centre().y);
  Rect foot;
  const std::string problem = plans.present ? std::string() : present_problem(ctx);
  if (plans.present || !problem.empty()) {
    foot = r.cut_bottom(row_h + ctx.px(6));
    foot.cut_bottom(ctx.px(6));
  }
  close_foot(ctx, r, plans.close_words);
  const FoundPlan now = present_plan(ctx.session.scenario());
  {
    const auto inner = ctx.ui.canvas.clip(r);
    const ScrollRegion scroll = begin_scroll(ctx.ui, "search.list", r);
    float y = scroll.content_top;
    for (std::size_t i = 0; i < plans.rows.size(); ++i, y += row_h) {
      const PlanRow& one = plans.rows[i];
      const Rect row{r.x + ctx.px(6), y, r.w - ctx.px(22), row_h};
      if (row.bottom() < r.y || row.y > r.bottom()) continue;
      const std::string id = "search.row." + std::to_string(i + 1);
      const ItemState s = ctx.ui.item(id, row);
      const bool own = one.plan == now;
      const bool lit = s.hovered || (ctx.hovered.plan && *ctx.hovered.plan == one.plan);
      if (lit) ctx.ui.canvas.rect(row, {.colour = mix(t.panel, t.ctlh, s.hovered ? 1.0f : 0.6f)}, ctx.px(3));
      if (s.ring) ctx.ui.canvas.frame(row, {t.ink, ctx.px(2), {}}, ctx.px(3));
      if (own) draw_differs(ctx.ui, row);
      if (s.hovered || s.ring) {
        ctx.next_hovered.plan = one.plan;
        ctx.ui.io.set_cursor(Cursor::hand);
        ctx.ui.io.hint(id, {ctx.ui.io.pointer().x, row.y, ctx.px(8), row.h}, plan_tip(ctx, found, i),
                       std::string(ctx.text(own ? "ui.search.own" : "ui.search.adopt")), 0.4);
      }
      if (s.clicked) adopt(scenario, one.plan);
      table.row(row.centre().y, one, number(static_cast<int>(i) + 1), own, lit);
      if (plans.close > 1 && i + 1 == plans.close && i + 1 < plans.rows.size())  // these cannot be told apart
        ctx.ui.canvas.line({row.x, row.bottom()}, {row.right(), row.bottom()},
                           {t.ink3, ctx.px(1), Dash{3, 3}.scaled(ctx.px(1))});
    }
    end_scroll(ctx.ui, scroll, y);
  }
  if (foot.h <= 0) return;
  separator(ctx, foot.x + ctx.px(14), foot.right() - ctx.px(14), foot.y);
  draw_differs(ctx.ui, {foot.x + ctx.px(6), foot.y, foot.w, foot.h});
  if (!plans.present) {
    const TextStyle error = ctx.style(t.err);
    const float x = foot.x + ctx.px(14);
    ctx.ui.canvas.text({x, foot.centre().y}, ellipsize(ctx.ui.canvas, problem, error, foot.right() - ctx.px(14) - x),
                       error);
    return;
  }
  const ItemState s = ctx.ui.item("search.present", foot, Interaction::Focus::none);
  if (s.hovered) ctx.next_hovered.plan = plans.present->plan;
  table.row(foot.centre().y, *plans.present,
            plans.present_rank > 0 ? number(plans.present_rank) : std::string(ctx.text("ui.search.now")), true,
            false);
}

std::size_t figure_index(const std::string& name) {
  const FigureRow* row = find_figure(name);
  return row == nullptr ? 0 : static_cast<std::size_t>(row - figures().data());
}

}  // namespace

Scenario search_panel(PanelContext& ctx, const Rect& r, SearchView& search, FiguresState& figures_state,
                      Scenario scenario) {
  const Theme& t = ctx.ui.theme;
  Rect rest = r;
  const float wanted = ctx.px(kHead + kPlanRow * 9.4f),
              figures_h = std::max(std::min(ctx.px(kLeastFigures), r.h * 0.5f), std::min(r.h * 0.6f, r.h - wanted));
  Rect upper = rest.cut_top(std::round(figures_h));
  auto& shown = shown_figures(search, scenario);
  const auto figure = [&](const Rect& cell, std::size_t which) {
    const auto chosen =
        figure_cell(ctx, cell, figures_state, figure_index(shown[which]), FigurePlace::search, scenario);
    if (chosen) shown[which] = *chosen;
  };
  if (upper.w >= ctx.px(kTwoFigures)) {
    const Rect left = upper.cut_left(std::round(upper.w * 0.5f));
    figure(left, 0);
    figure(upper, 1);
    vertical_separator(ctx, upper.x, upper.y, upper.bottom());
  } else {
    ctx.ui.canvas.rect(upper, {.colour = t.panel});
    Rect strip = upper.cut_top(std::round(ctx.px(34))).inset(ctx.px(14), ctx.px(4));
    std::vector<std::string> names;
    float width = 0;
    for (const std::string& name : shown) {
      names.emplace_back(ctx.text("command.figure." + name));
      width += ctx.ui.canvas.text_width(names.back(), ctx.style(t.ink)) + ctx.px(28);
    }
    strip.w = std::min(strip.w, width);
    int& which = search.shown_figure;
    which = std::clamp(segmented(ctx.ui, strip, "search.figure", names, which), 0, 1);
    figure(upper, static_cast<std::size_t>(which));
  }
  list(ctx, rest, search, scenario);
  separator(ctx, rest.x, rest.right(), rest.y);
  return scenario;
}

}  // namespace roofscape::app
