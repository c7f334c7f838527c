// Theme: every named colour and line weight of the window and the figures. Five ship (dark, light, print, projector,
// high_contrast) as flat JSON objects in assets/themes; reading JSON is not done here: a Theme is made from flat keys
// and texts. Colours of data are chosen by meaning in palette.h, which reads them from here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "widgets/canvas/colour.h"

namespace roofscape::widgets {

enum class Hue : std::uint8_t { blue, sky, orange, green, yellow, vermilion, purple, grey };
inline constexpr std::size_t kHueCount = 8;

// A key is missing, or its text is not a colour or number. The text names all keys concerned.
class ThemeError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Theme {
  Colour win;    // bars, verdict
  Colour panel;  // ground of figures and rails
  Colour ctl;    // control
  Colour ctlh;   // its track, or hovered
  Colour line;   // separators
  Colour edge;   // control borders, key caps
  Colour grid;   // plot grid
  Colour axis;   // axes and ticks
  Colour ink;    // values, titles, compute
  Colour ink2;   // labels, prose
  Colour ink3;   // axis titles, captions, sources
  Colour inv;    // text on ink
  Colour bub;    // hatch of idle
  Colour ok, warn, err;
  std::array<Colour, kHueCount> fills;  // areas
  std::array<Colour, kHueCount> lines;  // strokes and coloured text

  // Line weights in em, so that they grow with the text.
  float data_width = 0;  // curves
  float axis_width = 0;  // axes and ticks
  float grid_width = 0;
  float edge_width = 0;   // outline of light fills
  float marker_size = 0;  // plain marker, diameter
  float hatch_opacity = 0;

  Colour fill(Hue hue) const { return fills[static_cast<std::size_t>(hue)]; }
  Colour stroke(Hue hue) const { return lines[static_cast<std::size_t>(hue)]; }
  bool dark() const { return luminance(panel) < 0.18; }

  // Keys: "win" ... "err" as the members are called, "hue.<name>.fill", "hue.<name>.line", "width.data",
  // "width.axis", "width.grid", "width.edge", "size.marker", "hatch.opacity". Others are ignored. Throws ThemeError.
  static Theme from_tokens(const std::map<std::string, std::string>& tokens);
  // All keys from_tokens needs.
  static std::vector<std::string> keys();
};

std::string_view name_of(Hue hue);

}  // namespace roofscape::widgets
