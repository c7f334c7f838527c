#include "app/layout.h"

#include <cmath>

namespace roofscape::app {

Layout lay_out(const LayoutRequest& request) {
  const auto px = [&](float v) { return std::round(v * request.em / 15.0f); };
  Layout l;
  l.compact = request.compact;
  l.right_open = request.right_open;
  widgets::Rect rest = request.window;
  l.top = rest.cut_top(px(40));
  l.status = rest.cut_bottom(px(28));
  l.left = rest.cut_left(std::min(px(332), std::round(rest.w * 0.4f)));
  l.verdict = rest.cut_top(px(request.compact ? 98 : 128));
  if (request.message) l.message = rest.cut_top(px(44));
  l.right = rest.cut_right(request.right_open ? std::min(px(392), std::round(rest.w * 0.45f)) : px(44));
  l.grid = rest;
  const float column = std::round(rest.w * 0.468f), row = std::round(rest.h * 0.492f);
  l.cells = {widgets::Rect{rest.x, rest.y, column, row},
             widgets::Rect{rest.x + column, rest.y, rest.w - column, row},
             widgets::Rect{rest.x, rest.y + row, column, rest.h - row},
             widgets::Rect{rest.x + column, rest.y + row, rest.w - column, rest.h - row}};
  return l;
}

}  // namespace roofscape::app
