#include "app/panels/search_rail.h"

#include <algorithm>
#include <cmath>

#include "app/core/scenario_changes.h"
#include "app/panels/field_text.h"
#include "app/panels/panel_parts.h"
#include "app/panels/rail_rows.h"
#include "app/panels/search_list.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/search/figure_search_parts.h"
#include "widgets/figures/search/figure_serving_search.h"
#include "widgets/plot/plot.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape::app {

using namespace widgets;
using engine::RankedPlan;

namespace {

constexpr float kPinned = 84;
constexpr std::array kFree{0.0, 0.05, 0.1, 0.2, 0.5};
constexpr std::size_t kMostChanges = 8, kMostParts = 4;
constexpr double kNoPart = 1e-4;  // of the step: a difference that is not worth a line

std::string constraint_text(const PanelContext& ctx, const ConstrainedDimension& dimension,
                            const Constraint& constraint) {
  if (constraint.kind == Constraint::Kind::any) return std::string(ctx.text("ui.search.any"));
  if (dimension.id == "offload" && constraint.kind == Constraint::Kind::only)
    return std::string(ctx.text("ui.search.no_offload"));
  const std::string value = field_value(ctx, *engine::find_field(dimension.paths[0]), constraint.value);
  return constraint.kind == Constraint::Kind::at_most ? ctx.format("ui.search.at_most", {value}) : value;
}

// What the plan has of it.
std::string own_text(const PanelContext& ctx, const ConstrainedDimension& dimension) {
  std::string out;
  for (const std::string_view path : dimension.paths) {
    if (path.empty()) continue;
    const engine::Field* field = engine::find_field(path);
    const double number = field->get(ctx.session.scenario());
    // Of some fields 0 means more than a number says.
    const std::string zero = "ui.search.zero." + std::string(path);
    const bool in_words = number == 0 && ctx.ui.texts.has(zero);
    const std::string value = in_words ? std::string(ctx.text(zero)) : field_value(ctx, *field, number);
    if (out != value) out += (out.empty() ? "" : ", ") + value;
  }
  return out;
}

void dimension_row(RailRows& rows, const ConstrainedDimension& dimension, Constraint& constraint) {
  PanelContext& ctx = rows.ctx;
  const std::string id = "search.constraint." + std::string(dimension.id);
  const std::string name(ctx.text("ui.search.dimension." + std::string(dimension.id)));
  rows.label(name, constraint == dimension.usual());
  std::vector<Constraint> offered = offered_constraints(ctx.session.scenario(), dimension);
  std::vector<Option> options;
  int selected = 0;
  for (const Constraint& c : offered) {
    if (c == constraint) selected = static_cast<int>(options.size());
    options.push_back({constraint_text(ctx, dimension, c), {}});
  }
  const bool pinned = constraint.kind == Constraint::Kind::as_plan;
  if (pinned) {
    selected = static_cast<int>(options.size());
    const std::string own = own_text(ctx, dimension);
    options.push_back({.text = ctx.format("ui.search.as_plan", {own}), .detail = {}, .shorter = own});
    offered.push_back(constraint);
  }
  const std::string about =
      dimension.is_setting
          ? ctx.format("ui.search.tip.setting",
                       {std::string(ctx.text("field." + std::string(dimension.paths[0]) + ".about"))})
          : std::string(ctx.text("ui.search.tip.about"));
  const Readout tip{ctx.format("ui.search.tip", {name}), {}};
  const int chosen = drop_down(ctx.ui, rows.box(ctx.px(kPinned)), id, options, selected, tip, about);
  if (chosen != selected && chosen >= 0) constraint = offered[static_cast<std::size_t>(chosen)];
  const bool now = check_box(ctx.ui, {rows.end() - ctx.px(kPinned - 12), rows.y + ctx.px(kRowHeight) / 2},
                             id + ".pin", ctx.text("ui.search.pinned"), pinned,
                             {ctx.format("ui.search.pin.tip", {own_text(ctx, dimension)}), {}});
  if (now != pinned) constraint = now ? Constraint{Constraint::Kind::as_plan, 0} : Constraint{};
  rows.next();
}

template <class Dimension, class Constraints>
void dimension_rows(RailRows& rows, std::span<const Dimension> dimensions, Constraints& constraints) {
  for (std::size_t i = 0; i < dimensions.size(); ++i)
    if (dimensions[i].applies(rows.ctx.session.scenario())) dimension_row(rows, dimensions[i], constraints[i]);
}

// What of the HBM has to stay free.
void free_row(RailRows& rows, double& min_free) {
  PanelContext& ctx = rows.ctx;
  rows.label(ctx.text("ui.search.free"), min_free == 0);
  std::vector<Option> options;
  int selected = -1;
  for (std::size_t i = 0; i < kFree.size(); ++i) {
    if (kFree[i] == min_free) selected = static_cast<int>(i);
    options.push_back({kFree[i] == 0 ? std::string(ctx.text("ui.search.any"))
                                     : ctx.format("ui.search.at_least", {format_percent(kFree[i], 0)}),
                       {}});
  }
  // A share from a saved session that is none of these.
  if (selected < 0) {
    selected = static_cast<int>(options.size());
    options.push_back({ctx.format("ui.search.at_least", {format_percent(min_free, 0)}), {}});
  }
  const int chosen = drop_down(ctx.ui, rows.box(ctx.px(kPinned)), "search.free", options, selected,
                               {std::string(ctx.text("ui.search.free")), {}}, ctx.text("ui.search.free.about"));
  if (chosen >= 0 && static_cast<std::size_t>(chosen) < kFree.size())
    min_free = kFree[static_cast<std::size_t>(chosen)];
  rows.next();
}

template <class Objective>
void objective_row(RailRows& rows, const engine::EnumTable<Objective>& ids, Objective& objective) {
  PanelContext& ctx = rows.ctx;
  std::vector<std::string> names;
  for (const std::string_view id : ids) names.emplace_back(ctx.text("ui.search.objective.short." + std::string(id)));
  objective = static_cast<Objective>(
      rows.choice("search.objective", names, static_cast<int>(objective), ctx.text("ui.search.rank_by")));
}

void slow_end_row(RailRows& rows, bool& slow_end) {
  PanelContext& ctx = rows.ctx;
  slow_end =
      check_box(ctx.ui, {rows.x, rows.y + ctx.px(kRowHeight) / 2}, "search.slow_end", ctx.text("ui.search.slow_end"),
                slow_end, {std::string(ctx.text("ui.search.slow_end")), {}}, ctx.text("ui.search.slow_end.about"));
  rows.next();
}

void training_preferences(RailRows& rows, SearchPreferences& preferences) {
  PanelContext& ctx = rows.ctx;
  objective_row(rows, engine::kObjectiveIds, preferences.objective);
  if (offers_slow_end(preferences, ctx.session.scenario())) slow_end_row(rows, preferences.slow_end);
  dimension_rows(rows, search_dimensions(), preferences.constraints);
  free_row(rows, preferences.min_free);
  if (ctx.session.scenario().cluster.chip.interconnect == engine::Interconnect::switched) {
    preferences.tensor_across_nodes =
        check_box(ctx.ui, {rows.x, rows.y + ctx.px(kRowHeight) / 2}, "search.across", ctx.text("ui.search.across"),
                  preferences.tensor_across_nodes, {std::string(ctx.text("ui.search.across")), {}},
                  ctx.text("ui.search.across.about"));
    rows.next();
  }
}

void serving_preferences(RailRows& rows, SearchPreferences& all) {
  PanelContext& ctx = rows.ctx;
  ServingPreferences& preferences = all.serving;
  objective_row(rows, engine::kServingObjectiveIds, preferences.objective);
  if (offers_slow_end(all, ctx.session.scenario())) slow_end_row(rows, preferences.slow_end);
  dimension_rows(rows, serving_dimensions(), preferences.constraints);
  free_row(rows, preferences.min_free);
  const engine::ServiceLevel& slo = ctx.session.scenario().workload.slo;
  if (slo.any()) {
    preferences.keeps_promises =
        check_box(ctx.ui, {rows.x, rows.y + ctx.px(kRowHeight) / 2}, "search.promises",
                  ctx.text("ui.search.promises"), preferences.keeps_promises,
                  {std::string(ctx.text("ui.search.promises")), {}}, ctx.text("ui.search.promises.about"));
    rows.next();
  }
  rows.prose(promise_words(ctx));
}

void space_section(RailRows& rows, SearchView& view) {
  PanelContext& ctx = rows.ctx;
  const engine::WorkloadKind kind = ctx.session.scenario().workload.kind;
  std::string note;
  if (view.found != nullptr && view.found->counted()) {
    const double plans = view.found->query.serves() ? view.found->serving.plans : view.found->result.plans;
    note = ctx.format("ui.search.size", {many(plans), format_duration(view.found->seconds)});
  }
  about_row(rows, view);
  rows.y += section_head(ctx, {rows.x, rows.y}, rows.width, ctx.text("ui.search.space"), note);
  if (kind == engine::WorkloadKind::serving)
    serving_preferences(rows, view.preferences);
  else
    training_preferences(rows, view.preferences);
  if (!limits(view.preferences, kind)) return;
  if (rows.word_button("search.reset", ctx.text("ui.search.widen"))) ctx.requests.run("search.reset");
  rows.y += ctx.px(4);
}

// How many plans were left out for which reason, the most frequent first.
template <class Reason>
void rejection_rows(RailRows& rows, double plans, double fit,
                    const std::array<double, engine::kEnumCount<Reason>>& rejected,
                    const engine::EnumTable<Reason>& ids) {
  PanelContext& ctx = rows.ctx;
  const Theme& t = ctx.ui.theme;
  rows.y += section_head(ctx, {rows.x, rows.y}, rows.width, ctx.text("ui.search.dropped"),
                         ctx.format("ui.search.fit", {many(fit), format_share(plans > 0 ? fit / plans : 0)}));
  std::array<std::size_t, engine::kEnumCount<Reason>> order{};
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rejected[a] > rejected[b]; });
  const double most = rejected[order[0]];
  for (const std::size_t i : order) {
    const double count = rejected[i];
    if (!(count > 0)) break;
    const std::string words(ctx.text("cli.search.rejected." + std::string(ids.ids()[i])));
    rows.pair(words, many(count), ctx.style(t.ink));
    ctx.ui.canvas.rect({rows.x, rows.y + ctx.px(1), rows.width * static_cast<float>(count / most),
                        std::max(2.0f, std::round(ctx.px(2)))},
                       {.colour = t.ink3});
    rows.y += ctx.px(5);
  }
}

