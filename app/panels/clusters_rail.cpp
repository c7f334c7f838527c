#include "app/panels/clusters_rail.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "app/panels/panel_parts.h"
#include "app/panels/rail_rows.h"
#include "app/panels/search_rail.h"
#include "engine/base/read_number.h"
#include "engine/io/json/result.h"
#include "engine/training/run.h"
#include "widgets/canvas/number_format.h"
#include "widgets/plot/plot.h"

namespace roofscape::app {

using namespace widgets;
using engine::ClusterAnswer;
using engine::ClusterObjective;

namespace {

void refusal(RailRows& rows, const ClustersView& view, std::string_view id) {
  if (view.refused && view.refused->id == id) rows.prose(view.refused->why, true);
}

// A limit that is typed with its unit; 0, or nothing typed: none.
void limit_row(RailRows& rows, ClustersView& view, std::string_view id, std::string_view label,
               const engine::Unit& unit, double& limit) {
  PanelContext& ctx = rows.ctx;
  rows.label(label, limit == 0);
  const std::string now = limit > 0 ? box_text(limit, unit) : std::string();
  if (const auto typed = typed_line(ctx, rows.box(0), id, now, ctx.text("ui.search.any")); typed && *typed != now) {
    view.refused.reset();
    const auto number = engine::read_number(*typed, unit);
    if (typed->find_first_not_of(' ') == std::string::npos)
      limit = 0;
    else if (number && *number >= 0)
      limit = *number;
    else
      view.refused = {std::string(id),
                      number ? ctx.format("ui.clusters.not_negative", {*typed})
                             : ctx.format("ui.clusters.unread.limit", {*typed, ctx.ui.texts.write(number.problem),
                                                                       ctx.ui.texts.write(number.remedy)})};
  }
  rows.next();
  refusal(rows, view, id);
}

std::vector<std::string> objective_names(const PanelContext& ctx, bool serves) {
  std::vector<std::string> names;
  for (const std::string_view id : engine::kClusterObjectiveIds)
    if (!serves || id != engine::kClusterObjectiveIds[ClusterObjective::energy])  // the last of them
      names.emplace_back(ctx.text("ui.clusters.objective." + std::string(id)));
  return names;
}

void question_section(RailRows& rows, SearchView& search, ClusterPreferences& wanted) {
  PanelContext& ctx = rows.ctx;
  const bool serves = ctx.session.scenario().serves();
  about_row(rows, search);
  rows.y += section_head(ctx, {rows.x, rows.y}, rows.width, ctx.text("ui.clusters.what_first"));
  ClusterObjective& objective = serves ? wanted.serving : wanted.training;
  objective =
      static_cast<ClusterObjective>(rows.choice("clusters.objective", objective_names(ctx, serves),
                                                static_cast<int>(objective), ctx.text("ui.clusters.what_first")));
  if (serves) return rows.prose(promise_words(ctx));
  limit_row(rows, search.clusters, "clusters.days", ctx.text("ui.clusters.within"), engine::unit::days,
            wanted.most_run_days);
  limit_row(rows, search.clusters, "clusters.dollars", ctx.text("ui.clusters.budget"), engine::unit::dollars,
            wanted.most_cost_usd);
}

void among_section(RailRows& rows, ClustersView& view, ClusterPreferences& wanted) {
  PanelContext& ctx = rows.ctx;
  const std::string count =
      view.named && !view.named->problem
          ? ctx.ui.texts.count("ui.clusters.count", static_cast<double>(view.named->clusters->size()))
          : std::string();
  rows.y += section_head(ctx, {rows.x, rows.y}, rows.width, ctx.text("ui.clusters.among"), count);
  const std::string around(ctx.text("ui.clusters.around"));
  const Rect box{rows.x, rows.y, rows.width, std::round(ctx.px(28))};
  if (const auto typed = typed_line(ctx, box, "clusters.among", wanted.among, around)) wanted.among = *typed;
  rows.y = box.bottom() + ctx.px(4);
  if (view.named && view.named->problem) rows.prose(io::to_text(*view.named->problem, ctx.ui.texts), true);
  const std::int64_t chips = engine::chip_count(ctx.session.scenario().cluster);
  const std::string every = "every:" + std::to_string(chips);
  if (!wanted.among.empty() && rows.word_button("clusters.around", around)) wanted.among.clear();
  const std::string of_every = ctx.format("ui.clusters.every", {format_count(static_cast<double>(chips))});
  if (wanted.among != every && rows.word_button("clusters.every", of_every)) wanted.among = every;
  rows.prose(std::string(ctx.text("ui.clusters.among.about")));
}

// What the first has over the one pointed at, else over the second.
void against_section(RailRows& rows, const ClustersView& view) {
  PanelContext& ctx = rows.ctx;
  const std::vector<ClusterAnswer>& answers = view.found->answers;
  const std::size_t other = view.hovered > 1 ? view.hovered : 2;
  if (answers.size() < other || !answers.front().runs || !answers[other - 1].runs) return;
  const ClusterAnswer& first = answers.front();
  const ClusterAnswer& second = answers[other - 1];
  separator(ctx, rows.x, rows.end(), rows.y + ctx.px(4));
  rows.y += ctx.px(8);
  rows.y += section_head(ctx, {rows.x, rows.y}, rows.width,
                         ctx.format("ui.clusters.against", {std::to_string(other), "1"}));
  const TextStyle value = ctx.style(ctx.ui.theme.ink);
  const auto difference = [&](std::string_view key, double a, double b, const engine::Unit& unit) {
    if (!std::isfinite(a) || !std::isfinite(b)) return;
    rows.pair(ctx.text(std::string("clusters.column.") + std::string(key)),
              a == b ? std::string(ctx.text("ui.search.equal")) : ctx.ui.texts.difference(b - a, unit), value);
  };
  const bool serves = view.found->query.serves();
  difference("chips", static_cast<double>(first.chips), static_cast<double>(second.chips), engine::unit::count);
  if (serves)
    difference("token", first.time_s, second.time_s, engine::unit::seconds);
  else
    difference("run", engine::days_of(first.time_s), engine::days_of(second.time_s), engine::unit::days);
  difference(serves ? "per_million" : "cost", first.cost_usd, second.cost_usd, engine::unit::dollars);
  if (serves) {
    difference("ttft", first.ttft_s, second.ttft_s, engine::unit::seconds);
    difference("throughput", first.tokens_per_s, second.tokens_per_s, engine::unit::tokens_per_s);
  } else {
    difference("energy", first.energy_kwh, second.energy_kwh, engine::unit::kilowatt_hours);
    difference("mfu", first.mfu, second.mfu, engine::unit::fraction);
  }
  difference("memory", first.memory_bytes, second.memory_bytes, engine::unit::bytes);
}

}  // namespace

void clusters_rail(PanelContext& ctx, const Rect& r, SearchView& search) {
  scrolled_rail(ctx, r, "clusters.rail", [&](RailRows& rows) {
    ClusterPreferences& wanted = search.preferences.clusters;
    question_section(rows, search, wanted);
    among_section(rows, search.clusters, wanted);
    if (search.clusters.found != nullptr && !search.clusters.stale) against_section(rows, search.clusters);
    if (wanted == ClusterPreferences{}) return;
    rows.y += ctx.px(4);
    if (!rows.word_button("clusters.reset", std::string(ctx.text("ui.clusters.reset")))) return;
    wanted = {};
    search.clusters.refused.reset();
  });
}

}  // namespace roofscape::app
