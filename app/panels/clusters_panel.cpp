#include "app/panels/clusters_panel.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/panels/list_parts.h"
#include "app/panels/list_table.h"
#include "app/panels/panel_parts.h"
#include "engine/training/run.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/figures.h"
#include "widgets/figures/search/cluster_table.h"
#include "widgets/plot/plot.h"

namespace roofscape::app {

using namespace widgets;
using engine::ClusterAnswer;
using engine::Scenario;

namespace {

constexpr float kLeastFigure = 170;  // room of the grid for a figure

// Time and cost beside those of the other rows, memory beside the chip's own.
std::vector<ListRow::Bar> bars_of(const std::vector<search::PlanColumn>& columns, const ClusterAnswer& a,
                                  double longest_s, double dearest_usd) {
  std::vector<ListRow::Bar> bars;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string_view id = columns[i].id;
    double share = ClusterAnswer::kUnknown;
    if (id == "run" || id == "token") share = a.time_s / longest_s;
    if (id == "cost" || id == "per_million") share = a.cost_usd / dearest_usd;
    if (id == "memory") share = a.memory_bytes / a.capacity_bytes;
    if (std::isfinite(share)) bars.push_back({i, id == "memory" ? share : std::min(share, 1.0)});
  }
  return bars;
}

struct ClusterList {
  std::vector<search::PlanColumn> columns;
  std::vector<ListRow> rows;
  double longest_s = 0, dearest_usd = 0;
  bool assumed = false, idle = false;
  std::string note;  // of a mark in the rows; empty: none
};

ClusterList list_of(const TextTable& texts, const ClusterOutcome& found) {
  search::ClusterTable table = search::cluster_table(texts, found.query.serves(), found.answers);
  ClusterList out;
  for (const ClusterAnswer& a : found.answers) {
    if (std::isfinite(a.time_s)) out.longest_s = std::max(out.longest_s, a.time_s);
    if (std::isfinite(a.cost_usd)) out.dearest_usd = std::max(out.dearest_usd, a.cost_usd);
  }
  out.columns = std::move(table.columns);
  out.assumed = table.assumed, out.idle = table.idle;
  out.note = search::above_one_words(texts, table.rows);
  for (std::size_t i = 0; i < found.answers.size(); ++i)
    out.rows.push_back(
        {std::move(table.rows[i]), bars_of(out.columns, found.answers[i], out.longest_s, out.dearest_usd)});
  return out;
}

ListRow present_row(const PanelContext& ctx, const ClusterAnswer& present, const ClusterList& list) {
  search::ClusterTable table = search::cluster_table(ctx.ui.texts, present.scenario.serves(), {&present, 1});
  ListRow row{std::move(table.rows.front()), bars_of(list.columns, present, list.longest_s, list.dearest_usd)};
  // A plan is shown here whether or not it fits, unlike those that were searched.
  if (!ctx.session.report().fits())
    for (std::size_t i = 0; i < list.columns.size(); ++i)
      if (list.columns[i].id == "verdict") row.cells[i] = ctx.text("ui.clusters.present_does_not_fit");
  return row;
}

// What it would mean to go where the first answer is; nothing where that has no plan or is what there is.
std::string against_now(const TextTable& texts, const ClusterAnswer& first, const ClusterAnswer& now) {
  if (!first.runs || engine::moved_to(now.scenario, first) == now.scenario) return {};
  std::string differences;
  const auto add = [&](double a, double b, const engine::Unit& unit) {
    if (!std::isfinite(a) || !std::isfinite(b) || a == b) return;
    differences += (differences.empty() ? "" : ", ") + texts.difference(a - b, unit);
  };
  const bool serves = first.scenario.serves();
  if (!serves) {
    add(engine::days_of(first.time_s), engine::days_of(now.time_s), engine::unit::days);
    add(first.cost_usd, now.cost_usd, engine::unit::dollars);
    add(first.energy_kwh, now.energy_kwh, engine::unit::kilowatt_hours);
  } else {
    add(first.time_s, now.time_s, engine::unit::seconds);
    add(first.tokens_per_s, now.tokens_per_s, engine::unit::tokens_per_s);
    if (std::isfinite(first.cost_usd) && std::isfinite(now.cost_usd) && first.cost_usd != now.cost_usd)
      differences += (differences.empty() ? "" : ", ") +
                     texts.format("ui.clusters.per_million",
                                  {texts.difference(first.cost_usd - now.cost_usd, engine::unit::dollars)});
  }
  return differences.empty() ? differences : texts.format("ui.clusters.against_now", {first.name, differences});
}

std::string objective_words(const PanelContext& ctx, engine::ClusterObjective objective) {
  return std::string(ctx.text("ui.clusters.first." + std::string(engine::kClusterObjectiveIds[objective])));
}

void head_of_clusters(PanelContext& ctx, const Rect& r, SearchView& view) {
  const ClustersView& clusters = view.clusters;
  ListHead head{.title = std::string(ctx.text("ui.clusters.title")),
                .words = {},
                .running = clusters.state == ClusterJob::State::running,
                .stopped = clusters.state == ClusterJob::State::cancelled && clusters.found != nullptr,
                .progress = clusters.progress};
  if (clusters.found != nullptr) {
    const ClusterOutcome& found = *clusters.found;
    const bool meets = !found.answers.empty() && found.answers.front().verdict == engine::ClusterVerdict::meets;
    head.words = clusters.stale      ? std::string(ctx.text("ui.clusters.stale"))
                 : !found.finished() ? ctx.format("ui.clusters.so_far",
                                                  {format_count(static_cast<double>(found.answers.size())),
                                                   format_count(static_cast<double>(found.query.clusters->size()))})
                 : !meets            ? std::string(ctx.text("ui.clusters.none_meets"))
                          : ctx.format("ui.clusters.ranked", {objective_words(ctx, found.query.request.objective)});
  }
  list_head(ctx, r, head, view.ask);
}

// What is said instead of a list; false where there is one.
bool no_clusters(PanelContext& ctx, const Rect& r, SearchView& view) {
  const ClustersView& clusters = view.clusters;
  if (clusters.found != nullptr && !clusters.found->answers.empty()) return false;
  if (clusters.named && clusters.named->problem) {
    notice(ctx, r, {}, std::string(ctx.text("ui.clusters.unread")), {});
  } else if (clusters.state == ClusterJob::State::cancelled) {
    if (notice(ctx, r, "search.again", std::string(ctx.text("ui.search.cancelled")),
               std::string(ctx.text("ui.search.again"))))
      view.ask = SearchView::Ask::again;
  } else {
    notice(ctx, r, {}, ctx.format("ui.clusters.searching", {format_share(clusters.progress)}), {});
  }
  return true;
}

Scenario list_of_answers(PanelContext& ctx, Rect r, SearchView& view, Scenario scenario) {
  const Theme& t = ctx.ui.theme;
  ctx.ui.canvas.rect(r, {.colour = t.panel});
  const auto clip = ctx.ui.canvas.clip(r);
  head_of_clusters(ctx, r.cut_top(std::round(ctx.px(kListHead))).inset(std::round(ctx.px(14)), 0), view);
  view.clusters.hovered = 0;
  if (no_clusters(ctx, r, view)) return scenario;
  const ClusterOutcome& found = *view.clusters.found;
  const std::optional<std::size_t> pointed_at = ctx.hovered.answer;  // in the figure
  if (pointed_at && *pointed_at < found.answers.size()) view.clusters.hovered = *pointed_at + 1;
  const auto& list = ctx.studies.get<ClusterList>(view.clusters.found, [&] { return list_of(ctx.ui.texts, found); });
  const auto now = engine::present_answer(std::string(ctx.text("ui.clusters.present")), ctx.session.scenario(),
                                          ctx.session.report(), found.query.request);
  std::optional<ListRow> present;
  if (now) present = present_row(ctx, *now, list);
  std::vector<const ListRow*> listed;
  for (const ListRow& row : list.rows) listed.push_back(&row);
  if (present) listed.push_back(&*present);
  const float row_h = std::round(ctx.px(kListRow));
  ListTable table(ctx, r, list.columns, listed);
  table.scroll("clusters.across", r);
  if (table.scrolled()) r.cut_bottom(ctx.px(kListScrollBar));
  table.head(r.cut_top(row_h).centre().y);
  list_note(ctx, r, "clusters.note", list.note);
  if (list.idle) list_note(ctx, r, "clusters.note.idle", std::string(ctx.text("clusters.idle")));
  if (list.assumed) list_note(ctx, r, "clusters.note.ideal", std::string(ctx.text("clusters.ideal")));
  if (now && !view.clusters.stale)
    list_note(ctx, r, "clusters.note.now", against_now(ctx.ui.texts, found.answers.front(), *now));
  Rect foot;
  if (present) {
    foot = r.cut_bottom(row_h + ctx.px(6));
    foot.cut_bottom(ctx.px(6));
  }
  std::optional<Scenario> taken;
  {
    const auto inner = ctx.ui.canvas.clip(r);
    const ScrollRegion scroll = begin_scroll(ctx.ui, "clusters.list", r);
    float y = scroll.content_top;
    for (std::size_t i = 0; i < list.rows.size(); ++i, y += row_h) {
      const ClusterAnswer& one = found.answers[i];
      const Rect row{r.x + ctx.px(6), y, r.w - ctx.px(22), row_h};
      if (row.bottom() < r.y || row.y > r.bottom()) continue;
      const std::string id = "clusters.row." + std::to_string(i + 1);
      const bool own = one.runs && engine::moved_to(scenario, one) == scenario;
      const ItemState s = list_row(ctx, id, row, pointed_at == i ? 0.6f : 0.0f, own);
      if (s.hovered || s.ring) {
        view.clusters.hovered = i + 1;
        ctx.next_hovered.answer = i;
        if (one.runs) ctx.ui.io.set_cursor(Cursor::hand);
        const char* about = !one.runs ? "ui.clusters.cannot" : own ? "ui.clusters.own" : "ui.clusters.adopt";
        hint_row(ctx, id, row, search::answer_readout(ctx.ui.texts, one, one.name), ctx.text(about));
      }
      if (s.clicked && one.runs) taken = engine::moved_to(scenario, one);
      table.row(row.centre().y, list.rows[i], format_count(static_cast<double>(i + 1)), own,
                s.hovered || pointed_at == i);
    }
    end_scroll(ctx.ui, scroll, y);
  }
  if (present) {
    separator(ctx, foot.x + ctx.px(14), foot.right() - ctx.px(14), foot.y);
    draw_differs(ctx.ui, {foot.x + ctx.px(6), foot.y, foot.w, foot.h});
    table.row(foot.centre().y, *present, ctx.text("ui.search.now"), true, false);
  }
  return taken ? std::move(*taken) : std::move(scenario);
}

}  // namespace

Scenario clusters_panel(PanelContext& ctx, const Rect& r, SearchView& search, FiguresState& figures_state,
                        Scenario scenario) {
  Rect rest = r;
  // The list has what it needs, the figure the rest of the room.
  const ClusterOutcome* found = search.clusters.found.get();
  const std::size_t rows = found != nullptr ? found->answers.size() : 5;
  const float more = found != nullptr && std::ranges::any_of(found->answers, search::leaves_idle) ? 5.4f : 4.4f;
  const float wanted = ctx.px(kListHead + kListRow * (std::min(static_cast<float>(rows), 8.0f) + more));
  const float height = std::max(std::min(ctx.px(kLeastFigure), r.h * 0.5f), std::min(r.h * 0.6f, r.h - wanted));
  const auto clusters = static_cast<std::size_t>(find_figure("clusters") - figures().data());
  figure_cell(ctx, rest.cut_top(std::round(height)), figures_state, clusters, FigurePlace::fixed, scenario);
  scenario = list_of_answers(ctx, rest, search, std::move(scenario));
  separator(ctx, rest.x, rest.right(), rest.y);
  return scenario;
}

}  // namespace roofscape::app
