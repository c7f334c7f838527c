// What a projected window remembers beside its figure or tour: a blank screen, the number being typed, pinned controls.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace roofscape::app {

struct WallState {
  enum class Blank : std::uint8_t { none, black, white };
  Blank blank = Blank::none;
  std::string digits;               // of the figure or scene to go to; Enter goes there
  std::vector<std::string> pinned;  // paths of fields; empty: the usual ones
  std::string stepped;              // the control that [ and ] step: the one that was used last
};

}  // namespace roofscape::app
