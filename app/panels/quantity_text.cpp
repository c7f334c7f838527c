#include "app/panels/quantity_text.h"

#include <algorithm>
#include <cmath>

#include "widgets/canvas/number_format.h"
#include "widgets/plot/plot.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape::app {

using namespace widgets;
using engine::Q;

bool is_step_part(Q q) {
  return std::find(engine::kStepParts.begin(), engine::kStepParts.end(), q) != engine::kStepParts.end();
}

std::string change_from_baseline(const PanelContext& ctx, Q q) {
  if (!ctx.baseline) return {};
  const auto before = ctx.baseline->report.quantities[q], now = ctx.session.report().quantities[q];
  if (!before || ctx.baseline->report.has_errors()) return {};
  const engine::Unit& unit = engine::quantity(q).unit;
  const std::string was = ctx.ui.texts.amount(*before, unit);
  if (!now || ctx.session.report().has_errors()) return ctx.format("ui.pin.was_only", {was});
  if (*now == *before) return std::string(ctx.text("ui.pin.same"));
  std::string change;
  // Shares differ by points, sizes and money by an amount, times and rates by a share.
  if (unit.notation == engine::Notation::percent)
    change = ctx.format("ui.pin.points",
                        {format((*now - *before) * 100, engine::unit::one, {.unit = false, .sign = true})});
  else if (q == Q::step_time || *before == 0 || q == Q::tokens_per_s)
    change = *before == 0 ? ctx.ui.texts.amount(*now, unit, {.sign = true})
                          : format(*now / *before - 1, engine::unit::fraction, {.sign = true});
  else
    change = ctx.ui.texts.amount(*now - *before, unit, {.sign = true});
  return ctx.format("ui.pin.was", {change, was});
}

Readout quantity_tip(const PanelContext& ctx, Q q) {
  const engine::Quantity& row = engine::quantity(q);
  Readout tip;
  tip.title = quantity_label(ctx.ui.texts, q);
  tip.rows.emplace_back(ctx.text("ui.tip.quantity"), row.id);
  if (!engine::is_input(row)) tip.rows.emplace_back(ctx.text("ui.tip.click"), ctx.text("ui.tip.derivation"));
  return tip;
}

void quantity_text(PanelContext& ctx, std::string_view probe_id, Point anchor, std::string_view text,
                   const TextStyle& style, Q q) {
  const Rect bounds = ctx.ui.canvas.text_bounds(anchor, text, style);
  const ItemState s = ctx.ui.item(probe_id, bounds, Interaction::Focus::none);
  ctx.ui.canvas.text(anchor, text, style);
  if (s.hovered) {
    const float line = std::max(1.0f, std::round(ctx.px(1)));
    ctx.ui.canvas.rect({bounds.x, std::round(bounds.bottom() - ctx.px(2)), bounds.w, line}, {.colour = style.colour});
    ctx.ui.io.set_cursor(Cursor::hand);
    ctx.ui.io.hint(probe_id, bounds, quantity_tip(ctx, q), quantity_about(ctx.ui.texts, q));
  }
  if (s.clicked) ctx.requests.explain(engine::quantity(q).id);
}

}  // namespace roofscape::app
