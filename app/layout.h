// Layout: where the parts of the window are, from its size and the em. Visual spec, section 3: top bar 40, verdict 128,
// status 28, left rail 332, right rail 392 (a strip of 44 when folded), grid columns 46.8 : 53.2 and rows 49.2 : 50.8.
#pragma once

#include <array>

#include "widgets/geometry.h"

namespace roofscape::app {

struct Layout {
  widgets::Rect top, left, verdict, message, right, status, grid;
  std::array<widgets::Rect, 4> cells;  // left to right, top row first
  bool compact = false;                // under 1440 wide or 850 high: fewer words
  bool right_open = true;
};

struct LayoutRequest {
  widgets::Rect window;
  float em = 15;
  bool compact = false;
  bool right_open = true;
  bool message = false;
};
Layout lay_out(const LayoutRequest& request);

// Whether a window of this size (in pixels at content scale 1) is a small one, and the zoom it starts with.
constexpr bool is_small(float width, float height) { return width < 1440 || height < 850; }
constexpr float kSmallZoom = 0.875f;

}  // namespace roofscape::app
