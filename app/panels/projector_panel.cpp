// Nothing else is drawn, and no text under 1/40 of the height (visual spec, section 3).
#include "app/panels/projector_panel.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "app/core/scenario_changes.h"
#include "app/panels/diagnostic_words.h"
#include "app/panels/dock_panel.h"
#include "app/panels/field_text.h"
#include "app/panels/figure_menu.h"
#include "engine/scenario/scenario_title.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/figures.h"
#include "widgets/plot/plot.h"

namespace roofscape::app {

using namespace widgets;
using engine::Q;

namespace {

constexpr float kMarginX = 1.0f, kMarginY = 0.7f, kFoot = 1.5f;  // em
constexpr float kLeastForTwo = 36, kBetweenTwo = 1.4f;           // em: width that two figures want; between them

// What the figure is of: the plan, what was changed of it since it was loaded, and the mode, which is never cut.
std::string context_of(const PanelContext& ctx, const TextStyle& style, float room) {
  const std::string changes = changes_in_words(ctx);
  std::string mode = "; " + mode_text(ctx.ui.texts, ctx.session.scenario().assumptions.mode);
  if (ctx.axes.held() && !ctx.ui.io.anything_held()) mode += "; " + std::string(ctx.text("ui.wall.axes_held"));
  const std::string plan = engine::scenario_title(ctx.session.scenario());
  room -= ctx.ui.canvas.text_width(mode, style);
  if (changes.empty()) return ellipsize(ctx.ui.canvas, plan, style, room) + mode;
  // What was changed is told before the whole of the plan's name is.
  const std::string changed = ": " + changes;
  const float for_plan = std::max(0.3f * room, room - ctx.ui.canvas.text_width(changed, style));
  const std::string name = ellipsize(ctx.ui.canvas, plan, style, for_plan);
  return ellipsize(ctx.ui.canvas, name + changed, style, room) + mode;
}

// One of two figures: its title, what it says in short, and the picture.
void half_of_wall(PanelContext& ctx, Rect area, std::size_t index, FiguresState& state, engine::Scenario& scenario) {
  const Theme& t = ctx.ui.theme;
  const float em = ctx.ui.em();
  const FigureRow& row = figures()[index];
  const FigureView view = figure_view(ctx, state, index);
  const FigureHead words = figure_head(row, figure_input(ctx), view);
  const TextStyle title = ctx.style(t.ink, 1, Weight::bold), phrase = ctx.style(t.ink2);
  const Rect first = area.cut_top(std::round(1.4f * em)), second = area.cut_top(std::round(1.4f * em));
  ctx.ui.canvas.text({first.x, first.centre().y}, ellipsize(ctx.ui.canvas, words.title, title, first.w), title);
  std::string said = ctx.session.drawable() ? words.takeaway : caption_without_picture(ctx);
  if (ctx.session.drawable() && !words.brief.empty() && ctx.ui.canvas.text_width(said, phrase) > second.w)
    said = words.brief;
  ctx.ui.canvas.text({second.x, second.centre().y}, ellipsize(ctx.ui.canvas, said, phrase, second.w), phrase);
  area.cut_top(std::round(0.3f * em));
  take_figure_menu(ctx, state, index);
  const auto clip = ctx.ui.canvas.clip(area.inset(-0.6f * em, -ctx.px(4)));
  figure_picture(ctx, area, state, index, view, scenario);
}

}  // namespace

std::string changes_in_words(const PanelContext& ctx) {
  constexpr std::size_t kMost = 4;
  std::string out;
  std::size_t count = 0;
  for (const ScenarioChange& change : scenario_changes(ctx.session.loaded(), ctx.session.scenario())) {
    if (change.what == "assumptions.mode") continue;  // it is told anyway
    if (++count > kMost) return out + ", \u2026";
    if (!out.empty()) out += ", ";
    if (change.field != nullptr)
      out += field_label(ctx.ui.texts, change.what) + " " +
             field_value(ctx.ui.texts, *change.field, change.field->get(ctx.session.scenario()));
    else
      out += change.now.empty() ? change.what : change.now;
  }
  return out;
}

Rect projector_dock(const PanelContext& ctx, const Rect& window, std::size_t controls) {
  const float em = ctx.ui.em();
  Rect rest = window.inset(std::round(kMarginX * em), std::round(kMarginY * em));
  rest.cut_bottom(std::round(kFoot * em));
  return rest.cut_bottom(dock_height(ctx, controls));
}

engine::Scenario projector_panel(PanelContext& ctx, const Rect& window, const ProjectorState& projector,
                                 std::span<const std::size_t> deck, std::size_t controls, std::string_view digits,
                                 FiguresState& state, engine::Scenario scenario) {
  const std::size_t index = projector.figure;
  const Theme& t = ctx.ui.theme;
  const float em = ctx.ui.em();
  const auto all = figures();
  Rect rest = window.inset(std::round(kMarginX * em), std::round(kMarginY * em));

  // Which of how many, as in a deck of slides; of one that is not in it that there are more.
  const std::size_t count = deck.size();
  const auto found = std::find(deck.begin(), deck.end(), index);
  const std::string number = found == deck.end() ? std::string(kNoValue) : std::to_string(found - deck.begin() + 1);
  // The title with the place among the figures, and under it always what the figure is of. Of two figures each has its
  // title over it.
  const bool two = projector.beside && *projector.beside != index && rest.w >= kLeastForTwo * em;
  const FigureView view = figure_view(ctx, state, index);
  const FigureHead words = two ? FigureHead{} : figure_head(all[index], figure_input(ctx), view);
  const Rect title = two ? Rect{rest.x, rest.y, rest.w, std::round(1.2f * em)} : rest.cut_top(std::round(1.7f * em));
  const Rect of = rest.cut_top(std::round(1.2f * em));
  TextStyle small = ctx.style(t.ink2, kSmallText);
  small.halign = HAlign::right;
  const std::string place = digits.empty() ? number + " / " + std::to_string(count)
                                           : std::string(digits) + " \u2192 / " + std::to_string(count);
  ctx.ui.canvas.text({title.right(), title.centre().y}, place, small);
  const float title_room = title.w - ctx.ui.canvas.text_width(place, small) - em;
  const TextStyle large = ctx.style(t.ink, 1.25f, Weight::bold), phrase = ctx.style(t.ink2);
  const std::string name = ellipsize(ctx.ui.canvas, words.title, large, title_room);
  ctx.ui.canvas.text({title.x, title.centre().y}, name, large);
  const TextStyle plain = ctx.style(t.ink2, kSmallText);
  ctx.ui.canvas.text({of.x, of.centre().y}, context_of(ctx, plain, two ? title_room : of.w), plain);
  // The takeaway beside the title, in a line of its own where it is too long for that.
  const float x = title.x + ctx.ui.canvas.text_width(name, large) + 0.8f * em;
  std::string takeaway = two ? std::string() : ctx.session.drawable() ? words.takeaway : caption_without_picture(ctx);
  Rect line = rect_between(x, title.y, title.x + title_room, title.bottom());
  if (ctx.ui.canvas.text_width(takeaway, phrase) > line.w) line = rest.cut_top(std::round(1.4f * em));
  if (ctx.session.drawable() && !words.brief.empty() && ctx.ui.canvas.text_width(takeaway, phrase) > line.w)
    takeaway = words.brief;
  // While the figure is built up nothing is said of it yet.
  if (ctx.built == BuildStep::all)
    ctx.ui.canvas.text({line.x, line.centre().y}, ellipsize(ctx.ui.canvas, takeaway, phrase, line.w), phrase);

  // The verdict in one line.
  const Rect foot = rest.cut_bottom(std::round(kFoot * em));
  rest.cut_bottom(dock_height(ctx, controls) + (controls > 0 ? std::round(0.4f * em) : 0.0f));
  const engine::Report& report = ctx.session.report();
  std::vector<std::pair<std::string, std::string>> facts;
  if (const engine::Diagnostic* why = report.has_errors() ? worst_diagnostic(report) : nullptr; why != nullptr)
    facts.emplace_back(diagnostic_title(ctx, *why), ctx.text("ui.verdict.impossible"));
  else
    facts.emplace_back(ctx.text("ui.verdict.memory"),
                       ctx.text(report.fits() ? "ui.verdict.fits" : "ui.verdict.does_not_fit"));
  for (const auto& [key, q] : {std::pair{"ui.verdict.step", Q::step_time},
                               {"quantity.mfu.label", Q::mfu},
                               {"ui.verdict.run", Q::run_days},
                               {"ui.verdict.ttft", Q::ttft},
                               {"ui.verdict.token", Q::mixed_token_time_q},
                               {"ui.verdict.tokens", Q::sustained_tokens}})
    if (const auto v = report.quantities[q]; v && !report.has_errors())
      facts.emplace_back(ctx.text(key), ctx.ui.texts.amount(*v, engine::quantity(q).unit));
  float fx = foot.x;
  for (const auto& [label, value] : facts) {
    const TextStyle l = ctx.style(t.ink3, kSmallText), v = ctx.style(t.ink, kSmallText, Weight::bold);
    const float lw = ctx.ui.canvas.text_width(label, l), vw = ctx.ui.canvas.text_width(value, v);
    if (fx + lw + vw + 0.5f * em > foot.right()) break;
    ctx.ui.canvas.text({fx, foot.centre().y}, label, l);
    ctx.ui.canvas.text({fx + lw + 0.5f * em, foot.centre().y}, value, v);
    fx += lw + vw + 2 * em;
  }
  // At the right what was just done, or the keys.
  const auto& message = ctx.session.message();
  TextStyle at = ctx.style(!message ? t.ink3 : message->is_error ? t.err : t.ink, kSmallText);
  at.halign = HAlign::right;
  const std::string said = message ? message->text : std::string(ctx.text("ui.projector.keys"));
  const float room_left = foot.right() - fx;
  if (ctx.ui.canvas.text_width(said, at) < room_left || (message && room_left > 8 * em))
    ctx.ui.canvas.text({foot.right(), foot.centre().y}, ellipsize(ctx.ui.canvas, said, at, room_left), at);
  rest.cut_top(std::round(0.4f * em));
  if (two) {
    const float half = (rest.w - std::round(kBetweenTwo * em)) / 2;
    half_of_wall(ctx, {rest.x, rest.y, half, rest.h}, index, state, scenario);
    half_of_wall(ctx, {rest.right() - half, rest.y, half, rest.h}, *projector.beside, state, scenario);
    return scenario;
  }
  take_figure_menu(ctx, state, index);
  const auto clip = ctx.ui.canvas.clip(rest.inset(-0.6f * em, -ctx.px(4)));  // the last label of an axis stands out
  figure_picture(ctx, rest, state, index, view, scenario);
  return scenario;
}

}  // namespace roofscape::app
