#include "app/panels/export_sheet.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "app/core/export.h"
#include "app/core/strings.h"
#include "app/panels/panel_parts.h"
#include "app/session/file_list.h"
#include "widgets/figures/figures.h"
#include "widgets/plot/plot.h"

namespace roofscape::app {

using namespace widgets;

namespace {

constexpr float kSheetWidth = 600, kSheetHeight = 330, kNames = 110;
constexpr std::array<std::string_view, 6> kSizes{"figure",      "1920x1080px", "1280x720px",
                                                 "3840x2160px", "170x110mm",   "84mm"};
constexpr std::array<std::string_view, 3> kFormats{"svg", "pdf", "png"};

}  // namespace

SheetReply export_sheet(PanelContext& ctx, const Rect& window, ExportChoice& choice) {
  const Theme& t = ctx.ui.theme;
  Rect r = sheet_ground(ctx, window, std::min(window.w - ctx.px(24), ctx.px(kSheetWidth)),
                        std::min(window.h - ctx.px(24), ctx.px(kSheetHeight)));
  const auto clip = ctx.ui.canvas.clip(r);
  r = r.inset(ctx.px(24), ctx.px(16));
  const Rect head = r.cut_top(ctx.px(38));
  ctx.ui.canvas.text({head.x, head.centre().y}, ctx.text("command.figure.export"),
                     ctx.style(t.ink, 1.25f, Weight::bold));
  const auto row = [&](std::string_view key) {
    Rect line = r.cut_top(std::round(ctx.px(36)));
    ctx.ui.canvas.text({line.x, line.centre().y}, ctx.text(key), ctx.style(t.ink2));
    line.cut_left(ctx.px(kNames));
    const float h = std::round(ctx.px(kControlHeight));
    return Rect{line.x, std::round(line.centre().y - h / 2), line.w, h};
  };
  if (choice.folder.empty()) choice.folder = export_folder().string();
  Interaction& io = ctx.ui.io;
  if (io.editing("export.folder") && io.take(Key::tab)) {  // before the line takes it
    io.start_entry("export.folder", completed(io.entry().text, export_folder(), true));
    io.entry().anchor = io.entry().caret;
  }
  if (const auto typed =
          typed_line(ctx, row("ui.export.folder"), "export.folder", choice.folder, ctx.text("ui.export.folder"));
      typed && !typed->empty())
    choice.folder = *typed;

  std::vector<Option> sizes;
  int size = -1;
  for (const std::string_view name : kSizes) {
    if (name == choice.size) size = static_cast<int>(sizes.size());
    sizes.push_back({std::string(ctx.text("ui.export.size." + std::string(name))), {}, true, false, 0});
  }
  if (size < 0) {  // from a settings file
    size = static_cast<int>(sizes.size());
    sizes.push_back({choice.size, {}, true, false, 0});
  }
  const int next_size = drop_down(ctx.ui, row("ui.export.size"), "export.size", sizes, size);
  if (next_size >= 0 && static_cast<std::size_t>(next_size) < kSizes.size())
    choice.size = kSizes[static_cast<std::size_t>(next_size)];

  const std::vector<std::string> themes = theme_names();
  std::vector<Option> looks;
  int theme = 0;
  for (const std::string& name : themes) {
    if (name == choice.theme) theme = static_cast<int>(looks.size());
    const std::string key = "ui.export.theme." + name;
    looks.push_back({ctx.ui.texts.has(key) ? std::string(ctx.text(key)) : name, {}, true, false, 0});
  }
  const int next_theme = drop_down(ctx.ui, row("ui.export.theme"), "export.theme", looks, theme);
  if (next_theme >= 0 && static_cast<std::size_t>(next_theme) < themes.size())
    choice.theme = themes[static_cast<std::size_t>(next_theme)];

  const Rect formats = row("ui.export.formats");
  for (std::size_t i = 0; i < kFormats.size(); ++i)
    choice.formats[i] = check_box(ctx.ui, {formats.x + static_cast<float>(i) * ctx.px(90), formats.centre().y},
                                  "export." + std::string(kFormats[i]), std::string(kFormats[i]), choice.formats[i]);
  const bool any = std::any_of(choice.formats.begin(), choice.formats.end(), [](bool on) { return on; });

  Rect foot = r.cut_bottom(std::round(ctx.px(kControlHeight)));
  const TextStyle small = ctx.style(any ? t.ink3 : t.err, kSmallText);
  ctx.ui.canvas.text({r.x, r.y + ctx.px(16)},
                     ellipsize(ctx.ui.canvas, ctx.text(any ? "ui.export.rule" : "ui.export.none"), small, r.w),
                     small);
  const Rect ok = foot.cut_right(ctx.px(120));
  foot.cut_right(ctx.px(10));
  const Rect no = foot.cut_right(ctx.px(120));
  const bool recipe = button(ctx.ui, foot.cut_left(ctx.px(170)), "export.recipe", ctx.text("ui.export.recipe"));
  const bool enter = !ctx.ui.io.editing_any() && !ctx.ui.io.popup().open && ctx.ui.io.take(Key::enter);
  const bool yes = button(ctx.ui, ok, "export.ok", ctx.text("ui.export.ok"), true) || enter;
  const bool cancel = button(ctx.ui, no, "export.cancel", ctx.text("ui.save.cancel"));
  if (yes && any) return {true, choice.folder};
  if (recipe) return {true, kAddToRecipe};
  return {.closed = cancel};
}

}  // namespace roofscape::app
