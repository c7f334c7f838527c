// What the lecturer sees on a screen of his own while the wall shows a figure or a tour: the slide as it stands there with
// the pointer and what is drawn over it, question, answer and notes, the next scene, and how long it has gone on. Drawing
// only: nothing in it is pointed at.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "app/panels/tour_panel.h"
#include "app/panels/wall_marks.h"

namespace roofscape::app {

// Where a guess stands on the figure of the slide here, and its axes, kept from frame to frame.
struct PresenterMark {
  widgets::HeldAxes axes;
  std::optional<TourState::Mark> at;
  std::optional<std::size_t> axes_of;  // the scene whose axes they are
};

struct PresenterView {
  const TourState& tour;  // may not be open
  const io::PresetLibrary& library;
  widgets::StudyCache& studies;
  const WallMarks& marks;
  std::string title, said, next;   // of what is projected where no tour is open; what it says; what comes after it
  std::string clock;               // as the window writes the time of day
  double elapsed_s = 0;            // since the wall was opened
  widgets::Point pointer{-1, -1};  // on the wall, as a share of it; negative: it is not there
  float shape = 16.0f / 9;         // of the wall, width over height
  // What is projected where no tour is open, drawn into the slide; none: its title stands there.
  std::function<void(widgets::Canvas&, const widgets::Rect&)> picture = {};
  PresenterMark* mark = nullptr;  // null: the guess is not shown on the slide
};
inline constexpr float kPresenterLines = 34, kPresenterColumns = 56;  // em of its window

void presenter_panel(widgets::Canvas& canvas, const widgets::Rect& window, const widgets::Theme& theme,
                     const widgets::TextTable& texts, const PresenterView& view);
// The slide as it stands on the wall, in its own em: drawn into `place`, which has the shape of the wall.
void presenter_slide(widgets::Canvas& canvas, const widgets::Rect& place, const widgets::Theme& theme,
                     const widgets::TextTable& texts, const PresenterView& view);
// Where that stands in the window.
widgets::Rect presenter_slide_place(const widgets::Rect& window, float shape);

}  // namespace roofscape::app
