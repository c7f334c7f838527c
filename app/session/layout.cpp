#include "app/session/layout.h"

#include <algorithm>
#include <cmath>

namespace roofscape::app {

using widgets::confined;
using widgets::Rect;

namespace {

constexpr float kFolded = 44;  // width of a folded right rail
constexpr float kLeastLeft = 300, kMostLeft = 520, kLeastRight = 280, kMostRight = 760;
constexpr float kLeastGrid = 380;  // width that rails leave whatever they were dragged to
constexpr float kLeastCellWidth = 240, kLeastCellHeight = 170;
constexpr float kGrab = 8;

// A share of `length` that leaves both parts at least `least`, or half where there is no room.
float split(float share, float length, float least) {
  if (length < 2 * least) return std::round(length / 2);
  return std::round(std::clamp(share * length, least, length - least));
}

}  // namespace

Layout lay_out(const LayoutRequest& request) {
  const float scale = request.em / 15.0f;
  const auto px = [&](float v) { return std::round(v * scale); };
  const Arrangement standard;
  const Arrangement& a = request.arrangement != nullptr ? *request.arrangement : standard;
  Layout l;
  Rect rest = request.window;
  l.top = rest.cut_top(px(40));
  l.status = rest.cut_bottom(px(28));
  if (request.tabs) l.tabs = rest.cut_top(px(30));
  // Rails leave the figures the larger half of the window.
  if (request.left_open) {
    const float room = rest.w - px(kLeastGrid + (request.right_open ? kLeastRight : kFolded));
    l.left = rest.cut_left(std::min(px(confined(a.left, kLeastLeft, kMostLeft)),
                                    std::max(px(kLeastLeft), std::min(std::round(rest.w * 0.4f), room))));
  }
  l.verdict = rest.cut_top(px((request.compact ? 98.0f : 128.0f) + (request.baseline ? 20.0f : 0.0f)));
  if (request.message) l.message = rest.cut_top(px(44));
  const float widest = std::max(px(kLeastRight), std::min(std::round(rest.w * 0.55f), rest.w - px(kLeastGrid)));
  l.right = rest.cut_right(request.right_open ? std::min(px(confined(a.right, kLeastRight, kMostRight)), widest)
                                              : px(kFolded));
  l.grid = rest;
  if (request.few || rest.w < px(2 * kLeastCellWidth + 100)) l.kind = GridKind::two;
  if (rest.h < px(2 * kLeastCellHeight)) l.kind = GridKind::one;
  const float column = split(a.column, rest.w, px(kLeastCellWidth)), row = split(a.row, rest.h, px(kLeastCellHeight));
  l.cells = {Rect{rest.x, rest.y, column, row}, Rect{rest.x + column, rest.y, rest.w - column, row},
             Rect{rest.x, rest.y + row, column, rest.h - row},
             Rect{rest.x + column, rest.y + row, rest.w - column, rest.h - row}};
  return l;
}

void move_splitter(Arrangement& a, Splitter splitter, float at, const Layout& l, float em) {
  const float scale = em / 15.0f;
  switch (splitter) {
    case Splitter::left:
      a.left = confined((at - l.left.x) / scale, kLeastLeft, kMostLeft);
      break;
    case Splitter::right:
      a.right = confined((l.right.right() - at) / scale, kLeastRight, kMostRight);
      break;
    case Splitter::column:
      a.column = std::clamp((at - l.grid.x) / std::max(1.0f, l.grid.w), 0.1f, 0.9f);
      break;
    case Splitter::row:
      a.row = std::clamp((at - l.grid.y) / std::max(1.0f, l.grid.h), 0.1f, 0.9f);
      break;
  }
}

void reset_splitter(Arrangement& a, Splitter splitter) {
  const Arrangement standard;
  switch (splitter) {
    case Splitter::left:
      a.left = standard.left;
      break;
    case Splitter::right:
      a.right = standard.right;
      break;
    case Splitter::column:
      a.column = standard.column;
      break;
    case Splitter::row:
      a.row = standard.row;
      break;
  }
}

Rect splitter_area(Splitter splitter, const Layout& l, const LayoutRequest& request) {
  const float half = std::round(kGrab / 2 * request.em / 15.0f);
  const auto upright = [&](float x, const Rect& along) { return Rect{x - half, along.y, 2 * half, along.h}; };
  switch (splitter) {
    case Splitter::left:
      return request.left_open ? upright(l.left.right(), l.left) : Rect{};
    case Splitter::right:
      return request.right_open ? upright(l.right.x, l.right) : Rect{};
    case Splitter::column:
      return l.kind == GridKind::four ? upright(l.cells[1].x, l.grid) : Rect{};
    case Splitter::row:
      return l.kind == GridKind::one ? Rect{} : Rect{l.grid.x, l.cells[2].y - half, l.grid.w, 2 * half};
  }
  return {};
}

}  // namespace roofscape::app
