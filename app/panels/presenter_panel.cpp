#include "app/panels/presenter_panel.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "app/tours/guess_line.h"
#include "app/tours/guess_mark.h"
#include "app/tours/scene_slide.h"
#include "widgets/plot/plot.h"

namespace roofscape::app {

using namespace widgets;

namespace {

constexpr float kSlideShare = 0.56f, kSlideHeight = 0.62f;  // of the window, at most
constexpr float kHead = 2.6f;                               // em
constexpr float kAnswer = 1.4f;                             // em
constexpr int kMostLines = 14;

class NoteColumn {
 public:
  NoteColumn(Canvas& canvas, Rect room) : canvas_(canvas), room_(room) {}
  void label(const Theme& t, std::string_view words) { add(words, t.ink3, 0.85f, Weight::regular, 1, 0.15f); }
  // The answer, behind the number it is chosen with where there is one.
  void answer(const Theme& t, std::size_t choice, std::string_view words) {
    const float em = kAnswer * canvas_.em(), line = FontStack::kLineHeight * em;
    const Rect all = room_;
    if (choice > 0 && room_.h > line) {
      TextStyle key;
      key.em = 0.9f * em;
      key.halign = HAlign::centre;
      key.valign = VAlign::middle;
      key.colour = t.ok;
      const Rect box{room_.x, room_.y + 0.1f * line, 1.2f * em, 0.8f * line};
      canvas_.frame(box, {t.ok, canvas_.px(1.5f), {}}, canvas_.px(3));
      canvas_.text(box.centre(), std::to_string(choice), key);
      room_.cut_left(1.6f * em);
    }
    add(words, t.ok, kAnswer, Weight::bold, 3);
    room_ = rect_between(all.x, room_.y, all.right(), all.bottom());
  }
  void add(std::string_view words, Colour colour, float size, Weight weight = Weight::regular, int most = kMostLines,
           float gap = 0.7f) {
    if (words.empty()) return;
    TextStyle style;
    style.em = size * canvas_.em();
    style.weight = weight;
    style.valign = VAlign::middle;
    style.colour = colour;
    const float line = FontStack::kLineHeight * style.em;
    const int lines = std::min(most, static_cast<int>(room_.h / line));
    if (lines < 1) return;
    for (const std::string& one : wrap(canvas_, std::string(words), style, room_.w, lines)) {
      canvas_.text({room_.x, room_.y + line / 2}, one, style);
      room_.cut_top(line);
    }
    room_.cut_top(gap * canvas_.em());
  }