std::string bytes_words(double b) { return format(b, engine::unit::bytes); }

void rejections_section(RailRows& rows, const engine::SearchResult& result) {
  PanelContext& ctx = rows.ctx;
  rejection_rows(rows, result.plans, result.fit, result.rejected, engine::kRejectionIds);
  if (const std::string fewer = search::fewer_chips(result.chip_counts); !fewer.empty())
    rows.prose(ctx.format("ui.search.chip_counts", {format_count(result.chip_counts.front()), fewer}));
  if (const auto& miss = result.near_miss)
    rows.prose(ctx.format("ui.search.near_miss",
                          {bytes_words(miss->shortage.missing_bytes), format_duration(miss->plan.step_time_s),
                           search::plan_words(ctx.ui.texts, miss->plan.plan), std::to_string(miss->shortage.device),
                           quantity_label(ctx.ui.texts, miss->shortage.part)}));
  if (const engine::Shortage& s = result.present_shortage; s.missing_bytes > 0)
    rows.prose(ctx.format("ui.search.present_short", {bytes_words(s.missing_bytes), std::to_string(s.device),
                                                      quantity_label(ctx.ui.texts, s.part)}));
}

void rejections_section(RailRows& rows, const engine::ServingSearchResult& result) {
  PanelContext& ctx = rows.ctx;
  rejection_rows(rows, result.plans, result.fit, result.rejected, engine::kServingRejectionIds);
  if (const std::string fewer = search::fewer_chips(result.chip_counts); !fewer.empty())
    rows.prose(ctx.format("ui.search.chip_counts.serving", {format_count(result.chip_counts.front()), fewer}));
  if (!result.present_legal) return;
  if (result.present_missing_bytes > 0)
    rows.prose(ctx.format(
        "ui.search.present_short.chip",
        {bytes_words(result.present_missing_bytes), quantity_label(ctx.ui.texts, result.present.fullest_part)}));
  else if (result.present.rejected == engine::ServingRejection::token_time)
    rows.prose(std::string(ctx.text("ui.search.present_slow.token")));
  else if (result.present.rejected == engine::ServingRejection::ttft)
    rows.prose(std::string(ctx.text("ui.search.present_slow.ttft")));
}

