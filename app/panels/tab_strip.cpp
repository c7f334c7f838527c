#include "app/panels/tab_strip.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "app/panels/panel_parts.h"
#include "widgets/plot/plot.h"

namespace roofscape::app {

using namespace widgets;

namespace {

// The width that no tab may pass so that all fit: short names take what they need, long ones share the rest.
float widest_that_fits(std::vector<float> wanted, float room) {
  std::sort(wanted.begin(), wanted.end());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const float share = room / static_cast<float>(wanted.size() - i);
    if (wanted[i] > share) return share;
    room -= wanted[i];
  }
  return wanted.empty() ? 0 : wanted.back();
}

}  // namespace

void tab_strip(PanelContext& ctx, const Rect& r, TabStrip& strip) {
  const Theme& t = ctx.ui.theme;
  ctx.ui.canvas.rect(r, {.colour = t.win});
  const auto clip = ctx.ui.canvas.clip(r);
  const float side = std::round(ctx.px(24)), pad = ctx.px(10), gap = ctx.px(2);
  const float room = r.w - side - ctx.px(24);
  const auto wanted_by = [&](const TabStrip::Tab& tab) {
    return std::ceil(ctx.ui.canvas.text_width(tab.name, ctx.style(t.ink)) + (tab.saved ? 0 : ctx.px(12)) + 2 * pad +
                     side);
  };
  std::vector<float> wanted;
  for (const TabStrip::Tab& tab : strip.tabs) wanted.push_back(wanted_by(tab) + gap);
  const float widest = std::floor(widest_that_fits(std::move(wanted), room)) - gap;
  const auto width_of = [&](const TabStrip::Tab& tab) {
    return std::max(ctx.px(64), std::min(wanted_by(tab), widest));
  };
  // More than there is room for: the strip is moved so that the one shown stands in the middle.
  float all = 0, middle = 0;
  for (std::size_t i = 0; i < strip.tabs.size(); ++i) {
    const float w = width_of(strip.tabs[i]);
    if (i == strip.active) middle = all + w / 2;
    all += w + gap;
  }
  const float moved = std::round(confined(middle - room / 2, 0.0f, all - room));
  const Rect seen{r.x + ctx.px(6), r.y, std::min(all, room), r.h};
  float x = seen.x - moved;
  for (std::size_t i = 0; i < strip.tabs.size(); ++i) {
    const auto inner = ctx.ui.canvas.clip(seen);
    const TabStrip::Tab& tab = strip.tabs[i];
    const bool shown = i == strip.active;
    const TextStyle style = ctx.style(shown ? t.ink : t.ink2);
    const float dot = tab.saved ? 0 : ctx.px(12);
    const Rect whole{x, r.y + ctx.px(2), width_of(tab), r.h - ctx.px(2)};
    const std::string id = "tab." + std::to_string(i);
    const bool closable = whole.w > ctx.px(90);
    const Rect body{whole.x, whole.y, whole.w - (closable ? side : 0), whole.h};
    const ItemState s = ctx.ui.item(id, body);
    ctx.ui.canvas.rect(whole, {.colour = shown ? t.panel : s.hovered ? t.ctlh : t.win}, ctx.px(3));
    if (shown)
      ctx.ui.canvas.rect({whole.x, whole.y, whole.w, std::max(1.0f, std::round(ctx.px(2)))}, {.colour = t.ink2});
    if (s.ring) ctx.ui.canvas.frame(body.inset(ctx.px(1)), {t.ink, ctx.px(2), {}}, ctx.px(3));
    const float y = whole.centre().y;
    if (!tab.saved)
      ctx.ui.canvas.marker({whole.x + pad + ctx.px(2), y}, Marker::circle, ctx.px(6), {.colour = t.ink2});
    const float words = body.right() - whole.x - pad - dot - (closable ? 0 : ctx.px(4));
    const bool in_sight = whole.x >= seen.x - 1 && whole.right() <= seen.right() + gap + 1;  // words are never cut
    if (in_sight)
      ctx.ui.canvas.text({whole.x + pad + dot, y}, ellipsize(ctx.ui.canvas, tab.name, style, words), style);
    if (s.hovered) ctx.ui.io.hint(id, body, {tab.name, {}});
    if (s.clicked) strip.show = i;
    if (closable && icon_button(ctx.ui, {whole.right() - side, std::round(y - side / 2), side, side}, id + ".close",
                                Icon::close, {std::string(ctx.text("command.tab.close")), {}}))
      strip.close = i;
    x = whole.right() + gap;
  }
  if (icon_button(ctx.ui, {seen.right() + ctx.px(4), std::round(r.centre().y - side / 2), side, side}, "tab.add",
                  Icon::plus, {std::string(ctx.text("command.tab.new")), {}}))
    strip.add = true;
  separator(ctx, r.x, r.right(), r.bottom() - 1);
}

}  // namespace roofscape::app
