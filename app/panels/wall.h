// What a projected window remembers beside its figure or tour: a blank screen, the number being typed, which control is
// stepped.
#pragma once

#include <cstdint>
#include <string>

#include "widgets/plot/build_up_canvas.h"

namespace roofscape::app {

struct WallState {
  enum class Blank : std::uint8_t { none, black, white };
  Blank blank = Blank::none;
  std::string digits;      // of the figure or scene to go to; Enter goes there
  std::string stepped;     // the control that [ and ] step: the one that was used last, or that Tab went to
  bool axes_held = false;  // figures keep the ranges of their axes
  widgets::BuildStep built = widgets::BuildStep::all;  // how far a figure is built up
  bool presents = false;                               // the lecturer has a window of his own beside it
  double since_s = -1;                                 // when the wall was opened; negative: it was not drawn yet
};

}  // namespace roofscape::app
