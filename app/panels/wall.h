// What a projected window remembers beside its figure or tour: a blank screen, the number being typed, which control is
// stepped.
#pragma once

#include <cstdint>
#include <string>

namespace roofscape::app {

struct WallState {
  enum class Blank : std::uint8_t { none, black, white };
  Blank blank = Blank::none;
  std::string digits;      // of the figure or scene to go to; Enter goes there
  std::string stepped;     // the control that [ and ] step: the one that was used last, or that Tab went to
  bool axes_held = false;  // figures keep the ranges of their axes
  // How far a figure is built up: its axes, its lines and areas, all of it.
  static constexpr int kWhole = 2;
  int built = kWhole;
  bool presents = false;  // the lecturer has a window of his own beside it
  double since_s = -1;    // when the wall was opened; negative: it was not drawn yet
};

}  // namespace roofscape::app
