// The guess of a scene on its figure: the end of a bar that is dragged, a point, a line across an axis, a line drawn by
// hand, or the part that is ticked. Where that stands is read off the axes that the figure draws (DrawnFrame), so what is
// guessed and what is shown are on one scale; the axes are held from the question to the answer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/tours/guess_line.h"
#include "app/tours/scene_slide.h"
#include "widgets/plot/plot.h"

namespace roofscape::app {

// How much further the axis of a bar reaches than the longest one, so that its end does not tell.
inline constexpr double kRoomToGuess = 1.45;

struct MarkPlace {
  widgets::DrawnFrame frame;  // the axes that the mark is read on; of ticks alone the first of the figure
  bool reads = false;         // a number is: not of ticks alone
  bool along_x = false;       // on which of them
  widgets::Rect band;         // of a bar all that it may cover; else the plot
  widgets::Rect plots;        // all that is covered before the answer
  float across = 0;           // of a point and a sketch: where along the other axis
  double answer = 0;          // what the mark stands at, in base units
  struct Name {
    std::string text;
    widgets::Point anchor;
    widgets::TextStyle style;
  };
  std::vector<Name> names;           // of the rows of bars, left of them
  std::vector<widgets::Rect> texts;  // of the figure once it is revealed: what is said of the gap keeps clear of them
  std::vector<widgets::Rect> choices;  // by choice, what is ticked for it; empty: nothing
  const widgets::Scale& axis() const { return along_x ? frame.x : frame.y; }
  // Where along it a mark is before there is a guess: a line across an axis at its end, where it points at nothing, else
  // in the middle.
  float idle(io::TourMark::Kind kind) const;
  // A value of the axis, in base units, and where it stands along it.
  double value(widgets::Point at) const;
  float position(double value) const;
};

// Whether a number, or a part, is guessed on the figure of this scene.
bool guesses_on_figure(const io::TourScene& scene);
// Where, in the first figure of the scene drawn into `area`: it is drawn apart for that, in both states. Nothing where the
// figure has no such mark. `figures` must have axes, which are held from here on.
std::optional<MarkPlace> mark_place(const widgets::Canvas& canvas, const widgets::Rect& area,
                                    const SceneFigures& figures);
// The figure as it is before the answer where nothing of it is told: its axes, and the names of its rows.
void draw_open_axes(widgets::Canvas& canvas, const widgets::Rect& area, const SceneFigures& figures,
                    const MarkPlace& place);

// What the mark stands at for this answer, in base units; at an end of the axis where it lies beyond.
double mark_of(const SceneValues& values, const MarkPlace& place, double answer);
// Where the guess that was made stands; nothing without one.
std::optional<double> guessed_mark(const ScenePlay& play, const SceneValues& values, const MarkPlace& place);
// Takes up a guess at this point: a choice that is as good is chosen. `begins`: of a stroke.
void guess_at(TourPlay& play, const SceneValues& values, const MarkPlace& place, widgets::Point at, bool begins);
// The same by steps along the axis, from the middle where there is no guess yet.
void step_guess(TourPlay& play, const SceneValues& values, const MarkPlace& place, int steps);

// Over the figure: the guess, and once it is revealed the gap to the answer with the term that makes it. `pointed`: at
// this choice.
void draw_guess_mark(widgets::Canvas& canvas, const MarkPlace& place, const GuessShown& words,
                     std::optional<std::size_t> pointed);

}  // namespace roofscape::app
