// The figures: head with takeaway and buttons, the picture, and what it says when pointed at and clicked.
#include <algorithm>
#include <cmath>

#include "app/panels/panel.h"
#include "app/panels/pipeline_tools.h"
#include "engine/io/preset_library.h"
#include "widgets/figure_pipeline.h"
#include "widgets/figures.h"
#include "widgets/number_format.h"
#include "widgets/plot.h"

namespace roofscape::app {

using namespace widgets;

namespace {

constexpr float kHeadHeight = 34;
constexpr std::int64_t kOperationsAFrame = 80'000;  // simulated beyond the plan's own timeline: about 2 ms where orders are new

void card(PanelContext& ctx, const Rect& area, std::string_view figure, engine::Scenario& scenario) {
  // The reason why there is no present picture, over the last valid one.
  const engine::Diagnostic* worst = worst_diagnostic(ctx.session.report());
  if (worst == nullptr) return;
  const Theme& t = ctx.ui.theme;
  const float width = std::min(ctx.px(400), area.w - ctx.px(32)), pad = ctx.px(14);
  const TextStyle title = ctx.style(t.ink), small = ctx.style(t.ink2, kSmallText);
  const float room = width - 2 * pad - ctx.px(24);
  const std::string head = diagnostic_title(ctx, *worst), text = diagnostic_text(ctx, *worst);
  const float height = prose_height(title, wrapped_lines(ctx.ui.canvas, head, title, room).size()) +
                       prose_height(small, wrapped_lines(ctx.ui.canvas, text, small, room).size()) + 2 * pad +
                       (worst->fix.empty() ? 0 : ctx.px(kControlHeight + 8));
  const Rect r{std::round(area.centre().x - width / 2), std::round(area.centre().y - height / 2), width, height};
  ctx.ui.canvas.rect(r, {.colour = t.ctl}, ctx.px(3));
  ctx.ui.canvas.frame(r, {mark_colour(t, mark_of(worst->severity)), ctx.px(1.5f), {}}, ctx.px(3));
  draw_mark(ctx.ui.canvas, t, {r.x + pad + ctx.px(7), r.y + pad + ctx.px(10)}, ctx.px(14), mark_of(worst->severity));
  float y = r.y + pad;
  y += draw_prose(ctx.ui.canvas, {r.x + pad + ctx.px(24), y}, head, title, room);
  y += draw_prose(ctx.ui.canvas, {r.x + pad + ctx.px(24), y}, text, small, room);
  if (worst->fix.empty()) return;
  const std::string label = fix_label(ctx, *worst);
  const float wide = std::min(room, ctx.ui.canvas.text_width(label, title) + ctx.px(24));
  const Rect b{r.x + pad + ctx.px(24), std::round(y + ctx.px(8)), std::round(wide), std::round(ctx.px(kControlHeight))};
  const engine::Fix fix = worst->fix;
  if (button(ctx.ui, b, "fix." + std::string(figure), label))
    for (const engine::FieldEdit& edit : fix)
      if (edit.field != nullptr) engine::apply(scenario, edit);
}

void one_stage_button(PanelContext& ctx, const Rect& area, engine::Scenario& scenario) {
  const int layers = scenario.model.n_layers;
  if (layers < 4 || area.h < ctx.px(190)) return;
  const std::string label(ctx.text("ui.pipeline.try_stages"));
  const float w = ctx.ui.canvas.text_width(label, ctx.style(ctx.ui.theme.ink)) + ctx.px(44), h = std::round(ctx.px(kControlHeight));
  const Rect r{std::round(area.centre().x - w / 2), std::round(area.bottom() - 4 * ctx.px(15) - ctx.px(6) - h - ctx.px(14)), w, h};
  if (!button(ctx.ui, r, "pipeline.try_stages", label)) return;
  // Four stages instead of one, taken out of the largest axis so that the chips stay in use.
  scenario.parallelism.pipeline = 4;
  for (int* axis : {&scenario.parallelism.fsdp, &scenario.parallelism.data, &scenario.parallelism.context})
    if (*axis % 4 == 0) {
      *axis /= 4;
      break;
    }
}

void figure(PanelContext& ctx, const Rect& cell, std::size_t index, engine::Scenario& scenario) {
  const FigureRow& row = figures()[index];
  const Theme& t = ctx.ui.theme;
  const bool drawable = ctx.session.drawable();
  const FigureInput input{drawable ? ctx.session.scenario() : ctx.session.last_drawable(),
                          drawable ? ctx.session.report() : ctx.session.last_drawable_report(), ctx.ui.texts, t, ctx.view.studies,
                          nullptr, {}, ctx.session.library().chips()};
  const std::string id = "figure." + std::string(row.name);
  ctx.ui.canvas.rect(cell, {.colour = t.panel});
  const auto clip = ctx.ui.canvas.clip(cell);
  const float pad = std::round(ctx.px(14));
  Rect rest = cell.inset(pad, 0);
  rest.cut_bottom(std::round(ctx.px(8)));
  const Rect head = rest.cut_top(std::round(ctx.px(kHeadHeight)));

  FigureHead words = row.head(input, {});
  if (!drawable) words.takeaway = ctx.text("ui.figure.last_valid");
  const float side = std::round(ctx.px(24)), y = head.y + std::round((head.h - side) / 2);
  const Rect save{head.right() - side, y, side, side}, grow{head.right() - 2 * side - ctx.px(4), y, side, side};
  const TextStyle bold = ctx.style(t.ink, 1, Weight::bold), phrase = ctx.style(t.ink2);
  ctx.ui.canvas.text({head.x, head.centre().y}, words.title, bold);
  const float x = head.x + ctx.ui.canvas.text_width(words.title, bold) + ctx.px(12);
  const bool tools = row.name == "pipeline" && drawable && ctx.session.report().pipeline.drawn();
  const float room = (tools ? pipeline_toggles(ctx, grow.x - ctx.px(4), head.centre().y) : grow.x) - ctx.px(8) - x;
  if (!words.brief.empty() && ctx.ui.canvas.text_width(words.takeaway, phrase) > room) words.takeaway = words.brief;
  if (room > ctx.px(60))
    ctx.ui.canvas.text({x, head.centre().y}, ellipsize(ctx.ui.canvas, words.takeaway, phrase, room), phrase);
  const bool maximised = ctx.view.maximised == index;
  if (icon_button(ctx.ui, grow, id + ".maximise", maximised ? Icon::restore : Icon::maximise,
                  {std::string(ctx.text(maximised ? "ui.figure.restore" : "ui.figure.maximise")), {}}))
    ctx.view.maximised = maximised ? std::nullopt : std::optional(index);
  if (icon_button(ctx.ui, save, id + ".export", Icon::download, {std::string(ctx.text("ui.figure.export")), {}})) {
    ctx.view.focused_figure = index;
    ctx.requests.push_back("figure.export");
  }

  const Rect area = rest;
  // With one stage there is nothing to point at but the button.
  const bool one_stage = row.name == "pipeline" && ctx.session.scenario().parallelism.pipeline == 1;
  const ItemState s = ctx.ui.item(id, one_stage || !drawable ? Rect{} : area, Interaction::Focus::none);
  if (s.pressed || s.hovered) ctx.view.focused_figure = index;
  FigureView view;
  view.compact = ctx.view.compact && !maximised;
  view.hovered_stage = ctx.view.hovered_stage;
  view.hovered_operation = ctx.view.hovered_operation;
  auto& span = ctx.view.spans[index];
  if (tools) {
    show_tools(ctx.view, view);
    run_playback(ctx, span);
    view.cursor = ctx.view.pipeline.cursor;
    pipeline_gestures(ctx, pipeline_plot(ctx.ui.canvas, area, input, view), s, span);
    if (s.hovered && !s.held) view.pointer = ctx.ui.io.pointer();
  }
  view.from = span.first;
  view.to = span.second;

  Canvas& canvas = ctx.ui.canvas;
  const std::size_t first = canvas.tags().size();
  if (canvas.tagging() != Tagging::all) canvas.set_tagging(s.hovered ? Tagging::near_pointer : Tagging::none);
  const float before = drawable ? 1 : canvas.set_opacity(0.28f);
  row.draw(canvas, area, input, view);
  if (!drawable) canvas.set_opacity(before);
  if (canvas.tagging() != Tagging::all) canvas.set_tagging(Tagging::none);
  if (!drawable) {
    card(ctx, area, row.name, scenario);
    return;
  }
  if (one_stage) one_stage_button(ctx, area, scenario);

  if (!s.hovered) return;
  const TagRegion* hit = nullptr;
  const Point p = ctx.ui.io.pointer();
  float nearest = ctx.px(8);
  for (std::size_t i = first; i < canvas.tags().size(); ++i) {
    const TagRegion& tag = canvas.tags()[i];
    const float dx = std::max({tag.rect.x - p.x, p.x - tag.rect.right(), 0.0f});
    const float dy = std::max({tag.rect.y - p.y, p.y - tag.rect.bottom(), 0.0f});
    const float d = std::hypot(dx, dy);
    if (d <= nearest) {
      nearest = d;
      hit = &tag;
    }
  }
  if (hit == nullptr) return;
  const std::string target = derivation_id(hit->id, hit->index);
  if (hit->id.starts_with("operation.")) ctx.view.next_hovered_operation = hit->index;
  else if (row.name != "roofline" && hit->index >= 0) ctx.view.next_hovered_stage = hit->index;
  Readout readout = hit->readout;
  if (readout.empty())
    if (const auto q = engine::find_quantity(without_index(hit->id))) readout = quantity_tip(ctx, *q);
  const std::string hover = id + "/" + hit->id + "/" + std::to_string(hit->index);
  if (!readout.empty()) {
    // Beside the datum and off its row.
    Rect avoid = hit->rect;
    if (row.name == "pipeline" || avoid.w > area.w * 0.7f) avoid = {p.x - ctx.px(6), avoid.y, ctx.px(12), avoid.h};
    ctx.ui.io.hint(hover, avoid, readout, {}, 0.08);
  }
  if (!target.empty()) ctx.ui.io.set_cursor(Cursor::hand);
  if (s.clicked && distance(p, ctx.ui.io.drag_origin()) < ctx.px(4)) open_derivation(ctx.view, target);
}

engine::Scenario place_figures(PanelContext& ctx, const Rect& grid, const std::array<Rect, 4>& cells, engine::Scenario scenario) {
  const auto all = figures();
  if (ctx.view.maximised && *ctx.view.maximised < all.size()) {
    figure(ctx, grid, *ctx.view.maximised, scenario);
    return scenario;
  }
  if (ctx.view.narrow) {
    // Two at a time, each chosen by name from all there are: the numbers first, then the figures.
    const float half = std::round(grid.h * 0.5f), tab_h = std::round(ctx.px(34));
    std::vector<Option> options;
    const auto offer = [&](std::string_view key) {
      Option option;
      option.text = ctx.text(key);
      options.push_back(std::move(option));
    };
    offer("ui.numbers.title");
    for (const FigureRow& row : all) offer("command.figure." + std::string(row.name));
    for (std::size_t row = 0; row < 2; ++row) {
      Rect cell{grid.x, grid.y + static_cast<float>(row) * half, grid.w, row == 0 ? half : grid.h - half};
      ctx.ui.canvas.rect(cell, {.colour = ctx.ui.theme.panel});
      const Rect tabs = cell.cut_top(tab_h);
      const Rect choice{tabs.x + ctx.px(14), tabs.y + ctx.px(6), ctx.px(240), std::round(ctx.px(kControlHeight))};
      int& chosen = ctx.view.tabs[row];
      chosen = std::clamp(drop_down(ctx.ui, choice, row == 0 ? "tabs.upper" : "tabs.lower", options, chosen), 0, static_cast<int>(all.size()));
      if (chosen == 0) scenario = numbers_panel(ctx, cell, std::move(scenario));
      else figure(ctx, cell, static_cast<std::size_t>(chosen) - 1, scenario);
    }
    separator(ctx, grid.x, grid.right(), grid.y + half);
    return scenario;
  }
  // Roofline over memory at the left, numbers over the pipeline at the right: stages read straight across the lower row.
  const std::array<std::string_view, 4> places{"roofline", "", "memory", "pipeline"};
  for (std::size_t place = 0; place < places.size(); ++place) {
    if (places[place].empty()) {
      scenario = numbers_panel(ctx, cells[place], std::move(scenario));
      continue;
    }
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].name == places[place]) figure(ctx, cells[place], i, scenario);
  }
  vertical_separator(ctx, cells[1].x, grid.y, grid.bottom());
  separator(ctx, grid.x, grid.right(), cells[2].y);
  return scenario;
}

}  // namespace

engine::Scenario figure_grid(PanelContext& ctx, const Rect& grid, const std::array<Rect, 4>& cells, engine::Scenario scenario) {
  ctx.view.next_hovered_stage.reset();
  ctx.view.next_hovered_operation.reset();
  ctx.view.studies.begin_frame(kOperationsAFrame);
  scenario = place_figures(ctx, grid, cells, std::move(scenario));
  if (ctx.view.studies.unfinished) ctx.ui.io.wake_after(0);
  return scenario;
}

}  // namespace roofscape::app
