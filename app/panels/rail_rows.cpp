#include "app/panels/rail_rows.h"

#include <algorithm>
#include <cmath>

#include "app/panels/panel_parts.h"
#include "widgets/canvas/number_format.h"
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

bool RailRows::word_button(std::string_view id, std::string_view words) {
  const float w = std::min(width, ctx.ui.canvas.text_width(words, ctx.style(ctx.ui.theme.ink)) + ctx.px(24));
  const Rect place{x, std::round(y + ctx.px(2)), w, std::round(ctx.px(kControlHeight))};
  next();
  return button(ctx.ui, place, id, words);
}

void scrolled_rail(PanelContext& ctx, const Rect& r, std::string_view id,
                   const std::function<void(RailRows&)>& draw) {
  ctx.ui.canvas.rect(r, {.colour = ctx.ui.theme.panel});
  const auto clip = ctx.ui.canvas.clip(r);
  const ScrollRegion scroll = begin_scroll(ctx.ui, id, r);
  const float pad = std::round(ctx.px(16));
  RailRows rows{ctx, r.x + pad, scroll.content_top + ctx.px(4), r.w - 2 * pad};
  draw(rows);
  end_scroll(ctx.ui, scroll, rows.y + ctx.px(12));
  vertical_separator(ctx, r.x, r.y, r.bottom());
}

std::string promise_words(const PanelContext& ctx) {
  const engine::ServiceLevel& slo = ctx.session.scenario().workload.slo;
  std::string promised;
  if (slo.time_per_output_token_s > 0)
    promised = ctx.format("ui.search.promise.token", {format_duration(slo.time_per_output_token_s)});
  if (slo.ttft_s > 0)
    promised += (promised.empty() ? "" : ", ") + ctx.format("ui.search.promise.ttft", {format_duration(slo.ttft_s)});
  return promised.empty() ? std::string(ctx.text("ui.search.no_promise")) : promised;
}

}  // namespace roofscape::app
