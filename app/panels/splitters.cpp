#include "app/panels/splitters.h"

#include <algorithm>
#include <cmath>

namespace roofscape::app {

using namespace widgets;

namespace {

constexpr std::array kAll{Splitter::left, Splitter::right, Splitter::column, Splitter::row};

Cursor cursor_of(Splitter s) { return s == Splitter::row ? Cursor::resize_y : Cursor::resize_x; }

// With one figure over the grid its inner lines are not there.
bool exists(bool divided, Splitter s) { return divided || s == Splitter::left || s == Splitter::right; }

}  // namespace

void run_splitters(PanelContext& ctx, const Layout& layout, const LayoutRequest& request, bool divided,
                   Arrangement& arrangement) {
  for (const Splitter splitter : kAll) {
    const Rect r = splitter_area(splitter, layout, request);
    if (r.empty() || !exists(divided, splitter)) continue;
    const ItemState s = ctx.ui.item(kSplitterIds[static_cast<std::size_t>(splitter)], r, Interaction::Focus::none);
    const Point p = ctx.ui.io.pointer();
    if (s.double_clicked)
      reset_splitter(arrangement, splitter);
    else if (s.held && distance(p, ctx.ui.io.drag_origin()) >= ctx.px(2))
      move_splitter(arrangement, splitter, splitter == Splitter::row ? p.y : p.x, layout, request.em);
  }
}

void draw_splitters(PanelContext& ctx, const Layout& layout, const LayoutRequest& request, bool divided) {
  for (const Splitter splitter : kAll) {
    const Rect r = splitter_area(splitter, layout, request);
    if (r.empty() || !exists(divided, splitter)) continue;
    const std::string_view id = kSplitterIds[static_cast<std::size_t>(splitter)];
    const bool held = ctx.ui.io.holds(id);
    if (!held && (ctx.ui.io.blocked() || ctx.ui.io.anything_held() || !r.contains(ctx.ui.io.pointer()))) continue;
    ctx.ui.io.set_cursor(cursor_of(splitter));
    const float w = std::max(2.0f, std::round(ctx.px(2)));
    const Point c = r.centre();
    ctx.ui.canvas.rect(splitter == Splitter::row ? Rect{r.x, std::round(c.y - w / 2), r.w, w}
                                                 : Rect{std::round(c.x - w / 2), r.y, w, r.h},
                       {.colour = held ? ctx.ui.theme.ink2 : ctx.ui.theme.edge});
  }
}

}  // namespace roofscape::app
