#include "app/panels/tour_panel.h"

#include <algorithm>
#include <cmath>

#include "app/panels/dock_panel.h"
#include "app/panels/panel_parts.h"
#include "app/panels/projector_panel.h"
#include "app/tours/guess_line.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/blocks/block_figure.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/plot/build_up_canvas.h"
#include "widgets/plot/plot.h"

namespace roofscape::app {

using namespace widgets;

namespace {

constexpr float kNotesHeight = 5.2f;  // em

std::string choice_id(std::size_t i) { return "tour.choice." + std::to_string(i + 1); }

void click_choices(PanelContext& ctx, const TourFrame& frame, TourState& state) {
  for (std::size_t i = 0; i < frame.layout.choices.size(); ++i) {
    const Rect& box = frame.layout.choices[i];
    // No stop of Tab: Enter shows the answer, whatever was clicked last.
    const ItemState s = ctx.ui.item(choice_id(i), box, Interaction::Focus::none);
    if (s.hovered) ctx.ui.canvas.frame(box, {ctx.ui.theme.ink, ctx.px(1.5f), {}}, ctx.px(3));
    if (s.hovered) ctx.ui.io.set_cursor(Cursor::hand);
    if (s.clicked) state.play->keep(), state.play->choose(i);
  }
}

// How far the mark of the answer has come: it slides in from the guess, so that the eye follows.
float arrival_of(PanelContext& ctx, TourState& state) {
  constexpr double kArrival_s = 0.15;
  if (!state.play->play().revealed || state.revealed_s < 0) return 1;
  const double arrival = std::clamp((ctx.ui.io.input().now_s - state.revealed_s) / kArrival_s, 0.0, 1.0);
  if (arrival < 1)
    ctx.ui.io.wake_after(0);
  else
    state.revealed_s = -1;
  return static_cast<float>(arrival);
}

// The guess is set on the line of the answer: dragged, or stepped with up and down. At a choice it is that choice.
void guess_line(PanelContext& ctx, const TourFrame& frame, TourState& state) {
  const io::TourScene& scene = state.play->scene();
  const Rect& place = frame.layout.line;
  if (place.empty()) return;
  const auto axis = guess_axis(scene, *state.values, ctx.ui.canvas, place);
  if (!axis) return;
  const bool revealed = state.play->play().revealed;
  bool held = false;
  if (!revealed) {
    // No stop of Tab, as with the choices.
    const ItemState s = ctx.ui.item("tour.guess", place, Interaction::Focus::none);
    held = s.held;
    if (s.hovered || s.held) ctx.ui.io.set_cursor(Cursor::resize_x);
    const auto set = [&](double value) {
      if (const auto choice = choice_at(scene, *state.values, *axis, value)) {
        if (state.play->play().chosen != choice) state.play->choose(*choice);
      } else {
        state.play->guess(readable(*axis, value));
      }
    };
    const int steps = (ctx.ui.io.take(Key::up) ? 1 : 0) - (ctx.ui.io.take(Key::down) ? 1 : 0);
    if (s.pressed || steps != 0) state.play->keep();
    if (s.held) set(axis->value(static_cast<double>(ctx.ui.io.pointer().x)));
    if (steps != 0) {
      constexpr double kStep = 0.025;  // of the axis
      const auto now = guessed_value(state.play->play(), *state.values);
      const double length = axis->end() - axis->begin();
      const double at = now ? axis->position(*now) : axis->begin();
      const double value = axis->value(std::clamp(at + steps * kStep * length, axis->begin(), axis->end()));
      state.play->guess(readable(*axis, value));
    }
  }
  draw_guess_line(
      ctx.ui.canvas, place, *axis,
      {scene, *state.values, ctx.ui.texts, ctx.ui.theme, state.play->play(), held, arrival_of(ctx, state)});
}

// Where a guess stands on the figure; nothing where it does not, or no longer stands for what is drawn.
const MarkPlace* figure_mark(PanelContext& ctx, const TourFrame& frame, TourState& state) {
  const io::TourScene& scene = state.play->scene();
  if (!guesses_on_figure(scene) || scene.figures.empty()) return nullptr;
  const PlanState* shown = state.values->plan();
  const bool bent =
      state.bent || (state.play->play().revealed && shown != nullptr && !(ctx.session.scenario() == shown->scenario));
  if (bent) return nullptr;
  const Canvas& canvas = ctx.ui.canvas;
  const Rect area = figure_rest(canvas, figure_places(canvas, frame.layout.figure, scene.figures.size()).front());
  const std::string language(language_of(ctx.ui.texts));
  const auto& had = state.mark;
  if (!had || had->scene != state.play->index() || had->language != language || had->em != canvas.em() ||
      !(had->area == area)) {
    const SceneFigures figures{scene,       *state.values, ctx.ui.texts, ctx.ui.theme, ctx.session.library(),
                               ctx.studies, false,         &ctx.axes};
    state.mark = TourState::Mark{state.play->index(), area, canvas.em(), language, mark_place(canvas, area, figures)};
  }
  return state.mark->place ? &*state.mark->place : nullptr;
}

// Where no guess stands on a figure, its axes reach for both states of the scene from the first frame on.
void keep_axes(PanelContext& ctx, const TourFrame& frame, TourState& state) {
  const io::TourScene& scene = state.play->scene();
  if (state.axes_kept || !shares_axes(scene)) return;
  const std::vector<Rect> places = figure_places(ctx.ui.canvas, frame.layout.figure, scene.figures.size());
  const SceneFigures figures{scene,       *state.values, ctx.ui.texts, ctx.ui.theme, ctx.session.library(),
                             ctx.studies, false,         &ctx.axes};
  for (std::size_t i = guesses_on_figure(scene) ? 1 : 0; i < scene.figures.size() && i < places.size(); ++i)
    keep_scene_axes(ctx.ui.canvas, figure_rest(ctx.ui.canvas, places[i]), figures, i);
  state.axes_kept = true;
}

// The guess is set on the figure: dragged, ticked, or stepped with up and down.
void guess_on_figure(PanelContext& ctx, TourState& state, const MarkPlace& place) {
  TourPlay& play = *state.play;
  const io::TourScene& scene = play.scene();
  const bool revealed = play.play().revealed;
  std::optional<std::size_t> pointed;
  if (!revealed) {
    // No stops of Tab, as with the choices.
    if (place.reads) {
      const ItemState s = ctx.ui.item("tour.mark", state.mark->area, Interaction::Focus::none);
      if (!s.held) state.drags = state.dropped = false;
      if (s.held && !state.dropped) {
        guess_at(play, *state.values, place, ctx.ui.io.pointer(), !state.drags);
        state.drags = true;
      }
      if (s.hovered || s.held)
        ctx.ui.io.set_cursor(place.along_x                              ? Cursor::resize_x
                             : scene.mark.kind == io::TourMark::Kind::y ? Cursor::resize_y
                                                                        : Cursor::hand);
      const int steps = (ctx.ui.io.take(Key::up) ? 1 : 0) - (ctx.ui.io.take(Key::down) ? 1 : 0);
      if (steps != 0) step_guess(play, *state.values, place, steps);
    }
    for (std::size_t i = 0; i < place.choices.size(); ++i) {
      if (place.choices[i].empty()) continue;
      const ItemState s =
          ctx.ui.item("tour.tick." + std::to_string(i + 1), place.choices[i], Interaction::Focus::none);
      if (s.hovered) pointed = i, ctx.ui.io.set_cursor(Cursor::hand);
      if (s.clicked) play.keep(), play.choose(i);
    }
  }
  draw_guess_mark(
      ctx.ui.canvas, place,
      {scene, *state.values, ctx.ui.texts, ctx.ui.theme, play.play(), state.drags, arrival_of(ctx, state)}, pointed);
}

void draw_block(PanelContext& ctx, const Rect& area, const BlockState& block, const engine::PictureData& data,
                bool revealed, bool holds) {
  const BlockFigure picture{block.question.call, data, ctx.ui.texts, ctx.ui.theme, holds ? &ctx.axes : nullptr};
  const Rect rest = draw_figure_title(ctx.ui.canvas, ctx.ui.theme, area, block_figure_head(picture), revealed);
  if (data.lines.empty()) return;
  draw_up_to(ctx.built, ctx.ui.canvas, [&](Canvas& on) { draw_block_figure(on, rest, picture, false); });
}

// Of figures that may be pointed at: all but those that are covered.
void live_figures(PanelContext& ctx, const Rect& area, TourState& state, FiguresState& figures,
                  engine::Scenario& scenario) {
  const io::TourScene& scene = state.play->scene();
  const bool revealed = state.play->play().revealed;
  const std::vector<Rect> places = figure_places(ctx.ui.canvas, area, scene.figures.size());
  for (std::size_t i = 0; i < scene.figures.size() && i < places.size(); ++i) {
    const io::TourFigure& figure = scene.figures[i];
    if (scene.shown().block() != nullptr) {
      const SceneValues& values = state.bent ? *state.bent : *state.values;
      const std::string_view shown = !revealed && scene.has_before() ? io::kBeforeState : io::kShownState;
      if (const BlockState* block = values.block(shown))
        draw_block(ctx, places[i], *block, values.picture(i, shown), revealed, holds_axes(state));
      continue;
    }
    const FigureRow* row = find_figure(figure.name);
    if (row == nullptr) continue;
    const std::size_t index = figure_index(*row);
    const FigureView view = figure_view(ctx, figures, index);
    const Rect rest = draw_figure_title(ctx.ui.canvas, ctx.ui.theme, places[i],
                                        figure_head(*row, figure_input(ctx), view), revealed);
    const auto clip =
        ctx.ui.canvas.clip(rest.inset(-ctx.ui.em(), -ctx.px(4)));  // the last label of an axis stands out
    const Tagging before = ctx.ui.canvas.tagging();
    const bool marked = revealed && !scene.highlight.empty();
    if (marked) ctx.ui.canvas.set_tagging(Tagging::all);
    const std::size_t first = ctx.ui.canvas.tags().size();
    figure_picture(ctx, rest, figures, index, view, scenario);
    if (marked) draw_marks(ctx.ui.canvas, ctx.ui.theme, rest, scene, first, true);
    ctx.ui.canvas.set_tagging(before);
  }
}

void draw_notes(PanelContext& ctx, Rect r, const std::string& notes) {
  const Theme& t = ctx.ui.theme;
  ctx.ui.canvas.rect(r, {.colour = t.ctl});
  ctx.ui.canvas.line({r.x, r.y}, {r.right(), r.y}, {t.edge, ctx.px(1), {}});
  r = r.inset(1.4f * ctx.ui.em(), 0.5f * ctx.ui.em());
  const TextStyle style = ctx.style(t.ink2);
  float y = r.y + 0.6f * ctx.ui.em();
  for (const std::string& line : wrap(ctx.ui.canvas, notes, style, r.w, 3)) {
    ctx.ui.canvas.text({r.x, y}, line, style);
    y += FontStack::kLineHeight * ctx.ui.em();
  }
}

}  // namespace

std::string derivable_answer(const TourState& state) {
  const io::TourScene& scene = state.play->scene();
  const auto references = scene.answer.references();
  if (references.size() != 1 || !references.front().state.empty() || scene.shown().scenario() == nullptr) return {};
  const std::string& name = references.front().name;
  return engine::find_quantity(engine::without_index(name)) ? name : std::string();
}

bool holds_axes(const TourState& state) { return state.open() && shares_axes(state.play->scene()); }

bool drop_guess(TourState& state) {
  if (!state.open() || !state.drags) return false;
  state.play->undo();
  state.drags = false;
  return state.dropped = true;
}

TourFrame tour_frame(const PanelContext& ctx, const Rect& window, const TourState& state) {
  TourFrame frame;
  const io::TourScene& scene = state.play->scene();
  const bool revealed = state.play->play().revealed;
  frame.text = slide_text(*state.play, *state.values, ctx.ui.texts);
  if (revealed && scene.runs)
    frame.controls = scene.shown().scenario() != nullptr ? usable_controls(scene.controls, ctx.session.scenario())
                                                         : scene.controls;
  if (revealed && scene.runs && scene.shown().scenario() != nullptr)
    if (const std::string changes = changes_in_words(ctx); !changes.empty()) frame.text.plan += ": " + changes;
  if (state.score) {
    const TourScore score = state.play->score();
    frame.text.tour +=
        "   " + ctx.format("tour.score", {std::to_string(score.right), std::to_string(score.answered)});
  }
  Rect area = window;
  if (state.notes && !scene.notes.empty()) area.cut_bottom(std::round(kNotesHeight * ctx.ui.em()));
  // Where the guess stands on the figure, that keeps its place when the controls come.
  const std::size_t controls = guesses_on_figure(scene) && scene.runs ? scene.controls.size() : frame.controls.size();
  frame.layout = lay_out_slide(ctx.ui.canvas, area, frame.text, dock_height(ctx, controls),
                               guesses_on_line(scene, *state.values));
  return frame;
}

engine::Scenario tour_dock(PanelContext& ctx, const TourFrame& frame, TourState& state, engine::Scenario scenario) {
  if (frame.controls.empty()) return scenario;
  const io::TourScene& scene = state.play->scene();
  if (scene.shown().scenario() != nullptr)
    return dock_panel(ctx, frame.layout.dock, frame.controls, std::move(scenario));
  const SceneValues& values = state.bent ? *state.bent : *state.values;
  const BlockState* now = values.block();
  const BlockState* first = state.values->block();
  if (now == nullptr || first == nullptr) return scenario;
  if (const auto moved =
          block_dock(ctx, frame.layout.dock, frame.controls, now->question.call, first->question.call)) {
    if (!state.bent) state.bent = std::make_unique<SceneValues>(scene, ctx.session.library());
    state.bent->set_shown_input(moved->name, moved->value);
  }
  return scenario;
}

engine::Scenario tour_panel(PanelContext& ctx, const Rect& window, const TourFrame& frame, TourState& state,
                            FiguresState& figures, engine::Scenario scenario) {
  const io::TourScene& scene = state.play->scene();
  const bool revealed = state.play->play().revealed;
  const std::string answer = derivable_answer(state);
  const bool derives = revealed && !state.derivation.trail.empty();
  draw_slide(ctx.ui.canvas, ctx.ui.theme, frame.layout, frame.text);
  if (derives) {
    // In place of the sentence; it is wider there than in a rail, and its text as large as the figure's.
    const Rect side = frame.layout.side;
    ctx.ui.canvas.rect(side.inset(-ctx.px(8), 0), {.colour = ctx.ui.theme.panel});
    scenario = derivation_panel(ctx, side, state.derivation, std::move(scenario));
  } else if (revealed && !answer.empty()) {
    const std::string why(ctx.text("tour.why"));
    const float h = std::round(1.8f * ctx.ui.em()),
                w = ctx.ui.canvas.text_width(why, ctx.style(ctx.ui.theme.ink)) + 1.4f * ctx.ui.em();
    const Rect& side = frame.layout.side;
    const Rect box{side.right() - std::round(w),
                   side.bottom() - h - std::round(frame.layout.foot + 0.3f * ctx.ui.em()), std::round(w), h};
    if (button(ctx.ui, box, "tour.why", why)) state.derivation.open(answer);
  }
  click_choices(ctx, frame, state);
  guess_line(ctx, frame, state);
  const MarkPlace* mark = figure_mark(ctx, frame, state);
  keep_axes(ctx, frame, state);
  const bool still = !revealed && (scene.covered || !scene.cover.empty() || mark != nullptr);
  if (still)
    draw_scene_figures(ctx.ui.canvas, frame.layout.figure,
                       {scene, *state.values, ctx.ui.texts, ctx.ui.theme, ctx.session.library(), ctx.studies,
                        revealed, shares_axes(scene) ? &ctx.axes : nullptr, mark});
  else
    live_figures(ctx, frame.layout.figure, state, figures, scenario);
  if (mark != nullptr) guess_on_figure(ctx, state, *mark);
  if (state.notes && !scene.notes.empty()) {
    Rect area = window;
    draw_notes(ctx, area.cut_bottom(std::round(kNotesHeight * ctx.ui.em())),
               state.values->write(scene.notes, ctx.ui.texts));
  }
  return scenario;
}

}  // namespace roofscape::app
