#include "app/panels/measured_sheet.h"

#include <algorithm>
#include <cmath>

#include "app/panels/panel_parts.h"
#include "engine/scenario/scenario_title.h"
#include "widgets/canvas/number_format.h"
#include "widgets/plot/plot.h"

namespace roofscape::app {

using namespace widgets;

namespace {

constexpr float kMeasuredWidth = 900, kMeasuredHeight = 680, kMeasuredRow = 23, kNumberColumn = 118;

void lay_over(PanelContext& ctx, MeasuredSheetState& state) {
  const engine::Scenario& s = ctx.session.scenario();
  const std::shared_ptr<const engine::MeasuredRun>& run = ctx.session.measured()->run;
  if (state.laid && state.laid->scenario == s && state.laid->run == run) return;
  const MeasuredAnswer answer = measured_answer(s, ctx.session.report(), *run);
  state.laid =
      MeasuredSheetState::Laid{s, run, measured_text(answer, ctx.ui.texts), measured_sections(answer, ctx.ui.texts)};
}

// One table; returns how far down it reaches.
float draw_section(PanelContext& ctx, const MeasuredSection& section, const Rect& view, float y) {
  const Theme& t = ctx.ui.theme;
  const float row_h = std::round(ctx.px(kMeasuredRow));
  const auto numbers = static_cast<float>(section.head.size() - 1);
  const float column = std::min(ctx.px(kNumberColumn), view.w * 0.6f / std::max(1.0f, numbers));
  const float names = view.w - numbers * column;
  const auto line = [&](const std::vector<std::string>& cells, Colour colour, Weight weight, float size) {
    if (y + row_h >= view.y && y <= view.bottom()) {
      TextStyle s = ctx.style(colour, size, weight);
      ctx.ui.canvas.text({view.x, y + row_h / 2}, ellipsize(ctx.ui.canvas, cells[0], s, names - ctx.px(10)), s);
      s.halign = HAlign::right;
      for (std::size_t i = 1; i < cells.size(); ++i)
        ctx.ui.canvas.text({view.x + names + static_cast<float>(i) * column, y + row_h / 2},
                           ellipsize(ctx.ui.canvas, cells[i], s, column - ctx.px(8)), s);
    }
    y += row_h;
  };
  std::vector<std::string> head = section.head;
  head[0] = section.title;
  line(head, t.ink2, Weight::bold, kSmallText);
  for (std::size_t i = 0; i < section.rows.size(); ++i) {
    const bool sum = section.summed && i + 1 == section.rows.size();
    if (sum) separator(ctx, view.x, view.right(), y);
    line(section.rows[i], t.ink, sum ? Weight::bold : Weight::regular, 1);
  }
  return y + ctx.px(10);
}

}  // namespace

SheetReply measured_sheet(PanelContext& ctx, const Rect& window, MeasuredSheetState& state) {
  const Theme& t = ctx.ui.theme;
  const bool reading = state.reading.has_value();
  Rect r = sheet_ground(ctx, window, std::min(window.w - ctx.px(24), ctx.px(reading ? 520 : kMeasuredWidth)),
                        std::min(window.h - ctx.px(24), ctx.px(reading ? 150 : kMeasuredHeight)));
  const auto clip = ctx.ui.canvas.clip(r);
  r = r.inset(ctx.px(24), ctx.px(14));
  const Rect head = r.cut_top(ctx.px(36));
  const TextStyle bold = ctx.style(t.ink, 1.25f, Weight::bold);
  const std::string name = ctx.session.measured() ? ctx.session.measured()->from.name : std::string();
  const std::string title =
      reading ? ctx.format("ui.measured.reading", {state.name})
              : ctx.format("ui.measured.title", {name, engine::scenario_title(ctx.session.scenario())});
  ctx.ui.canvas.text({head.x, head.centre().y}, ellipsize(ctx.ui.canvas, title, bold, head.w), bold);
  Rect foot = r.cut_bottom(std::round(ctx.px(kControlHeight)));
  r.cut_bottom(ctx.px(10));
  const Rect ok = foot.cut_right(ctx.px(120));
  const bool enter = !ctx.ui.io.editing_any() && ctx.ui.io.take(Key::enter);
  if (reading) {
    Rect bar = r.cut_top(std::round(ctx.px(10)));
    ctx.ui.canvas.rect(bar, {.colour = t.ctl}, ctx.px(3));
    bar.w = std::round(bar.w * static_cast<float>(std::clamp(*state.reading, 0.0, 1.0)));
    if (bar.w > 0) ctx.ui.canvas.rect(bar, {.colour = t.ink2}, ctx.px(3));
    if (button(ctx.ui, ok, "measured.stop", ctx.text("ui.measured.stop"))) return {true, kStopReading};
    return {};
  }
  if (ctx.session.measured_run() == nullptr) return {true, {}};
  lay_over(ctx, state);
  if (button(ctx.ui, foot.cut_left(ctx.px(130)), "measured.copy", ctx.text("ui.measured.copy")))
    ctx.requests.copied = state.laid->summary;
  foot.cut_left(ctx.px(8));
  if (button(ctx.ui, foot.cut_left(ctx.px(130)), "measured.forget", ctx.text("ui.measured.forget")))
    return {true, kForgetMeasured};
  ctx.ui.canvas.frame(r, {t.line, std::max(1.0f, ctx.px(1)), {}}, ctx.px(3));
  const Rect view = r.inset(ctx.px(12), ctx.px(2));
  {
    const auto inside = ctx.ui.canvas.clip(view);
    const ScrollRegion scroll = begin_scroll(ctx.ui, "measured.tables", view);
    const Rect tables{view.x, view.y, view.w - ctx.px(14), view.h};
    float y = scroll.content_top + ctx.px(6);
    for (const MeasuredSection& section : state.laid->sections) y = draw_section(ctx, section, tables, y);
    end_scroll(ctx.ui, scroll, y);
  }
  return {button(ctx.ui, ok, "measured.ok", ctx.text("ui.import.done"), true) || enter, {}};
}

}  // namespace roofscape::app
