// The guess of a scene whose answer is a number, on an axis of its own under the figure: where the class sets a mark, where
// the answer comes to stand beside it, and the gap between the two with the term that makes it.
#pragma once

#include <optional>
#include <string>

#include "app/tours/tour_play.h"
#include "widgets/canvas/canvas.h"
#include "widgets/canvas/theme.h"
#include "widgets/plot/scale.h"

namespace roofscape::app {

inline constexpr float kGuessLine = 4.2f;  // em that it takes in height

// The axis, as long as `place` is wide; nothing where the answer is no number. It is laid out from the choices or from the
// range that the scene gives, never from the answer alone, which it would tell.
std::optional<widgets::Scale> guess_axis(const io::TourScene& scene, const SceneValues& values,
                                         const widgets::Canvas& canvas, const widgets::Rect& place);
// Whether the answer is a number that can be guessed on such an axis.
bool guesses_number(const io::TourScene& scene, const SceneValues& values);
// Whether it is guessed there: it is not where the figure takes the guess.
bool guesses_on_line(const io::TourScene& scene, const SceneValues& values);
// Where the guess stands: what was set, or the choice that was made.
std::optional<double> guessed_value(const ScenePlay& play, const SceneValues& values);
// A value as it would be read off the axis: as few digits as places a hand can tell apart.
double readable(const widgets::Scale& axis, double value);
// The choice that this value is as good as on the axis; nothing between them.
std::optional<std::size_t> choice_at(const io::TourScene& scene, const SceneValues& values,
                                     const widgets::Scale& axis, double value);

// What makes the gap: the largest term of a sum that the answer is, what changed most where the answer compares two states,
// or what decided it. Empty where the answer is neither.
std::string gap_term(const io::TourScene& scene, const SceneValues& values, const widgets::TextTable& texts);

// The guess and the answer of a scene, wherever they are drawn.
struct GuessShown {
  const io::TourScene& scene;
  const SceneValues& values;
  const widgets::TextTable& texts;
  const widgets::Theme& theme;
  const ScenePlay& play;
  bool held = false;
  float arrival = 1;  // how far the mark of the answer has come, 0 to 1
};
void draw_guess_line(widgets::Canvas& canvas, const widgets::Rect& place, const widgets::Scale& axis,
                     const GuessShown& line);

}  // namespace roofscape::app