 private:
  Canvas& canvas_;
  Rect room_;
};

// "0:07", "1:15": hours and minutes.
std::string hours_and_minutes(double seconds) {
  const int minutes = std::max(0, static_cast<int>(seconds / 60));
  return fmt::format("{}:{:02}", minutes / 60, minutes % 60);
}

// Where the guess stands on the slide's figure, laid out anew only for another scene or place.
const MarkPlace* figure_mark(const Canvas& canvas, const SlideLayout& layout, SceneFigures figures,
                             const PresenterView& view) {
  const io::TourScene& scene = figures.scene;
  if (view.mark == nullptr || !guesses_on_figure(scene) || scene.figures.empty()) return nullptr;
  const Rect area = figure_rest(canvas, figure_places(canvas, layout.figure, scene.figures.size()).front());
  const std::string language(language_of(figures.texts));
  const std::size_t index = view.tour.play->index();
  auto& had = view.mark->at;
  if (!had || had->scene != index || had->language != language || had->em != canvas.em() || !(had->area == area)) {
    view.mark->axes = {};
    view.mark->axes_of = index;
    figures.revealed = false;
    figures.axes = &view.mark->axes;
    had = TourState::Mark{index, area, canvas.em(), language, mark_place(canvas, area, figures)};
  }
  return had->place ? &*had->place : nullptr;
}

// The axes of a scene without a guess on its figure: those that hold both its states, found once a scene. Null: they fit.
HeldAxes* scene_axes(const Canvas& canvas, const SlideLayout& layout, SceneFigures figures, PresenterMark& kept,
                     std::size_t index) {
  const io::TourScene& scene = figures.scene;
  if (!shares_axes(scene) || guesses_on_figure(scene)) return nullptr;
  figures.axes = &kept.axes;
  if (kept.axes_of == index) return figures.axes;
  kept.axes = {};
  kept.axes_of = index;
  const std::vector<Rect> places = figure_places(canvas, layout.figure, scene.figures.size());
  for (std::size_t i = 0; i < scene.figures.size() && i < places.size(); ++i)
    keep_scene_axes(canvas, figure_rest(canvas, places[i]), figures, i);
  return figures.axes;
}

}  // namespace

Rect presenter_slide_place(const Rect& window, float shape) {
  const float margin = std::round(window.h / kPresenterLines);
  const float w = std::round(kSlideShare * window.w) - margin, h = std::min(w / shape, kSlideHeight * window.h);
  return {window.x + margin, window.y + std::round(kHead * margin), std::round(h * shape), std::round(h)};
}

void presenter_slide(Canvas& canvas, const Rect& place, const Theme& t, const TextTable& texts,
                     const PresenterView& view) {
  const auto clip = canvas.clip(place);
  canvas.rect(place, {.colour = t.panel});
  if (view.tour.open()) {
    const TourPlay& play = *view.tour.play;
    const SceneValues& values = view.tour.bent ? *view.tour.bent : *view.tour.values;
    const io::TourScene& scene = play.scene();
    const SlideText words = slide_text(play, *view.tour.values, texts);
    const SlideLayout layout = lay_out_slide(canvas, place, words, 0, guesses_on_line(scene, *view.tour.values));
    draw_slide(canvas, t, layout, words);
    SceneFigures figures{scene, values, texts, t, view.library, view.studies, play.play().revealed};
    const MarkPlace* mark = view.tour.bent ? nullptr : figure_mark(canvas, layout, figures, view);
    if (mark != nullptr)
      figures.axes = &view.mark->axes, figures.mark = mark;
    else if (view.mark != nullptr)
      figures.axes = scene_axes(canvas, layout, figures, *view.mark, play.index());
    draw_scene_figures(canvas, layout.figure, figures);
    const GuessShown guess{scene, *view.tour.values, texts, t, play.play()};
    if (mark != nullptr) draw_guess_mark(canvas, *mark, guess, {});
    if (!layout.line.empty())
      if (const auto axis = guess_axis(scene, *view.tour.values, canvas, layout.line))
        draw_guess_line(canvas, layout.line, *axis, guess);
  } else if (view.picture) {
    view.picture(canvas, place);
  } else {
    TextStyle style;
    style.em = 2 * canvas.em();
    style.halign = HAlign::centre;
    style.valign = VAlign::middle;
    style.colour = t.ink2;
    canvas.text(place.centre(), ellipsize(canvas, view.title, style, 0.9f * place.w), style);
  }
  const auto at = [&](Point share) { return Point{place.x + share.x * place.w, place.y + share.y * place.h}; };
  const Colour colour = t.stroke(Hue::vermilion);
  for (const auto* strokes : {&view.marks.ink, &view.marks.pen})
    for (const WallMarks::Stroke& stroke : *strokes) {
      std::vector<Point> points;
      for (const Point& p : stroke) points.push_back(at(p));
      if (points.size() > 1) canvas.polyline(points, {colour, 0.16f * canvas.em(), {}});
    }
  if (view.pointer.x >= 0 && view.pointer.y >= 0)
    canvas.marker(at(view.pointer), Marker::circle, 0.6f * canvas.em(), {.colour = colour});
}

void presenter_panel(Canvas& canvas, const Rect& window, const Theme& t, const TextTable& texts,
                     const PresenterView& view) {
  const float em = canvas.em();
  const Rect slide = presenter_slide_place(window, view.shape);
  canvas.frame(slide.inset(-canvas.px(2)), {t.edge, canvas.px(1.5f), {}});
  // The time of day and how long it has gone on, which is what is looked at from a distance.
  TextStyle time;
  time.em = 1.6f * em;
  time.weight = Weight::bold;
  time.valign = VAlign::middle;
  time.colour = t.ink;
  const float middle = window.y + kHead * em / 2;
  canvas.text({slide.x, middle}, view.clock, time);
  time.halign = HAlign::right;
  time.weight = Weight::regular;
  time.colour = t.ink2;
  canvas.text({window.right() - em, middle},
              texts.format("ui.presenter.elapsed", {hours_and_minutes(view.elapsed_s)}), time);
  const float left = slide.right() + 1.4f * em;
  NoteColumn side(canvas, rect_between(left, slide.y, window.right() - em, window.bottom() - em));
  NoteColumn below(canvas, rect_between(slide.x, slide.bottom() + em, slide.right(), window.bottom() - em));
  if (!view.tour.open()) {
    side.add(view.title, t.ink, 1.25f, Weight::bold);
    side.add(view.said, t.ink2, 1.1f);
    if (!view.next.empty()) {
      side.label(t, texts.text("ui.presenter.next"));
      side.add(view.next, t.ink, 1.25f, Weight::bold, 2);
    }
    return;
  }
  const TourPlay& play = *view.tour.play;
  const io::TourScene& scene = play.scene();
  const SceneValues& values = *view.tour.values;
  const SlideText words = slide_text(play, values, texts);
  time.colour = t.ink;
  time.halign = HAlign::centre;
  canvas.text({window.centre().x, middle},
              texts.format("ui.presenter.place", {std::to_string(words.index + 1), std::to_string(words.count)}),
              time);
  side.label(t, texts.text("ui.presenter.question"));
  side.add(words.question, t.ink, 1.1f);
  side.label(t, texts.text("ui.presenter.answer"));
  side.answer(t, words.right_choice, values.answer_text(texts));
  side.add(values.write(scene.sentence, texts), t.ink2, 1);
  if (const TourScore score = play.score(); score.answered > 0)
    side.add(texts.format("tour.score", {std::to_string(score.right), std::to_string(score.answered)}), t.ink2, 1);
  side.label(t, texts.text("ui.presenter.next"));
  if (play.index() + 1 < play.count()) {
    const io::TourScene& next = play.tour().scenes[play.index() + 1];
    const SceneValues coming(next, view.library);
    side.add(coming.write(next.title, texts), t.ink, 1.25f, Weight::bold, 2, 0.2f);
    side.add(coming.write(next.question, texts), t.ink2, 1);
  } else {
    side.add(texts.text("tour.end"), t.ink2, 1);
  }
  below.label(t, texts.text("ui.presenter.notes"));
  const std::string notes = values.write(scene.notes, texts);
  below.add(notes.empty() ? words.source : notes, t.ink, 1.1f);
}

}  // namespace roofscape::app
