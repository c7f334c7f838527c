#include "app/panels/top_bar.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>

#include "app/core/report_text.h"
#include "app/panels/panel_parts.h"
#include "engine/io/scenario/published_run.h"
#include "engine/scenario/scenario_fields.h"
#include "engine/scenario/scenario_title.h"
#include "widgets/plot/plot.h"

namespace roofscape::app {

using namespace widgets;

namespace {

constexpr float kWithName = 760;  // width from which the program's name stands beside its mark

void open_menu(PanelContext& ctx, const std::string& owner, Category category, const Rect& anchor) {
  std::vector<Option> options;
  const auto all = ctx.commands;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].category != category) continue;
    options.push_back({std::string(ctx.text("command." + std::string(all[i].id))), key_text(all[i].key),
                       !ctx.usable || ctx.usable(all[i]), all[i].separated, static_cast<int>(i),
                       ctx.on && ctx.on(all[i])});
  }
  ctx.ui.io.open_popup(owner, anchor, std::move(options), -1, ctx.px(220));
}

}  // namespace

engine::Scenario top_bar(PanelContext& ctx, const Rect& r, engine::Scenario scenario) {
  const Theme& t = ctx.ui.theme;
  Canvas& canvas = ctx.ui.canvas;
  canvas.rect(r, {.colour = t.win});
  const float y = r.centre().y;
  float x = r.x + std::round(ctx.px(16));
  draw_brand(canvas, t, {x, y - ctx.px(5), ctx.px(18), ctx.px(11)});
  x += ctx.px(28);
  const TextStyle bold = ctx.style(t.ink, 1, Weight::bold);
  if (r.w >= ctx.px(kWithName)) {  // else the scenario's name needs the room
    canvas.text({x, y}, "Roofscape", bold);
    x += canvas.text_width("Roofscape", bold) + ctx.px(20);
  }
  for (const Category category : kMenus) {
    const std::string owner = "menu." + std::string(kCategoryIds[category]);
    const std::string title(ctx.text(owner));
    const TextStyle style = ctx.style(t.ink2);
    const Rect item{x, r.y + ctx.px(6), canvas.text_width(title, style) + ctx.px(16), r.h - ctx.px(12)};
    const ItemState s = ctx.ui.item(owner, item);
    const bool open = ctx.ui.io.popup_open(owner);
    // With one menu open, pointing at another opens that one.
    const bool slide = ctx.ui.io.popup().open && !open && ctx.ui.io.popup().owner_name.starts_with("menu.") &&
                       item.contains(ctx.ui.io.pointer());
    if (s.clicked || slide) open_menu(ctx, owner, category, item);
    if (s.hovered || open) canvas.rect(item, {.colour = t.ctlh}, ctx.px(3));
    if (s.ring) canvas.frame(item, {t.ink, ctx.px(2), {}}, ctx.px(3));
    canvas.text({item.x + ctx.px(8), y}, title, ctx.style(s.hovered || open ? t.ink : t.ink2));
    if (const auto choice = ctx.ui.io.popup_choice(owner)) {
      const auto all = ctx.commands;
      if (*choice >= 0 && static_cast<std::size_t>(*choice) < all.size())
        ctx.requests.run(all[static_cast<std::size_t>(*choice)].id);
    }
    x = item.right();
  }

  // Right: the mode in words, then the way to everything else.
  const Command* find = ctx.command("view.palette");
  const std::string words(ctx.text("ui.palette.find")), key = find == nullptr ? std::string() : key_text(find->key);
  const TextStyle quiet = ctx.style(t.ink3), cap = ctx.style(t.ink2, kSmallText);
  const float key_w = canvas.text_width(key, cap) + ctx.px(10);
  const float full = canvas.text_width(words, quiet) + key_w + ctx.px(34), h = std::round(ctx.px(kControlHeight));
  const float width = ctx.in_sight.compact ? key_w + ctx.px(12) : full;
  const Rect choice{std::round(r.right() - ctx.px(16) - width), std::round(y - h / 2), std::round(width), h};
  const ItemState find_state = ctx.ui.item("palette.open", choice);
  draw_control_frame(ctx.ui, choice, find_state.hovered, find_state.ring);
  if (!ctx.in_sight.compact) canvas.text({choice.x + ctx.px(10), y}, words, quiet);
  const Rect key_cap{std::round(choice.right() - ctx.px(6) - key_w), std::round(y - ctx.px(9)), std::round(key_w),
                     std::round(ctx.px(18))};
  canvas.frame(key_cap, {t.edge, std::max(1.0f, ctx.px(1)), {}}, ctx.px(3));
  TextStyle middle = cap;
  middle.halign = HAlign::centre;
  canvas.text(key_cap.centre(), key, middle);
  if (find_state.hovered) ctx.ui.io.hint("palette.open", choice, {std::string(ctx.text("command.view.palette")), {}});
  if (find_state.clicked) ctx.requests.run("view.palette");
  // All three where there is room, else the present one with the others under it.
  std::vector<std::string> modes;
  for (const std::string_view word : engine::find_field("assumptions.mode")->choices)
    modes.emplace_back(ctx.text("choice.assumptions.mode." + std::string(word)));
  const int present = static_cast<int>(scenario.assumptions.mode);
  float widest = 0;
  for (const std::string& name : modes) widest = std::max(widest, canvas.text_width(name, ctx.style(t.ink)));
  const float mode_w =
      ctx.in_sight.compact ? widest + ctx.px(44) : static_cast<float>(modes.size()) * (widest + ctx.px(20));
  const Rect pill{std::round(choice.x - ctx.px(12) - mode_w), std::round(y - h / 2), std::round(mode_w), h};
  Readout mode_tip{std::string(ctx.text("field.assumptions.mode.label")), {}};
  if (const Command* other = ctx.command("edit.mode"); other != nullptr)
    mode_tip.rows.emplace_back(ctx.text("command.edit.mode"), key_text(other->key));
  const std::string mode_about(
      ctx.text("ui.mode.about." +
               std::string(engine::find_field("assumptions.mode")->choices[static_cast<std::size_t>(present)])));
  int chosen = present;
  if (ctx.in_sight.compact) {
    std::vector<Option> options;
    for (std::size_t i = 0; i < modes.size(); ++i)
      options.push_back({modes[i], {}, true, false, static_cast<int>(i)});
    chosen = drop_down(ctx.ui, pill, "mode", options, present, mode_tip, mode_about);
  } else {
    chosen = segmented(ctx.ui, pill, "mode", modes, present, mode_tip, mode_about);
  }
  scenario.assumptions.mode = static_cast<engine::Mode>(chosen);

  // Middle: the scenario; a dot before the name while it is not saved.
  const std::string title = engine::scenario_title(scenario);
  const std::string name = title.empty() ? std::string(ctx.text("ui.scenario.unnamed")) : title;
  const TextStyle style = ctx.style(t.ink);
  const float room = pill.x - x - ctx.px(80);
  const std::string shown = ellipsize(canvas, name, style, room);
  const float w = canvas.text_width(shown, style) + ctx.px(48);
  const float left = confined(std::round(r.centre().x - w / 2), x + ctx.px(12), pill.x - ctx.px(12) - w);
  const Rect item{left, r.y + ctx.px(6), w, r.h - ctx.px(12)};
  const ItemState s = ctx.ui.item("scenario.name", item);
  if (s.hovered || ctx.ui.io.popup_open("scenario.list")) canvas.rect(item, {.colour = t.ctlh}, ctx.px(3));
  if (s.ring) canvas.frame(item, {t.ink, ctx.px(2), {}}, ctx.px(3));
  if (!ctx.session.saved()) canvas.marker({item.x + ctx.px(12), y}, Marker::circle, ctx.px(6), {.colour = t.ink2});
  canvas.text({item.x + ctx.px(22), y}, shown, style);
  draw_icon(canvas, {item.right() - ctx.px(13), y}, ctx.px(9), Icon::chevron_down, t.ink2);
  if (s.hovered) {
    Readout about{name, {}};
    for (const std::string_view id : {"file.presets", "file.open"})
      if (const Command* c = ctx.command(id); c != nullptr)
        about.rows.emplace_back(ctx.text("command." + std::string(id)), key_text(c->key));
    std::string published(engine::scenario_source(scenario));
    // Finding the run reads what ships of measurements: once for a scenario.
    const auto& run = ctx.studies.get<std::optional<io::PublishedRun>>(
        scenario, [&] { return io::published_run(scenario, ctx.session.library()); });
    if (run && !run->figures.empty())
      published += ". " + published_text(*run, scenario, ctx.session.report(), ctx.ui.texts);
    ctx.ui.io.hint("scenario.name", item, about, published);
  }
  if (s.clicked) ctx.requests.run("file.presets");
  separator(ctx, r.x, r.right(), r.bottom() - 1);
  return scenario;
}

}  // namespace roofscape::app
