// Sheets over the window: the list of keys, and the name to save under. Escape closes them; nothing is ever asked
// twice.
#include <algorithm>
#include <cmath>

#include "app/commands.h"
#include "app/panels/panel.h"
#include "app/settings.h"
#include "widgets/plot.h"

namespace roofscape::app {

using namespace widgets;

namespace {

Rect ground(PanelContext& ctx, const Rect& window, float width, float height) {
  const Theme& t = ctx.ui.theme;
  const Rect r{std::round(window.centre().x - width / 2), std::round(window.centre().y - height / 2),
               std::round(width), std::round(height)};
  ctx.ui.canvas.rect(window, {.colour = faded(t.win, 0.72f)});
  ctx.ui.canvas.rect(r, {.colour = t.panel}, ctx.px(3));
  ctx.ui.canvas.frame(r, {t.edge, std::max(1.0f, ctx.px(1)), {}}, ctx.px(3));
  return r;
}

struct Line {
  std::string text, key;
  bool head = false;
};

void help(PanelContext& ctx, const Rect& window) {
  const Theme& t = ctx.ui.theme;
  std::vector<Line> lines;
  for (std::size_t c = 0; c < std::size(kCategoryIds); ++c) {
    lines.push_back({std::string(ctx.text("menu." + std::string(kCategoryIds[c]))), {}, true});
    for (const Command& command : commands())
      if (command.category == static_cast<Category>(c) && command.key.key != Key::none)
        lines.push_back({std::string(ctx.text("command." + std::string(command.id))), key_text(command.key), false});
    if (lines.back().head) lines.pop_back();
  }
  lines.push_back({std::string(ctx.text("ui.help.controls")), {}, true});
  for (const auto* key : {"drag", "arrows", "type", "right", "tab", "wheel", "pan", "click", "presets", "escape"})
    lines.push_back({std::string(ctx.text(std::string("ui.help.") + key)),
                     std::string(ctx.text(std::string("ui.help.") + key + ".key")), false});
  const float pad = ctx.px(24), gap = ctx.px(36);
  const std::size_t rows = (lines.size() + 1) / 2 + 1;
  // All keys are seen at once: in the large text of the projector they are written smaller.
  const float most = (window.h - ctx.px(24 + 66)) / static_cast<float>(rows);
  const float row = std::floor(std::min(std::round(ctx.px(25)), most));
  const float size = std::min(1.0f, row / ctx.px(24));
  const float height = std::min(window.h - ctx.px(24), static_cast<float>(rows) * row + 2 * pad + ctx.px(34));
  const float width = std::min(window.w - ctx.px(24), ctx.px(820));
  Rect r = ground(ctx, window, width, height);
  const auto clip = ctx.ui.canvas.clip(r);
  r = r.inset(pad, ctx.px(14));
  const Rect head = r.cut_top(ctx.px(38));
  ctx.ui.canvas.text({head.x, head.centre().y}, ctx.text("command.help.keys"), ctx.style(t.ink, 1.25f, Weight::bold));
  const float side = std::round(ctx.px(24));
  if (icon_button(ctx.ui, {head.right() - side, std::round(head.centre().y - side / 2), side, side}, "sheet.close",
                  Icon::close, {std::string(ctx.text("ui.message.dismiss")), {}}))
    ctx.view.sheet = Sheet::none;
  const float column = (r.w - gap) / 2;
  float y = r.y, x = r.x;
  for (const Line& line : lines) {
    if (y + row * (line.head ? 2 : 1) > r.bottom() + 1 && x == r.x) {
      x += column + gap;
      y = r.y;
    }
    const float middle = y + row / 2;
    if (line.head) {
      ctx.ui.canvas.text({x, middle}, line.text, ctx.style(t.ink3, size * kSmallText));
    } else {
      TextStyle key = ctx.style(t.ink2, size * kSmallText);
      key.halign = HAlign::right;
      ctx.ui.canvas.text({x + column, middle}, line.key, key);
      const TextStyle text = ctx.style(t.ink, size);
      ctx.ui.canvas.text(
          {x, middle},
          ellipsize(ctx.ui.canvas, line.text, text, column - ctx.ui.canvas.text_width(line.key, key) - ctx.px(12)),
          text);
    }
    y += row;
  }
}

std::string save_as(PanelContext& ctx, const Rect& window) {
  const Theme& t = ctx.ui.theme;
  Rect r = ground(ctx, window, std::min(window.w - ctx.px(24), ctx.px(520)), ctx.px(168));
  r = r.inset(ctx.px(24), ctx.px(16));
  const Rect head = r.cut_top(ctx.px(34));
  const engine::Scenario& scenario = ctx.session.scenario();
  const Saved what = ctx.view.saving;
  const char* title = what == Saved::model     ? "ui.save.model"
                      : what == Saved::cluster ? "ui.save.cluster"
                                               : "command.file.save_as";
  ctx.ui.canvas.text({head.x, head.centre().y}, ctx.text(title), ctx.style(t.ink, 1.25f, Weight::bold));
  r.cut_top(ctx.px(4));
  const Rect box = r.cut_top(std::round(ctx.px(30)));
  if (!ctx.ui.io.editing("save.name") && !ctx.ui.io.editing_any())
    ctx.ui.io.start_entry("save.name", what == Saved::model     ? scenario.model.name
                                       : what == Saved::cluster ? scenario.cluster.chip.name
                                                                : scenario.name);
  const auto event = text_box(ctx.ui, box, "save.name");
  const TextStyle small = ctx.style(t.ink3, kSmallText);
  const std::string where = ctx.format(
      "ui.save.where", {(what == Saved::scenario
                             ? scenario_folder()
                             : preset_folder(ctx.session.library(),
                                             what == Saved::model ? io::PresetKind::model : io::PresetKind::cluster))
                            .string()});
  ctx.ui.canvas.text({r.x, r.y + ctx.px(14)}, ellipsize(ctx.ui.canvas, where, small, r.w), small);
  Rect foot = r.cut_bottom(std::round(ctx.px(kControlHeight)));
  const Rect ok = foot.cut_right(ctx.px(110));
  foot.cut_right(ctx.px(10));
  const Rect no = foot.cut_right(ctx.px(110));
  const bool accept =
      button(ctx.ui, ok, "save.ok", ctx.text("ui.save.ok"), true) || event == Interaction::EntryEvent::accepted;
  const bool cancel =
      button(ctx.ui, no, "save.cancel", ctx.text("ui.save.cancel")) || event == Interaction::EntryEvent::cancelled;
  if (!accept && !cancel) return {};
  const std::string name = ctx.ui.io.entry().text;
  ctx.ui.io.stop_entry();
  ctx.view.sheet = Sheet::none;
  return accept ? name : std::string();
}

}  // namespace

std::string sheet_panel(PanelContext& ctx, const Rect& window) {
  if (ctx.view.sheet == Sheet::help) help(ctx, window);
  if (ctx.view.sheet == Sheet::save_as) return save_as(ctx, window);
  return {};
}

}  // namespace roofscape::app
