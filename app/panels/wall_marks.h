// What a lecturer draws over a projected figure: a pointer, ink that goes all at once when one stops, a pen that stays, and
// a spotlight. One of them at a time; Esc takes it and what was drawn away.
#pragma once

#include <cstdint>
#include <vector>

#include "app/panels/panel_context.h"

namespace roofscape::app {

struct WallMarks {
  enum class Tool : std::uint8_t { none, pointer, ink, pen, spotlight };
  using Stroke = std::vector<widgets::Point>;  // as fractions of the window, so that it may change its size

  Tool tool = Tool::none;
  std::vector<Stroke> ink, pen;
  double drawn_s = -1;  // when ink was drawn last

  // Takes up a tool, or lays it down.
  void take(Tool wanted) { tool = tool == wanted ? Tool::none : wanted; }
  bool draws() const { return tool == Tool::ink || tool == Tool::pen; }
  bool any() const { return tool != Tool::none || !ink.empty() || !pen.empty(); }
  void clear() { *this = {}; }
};

// Follows the pointer and draws over all else. The figures under it should be covered while the tool draws.
void wall_marks(PanelContext& ctx, const widgets::Rect& window, WallMarks& marks);

}  // namespace roofscape::app