// Which plan is compared with the best: the one pointed at, else the second. Of either kind of workload.
template <class Result>
auto compared(const PanelContext& ctx, const Result& result, std::string& name) -> decltype(&result.present) {
  const auto& hovered = ctx.hovered.plan;
  const auto points_at = [&hovered](const auto& one) { return hovered && *hovered == FoundPlan(one.plan); };
  if (points_at(result.present) && result.present_legal && result.present_rank != 1) {
    name = ctx.text("ui.search.now");
    return &result.present;
  }
  for (std::size_t i = 1; i < result.best.size(); ++i)
    if (points_at(result.best[i])) {
      name = std::to_string(i + 1);
      return &result.best[i];
    }
  if (result.best.size() < 2) return nullptr;
  name = "2";
  return &result.best[1];
}

// What differs between two plans of a scenario, and the parts of a time that differ most, with all the rest in one,
// so that the lines add up to the difference.
template <class Ranked, std::size_t N>
void difference_rows(RailRows& rows, const engine::Scenario& scenario, const Ranked& best, const Ranked& other,
                     const std::array<engine::Q, N>& parts_of, double total, std::string_view total_key) {
  PanelContext& ctx = rows.ctx;
  const Theme& t = ctx.ui.theme;
  engine::Scenario from = scenario, to = scenario;
  engine::apply(from, best.plan);
  engine::apply(to, other.plan);
  const auto changes = scenario_changes(from, to);
  for (std::size_t i = 0; i < changes.size() && i < kMostChanges; ++i)
    if (const engine::Field* f = changes[i].field)
      rows.pair(field_label(ctx, f->path),
                ctx.format("ui.search.from", {field_value(ctx, *f, f->get(from)), field_value(ctx, *f, f->get(to))}),
                ctx.style(t.ink));
  rows.y += ctx.px(6);
  std::vector<std::pair<double, engine::Q>> parts;
  double sum = 0, rest = 0;
  for (const double part : best.step_parts) sum += part;
  for (std::size_t i = 0; i < N; ++i) {
    const double d = other.step_parts[i] - best.step_parts[i];
    rest += d;
    if (std::abs(d) > kNoPart * sum) parts.emplace_back(d, parts_of[i]);
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return std::abs(a.first) > std::abs(b.first); });
  for (std::size_t i = 0; i < parts.size() && i < kMostParts; ++i) {
    rest -= parts[i].first;
    rows.pair(quantity_label(ctx.ui.texts, parts[i].second), format_difference(parts[i].first, engine::unit::seconds),
              ctx.style(t.ink));
  }
  if (parts.size() > kMostParts)
    rows.pair(ctx.text("ui.search.rest"), format_difference(rest, engine::unit::seconds), ctx.style(t.ink));
  if (parts.empty())
    rows.pair(ctx.text(total_key),
              std::abs(total) > 0 ? format_difference(total, engine::unit::seconds)
                                  : std::string(ctx.text("ui.search.equal")),
              ctx.style(t.ink));
}

