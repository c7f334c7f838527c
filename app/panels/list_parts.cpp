#include "app/panels/list_parts.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "widgets/canvas/number_format.h"
#include "widgets/plot/plot.h"

namespace roofscape::app {

using namespace widgets;

void list_head(PanelContext& ctx, Rect r, const ListHead& head, SearchView::Ask& ask) {
  const Theme& t = ctx.ui.theme;
  const float y = r.centre().y, h = std::round(ctx.px(kControlHeight));
  const auto right_button = [&](std::string_view id, std::string_view words, SearchView::Ask asks) {
    const float w = std::round(ctx.ui.canvas.text_width(words, ctx.style(t.ink)) + ctx.px(24));
    const Rect b = r.cut_right(w);
    r.cut_right(ctx.px(10));
    if (button(ctx.ui, {b.x, std::round(y - h / 2), b.w, h}, id, words)) ask = asks;
  };
  std::string doing;
  if (head.running) {
    right_button("search.cancel", ctx.text("ui.search.cancel"), SearchView::Ask::cancel);
    doing = ctx.format("ui.search.running", {format_share(head.progress)});
  } else if (head.stopped) {
    right_button("search.again", ctx.text("ui.search.again"), SearchView::Ask::again);
    doing = ctx.text("ui.search.cancelled.short");
  }
  if (!doing.empty()) {
    TextStyle s = ctx.style(t.ink2, kSmallText);
    const float w = ctx.ui.canvas.text_width(doing, s);
    s.halign = HAlign::right;
    ctx.ui.canvas.text({r.right(), y}, doing, s);
    if (head.running) {
      const Rect bar{r.right() - w, y + ctx.px(9), w, std::max(2.0f, std::round(ctx.px(2)))};
      ctx.ui.canvas.rect(bar, {.colour = t.ctlh});
      ctx.ui.canvas.rect({bar.x, bar.y, bar.w * static_cast<float>(head.progress), bar.h}, {.colour = t.ink2});
    }
    r.cut_right(w + ctx.px(14));
  }
  const TextStyle bold = ctx.style(t.ink, 1, Weight::bold), phrase = ctx.style(t.ink2);
  ctx.ui.canvas.text({r.x, y}, head.title, bold);
  const float x = r.x + ctx.ui.canvas.text_width(head.title, bold) + ctx.px(12);
  if (r.right() - x > ctx.px(40))
    ctx.ui.canvas.text({x, y}, ellipsize(ctx.ui.canvas, head.words, phrase, r.right() - x), phrase);
}

void list_note(PanelContext& ctx, Rect& rows, const std::string& id, const std::string& words) {
  if (words.empty()) return;
  const TextStyle prose = ctx.style(ctx.ui.theme.ink2, kSmallText);
  const float x = rows.x + ctx.px(14), width = rows.w - ctx.px(28), pad = ctx.px(4), line = prose_height(prose, 1);
  const auto room = static_cast<int>((rows.h / 3 - 2 * pad) / line);
  if (room < 1) return;
  const auto all = static_cast<int>(wrapped_lines(ctx.ui.canvas, words, prose, width).size());
  const std::vector<std::string> lines = wrap(ctx.ui.canvas, words, prose, width, std::min(room, all));
  const Rect foot = rows.cut_bottom(std::round(static_cast<float>(lines.size()) * line + 2 * pad));
  for (std::size_t i = 0; i < lines.size(); ++i)
    draw_prose(ctx.ui.canvas, {x, std::round(foot.y + pad) + static_cast<float>(i) * line}, lines[i], prose, width);
  if (all > room && ctx.ui.item(id, foot).hovered) ctx.ui.io.hint(id, foot, {}, words);
}

ItemState list_row(PanelContext& ctx, const std::string& id, const Rect& row, float lit, bool own) {
  const Theme& t = ctx.ui.theme;
  const ItemState s = ctx.ui.item(id, row);
  if (s.hovered || lit > 0)
    ctx.ui.canvas.rect(row, {.colour = mix(t.panel, t.ctlh, s.hovered ? 1.0f : lit)}, ctx.px(3));
  if (s.ring) ctx.ui.canvas.frame(row, {t.ink, ctx.px(2), {}}, ctx.px(3));
  if (own) draw_differs(ctx.ui, row);
  return s;
}

void hint_row(PanelContext& ctx, const std::string& id, const Rect& row, Readout tip, std::string_view about) {
  ctx.ui.io.hint(id, {ctx.ui.io.pointer().x, row.y, ctx.px(8), row.h}, std::move(tip), std::string(about));
}

bool notice(PanelContext& ctx, const Rect& r, std::string_view id, const std::string& words,
            const std::string& label) {
  const Theme& t = ctx.ui.theme;
  const TextStyle prose = ctx.style(t.ink2);
  const float width = std::min(r.w - ctx.px(48), ctx.px(560));
  const float text_h = prose_height(prose, wrapped_lines(ctx.ui.canvas, words, prose, width).size());
  const float button_h = label.empty() ? 0 : std::round(ctx.px(kControlHeight)) + ctx.px(10);
  float y = std::round(r.centre().y - (text_h + button_h) / 2);
  const float wide = std::min(width, ctx.ui.canvas.text_width(words, prose));
  y += draw_prose(ctx.ui.canvas, {std::round(r.centre().x - wide / 2), y}, words, prose, width);
  if (label.empty()) return false;
  const float w = std::round(ctx.ui.canvas.text_width(label, prose) + ctx.px(24));
  return button(ctx.ui,
                {std::round(r.centre().x - w / 2), std::round(y + ctx.px(10)), w, std::round(ctx.px(kControlHeight))},
                id, label);
}

}  // namespace roofscape::app
