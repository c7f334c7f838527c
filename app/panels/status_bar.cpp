#include "app/panels/status_bar.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "app/panels/panel_parts.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/figures.h"
#include "widgets/plot/plot.h"

namespace roofscape::app {

using namespace widgets;

void status_bar(PanelContext& ctx, const Rect& r, std::string_view exports, bool kept) {
  const Theme& t = ctx.ui.theme;
  Canvas& canvas = ctx.ui.canvas;
  canvas.rect(r, {.colour = t.win});
  separator(ctx, r.x, r.right(), r.y);
  const TextStyle small = ctx.style(t.ink3, kSmallText), words = ctx.style(t.ink2, kSmallText);
  const float y = r.centre().y;

  // What was just done goes before the keys and the facts.
  const TextStyle told = ctx.style(t.ink, kSmallText);
  const auto& message = ctx.session.message();
  const std::string* news = message && !message->strip() ? &message->text : nullptr;
  const float needed = news == nullptr ? 0 : std::min(canvas.text_width(*news, told), r.w * 0.7f) + ctx.px(18);

  // Keys from the right.
  struct Hint {
    std::string_view command, text;
  };
  float right = r.right() - ctx.px(16);
  for (const Hint& hint : {Hint{"help.keys", "ui.status.keys"}, Hint{"figure.export", "ui.status.export"},
                           Hint{"edit.undo", "ui.status.undo"}, Hint{"view.search", "ui.status.search"},
                           Hint{"baseline.pin", ctx.baseline != nullptr ? "ui.status.unpin" : "ui.status.pin"}}) {
    const Command* c = ctx.command(hint.command);
    if (c == nullptr) continue;
    const std::string key = key_text(c->key), text = hint.command == "figure.export"
                                                         ? ctx.format("ui.status.export", {std::string(exports)})
                                                         : std::string(ctx.text(hint.text));
    const float w = canvas.text_width(key, words) + ctx.px(10), wide = canvas.text_width(text, words);
    if (right - wide - w - ctx.px(7) < r.x + ctx.px(32) + needed) break;
    right -= wide;
    canvas.text({right, y}, text, words);
    right -= w + ctx.px(7);
    const Rect cap{std::round(right), std::round(y - ctx.px(9)), std::round(w), std::round(ctx.px(18))};
    canvas.frame(cap, {t.edge, std::max(1.0f, ctx.px(1)), {}}, ctx.px(3));
    TextStyle centred = words;
    centred.halign = HAlign::centre;
    canvas.text(cap.centre(), key, centred);
    right -= ctx.px(18);
  }

  float x = r.x + ctx.px(16);
  // Facts that there is no room for are left out.
  const auto say = [&](std::string_view text, const TextStyle& style) {
    const float wide = canvas.text_width(text, style) + ctx.px(28);
    if (x + wide + needed > right) return;
    canvas.text({x, y}, text, style);
    x += wide;
  };
  // That nothing is kept any more stays in sight until it is again.
  if (!kept) say(ctx.text("ui.status.unkept"), ctx.style(t.err, kSmallText));
  say(ctx.text(ctx.session.saved() ? "ui.status.saved" : "ui.status.unsaved"), small);
  say(ctx.format("ui.status.evaluated", {format_duration(ctx.session.evaluation_us() * 1e-6)}), small);
  if (const std::size_t depth = ctx.session.history().undo_depth(); depth > 0)
    say(ctx.ui.texts.count("ui.status.undo_depth", static_cast<double>(depth)), small);
  if (news != nullptr) canvas.text({x, y}, ellipsize(canvas, *news, told, right - x), told);
}

bool message_strip(PanelContext& ctx, const Rect& r) {
  const auto& message = ctx.session.message();
  if (!message || r.empty()) return false;
  const Theme& t = ctx.ui.theme;
  ctx.ui.canvas.rect(r, {.colour = t.ctl});
  ctx.ui.canvas.rect({r.x, r.y, ctx.px(3), r.h}, {.colour = message->is_error ? t.err : t.ok});
  const auto clip = ctx.ui.canvas.clip(r);
  draw_mark(ctx.ui.canvas, t, {r.x + ctx.px(25), r.centre().y}, ctx.px(15),
            message->is_error ? Mark::error : Mark::good);
  const float side = std::round(ctx.px(24)), left = r.x + ctx.px(44), room = r.right() - side - ctx.px(20) - left;
  const TextStyle ink = ctx.style(t.ink), small = ctx.style(t.ink2, kSmallText);
  const bool two = !message->detail.empty();
  const float upper = two ? r.y + r.h * 0.3f : r.centre().y;
  const std::string shown = ellipsize(ctx.ui.canvas, message->text, ink, room);
  ctx.ui.canvas.text({left, upper}, shown, ink);
  const std::string below = ellipsize(ctx.ui.canvas, message->detail, small, room);
  if (two) ctx.ui.canvas.text({left, r.y + r.h * 0.72f}, below, small);
  const ItemState s = ctx.ui.item("message", {left, r.y, room, r.h}, Interaction::Focus::none);
  if (s.hovered && (shown != message->text || below != message->detail))
    ctx.ui.io.hint("message", {left, r.y, ctx.px(40), r.h}, {message->text, {}},
                   message->detail.empty() ? message->text : message->detail);
  separator(ctx, r.x, r.right(), r.bottom() - 1);
  return icon_button(ctx.ui, {r.right() - side - ctx.px(10), std::round(r.centre().y - side / 2), side, side},
                     "message.dismiss", Icon::close, {std::string(ctx.text("ui.message.dismiss")), {}});
}

}  // namespace roofscape::app