void why_head(RailRows& rows, const std::string& name) {
  PanelContext& ctx = rows.ctx;
  separator(ctx, rows.x, rows.end(), rows.y + ctx.px(4));
  rows.y += ctx.px(8);
  rows.y += section_head(ctx, {rows.x, rows.y}, rows.width, ctx.format("ui.search.why", {name}));
}

void runner_up_section(RailRows& rows, const engine::Scenario& scenario, const engine::SearchResult& result) {
  PanelContext& ctx = rows.ctx;
  const Theme& t = ctx.ui.theme;
  std::string name;
  const RankedPlan* other = compared(ctx, result, name);
  if (other == nullptr) return;
  const RankedPlan& best = result.best.front();
  why_head(rows, name);
  difference_rows(rows, scenario, best, *other, engine::kStepParts, other->step_time_s - best.step_time_s,
                  "figure.search.time");
  rows.pair(ctx.text("figure.search.memory"),
            format_difference(other->memory_bytes - best.memory_bytes, engine::unit::bytes), ctx.style(t.ink));
}

void runner_up_section(RailRows& rows, const engine::Scenario& scenario, const engine::ServingSearchResult& result) {
  PanelContext& ctx = rows.ctx;
  const Theme& t = ctx.ui.theme;
  std::string name;
  const engine::RankedDecoding* other = compared(ctx, result, name);
  if (other == nullptr) return;
  const engine::RankedDecoding& best = result.best.front();
  why_head(rows, name);
  difference_rows(rows, scenario, best, *other, engine::kDecodeParts, other->decode_token_s - best.decode_token_s,
                  "ui.search.decode_time");
  const auto difference = [&](double value, double first, engine::Unit unit) {
    return std::abs(value - first) > kNoPart * first ? ctx.ui.texts.difference(value - first, unit)
                                                     : std::string(ctx.text("ui.search.equal"));
  };
  rows.pair(ctx.text("ui.search.column.token_time"), difference(other->token_s, best.token_s, engine::unit::seconds),
            ctx.style(t.ink));
  rows.pair(ctx.text("ui.search.column.ttft"), difference(other->ttft_s, best.ttft_s, engine::unit::seconds),
            ctx.style(t.ink));
  const search::ToldRate rate = search::told_rate(result);
  rows.pair(ctx.text(rate.together ? "ui.search.column.total_rate" : "ui.search.column.rate"),
            difference(rate.of(*other), rate.of(best), engine::unit::tokens_per_s), ctx.style(t.ink));
  rows.pair(ctx.text("figure.search.memory"),
            format_difference(other->chip_bytes - best.chip_bytes, engine::unit::bytes), ctx.style(t.ink));
}

}  // namespace

