#include "app/panels/figure_menu.h"

#include <algorithm>
#include <cmath>

#include "app/session/layout.h"
#include "widgets/figures/figures.h"
#include "widgets/plot/plot.h"

namespace roofscape::app {

using namespace widgets;

namespace {

// What an entry of the menu means: the first values are commands, then choices by option.
enum MenuValue : int { kMaximise, kCopyData, kExport, kChoices };
constexpr int kMostChoices = 64;

constexpr int kNumbersValue = -1;

std::string menu_id(std::size_t figure) { return "figure." + std::string(figures()[figure].name) + ".menu"; }

std::string command_key(const PanelContext& ctx, std::string_view id) {
  const Command* c = ctx.command(id);
  return c == nullptr ? std::string() : key_text(c->key);
}

}  // namespace

CellTitle fixed_title(PanelContext& ctx, const Rect& head, std::string_view title) {
  const TextStyle bold = ctx.style(ctx.ui.theme.ink, 1, Weight::bold);
  const std::string shown = ellipsize(ctx.ui.canvas, title, bold, head.w * 0.6f);
  ctx.ui.canvas.text({head.x, head.centre().y}, shown, bold);
  return {head.x + ctx.ui.canvas.text_width(shown, bold) + ctx.px(4), {}};
}

CellTitle cell_title(PanelContext& ctx, const Rect& head, std::string_view id, std::string_view title, bool numbers) {
  const Theme& t = ctx.ui.theme;
  const TextStyle bold = ctx.style(t.ink, 1, Weight::bold);
  const std::string owner = std::string(id) + ".title", shown = ellipsize(ctx.ui.canvas, title, bold, head.w * 0.6f);
  const float width = ctx.ui.canvas.text_width(shown, bold);
  const Rect item{head.x - ctx.px(5), head.y + ctx.px(4), width + ctx.px(23), head.h - ctx.px(8)};
  const ItemState s = ctx.ui.item(owner, item);
  const bool open = ctx.ui.io.popup_open(owner);
  if (s.hovered || open) ctx.ui.canvas.rect(item, {.colour = t.ctlh}, ctx.px(3));
  if (s.ring) ctx.ui.canvas.frame(item, {t.ink, ctx.px(2), {}}, ctx.px(3));
  ctx.ui.canvas.text({head.x, head.centre().y}, shown, bold);
  draw_icon(ctx.ui.canvas, {head.x + width + ctx.px(10), head.centre().y + ctx.px(1)}, ctx.px(8), Icon::chevron_down,
            s.hovered || open ? t.ink : t.ink3);
  if (s.hovered && !open) ctx.ui.io.hint(owner, item, {std::string(ctx.text("ui.figure.choose")), {}});
  if (s.clicked) {
    std::vector<Option> options;
    int selected = -1;
    // Those that have something to show of the workload, then the rest.
    const auto all = figures();
    for (const bool suited : {true, false})
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (shows(all[i], ctx.session.scenario()) != suited) continue;
        if (id == "figure." + std::string(all[i].name)) selected = static_cast<int>(options.size());
        const bool first = !suited && (options.empty() || shows(all[static_cast<std::size_t>(options.back().value)],
                                                                ctx.session.scenario()));
        options.push_back({std::string(ctx.text("command.figure." + std::string(all[i].name))),
                           {},
                           true,
                           first && !options.empty(),
                           static_cast<int>(i)});
      }
    if (numbers) {
      if (id == kNumbersCell) selected = static_cast<int>(options.size());
      options.push_back({std::string(ctx.text("ui.numbers.title")), {}, true, true, kNumbersValue});
    }
    ctx.ui.io.open_popup(owner, item, std::move(options), selected, ctx.px(200));
  }
  CellTitle out{item.right(), std::nullopt};
  if (const auto chosen = ctx.ui.io.popup_choice(owner))
    out.chosen = *chosen < 0 ? kNumbersCell : figures()[static_cast<std::size_t>(*chosen)].name;
  return out;
}

void open_figure_menu(PanelContext& ctx, const FiguresState& state, std::size_t figure, const Rect& anchor) {
  const FigureRow& row = figures()[figure];
  const std::string name = "figure." + std::string(row.name);
  std::vector<Option> options;
  // What one comes for, then what the figure shows.
  const bool maximised = state.maximised == figure;
  options.push_back(
      {std::string(ctx.text(maximised ? "ui.figure.restore" : "ui.figure.maximise")), {}, true, false, kMaximise});
  options.push_back(
      {std::string(ctx.text("command.edit.copy_data")), command_key(ctx, "edit.copy_data"), true, false, kCopyData});
  options.push_back(
      {std::string(ctx.text("ui.figure.export")), command_key(ctx, "figure.export"), true, false, kExport});
  for (std::size_t i = 0; i < row.options.size() && i < kMostFigureOptions; ++i) {
    const FigureOption& option = row.options[i];
    const std::string key = name + "." + std::string(option.key);
    options.push_back({std::string(ctx.text(key)), {}, false, true, -1, false, true});
    for (std::size_t c = 0; c < option.choices.size() && c < kMostChoices; ++c)
      options.push_back({std::string(ctx.text(key + "." + std::string(option.choices[c]))),
                         {},
                         true,
                         false,
                         kChoices + static_cast<int>(i) * kMostChoices + static_cast<int>(c),
                         state.choices[figure][i] == c});
  }
  ctx.ui.io.open_popup(menu_id(figure), anchor, std::move(options), -1, ctx.px(200));
}

void take_figure_menu(PanelContext& ctx, FiguresState& state, std::size_t figure) {
  const auto chosen = ctx.ui.io.popup_choice(menu_id(figure));
  if (!chosen) return;
  if (*chosen == kMaximise) state.maximised = state.maximised == figure ? std::nullopt : std::optional(figure);
  state.focused = figure;
  if (*chosen == kCopyData) ctx.requests.run("edit.copy_data");
  if (*chosen == kExport) ctx.requests.run("figure.export");
  if (*chosen < kChoices) return;
  const auto option = static_cast<std::size_t>((*chosen - kChoices) / kMostChoices);
  if (option < kMostFigureOptions)
    state.choices[figure][option] = static_cast<std::uint8_t>((*chosen - kChoices) % kMostChoices);
}

}  // namespace roofscape::app
