// What a lecturer draws over a projected figure: a pointer, ink that goes all at once when one stops, a pen that stays, and
// a spotlight. One of them at a time, taken up by its key: until the same key again, or while it is held down. Esc takes it
// and what was drawn away.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "app/panels/panel_context.h"

namespace roofscape::app {

struct WallMarks {
  enum class Tool : std::uint8_t { none, pointer, ink, pen, spotlight };
  using Stroke = std::vector<widgets::Point>;  // as fractions of the window, so that it may change its size

  // By tool.
  static constexpr std::array<widgets::Key, 5> kKeys{widgets::Key::none, widgets::key_of('Q'), widgets::key_of('I'),
                                                     widgets::key_of('E'), widgets::key_of('O')};
  static constexpr widgets::Key key(Tool tool) { return kKeys[static_cast<std::size_t>(tool)]; }
  static constexpr double kHeld_s = 0.4;  // a key that is down for longer is held, not pressed

  Tool tool = Tool::none;
  double taken_s = -1;  // when it was
  std::vector<Stroke> ink, pen;
  double drawn_s = -1;  // when ink was drawn last

  // Takes up a tool, or lays it down.
  void take(Tool wanted, double now_s) { tool = tool == wanted ? Tool::none : wanted, taken_s = now_s; }
  // Lays down a tool whose key was held.
  void let_go(widgets::Key released, double now_s) {
    if (tool != Tool::none && released == key(tool) && now_s - taken_s > kHeld_s) tool = Tool::none;
  }
  bool draws() const { return tool == Tool::ink || tool == Tool::pen; }
  bool any() const { return tool != Tool::none || !ink.empty() || !pen.empty(); }
  void clear() { *this = {}; }
};

// Follows the pointer and draws over all else. The figures under it should be covered while the tool draws.
void wall_marks(PanelContext& ctx, const widgets::Rect& window, WallMarks& marks);

}  // namespace roofscape::app
