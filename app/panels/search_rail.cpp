// What is searched, why plans drop out, and why a plan is not the first.
#include <algorithm>
#include <cmath>

#include "app/panels/search_panel.h"
#include "app/scenario_changes.h"
#include "widgets/figure_search_parts.h"
#include "widgets/number_format.h"
#include "widgets/plot.h"

namespace roofscape::app {

using namespace widgets;
using engine::RankedPlan;

namespace {

constexpr float kLabel = 104, kPinned = 84, kLine = 22;
constexpr std::array kFree{0.0, 0.05, 0.1, 0.2, 0.5};
constexpr std::size_t kMostChanges = 8, kMostParts = 4;
constexpr double kNoPart = 1e-4;  // of the step: a difference that is not worth a line

// "17 586 880" up to a million, then "17.6 M".
std::string many(double n) { return n < 1e6 ? format_count(n) : format_si(n, ""); }

struct Rows {
  PanelContext& ctx;
  float x, y, width;

  void label(std::string_view words, bool off = false) {
    const TextStyle s = ctx.style(off ? ctx.ui.theme.ink3 : ctx.ui.theme.ink2);
    ctx.ui.canvas.text({x, y + ctx.px(kRowHeight) / 2}, ellipsize(ctx.ui.canvas, words, s, ctx.px(kLabel - 6)), s);
  }
  Rect box(float right) const {
    const float h = std::round(ctx.px(kControlHeight));
    return {x + ctx.px(kLabel), y + std::round((ctx.px(kRowHeight) - h) / 2), std::max(ctx.px(60), width - ctx.px(kLabel) - right), h};
  }
  void next() { y += std::round(ctx.px(kRowHeight + 2)); }
  float end() const { return x + width; }
  void pair(std::string_view left, std::string_view right, const TextStyle& value) {
    const float middle = y + ctx.px(kLine) / 2;
    TextStyle v = value;
    v.halign = HAlign::right;
    const float room = width - ctx.ui.canvas.text_width(right, v) - ctx.px(10);
    const TextStyle l = ctx.style(ctx.ui.theme.ink2);
    ctx.ui.canvas.text({x, middle}, ellipsize(ctx.ui.canvas, left, l, room), l);
    ctx.ui.canvas.text({end(), middle}, right, v);
    y += std::round(ctx.px(kLine));
  }
};

std::string wish_text(const PanelContext& ctx, const SearchDimension& dimension, const Wish& wish) {
  if (wish.kind == WishKind::any) return std::string(ctx.text("ui.search.any"));
  if (dimension.id == "offload" && wish.kind == WishKind::only) return std::string(ctx.text("ui.search.no_offload"));
  const std::string value = field_value(ctx, *engine::find_field(dimension.fields[0]), wish.value);
  return wish.kind == WishKind::at_most ? ctx.format("ui.search.at_most", {value}) : value;
}

// What the plan has of it.
std::string own_text(const PanelContext& ctx, const SearchDimension& dimension) {
  std::string out;
  for (const std::string_view path : dimension.fields) {
    if (path.empty()) continue;
    const engine::Field* field = engine::find_field(path);
    const std::string value = field_value(ctx, *field, field->get(ctx.session.scenario()));
    if (out != value) out += (out.empty() ? "" : ", ") + value;
  }
  return out;
}

void dimension_row(Rows& rows, const SearchDimension& dimension, Wish& wish) {
  PanelContext& ctx = rows.ctx;
  const std::string id = "search.wish." + std::string(dimension.id);
  const std::string name(ctx.text("ui.search.dimension." + std::string(dimension.id)));
  rows.label(name, wish.kind == WishKind::any);
  std::vector<Wish> wishes = offered_wishes(ctx.session.scenario(), dimension);
  std::vector<Option> options;
  int selected = 0;
  for (const Wish& w : wishes) {
    if (w == wish) selected = static_cast<int>(options.size());
    options.push_back({wish_text(ctx, dimension, w), {}});
  }
  const bool pinned = wish.kind == WishKind::as_plan;
  if (pinned) {
    selected = static_cast<int>(options.size());
    options.push_back({ctx.format("ui.search.as_plan", {own_text(ctx, dimension)}), {}});
    wishes.push_back(wish);
  }
  const Readout tip{ctx.format("ui.search.tip", {name}), {}};
  const int chosen = drop_down(ctx.ui, rows.box(ctx.px(kPinned)), id, options, selected, tip, ctx.text("ui.search.tip.about"));
  if (chosen != selected && chosen >= 0) wish = wishes[static_cast<std::size_t>(chosen)];
  const bool now = check_box(ctx.ui, {rows.end() - ctx.px(kPinned - 12), rows.y + ctx.px(kRowHeight) / 2}, id + ".pin", ctx.text("ui.search.pinned"), pinned,
                             {ctx.format("ui.search.pin.tip", {own_text(ctx, dimension)}), {}});
  if (now != pinned) wish = now ? Wish{WishKind::as_plan, 0} : Wish{};
  rows.next();
}

void space_section(Rows& rows) {
  PanelContext& ctx = rows.ctx;
  SearchView& view = ctx.view.search;
  SearchWishes& wishes = view.wishes;
  std::string note;
  if (view.found != nullptr && view.found->result.finished) note = ctx.format("ui.search.size", {many(view.found->result.plans), format_duration(view.found->seconds)});
  const float side = std::round(ctx.px(24));
  const float head = section_head(ctx, {rows.x, rows.y}, rows.width - side - ctx.px(6), ctx.text("ui.search.space"), note);
  if (icon_button(ctx.ui, {rows.end() - side, std::round(rows.y + (head - side) / 2), side, side}, "search.close", Icon::close, {std::string(ctx.text("ui.search.close")), {}}))
    view.open = false;
  rows.y += head;
  std::vector<std::string> names;
  for (const std::string_view id : engine::kObjectiveIds) names.emplace_back(ctx.text("ui.search.objective.short." + std::string(id)));
  const Rect choice{rows.x, rows.y, rows.width, std::round(ctx.px(kControlHeight))};
  const int objective = static_cast<int>(wishes.objective);
  wishes.objective = static_cast<engine::Objective>(std::clamp(segmented(ctx.ui, choice, "search.objective", names, objective, {std::string(ctx.text("ui.search.rank_by")), {}}), 0, 3));
  rows.next();
  rows.y += ctx.px(4);
  const auto all = search_dimensions();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!all[i].of_experts || ctx.session.scenario().model.is_moe()) dimension_row(rows, all[i], wishes.wishes[i]);
  rows.label(ctx.text("ui.search.free"), wishes.min_free == 0);
  std::vector<Option> options;
  int selected = 0;
  for (std::size_t i = 0; i < kFree.size(); ++i) {
    if (kFree[i] == wishes.min_free) selected = static_cast<int>(i);
    options.push_back({kFree[i] == 0 ? std::string(ctx.text("ui.search.any")) : ctx.format("ui.search.at_least", {format_percent(kFree[i], 0)}), {}});
  }
  const int chosen = drop_down(ctx.ui, rows.box(ctx.px(kPinned)), "search.free", options, selected, {std::string(ctx.text("ui.search.free")), {}}, ctx.text("ui.search.free.about"));
  if (chosen >= 0) wishes.min_free = kFree[static_cast<std::size_t>(chosen)];
  rows.next();
  if (ctx.session.scenario().cluster.chip.interconnect == engine::Interconnect::switched) {
    wishes.tensor_across_nodes = check_box(ctx.ui, {rows.x, rows.y + ctx.px(kRowHeight) / 2}, "search.across", ctx.text("ui.search.across"), wishes.tensor_across_nodes,
                                           {std::string(ctx.text("ui.search.across")), {}}, ctx.text("ui.search.across.about"));
    rows.next();
  }
}

void rejections_section(Rows& rows, const engine::SearchResult& result) {
  PanelContext& ctx = rows.ctx;
  const Theme& t = ctx.ui.theme;
  rows.y += section_head(ctx, {rows.x, rows.y}, rows.width, ctx.text("ui.search.dropped"), ctx.format("ui.search.fit", {many(result.fit), format_share(result.plans > 0 ? result.fit / result.plans : 0)}));
  std::array<std::size_t, engine::kRejections> order{};
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return result.rejected[a] > result.rejected[b]; });
  const double most = result.rejected[order[0]];
  for (const std::size_t i : order) {
    const double count = result.rejected[i];
    if (!(count > 0)) break;
    const std::string words(ctx.text("cli.search.rejected." + std::string(engine::kRejectionIds[i])));
    rows.pair(words, many(count), ctx.style(t.ink));
    ctx.ui.canvas.rect({rows.x, rows.y + ctx.px(1), rows.width * static_cast<float>(count / most), std::max(2.0f, std::round(ctx.px(2)))}, {.colour = t.ink3});
    rows.y += ctx.px(5);
  }
  const auto prose = [&](const std::string& words) { rows.y += draw_prose(ctx.ui.canvas, {rows.x, rows.y + ctx.px(2)}, words, ctx.style(t.ink2, kSmallText), rows.width) + ctx.px(4); };
  const auto part = [&](engine::Q q) { return std::string(ctx.text("quantity." + std::string(engine::quantity(q).id) + ".label")); };
  const auto bytes = [&](double b) { return format(b, engine::unit::bytes); };
  if (const auto& miss = result.near_miss)
    prose(ctx.format("ui.search.near_miss", {bytes(miss->shortage.missing_bytes), format_duration(miss->plan.step_time_s), search::plan_words(ctx.ui.texts, miss->plan.plan),
                                             std::to_string(miss->shortage.device), part(miss->shortage.part)}));
  if (const engine::Shortage& s = result.present_shortage; s.missing_bytes > 0)
    prose(ctx.format("ui.search.present_short", {bytes(s.missing_bytes), std::to_string(s.device), part(s.part)}));
}