void about_row(RailRows& rows, SearchView& view) {
  PanelContext& ctx = rows.ctx;
  const float side = std::round(ctx.px(24)), h = std::round(ctx.px(kControlHeight));
  std::vector<std::string> names;
  for (const char* key : {"ui.search.about.plans", "ui.search.about.clusters"}) names.emplace_back(ctx.text(key));
  rows.y += ctx.px(6);
  const int chosen = segmented(ctx.ui, {rows.x, rows.y, rows.width - side - ctx.px(8), h}, "search.about", names,
                               static_cast<int>(view.about), {std::string(ctx.text("ui.search.about")), {}});
  view.about = chosen == 0 ? SearchView::About::plans : SearchView::About::clusters;
  if (icon_button(ctx.ui, {rows.end() - side, std::round(rows.y + (h - side) / 2), side, side}, "search.close",
                  Icon::close, {std::string(ctx.text("ui.search.close")), {}}))
    view.open = false;
  rows.next();
}

void search_rail(PanelContext& ctx, const Rect& r, SearchView& search) {
  scrolled_rail(ctx, r, "search.rail", [&](RailRows& rows) {
    space_section(rows, search);
    const auto& found = search.found;
    if (found == nullptr || !found->finished()) return;
    separator(ctx, rows.x, rows.end(), rows.y + ctx.px(4));
    rows.y += ctx.px(8);
    const auto why = [&](const auto& result) {
      if (found->counted())
        rejections_section(rows, result);
      else
        rows.prose(std::string(ctx.text("ui.search.counted_later")));
      if (!result.best.empty()) runner_up_section(rows, found->query.scenario, result);
    };
    if (found->query.serves())
      why(found->serving);
    else
      why(found->result);
  });
}

}  // namespace roofscape::app
