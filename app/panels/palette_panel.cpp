// Everything by keyboard: arrows, Enter, Escape.
#include "app/panels/palette_panel.h"

#include <algorithm>
#include <cmath>

#include "engine/io/tour/tour.h"
#include "widgets/plot/plot.h"

namespace roofscape::app {

using namespace widgets;

namespace {

constexpr std::string_view kEntry = "palette.entry";
constexpr float kPaletteWidth = 640;
constexpr std::size_t kMostEntries = 60;

void refresh(const PanelContext& ctx, PaletteState& p) {
  p.entries = palette_entries(ctx.session, ctx.ui.texts, ctx.commands, p.typed, ctx.usable, kMostEntries, p.tours);
  p.highlighted = 0;
  p.scroll = 0;
}

}  // namespace

PaletteReply palette_panel(PanelContext& ctx, const Rect& window, PaletteState& p) {
  const Theme& t = ctx.ui.theme;
  Interaction& io = ctx.ui.io;
  if (!io.editing(kEntry)) {
    if (p.started) {  // something else took the keys
      p = {};
      PaletteReply closed;
      closed.closed = true;
      return closed;
    }
    io.start_entry(kEntry, p.typed);
    p.started = true;
    std::vector<io::InputError> problems;  // the list of tours tells them
    for (const io::Tour& tour : io::load_tours(ctx.session.library(), problems))
      p.tours.push_back(
          {tour.from_user ? tour.origin : tour.id, std::string(tour.title.in(ctx.text("language.code")))});
    refresh(ctx, p);
  }
  const float row_h = std::round(ctx.px(30)), head_h = std::round(ctx.px(44)), foot_h = std::round(ctx.px(26)),
              pad = ctx.px(8);
  const float width = std::round(std::min(ctx.px(kPaletteWidth), window.w - ctx.px(32)));
  const float top = std::round(window.y + std::min(ctx.px(72), window.h * 0.08f));
  const auto rows = static_cast<std::size_t>(
      std::max(3.0f, std::min(14.0f, (window.bottom() - ctx.px(24) - top - head_h - foot_h) / row_h)));
  const std::size_t shown = std::min(rows, std::max<std::size_t>(1, p.entries.size()));
  const Rect r{std::round(window.centre().x - width / 2), top, width,
               head_h + static_cast<float>(shown) * row_h + foot_h + pad};

  // Asked each time: typing makes the list anew in the middle of this frame.
  const auto count = [&p] { return static_cast<int>(p.entries.size()); };
  const auto walk = [&](int by) {
    p.highlighted = count() == 0 ? 0 : std::clamp(p.highlighted + by, 0, count() - 1);
  };
  if (io.take(Key::down)) p.highlighted = count() == 0 ? 0 : (p.highlighted + 1) % count();
  if (io.take(Key::up)) p.highlighted = count() == 0 ? 0 : (p.highlighted + count() - 1) % count();
  if (io.take(Key::page_down)) walk(static_cast<int>(rows));
  if (io.take(Key::page_up)) walk(-static_cast<int>(rows));
  const bool complete = io.take(Key::tab);

  ctx.ui.canvas.rect(window, {.colour = faded(t.win, 0.55f)});
  ctx.ui.canvas.rect(r, {.colour = t.panel}, ctx.px(4));
  ctx.ui.canvas.frame(r, {t.edge, std::max(1.0f, ctx.px(1)), {}}, ctx.px(4));
  const auto clip = ctx.ui.canvas.clip(r);
  Rect rest = r;
  const Rect head = rest.cut_top(head_h);
  const Interaction::EntryEvent event = text_box(ctx.ui, head.inset(pad), kEntry);
  if (p.typed.empty() && io.entry().text.empty()) {
    const TextStyle hint = ctx.style(t.ink3);
    ctx.ui.canvas.text({head.x + pad + ctx.px(12), head.centre().y},
                       ellipsize(ctx.ui.canvas, ctx.text("ui.palette.hint"), hint, head.w - ctx.px(40)), hint);
  }
  if (io.entry().text != p.typed) {
    p.typed = io.entry().text;
    refresh(ctx, p);
  }
  const Rect foot = rest.cut_bottom(foot_h);
  const auto close = [&] {
    io.stop_entry();
    p = {};
  };

  std::optional<int> chosen;
  if (event == Interaction::EntryEvent::accepted || complete) chosen = p.highlighted;
  // The list follows what is highlighted.
  const auto first_row = static_cast<int>(p.scroll);
  if (p.highlighted < first_row) p.scroll = static_cast<float>(p.highlighted);
  if (p.highlighted >= first_row + static_cast<int>(rows))
    p.scroll = static_cast<float>(p.highlighted - static_cast<int>(rows) + 1);
  if (io.input().wheel != 0 && rest.contains(io.pointer()))
    p.scroll = std::clamp(p.scroll - std::round(io.input().wheel * 3), 0.0f,
                          std::max(0.0f, static_cast<float>(count()) - static_cast<float>(rows)));
  const auto from = static_cast<std::size_t>(p.scroll);
  if (p.entries.empty()) {
    const TextStyle none = ctx.style(t.ink2);
    ctx.ui.canvas.text({r.x + ctx.px(20), rest.y + row_h / 2},
                       ellipsize(ctx.ui.canvas, ctx.format("ui.list.none", {p.typed}), none, r.w - ctx.px(40)), none);
  }
  for (std::size_t i = from; i < p.entries.size() && i < from + rows; ++i) {
    const PaletteEntry& e = p.entries[i];
    const Rect row{r.x + pad, rest.y + static_cast<float>(i - from) * row_h, r.w - 2 * pad, row_h};
    ctx.ui.probe.report("palette#" + std::to_string(i), row, ctx.ui.canvas.clip_rect());
    const bool over = row.contains(io.pointer());
    if (over && io.pointer_moved()) p.highlighted = static_cast<int>(i);
    if (over && io.pressed_now()) chosen = static_cast<int>(i);
    if (static_cast<int>(i) == p.highlighted) ctx.ui.canvas.rect(row, {.colour = t.ctlh}, ctx.px(3));
    const float y = row.centre().y;
    TextStyle small = ctx.style(t.ink3, kSmallText);
    small.halign = HAlign::right;
    const std::string kind(ctx.text("ui.palette.kind." + std::string(kPaletteKindIds[e.kind])));
    float right = row.right() - ctx.px(10);
    ctx.ui.canvas.text({right, y}, kind, small);
    right -= ctx.px(74);
    if (!e.detail.empty()) {
      TextStyle detail = ctx.style(t.ink2, kSmallText);
      detail.halign = HAlign::right;
      const std::string words = ellipsize(ctx.ui.canvas, e.detail, detail, row.w * 0.35f);
      ctx.ui.canvas.text({right, y}, words, detail);
      right -= ctx.ui.canvas.text_width(words, detail) + ctx.px(14);
    }
    const TextStyle title = ctx.style(t.ink);
    ctx.ui.canvas.text({row.x + ctx.px(12), y}, ellipsize(ctx.ui.canvas, e.title, title, right - row.x - ctx.px(12)),
                       title);
  }
  const TextStyle keys = ctx.style(t.ink3, kSmallText);
  ctx.ui.canvas.text({foot.x + ctx.px(20), foot.centre().y},
                     ellipsize(ctx.ui.canvas, ctx.text("ui.palette.keys"), keys, foot.w - ctx.px(40)), keys);

  if (event == Interaction::EntryEvent::cancelled || (io.pressed_now() && !r.contains(io.pointer()))) {
    close();
    return {.closed = true};
  }
  if (!chosen || *chosen < 0 || *chosen >= count()) return {};
  PaletteEntry entry = p.entries[static_cast<std::size_t>(*chosen)];
  if (entry.kind == PaletteKind::complete || (complete && entry.kind != PaletteKind::complete)) {
    // Goes on from the field's path, or from the title where Tab was pressed.
    p.typed = entry.kind == PaletteKind::complete ? entry.value : entry.title;
    io.start_entry(kEntry, p.typed);
    io.entry().anchor = io.entry().caret;
    refresh(ctx, p);
    return {};
  }
  close();
  return {true, std::move(entry)};
}

}  // namespace roofscape::app