// Which plan is compared with the best: the one pointed at, else the second.
const RankedPlan* compared(const PanelContext& ctx, const engine::SearchResult& result, std::string& name) {
  const auto& hovered = ctx.view.search.hovered;
  if (hovered && *hovered == result.present.plan && result.present_legal && result.present_rank != 1) {
    name = ctx.text("ui.search.now");
    return &result.present;
  }
  for (std::size_t i = 1; i < result.best.size(); ++i)
    if (hovered && result.best[i].plan == *hovered) {
      name = std::to_string(i + 1);
      return &result.best[i];
    }
  if (result.best.size() < 2) return nullptr;
  name = "2";
  return &result.best[1];
}

void runner_up_section(Rows& rows, const Found& found) {
  PanelContext& ctx = rows.ctx;
  const Theme& t = ctx.ui.theme;
  const engine::SearchResult& result = found.result;
  std::string name;
  const RankedPlan* other = compared(ctx, result, name);
  if (other == nullptr) return;
  const RankedPlan& best = result.best.front();
  separator(ctx, rows.x, rows.end(), rows.y + ctx.px(4));
  rows.y += ctx.px(8);
  rows.y += section_head(ctx, {rows.x, rows.y}, rows.width, ctx.format("ui.search.why", {name}));
  engine::Scenario from = found.asked.scenario, to = found.asked.scenario;
  engine::apply(from, best.plan);
  engine::apply(to, other->plan);
  const auto changes = scenario_changes(from, to);
  for (std::size_t i = 0; i < changes.size() && i < kMostChanges; ++i)
    if (const engine::Field* f = changes[i].field)
      rows.pair(field_label(ctx, f->path), ctx.format("ui.search.from", {field_value(ctx, *f, f->get(from)), field_value(ctx, *f, f->get(to))}), ctx.style(t.ink));
  rows.y += ctx.px(6);
  // The parts of the step that differ most, and all the rest in one, so that the lines add up to the difference.
  std::vector<std::pair<double, engine::Q>> parts;
  for (std::size_t i = 0; i < engine::kStepParts.size(); ++i)
    if (const double d = other->step_parts[i] - best.step_parts[i]; std::abs(d) > kNoPart * best.step_time_s) parts.emplace_back(d, engine::kStepParts[i]);
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return std::abs(a.first) > std::abs(b.first); });
  double rest = other->step_time_s - best.step_time_s;
  for (std::size_t i = 0; i < parts.size() && i < kMostParts; ++i) {
    rest -= parts[i].first;
    rows.pair(ctx.text("quantity." + std::string(engine::quantity(parts[i].second).id) + ".label"), format_difference(parts[i].first, engine::unit::seconds), ctx.style(t.ink));
  }
  if (parts.size() > kMostParts) rows.pair(ctx.text("ui.search.rest"), format_difference(rest, engine::unit::seconds), ctx.style(t.ink));
  if (parts.empty()) rows.pair(ctx.text("figure.search.time"), ctx.text("ui.search.equal"), ctx.style(t.ink));
  rows.pair(ctx.text("figure.search.memory"), format_difference(other->memory_bytes - best.memory_bytes, engine::unit::bytes), ctx.style(t.ink));
}

}  // namespace

void search_rail(PanelContext& ctx, const Rect& r) {
  ctx.ui.canvas.rect(r, {.colour = ctx.ui.theme.panel});
  const auto clip = ctx.ui.canvas.clip(r);
  const ScrollRegion scroll = begin_scroll(ctx.ui, "search.rail", r);
  const float pad = std::round(ctx.px(16));
  Rows rows{ctx, r.x + pad, scroll.content_top + ctx.px(4), r.w - 2 * pad};
  space_section(rows);
  if (const auto& found = ctx.view.search.found; found != nullptr && found->result.finished) {
    separator(ctx, rows.x, rows.end(), rows.y + ctx.px(4));
    rows.y += ctx.px(8);
    rejections_section(rows, found->result);
    if (!found->result.best.empty()) runner_up_section(rows, *found);
  }
  end_scroll(ctx.ui, scroll, rows.y + ctx.px(12));
  vertical_separator(ctx, r.x, r.y, r.bottom());
}

}  // namespace roofscape::app
