// A scene as a slide: title, figure, question and answer. The window draws it with its controls over it, the command line
// writes it into files; both lay it out here. Sizes are in em of the canvas.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/tours/tour_play.h"
#include "widgets/canvas/canvas.h"
#include "widgets/canvas/theme.h"
#include "widgets/figures/figures.h"

namespace roofscape::app {

struct MarkPlace;  // guess_mark.h

// The em of a slide of this size: smaller than that of a figure alone, for the question and the choices beside it.
float scene_em(float width, float height);

// All words of a slide, with their numbers written.
struct SlideText {
  std::string tour, title, plan;  // `plan`: what the figure is of
  std::size_t index = 0, count = 1;
  std::string context, question;
  std::vector<std::string> choices;
  std::optional<std::size_t> chosen;
  bool revealed = false;
  std::string answer, verdict, sentence, next, source;  // `verdict`: what the guess was, and whether it is right
  bool right = false;                                   // of the guess
  std::size_t right_choice = 0;  // what the right one is chosen with, 1 to 9; 0: there are no choices
  std::string hint;              // how to go on
};
SlideText slide_text(const TourPlay& play, const SceneValues& values, const widgets::TextTable& texts);

struct SlideLayout {
  widgets::Rect head, figure, side, dock;
  widgets::Rect line;                  // where a number is guessed, under the figure; empty: none is
  std::vector<widgets::Rect> choices;  // empty once the answer is revealed
  float foot = 0;                      // height of what stands at the foot of the side
  float scale = 1;                     // of the text at the side: under 1 where there is much of it
  bool fits = true;                    // false: even then it is longer than the side
};
// `dock_height`: kept free under the figure for controls. `guesses`: a number is guessed on a line (guess_line.h).
SlideLayout lay_out_slide(const widgets::Canvas& canvas, const widgets::Rect& area, const SlideText& text,
                          float dock_height, bool guesses);
// Everything but figure and controls.
void draw_slide(widgets::Canvas& canvas, const widgets::Theme& theme, const SlideLayout& layout,
                const SlideText& text);

// ---- the figure ----

// Draws the figures of a scene where nothing is pointed at: in files, and while they are covered.
struct SceneFigures {
  const io::TourScene& scene;
  const SceneValues& values;
  const widgets::TextTable& texts;
  const widgets::Theme& theme;
  const io::PresetLibrary& library;
  widgets::StudyCache& studies;
  bool revealed = false;
  widgets::HeldAxes* axes = nullptr;  // null: axes fit the data
  const MarkPlace* mark = nullptr;    // where a guess stands on the figure, if that is known already
};
void draw_scene_figures(widgets::Canvas& canvas, const widgets::Rect& area, const SceneFigures& figures);
// Whether question and answer are drawn on the same axes, so that the eye can compare: where a guess stands on the figure,
// and where another state is shown first.
bool shares_axes(const io::TourScene& scene);
// Has `figures.axes`, which must be there, reach as far as both states of one of the scene's figures do, and holds them.
void keep_scene_axes(const widgets::Canvas& canvas, const widgets::Rect& area, const SceneFigures& figures,
                     std::size_t figure);
// One of its figures in the state that is shown or the one before, with nothing over it.
void draw_scene_figure(widgets::Canvas& canvas, const widgets::Rect& area, const SceneFigures& figures,
                       std::size_t figure, std::string_view state);
// What the head of a figure leaves of its place.
widgets::Rect figure_rest(const widgets::Canvas& canvas, widgets::Rect place);
// The places of the figures in their area, and of a figure's head above it.
std::vector<widgets::Rect> figure_places(const widgets::Canvas& canvas, const widgets::Rect& area, std::size_t count);
// Title and, when revealed, takeaway; returns what is left.
widgets::Rect draw_figure_title(widgets::Canvas& canvas, const widgets::Theme& theme, widgets::Rect area,
                                const widgets::FigureHead& head, bool revealed);
// Over what is not shown yet.
void draw_cover(widgets::Canvas& canvas, const widgets::Theme& theme, const widgets::Rect& area);
// Covers or frames the regions of a figure that was just drawn, whose tags begin at `first`.
void draw_marks(widgets::Canvas& canvas, const widgets::Theme& theme, const widgets::Rect& area,
                const io::TourScene& scene, std::size_t first, bool revealed);

// How the options of a scene's figure are looked at.
widgets::FigureView scene_view(const io::TourFigure& figure);

}  // namespace roofscape::app
