// Escape closes all of them.
#include "app/panels/sheet_panel.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "app/panels/export_sheet.h"
#include "app/session/file_list.h"
#include "app/session/settings.h"
#include "engine/scenario/scenario_title.h"
#include "widgets/plot/plot.h"

namespace roofscape::app {

using namespace widgets;

Rect sheet_ground(PanelContext& ctx, const Rect& window, float width, float height) {
  const Theme& t = ctx.ui.theme;
  const Rect r{std::round(window.centre().x - width / 2), std::round(window.centre().y - height / 2),
               std::round(width), std::round(height)};
  ctx.ui.canvas.rect(window, {.colour = faded(t.win, 0.72f)});
  ctx.ui.canvas.rect(r, {.colour = t.panel}, ctx.px(3));
  ctx.ui.canvas.frame(r, {t.edge, std::max(1.0f, ctx.px(1)), {}}, ctx.px(3));
  return r;
}

namespace {

struct Line {
  std::string text, key;
  bool head = false;
};

SheetReply help(PanelContext& ctx, const Rect& window) {
  const Theme& t = ctx.ui.theme;
  std::vector<Line> lines;
  // On the wall only what is of use there, in large type.
  const Command* of_the_wall = ctx.command("wall.black");
  const bool wall = of_the_wall != nullptr && ctx.usable && ctx.usable(*of_the_wall);
  std::vector<Category> listed(kMenus.begin(), kMenus.end());
  if (wall) listed = {Category::tours, Category::help};
  listed.push_back(Category::wall);
  for (const Category category : listed) {
    lines.push_back({std::string(ctx.text("menu." + std::string(kCategoryIds[category]))), {}, true});
    for (const Command& command : ctx.commands)
      if (command.category == category && command.key.key != Key::none)
        lines.push_back({std::string(ctx.text("command." + std::string(command.id))),
                         command.other_key.key == Key::none || category != Category::wall
                             ? key_text(command.key)
                             : key_text(command.key) + ", " + key_text(command.other_key),
                         false});
    if (lines.back().head) lines.pop_back();
  }
  if (!wall) lines.push_back({std::string(ctx.text("ui.help.controls")), {}, true});
  for (const auto* key :
       {"drag", "arrows", "type", "right", "tab", "wheel", "pan", "click", "drop", "presets", "escape"})
    if (!wall)
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
  Rect r = sheet_ground(ctx, window, width, height);
  const auto clip = ctx.ui.canvas.clip(r);
  r = r.inset(pad, ctx.px(14));
  const Rect head = r.cut_top(ctx.px(38));
  ctx.ui.canvas.text({head.x, head.centre().y}, ctx.text("command.help.keys"), ctx.style(t.ink, 1.25f, Weight::bold));
  const float side = std::round(ctx.px(24));
  const bool closed = icon_button(ctx.ui, {head.right() - side, std::round(head.centre().y - side / 2), side, side},
                                  "sheet.close", Icon::close, {std::string(ctx.text("ui.message.dismiss")), {}});
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
  SheetReply reply;
  reply.closed = closed;
  return reply;
}

// The name of a model or a cluster, in the folder of presets. One that is there is replaced when asked.
SheetReply save_preset(PanelContext& ctx, const Rect& window, bool model, std::filesystem::path& replaces) {
  const Theme& t = ctx.ui.theme;
  Rect r = sheet_ground(ctx, window, std::min(window.w - ctx.px(24), ctx.px(520)), ctx.px(168));
  r = r.inset(ctx.px(24), ctx.px(16));
  const Rect head = r.cut_top(ctx.px(34));
  const engine::Scenario& scenario = ctx.session.scenario();
  ctx.ui.canvas.text({head.x, head.centre().y}, ctx.text(model ? "ui.save.model" : "ui.save.cluster"),
                     ctx.style(t.ink, 1.25f, Weight::bold));
  r.cut_top(ctx.px(4));
  const Rect box = r.cut_top(std::round(ctx.px(30)));
  if (!ctx.ui.io.editing("save.name") && !ctx.ui.io.editing_any())
    ctx.ui.io.start_entry("save.name",
                          model ? engine::model_title(scenario.model) : engine::chip_title(scenario.cluster.chip));
  const auto event = text_box(ctx.ui, box, "save.name");
  const std::string name = ctx.ui.io.entry().text;
  const std::filesystem::path file =
      preset_folder(ctx.session.library(), model ? io::PresetKind::model : io::PresetKind::cluster) /
      (file_stem(name) + ".json");
  if (replaces != file) replaces.clear();
  const bool asks = !replaces.empty();
  const TextStyle small = ctx.style(asks ? t.warn : t.ink3, kSmallText);
  const std::string where = ctx.format(asks ? "ui.files.replace" : "ui.files.target", {file.string()});
  ctx.ui.canvas.text({r.x, r.y + ctx.px(14)}, ellipsize(ctx.ui.canvas, where, small, r.w), small);
  Rect foot = r.cut_bottom(std::round(ctx.px(kControlHeight)));
  const Rect ok = foot.cut_right(ctx.px(110));
  foot.cut_right(ctx.px(10));
  const Rect no = foot.cut_right(ctx.px(110));
  const bool accept = button(ctx.ui, ok, "save.ok", ctx.text(asks ? "ui.files.replace.ok" : "ui.save.ok"), true) ||
                      event == Interaction::EntryEvent::accepted;
  const bool cancel =
      button(ctx.ui, no, "save.cancel", ctx.text("ui.save.cancel")) || event == Interaction::EntryEvent::cancelled;
  if (!accept && !cancel) return {};
  std::error_code unknown;
  if (accept && !cancel && !asks && !name.empty() && std::filesystem::exists(file, unknown)) {
    replaces = file;
    ctx.ui.io.start_entry("save.name", name);
    return {};
  }
  ctx.ui.io.stop_entry();
  replaces.clear();
  return {true, cancel ? std::string() : name};
}

// Before the window closes though what is open could not be kept.
SheetReply leave(PanelContext& ctx, const Rect& window, const std::string& save_problem) {
  const Theme& t = ctx.ui.theme;
  Rect r = sheet_ground(ctx, window, std::min(window.w - ctx.px(24), ctx.px(560)), ctx.px(190));
  r = r.inset(ctx.px(24), ctx.px(16));
  const Rect head = r.cut_top(ctx.px(34));
  ctx.ui.canvas.text({head.x, head.centre().y}, ctx.text("ui.leave"), ctx.style(t.ink, 1.25f, Weight::bold));
  Rect foot = r.cut_bottom(std::round(ctx.px(kControlHeight)));
  draw_prose(ctx.ui.canvas, {r.x, r.y}, ctx.format("ui.leave.why", {save_problem}), ctx.style(t.ink2), r.w);
  const Rect yes = foot.cut_right(ctx.px(150));
  foot.cut_right(ctx.px(10));
  const Rect no = foot.cut_right(ctx.px(150));
  const bool go = button(ctx.ui, yes, "leave.ok", ctx.text("ui.leave.ok"));
  const bool stay = button(ctx.ui, no, "leave.cancel", ctx.text("ui.leave.cancel"), true);
  return {go || stay, go ? "leave" : std::string()};
}

}  // namespace

SheetReply sheet_panel(PanelContext& ctx, const Rect& window, SheetState& state, ExportChoice& exports,
                       const std::string& save_problem) {
  switch (state.shown) {
    case Sheet::help:
      return help(ctx, window);
    case Sheet::open:
      return file_chooser(ctx, window, false, state.files);
    case Sheet::save_as:
      if (state.saving == Saved::scenario) return file_chooser(ctx, window, true, state.files);
      return save_preset(ctx, window, state.saving == Saved::model, state.files.replaces);
    case Sheet::export_figure:
      return export_sheet(ctx, window, exports);
    case Sheet::import:
      return import_sheet(ctx, window, state.import);
    case Sheet::measured:
      return measured_sheet(ctx, window, state.measured);
    case Sheet::scene:
      return scene_sheet(ctx, window, state.scene);
    case Sheet::leave:
      return leave(ctx, window, save_problem);
    case Sheet::palette:
    case Sheet::none:
      break;
  }
  return {};
}

}  // namespace roofscape::app
