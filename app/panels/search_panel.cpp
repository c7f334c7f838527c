#include "app/panels/search_panel.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "app/panels/diagnostic_words.h"
#include "app/panels/list_parts.h"
#include "app/panels/list_table.h"
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

constexpr float kTwoFigures = 820, kLeastFigures = 170;  // room of the grid for two figures side by side, and for any

std::string number(int n) { return format_count(n); }

// What is said instead of a list; empty where there is one.
bool no_list(PanelContext& ctx, const Rect& r, SearchView& view) {
  if (view.settings > engine::kMostSettings) {
    if (notice(ctx, r, "search.keep_settings",
               ctx.format("ui.search.too_many", {format_count(static_cast<double>(view.settings)),
                                                 format_count(static_cast<double>(engine::kMostSettings))}),
               std::string(ctx.text("ui.search.keep_settings"))))
      keep_settings(view.preferences);
    return true;
  }
  if (view.found == nullptr) {
    if (view.state == SearchJob::State::cancelled) {
      if (notice(ctx, r, "search.again", std::string(ctx.text("ui.search.cancelled")),
                 std::string(ctx.text("ui.search.again"))))
        view.ask = SearchView::Ask::again;
    } else {
      notice(ctx, r, {}, ctx.format("ui.search.first", {format_share(view.progress)}), {});
    }
    return true;
  }
  const SearchOutcome& found = *view.found;
  const bool serves = found.query.serves();
  if (!found.finished()) {
    notice(ctx, r, {}, std::string(ctx.text("figure.search.unknown_chip")), {});
    return true;
  }
  if (!(serves ? found.serving.best.empty() : found.result.best.empty())) return false;
  if (found.query.measured && (serves ? found.serving.fit : found.result.fit) > 0) {
    if (notice(ctx, r, "search.by_prediction", none_measured_words(ctx, view.found),
               std::string(ctx.text("ui.search.by_prediction"))))
      (serves ? view.preferences.serving.slow_end : view.preferences.slow_end) = false;
  } else if (limits(view.preferences, found.query.scenario.workload.kind)) {
    if (notice(ctx, r, "search.widen", std::string(ctx.text("ui.search.none_limited")),
               std::string(ctx.text("ui.search.widen"))))
      ctx.requests.run("search.reset");
  } else if (serves && (found.query.serving.most_token_s > 0 || found.query.serving.most_ttft_s > 0)) {
    if (notice(ctx, r, "search.unpromised", std::string(ctx.text("ui.search.none_kept")),
               std::string(ctx.text("ui.search.unpromised"))))
      view.preferences.serving.keeps_promises = false;
  } else {
    notice(ctx, r, {}, std::string(ctx.text("ui.search.none")), {});
  }
  return true;
}

// What is listed, and what the job does.
void head_of_list(PanelContext& ctx, const Rect& r, SearchView& view) {
  ListHead head{.title = std::string(ctx.text("ui.search.best")),
                .words = {},
                .running = view.state == SearchJob::State::running,
                .stopped = view.state == SearchJob::State::cancelled && view.found != nullptr,
                .progress = view.progress};
  if (view.found != nullptr && view.found->finished() && !view.found->counted())
    head.words =
        ctx.format(view.found->listed() ? "ui.search.listed" : "ui.search.so_far", {ranking_word(ctx, *view.found)});
  else if (view.found != nullptr && view.found->finished())
    head.words = ctx.format(view.stale ? "ui.search.stale" : "ui.search.ranked",
                            {ranking_word(ctx, *view.found), space_words(ctx, *view.found)});
  list_head(ctx, r, head, view.ask);
}

// Why the present plan is not in the list, where it cannot run; empty: it can.
std::string present_problem(const PanelContext& ctx) {
  const engine::Report& report = ctx.session.report();
  const auto& all = report.diagnostics;
  const auto error = std::find_if(all.begin(), all.end(),
                                  [](const engine::Diagnostic& d) { return d.severity == engine::Severity::error; });
  return error == all.end() ? std::string() : ctx.format("ui.search.present_cannot", {diagnostic_text(ctx, *error)});
}

void list(PanelContext& ctx, Rect r, SearchView& view, Scenario& scenario) {
  const Theme& t = ctx.ui.theme;
  ctx.ui.canvas.rect(r, {.colour = t.panel});
  const auto clip = ctx.ui.canvas.clip(r);
  head_of_list(ctx, r.cut_top(std::round(ctx.px(kListHead))).inset(std::round(ctx.px(14)), 0), view);
  if (no_list(ctx, r, view)) return;
  const SearchOutcome& found = *view.found;
  const PlanList plans = plan_list(ctx, view.found);
  const float row_h = std::round(ctx.px(kListRow));
  std::vector<const ListRow*> listed;
  for (const PlanRow& row : plans.rows) listed.push_back(&row.listed);
  if (plans.present) listed.push_back(&plans.present->listed);
  ListTable table(ctx, r, plans.columns, listed);
  table.scroll("search.list.across", r);
  if (table.scrolled()) r.cut_bottom(ctx.px(kListScrollBar));
  table.head(r.cut_top(row_h).centre().y);
  Rect foot;
  const std::string problem = plans.present ? std::string() : present_problem(ctx);
  if (plans.present || !problem.empty()) {
    foot = r.cut_bottom(row_h + ctx.px(6));
    foot.cut_bottom(ctx.px(6));
  }
  list_note(ctx, r, "search.note", plans.note);
  list_note(ctx, r, "search.close_plans", plans.close_words);
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
      const bool own = one.plan == now, pointed_at = ctx.hovered.plan && *ctx.hovered.plan == one.plan;
      const ItemState s = list_row(ctx, id, row, pointed_at ? 0.6f : 0.0f, own);
      const bool lit = s.hovered || pointed_at;
      if (s.hovered || s.ring) {
        ctx.next_hovered.plan = one.plan;
        ctx.ui.io.set_cursor(Cursor::hand);
        hint_row(ctx, id, row, plan_tip(ctx, found, i), ctx.text(own ? "ui.search.own" : "ui.search.adopt"));
      }
      if (s.clicked) adopt(scenario, one.plan);
      table.row(row.centre().y, one.listed, number(static_cast<int>(i) + 1), own, lit);
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
  table.row(foot.centre().y, plans.present->listed,
            plans.present_rank > 0 ? number(plans.present_rank) : std::string(ctx.text("ui.search.now")), true,
            false);
}

// The first of all where a session names one that is no more.
std::size_t index_of(const std::string& name) {
  const FigureRow* row = find_figure(name);
  return row == nullptr ? 0 : figure_index(*row);
}

}  // namespace

Scenario search_panel(PanelContext& ctx, const Rect& r, SearchView& search, FiguresState& figures_state,
                      Scenario scenario) {
  const Theme& t = ctx.ui.theme;
  Rect rest = r;
  const float wanted = ctx.px(kListHead + kListRow * 9.4f),
              figures_h = std::max(std::min(ctx.px(kLeastFigures), r.h * 0.5f), std::min(r.h * 0.6f, r.h - wanted));
  Rect upper = rest.cut_top(std::round(figures_h));
  auto& shown = shown_figures(search, scenario);
  const auto figure = [&](const Rect& cell, std::size_t which) {
    const auto chosen = figure_cell(ctx, cell, figures_state, index_of(shown[which]), FigurePlace::search, scenario);
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
