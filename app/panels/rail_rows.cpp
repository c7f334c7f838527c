#include "app/panels/rail_rows.h"

#include <algorithm>
#include <cmath>

#include "app/panels/panel_parts.h"
#include "widgets/plot/plot.h"

namespace roofscape::app {

using namespace widgets;

namespace {
constexpr float kRailLabel = 104, kPairLine = 22;
}

void RailRows::label(std::string_view words, bool off) {
  const TextStyle s = ctx.style(off ? ctx.ui.theme.ink3 : ctx.ui.theme.ink2);
  ctx.ui.canvas.text({x, y + ctx.px(kRowHeight) / 2}, ellipsize(ctx.ui.canvas, words, s, ctx.px(kRailLabel - 6)), s);
}

Rect RailRows::box(float right) const {
  const float h = std::round(ctx.px(kControlHeight));
  return {x + ctx.px(kRailLabel), y + std::round((ctx.px(kRowHeight) - h) / 2),
          std::max(ctx.px(60), width - ctx.px(kRailLabel) - right), h};
}

void RailRows::next() { y += std::round(ctx.px(kRowHeight + 2)); }

void RailRows::pair(std::string_view left, std::string_view right, const TextStyle& value) {
  const Canvas& canvas = ctx.ui.canvas;
  TextStyle v = value;
  v.halign = HAlign::right;
  const TextStyle l = ctx.style(ctx.ui.theme.ink2);
  const float gap = ctx.px(10), line = std::round(ctx.px(kPairLine)), taken = canvas.text_width(right, v) + gap;
  // A long value has a line of its own under its name.
  const bool apart = taken > width / 2 && canvas.text_width(left, l) + taken > width;
  ctx.ui.canvas.text({x, y + line / 2}, ellipsize(canvas, left, l, apart ? width : width - taken), l);
  if (apart) y += line;
  ctx.ui.canvas.text({end(), y + line / 2}, ellipsize(canvas, right, v, width), v);
  y += line;
}

void RailRows::prose(const std::string& words, bool is_error) {
  const Theme& t = ctx.ui.theme;
  const TextStyle style = ctx.style(is_error ? t.err : t.ink2, kSmallText);
  y += draw_prose(ctx.ui.canvas, {x, y + ctx.px(2)}, words, style, width) + ctx.px(4);
}

int RailRows::choice(std::string_view id, std::span<const std::string> names, int selected, std::string_view title) {
  const Rect place{x, y, width, std::round(ctx.px(kControlHeight))};
  const int chosen = segmented(ctx.ui, place, id, names, selected, {std::string(title), {}});
  next();
  y += ctx.px(4);
  return std::clamp(chosen, 0, static_cast<int>(names.size()) - 1);
}

}  // namespace roofscape::app
