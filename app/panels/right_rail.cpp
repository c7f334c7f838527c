#include "app/panels/right_rail.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "app/panels/changes_panel.h"
#include "app/panels/diagnostic_words.h"
#include "app/panels/diagnostics_panel.h"
#include "app/panels/findings.h"
#include "app/panels/panel_parts.h"
#include "widgets/plot/plot.h"

namespace roofscape::app {

using namespace widgets;

namespace {

// Whether it was asked to open.
bool folded(PanelContext& ctx, const Rect& r) {
  const Theme& t = ctx.ui.theme;
  const float side = std::round(ctx.px(26));
  bool opens = icon_button(ctx.ui, {std::round(r.centre().x - side / 2), r.y + ctx.px(6), side, side}, "right.unfold",
                           Icon::chevron_left, {std::string(ctx.text("ui.right.unfold")), {}});
  float y = r.y + ctx.px(52);
  for (const engine::Severity severity :
       {engine::Severity::error, engine::Severity::warning, engine::Severity::note}) {
    int count = 0;
    for (const engine::OfferedFinding& f : findings(ctx)) count += f.diagnostic.severity == severity ? 1 : 0;
    if (count == 0) continue;
    const std::string id = "right.count." + std::to_string(static_cast<int>(severity));
    const Rect row{r.x, y - ctx.px(14), r.w, ctx.px(28)};
    const ItemState s = ctx.ui.item(id, row);
    if (s.hovered || s.ring) ctx.ui.canvas.rect(row.inset(ctx.px(3), 0), {.colour = t.ctlh}, ctx.px(3));
    if (s.hovered) ctx.ui.io.hint(id, row, {std::string(ctx.text("ui.right.unfold")), {}});
    opens = opens || s.clicked;
    draw_mark(ctx.ui.canvas, t, {r.centre().x - ctx.px(8), y}, ctx.px(13), mark_of(severity));
    ctx.ui.canvas.text({r.centre().x + ctx.px(4), y}, std::to_string(count), ctx.style(t.ink));
    y += ctx.px(29);
  }
  separator(ctx, r.x + ctx.px(10), r.right() - ctx.px(10), y);
  y += ctx.px(22);
  const std::string why(ctx.text("ui.right.why"));
  TextStyle style = ctx.style(t.ink2, kSmallText);
  style.halign = HAlign::centre;
  const Rect row{r.x, y - ctx.px(14), r.w, ctx.px(28)};
  const ItemState s = ctx.ui.item("right.why", row);
  if (s.hovered || s.ring) ctx.ui.canvas.rect(row.inset(ctx.px(3), 0), {.colour = t.ctlh}, ctx.px(3));
  ctx.ui.canvas.text({r.centre().x, y}, why, style);
  return opens || s.clicked;
}

}  // namespace

engine::Scenario right_rail(PanelContext& ctx, const Rect& r, bool open, RightRailState& state,
                            engine::Scenario scenario) {
  ctx.ui.canvas.rect(r, {.colour = ctx.ui.theme.panel});
  {
    const auto clip = ctx.ui.canvas.clip(r);
    if (!open) {
      if (folded(ctx, r)) state.open = true;
    } else {
      Rect rest = r;
      if (ctx.baseline != nullptr) {
        rest.cut_top(changes_panel(ctx, {r.x, r.y, r.w, r.h * 0.5f}, scenario));
        separator(ctx, r.x, r.right(), rest.y);
      }
      const Rect below = rest;
      // Diagnostics take what they need up to nearly half; the derivation takes the rest.
      const float wanted = ctx.ui.io.scroll("diagnostics").content + ctx.px(36);
      const Rect upper = rest.cut_top(confined(std::round(wanted), ctx.px(76), std::round(below.h * 0.46f)));
      diagnostics_panel(ctx, upper, scenario);
      const float side = std::round(ctx.px(24));
      if (ctx.in_sight.compact &&
          icon_button(ctx.ui, {r.x + ctx.px(110), below.y + ctx.px(6), side, side}, "right.fold", Icon::chevron_right,
                      {std::string(ctx.text("ui.right.fold")), {}}))
        state.open = false;
      scenario = derivation_panel(ctx, rest, state.derivation, std::move(scenario));
      separator(ctx, r.x, r.right(), rest.y);
    }
  }
  vertical_separator(ctx, r.x, r.y, r.bottom());
  return scenario;
}

}  // namespace roofscape::app
