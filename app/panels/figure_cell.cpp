#include "app/panels/figure_cell.h"

#include <algorithm>
#include <cmath>

#include "app/core/gain_text.h"
#include "app/panels/derivation_id.h"
#include "app/panels/diagnostic_words.h"
#include "app/panels/figure_menu.h"
#include "app/panels/findings.h"
#include "app/panels/nearest_tag.h"
#include "app/panels/quantity_text.h"
#include "app/panels/search_list.h"
#include "engine/studies/measured_run.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/figures.h"
#include "widgets/figures/training/figure_pipeline_parts.h"
#include "widgets/plot/build_up_canvas.h"
#include "widgets/plot/plot.h"

namespace roofscape::app {

using namespace widgets;
using engine::Scenario;

namespace {

constexpr float kHeadHeight = 34;
constexpr float kLargeDatum = 120;  // a readout at its side would be far from the pointer

// Whether a figure shows what is, not the last that could be drawn: those of a search do even where the present plan
// cannot run, and show which can.
bool has_picture(const PanelContext& ctx, const FigureRow& row) {
  return ctx.session.drawable() || is_searched(row.needs);
}

// Whether there is an earlier picture to look at in place of the present one; a plan that was impossible from the first
// has none.
bool has_last_picture(const PanelContext& ctx) { return !ctx.session.last_drawable_report().has_errors(); }

// Whether it shows a timeline that its tools work on.
bool has_tools(const PanelContext& ctx, const FigureRow& row) {
  return row.timeline != nullptr && ctx.session.drawable() && ctx.session.report().pipeline.drawn();
}

void card(PanelContext& ctx, const Rect& area, std::string_view figure, bool& reason_said, Scenario& scenario) {
  // The reason why there is no present picture, over the last valid one: once in the window, and not where the
  // diagnostics say it. In a cell without any picture it stands in any case. Of equally grave ones, one with a remedy.
  const engine::OfferedFinding* found = nullptr;
  for (const engine::OfferedFinding& f : findings(ctx))
    if (found == nullptr || f.diagnostic.severity < found->diagnostic.severity ||
        (f.diagnostic.severity == found->diagnostic.severity && found->diagnostic.fix.empty() &&
         !f.diagnostic.fix.empty()))
      found = &f;
  if (found == nullptr || found->diagnostic.severity != engine::Severity::error) return;
  if (has_last_picture(ctx) && (reason_said || ctx.in_sight.diagnostics)) return;
  reason_said = true;
  const engine::Diagnostic* worst = &found->diagnostic;
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
  const std::string gain = found->gain ? gain_text(*found->gain, ctx.ui.texts) : std::string();
  const std::string label = fix_label(ctx, *worst) + (gain.empty() ? "" : ": " + gain);
  const float wide = std::min(room, ctx.ui.canvas.text_width(label, title) + ctx.px(24));
  const Rect b{r.x + pad + ctx.px(24), std::round(y + ctx.px(8)), std::round(wide),
               std::round(ctx.px(kControlHeight))};
  const engine::Fix fix = worst->fix;
  if (button(ctx.ui, b, "fix." + std::string(figure), label))
    for (const engine::FieldEdit& edit : fix)
      if (edit.field != nullptr) engine::apply(scenario, edit);
}

void one_stage_button(PanelContext& ctx, const Rect& whole, const FigureRow& row, Scenario& scenario) {
  const Rect area = one_stage_area(ctx.ui.canvas, whole);
  const int layers = scenario.model.n_layers;
  // Figures beside the timeline say in a line more what a pipeline would show.
  const bool timeline = row.timeline != nullptr;
  if (layers < 4 || area.h < ctx.px(timeline ? 190 : 270) || (!timeline && area.w < ctx.px(520))) return;
  const std::string label(ctx.text("ui.pipeline.try_stages"));
  const float w = ctx.ui.canvas.text_width(label, ctx.style(ctx.ui.theme.ink)) + ctx.px(44),
              h = std::round(ctx.px(kControlHeight));
  const Rect r{std::round(area.centre().x - w / 2),
               std::round(area.bottom() - 4 * ctx.px(15) - ctx.px(6) - h - ctx.px(14)), w, h};
  if (!button(ctx.ui, r, std::string(row.name) + ".try_stages", label)) return;
  // Four stages instead of one, taken out of the largest axis so that the chips stay in use.
  scenario.parallelism.pipeline = 4;
  for (int* axis : {&scenario.parallelism.fsdp, &scenario.parallelism.data, &scenario.parallelism.context})
    if (*axis % 4 == 0) {
      *axis /= 4;
      break;
    }
}

// The plan that a tag of a figure of a search stands for; nothing where it is none.
std::optional<FoundPlan> plan_of_tag(const FigureRow& row, const FigureInput& input, const TagRegion& tag) {
  if (row.plans.id != tag.id || row.plans.plan == nullptr || input.search == nullptr || tag.index < 0)
    return std::nullopt;
  return row.plans.plan(input, tag.index);
}

}  // namespace

std::string caption_without_picture(const PanelContext& ctx) {
  return has_last_picture(ctx) ? std::string(ctx.text("ui.figure.last_valid")) : std::string();
}

std::optional<int> stage_of_tag(std::string_view id, int index) {
  for (const std::string_view family : {"memory.", "stage.", "pipeline.", "block."})
    if (index >= 0 && id.starts_with(family)) return index;
  return std::nullopt;
}

std::optional<int> operation_of_tag(std::string_view id, int index) {
  return index >= 0 && index < engine::kOperationCount && id.starts_with("operation.") ? std::optional(index)
                                                                                       : std::nullopt;
}

FigureInput figure_input(const PanelContext& ctx) {
  const bool drawable = ctx.session.drawable();
  return {drawable ? ctx.session.scenario() : ctx.session.last_drawable(),
          drawable ? ctx.session.report() : ctx.session.last_drawable_report(),
          ctx.ui.texts,
          ctx.ui.theme,
          ctx.studies,
          ctx.baseline != nullptr ? &ctx.baseline->baseline : nullptr,
          ctx.run != nullptr ? std::span(ctx.run->operations) : std::span<const engine::MeasuredOperation>(),
          ctx.session.library().chips(),
          ctx.evidence.get(),
          &ctx.found,
          &ctx.axes,
          ctx.run};
}

FigureView figure_view(const PanelContext& ctx, const FiguresState& state, std::size_t figure) {
  FigureView view;
  view.compact = ctx.in_sight.compact && state.maximised != figure;
  view.hovered_stage = ctx.hovered.stage;
  view.hovered_operation = ctx.hovered.operation;
  // A part that is pointed at elsewhere; in the figure itself the operation alone.
  if (!view.hovered_operation) view.hovered_part = ctx.hovered.part;
  if (const auto& hovered = ctx.hovered.plan) {
    if (const auto* plan = std::get_if<engine::Plan>(&*hovered))
      view.hovered_plan = *plan;
    else
      view.hovered_decoding = std::get<engine::DecodingPlan>(*hovered);
  }
  view.hovered_answer = ctx.hovered.answer;
  view.choices = state.choices[figure];
  return view;
}

void figure_picture(PanelContext& ctx, const Rect& area, FiguresState& state, std::size_t index, FigureView view,
                    Scenario& scenario) {
  const FigureRow& row = figures()[index];
  const bool drawable = has_picture(ctx, row);
  const FigureInput input = figure_input(ctx);
  const std::string id = "figure." + std::string(row.name);
  // With one stage there is nothing to point at but the button.
  const bool one_stage = row.needs == Needs::stages && ctx.session.scenario().parallelism.pipeline == 1 &&
                         (row.timeline != nullptr || !ctx.session.scenario().serves());
  const ItemState s = ctx.ui.item(id, one_stage || !drawable ? Rect{} : area, Interaction::Focus::none);
  if (s.pressed || s.hovered) state.focused = index;
  if (s.right_clicked) open_figure_menu(ctx, state, index, {ctx.ui.io.pointer().x, ctx.ui.io.pointer().y, 1, 1});
  auto& span = state.spans[index];
  if (has_tools(ctx, row)) {
    run_playback(ctx, state.pipeline, span);
    state.pipeline.show_in(view);
    pipeline_gestures(ctx, state.pipeline, row.timeline(ctx.ui.canvas, area, input, view), s, span);
    if (s.hovered && !s.held) view.pointer = ctx.ui.io.pointer();
  }
  view.from = span.first;
  view.to = span.second;

  Canvas& canvas = ctx.ui.canvas;
  const std::size_t first = canvas.tags().size();
  if (canvas.tagging() != Tagging::all) canvas.set_tagging(s.hovered ? Tagging::near_pointer : Tagging::none);
  const float before = drawable ? 1 : canvas.set_opacity(0.28f);
  if (drawable || has_last_picture(ctx))
    draw_up_to(ctx.built, canvas, [&](Canvas& on) { draw_figure(row, on, area, input, view); });
  if (!drawable) canvas.set_opacity(before);
  if (canvas.tagging() != Tagging::all) canvas.set_tagging(Tagging::none);
  if (!drawable) {
    card(ctx, area, row.name, state.reason_said, scenario);
    return;
  }
  if (one_stage) one_stage_button(ctx, area, row, scenario);

  if (!s.hovered) return;
  const TagRegion* const hit = nearest_tag(ctx, first);
  const Point p = ctx.ui.io.pointer();
  if (hit == nullptr) return;
  const std::string target = derivation_id(hit->id, hit->index);
  if (const auto operation = operation_of_tag(hit->id, hit->index)) {
    ctx.next_hovered.operation = operation;
    ctx.next_hovered.part = engine::part_of(static_cast<engine::OperationKind>(*operation));
  } else if (const auto q = engine::find_quantity(engine::without_index(hit->id)); q && is_step_part(*q)) {
    ctx.next_hovered.part = q;
  }
  if (const auto stage = stage_of_tag(hit->id, hit->index)) ctx.next_hovered.stage = stage;
  Readout readout = hit->readout;
  if (readout.empty())
    if (const auto q = engine::find_quantity(engine::without_index(hit->id))) readout = quantity_tip(ctx, *q);
  const std::string hover = id + "/" + hit->id + "/" + std::to_string(hit->index);
  if (!readout.empty()) {
    // Beside the datum and off its row; of a large one, and of a block that may go on outside what is seen, beside
    // the pointer. In the figure's own room: what stands beside it is read together with it.
    Rect avoid = hit->rect;
    if (row.timeline != nullptr || avoid.w > ctx.px(kLargeDatum))
      avoid = {p.x - ctx.px(6), avoid.y, ctx.px(12), avoid.h};
    if (avoid.h > ctx.px(kLargeDatum)) avoid = {avoid.x, p.y - ctx.px(6), avoid.w, ctx.px(12)};
    ctx.ui.io.hint(hover, avoid, readout, {}, 0.08, area);
  }
  const bool click = s.clicked && distance(p, ctx.ui.io.drag_origin()) < ctx.px(4);
  std::optional<FoundPlan> plan = plan_of_tag(row, input, *hit);
  if (plan) ctx.next_hovered.plan = plan;
  const bool adopts = row.plans.id == hit->id;
  std::optional<Scenario> moved;
  if (adopts && row.plans.moved != nullptr) {
    moved = row.plans.moved(input, ctx.session.scenario(), hit->index);
    ctx.next_hovered.answer = static_cast<std::size_t>(hit->index);
  }
  if (!target.empty() || adopts) ctx.ui.io.set_cursor(Cursor::hand);
  if (click && adopts) {
    if (moved) {
      scenario = *std::move(moved);
    } else if (plan) {
      scenario = ctx.session.scenario();
      adopt(scenario, *plan);
    }
  } else if (click) {
    ctx.requests.explain(target);
  }
}

std::optional<std::string_view> figure_cell(PanelContext& ctx, const Rect& cell, FiguresState& state,
                                            std::size_t index, FigurePlace place, Scenario& scenario) {
  const FigureRow& row = figures()[index];
  const Theme& t = ctx.ui.theme;
  const bool drawable = has_picture(ctx, row);
  const std::string id = "figure." + std::string(row.name);
  ctx.ui.canvas.rect(cell, {.colour = t.panel});
  const auto clip = ctx.ui.canvas.clip(cell);
  Rect rest = cell.inset(std::round(ctx.px(14)), 0);
  rest.cut_bottom(std::round(ctx.px(8)));
  const Rect head = rest.cut_top(std::round(ctx.px(kHeadHeight)));

  const FigureView view = figure_view(ctx, state, index);
  FigureHead words = figure_head(row, figure_input(ctx), view);
  if (!drawable) words.takeaway = words.brief = caption_without_picture(ctx);
  const float side = std::round(ctx.px(24)), y = head.y + std::round((head.h - side) / 2);
  const Rect menu{head.right() - side, y, side, side}, grow{head.right() - 2 * side - ctx.px(4), y, side, side};
  const CellTitle title = place == FigurePlace::fixed
                              ? fixed_title(ctx, head, words.title)
                              : cell_title(ctx, head, id, words.title, place == FigurePlace::cell);
  const float x = title.right + ctx.px(6);
  const bool tools = has_tools(ctx, row);
  const float room =
      (tools ? pipeline_toggles(ctx, state.pipeline, grow.x - ctx.px(4), head.centre().y) : grow.x) - ctx.px(8) - x;
  const TextStyle phrase = ctx.style(t.ink2);
  if (!words.brief.empty() && ctx.ui.canvas.text_width(words.takeaway, phrase) > room) words.takeaway = words.brief;
  if (room > ctx.px(60))
    ctx.ui.canvas.text({x, head.centre().y}, ellipsize(ctx.ui.canvas, words.takeaway, phrase, room), phrase);
  const bool maximised = place == FigurePlace::maximised;
  if (icon_button(ctx.ui, grow, id + ".maximise", maximised ? Icon::restore : Icon::maximise,
                  {std::string(ctx.text(maximised ? "ui.figure.restore" : "ui.figure.maximise")), {}}))
    state.maximised = maximised ? std::nullopt : std::optional(index);
  if (icon_button(ctx.ui, menu, id + ".menu", Icon::more, {std::string(ctx.text("ui.figure.menu")), {}}))
    open_figure_menu(ctx, state, index, menu);
  take_figure_menu(ctx, state, index);
  figure_picture(ctx, rest, state, index, view, scenario);
  return title.chosen;
}

}  // namespace roofscape::app
