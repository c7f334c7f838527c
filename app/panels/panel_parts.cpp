#include "app/panels/panel_parts.h"

#include <cmath>
#include <utility>

#include "widgets/plot/plot.h"

namespace roofscape::app {

using namespace widgets;

void separator(PanelContext& ctx, float x0, float x1, float y) {
  ctx.ui.canvas.rect({x0, std::round(y), x1 - x0, std::max(1.0f, std::round(ctx.px(1)))},
                     {.colour = ctx.ui.theme.line});
}

void vertical_separator(PanelContext& ctx, float x, float y0, float y1) {
  ctx.ui.canvas.rect({std::round(x), y0, std::max(1.0f, std::round(ctx.px(1))), y1 - y0},
                     {.colour = ctx.ui.theme.line});
}

float section_head(PanelContext& ctx, Point p, float width, std::string_view title, std::string_view note,
                   std::optional<Mark> mark) {
  const float h = std::round(ctx.px(32)), y = p.y + h / 2;
  const TextStyle bold = ctx.style(ctx.ui.theme.ink, 1, Weight::bold);
  const std::string words = ellipsize(ctx.ui.canvas, title, bold, width);
  ctx.ui.canvas.text({p.x, y}, words, bold);
  const float room = width - ctx.ui.canvas.text_width(words, bold) - ctx.px(mark ? 34 : 12);
  if (!note.empty() && room > ctx.px(30)) {
    TextStyle s = ctx.style(mark == Mark::error ? ctx.ui.theme.err : ctx.ui.theme.ink2, 0.85f);
    s.halign = HAlign::right;
    const std::string beside = ellipsize(ctx.ui.canvas, note, s, room);
    ctx.ui.canvas.text({p.x + width, y}, beside, s);
    if (mark)
      draw_mark(ctx.ui.canvas, ctx.ui.theme, {p.x + width - ctx.ui.canvas.text_width(beside, s) - ctx.px(13), y},
                ctx.px(11), *mark);
  }
  return h;
}

std::optional<std::string> typed_line(PanelContext& ctx, const Rect& r, std::string_view id, const std::string& now,
                                      std::string_view hint) {
  Interaction& io = ctx.ui.io;
  const bool before = io.editing(id);
  const auto event = text_box(ctx.ui, r, id);
  if (!before && io.editing(id)) {
    io.start_entry(id, now);
  } else if (!before) {
    const TextStyle s = ctx.style(now.empty() ? ctx.ui.theme.ink3 : ctx.ui.theme.ink);
    ctx.ui.canvas.text({r.x + ctx.px(8), r.centre().y},
                       ellipsize(ctx.ui.canvas, now.empty() ? hint : std::string_view(now), s, r.w - ctx.px(14)), s);
  } else if (event == Interaction::EntryEvent::accepted || (io.pressed_now() && !r.contains(io.pointer()))) {
    std::string text = io.entry().text;
    io.stop_entry();
    return text;
  } else if (event == Interaction::EntryEvent::cancelled) {
    io.stop_entry();
  }
  return std::nullopt;
}

Option preset_option(const io::Preset& preset, std::string detail, bool separated) {
  Option option{preset.name, std::move(detail), true, separated, 0};
  option.id = preset.id;
  option.aliases = preset.aliases;
  return option;
}

}  // namespace roofscape::app
