// What of a figure the pointer means: the tag under it or a little beside it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "app/panels/panel_context.h"
#include "widgets/canvas/canvas.h"

namespace roofscape::app {

// Among the tags of the canvas from `first` on, which the figure drew; of those as near the last, which lies on top.
// Null: none.
inline const widgets::TagRegion* nearest_tag(const PanelContext& ctx, std::size_t first) {
  const widgets::Point p = ctx.ui.io.pointer();
  const widgets::TagRegion* hit = nullptr;
  float nearest = ctx.px(8);
  for (std::size_t i = first; i < ctx.ui.canvas.tags().size(); ++i) {
    const widgets::TagRegion& tag = ctx.ui.canvas.tags()[i];
    const float dx = std::max({tag.rect.x - p.x, p.x - tag.rect.right(), 0.0f});
    const float dy = std::max({tag.rect.y - p.y, p.y - tag.rect.bottom(), 0.0f});
    const float d = std::hypot(dx, dy);
    if (d <= nearest) {
      nearest = d;
      hit = &tag;
    }
  }
  return hit;
}

}  // namespace roofscape::app
