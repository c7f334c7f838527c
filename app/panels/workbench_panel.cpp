#include "app/panels/workbench_panel.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "app/panels/panel_parts.h"
#include "app/panels/workbench_figure.h"
#include "app/panels/workbench_inputs.h"
#include "app/panels/workbench_outputs.h"
#include "widgets/plot/plot.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape::app {

using namespace widgets;
using engine::BuildingBlock;

namespace {

constexpr float kTwoColumns = 520;  // width below which outputs stand under the inputs
constexpr std::string_view kBlockSearch = "bench.search";

void block_list(PanelContext& ctx, Rect r, Workbench& bench) {
  const Theme& t = ctx.ui.theme;
  Interaction& io = ctx.ui.io;
  const float pad = std::round(ctx.px(8)), row_h = std::round(ctx.px(26));
  const Rect box = r.cut_top(std::round(ctx.px(42))).inset(pad, std::round(ctx.px(7)));
  const auto accepted = typed_line(ctx, box, kBlockSearch, bench.search, ctx.text("ui.bench.search"));
  if (io.editing(kBlockSearch))
    bench.search = io.entry().text;
  else if (accepted)
    bench.search = *accepted;
  const auto clip = ctx.ui.canvas.clip(r);
  const ScrollRegion scroll = begin_scroll(ctx.ui, "bench.list", r);
  float y = scroll.content_top;
  bool first = true;
  const std::string_view now = bench.shown().id;
  std::string next;
  std::optional<engine::BlockTopic> topic;
  for (const BuildingBlock* listed : bench.list(ctx.ui.texts)) {
    const BuildingBlock& block = *listed;
    if (bench.search.empty() && topic != block.topic) {
      topic = block.topic;
      const std::string key = "calc.topic." + std::string(engine::kBlockTopicIds[block.topic]);
      const TextStyle heading = ctx.style(t.ink3, kSmallText);
      ctx.ui.canvas.text({r.x + ctx.px(12), y + row_h / 2},
                         ellipsize(ctx.ui.canvas, ctx.text(key), heading, r.w - ctx.px(28)), heading);
      y += row_h;
    }
    if (accepted && first && !bench.search.empty() && io.pointer().x < r.right()) next = block.id;
    first = false;
    const Rect row{r.x, y, r.w - ctx.px(10), row_h};
    y += row_h;
    const std::string id = "bench.block." + std::string(block.id);
    const ItemState s = ctx.ui.item(id, row);
    const bool shown = block.id == now;
    if (shown) chosen_row(ctx.ui, scroll, block.id, row);
    if (shown || s.hovered)
      ctx.ui.canvas.rect(row.inset(ctx.px(4), 0), {.colour = shown ? t.ctlh : t.ctl}, ctx.px(3));
    if (s.ring) ctx.ui.canvas.frame(row.inset(ctx.px(4), 0), {t.ink, ctx.px(2), {}}, ctx.px(3));
    const TextStyle name = ctx.style(t.ink, 1, shown ? Weight::bold : Weight::regular);
    ctx.ui.canvas.text({row.x + ctx.px(12), row.centre().y},
                       ellipsize(ctx.ui.canvas, block.id, name, row.w - ctx.px(20)), name);
    if (s.hovered)
      ctx.ui.io.hint(id, row,
                     {std::string(block.id),
                      {{std::string(ctx.text("ui.bench.source")), source_text(ctx.ui.texts, block.source)}}},
                     std::string(ctx.text("calc." + std::string(block.id))));
    if (s.clicked) next = block.id;
  }
  if (first)
    y += draw_prose(ctx.ui.canvas, {r.x + ctx.px(12), y + ctx.px(6)}, ctx.format("ui.list.none", {bench.search}),
                    ctx.style(t.ink2, kSmallText), r.w - ctx.px(24));
  end_scroll(ctx.ui, scroll, y + ctx.px(8));
  if (!next.empty()) bench.show(next);
}

}  // namespace

void workbench_panel(PanelContext& ctx, const Rect& r, Workbench& bench) {
  const Theme& t = ctx.ui.theme;
  const float pad = std::round(ctx.px(14));
  ctx.ui.canvas.rect(r, {.colour = t.panel});
  const auto clip = ctx.ui.canvas.clip(r);
  Rect rest = r;
  const Rect left = rest.cut_left(std::round(std::min(ctx.px(200), r.w * 0.24f)));
  block_list(ctx, left, bench);
  vertical_separator(ctx, left.right(), r.y, r.bottom());

  const BuildingBlock& block = bench.shown();
  Rect head = rest.cut_top(std::round(ctx.px(46))).inset(pad, 0);
  const float side = std::round(ctx.px(24)), button_h = std::round(ctx.px(kControlHeight));
  const auto middle = [&](Rect b, float h) { return Rect{b.x, std::round(head.centre().y - h / 2), b.w, h}; };
  if (icon_button(ctx.ui, middle(head.cut_right(side), side), "bench.close", Icon::close,
                  {std::string(ctx.text("ui.bench.close")), {}}))
    bench.open = false;
  head.cut_right(ctx.px(8));
  for (const std::string_view id : {"workbench.reset", "workbench.copy", "figure.export"}) {
    const std::string words(ctx.text("ui.bench." + std::string(id.substr(id.find('.') + 1))));
    const float w = std::round(ctx.ui.canvas.text_width(words, ctx.style(t.ink)) + ctx.px(24));
    if (button(ctx.ui, middle(head.cut_right(w), button_h), id, words)) ctx.requests.run(id);
    head.cut_right(ctx.px(8));
  }
  const TextStyle title = ctx.style(t.ink, 1.25f, Weight::bold);
  ctx.ui.canvas.text({head.x, head.centre().y}, ellipsize(ctx.ui.canvas, block.id, title, head.w), title);
  rest.y -= ctx.px(4);
  rest.h += ctx.px(4);
  const std::string about = ctx.format("ui.bench.about", {std::string(ctx.text("calc." + std::string(block.id))),
                                                          source_text(ctx.ui.texts, block.source)});
  rest.cut_top(
      draw_prose(ctx.ui.canvas, {rest.x + pad, rest.y}, about, ctx.style(t.ink2, kSmallText), rest.w - 2 * pad) +
      ctx.px(8));
  separator(ctx, rest.x, rest.right(), rest.y);

  // Edits of this frame are answered in the next.
  const Workbench::Kept& kept = bench.reply(ctx.session);
  const bool narrow = rest.w < ctx.px(kTwoColumns);  // outputs under the inputs
  const Rect inputs = narrow ? rest.cut_top(std::round(rest.h * 0.5f)) : rest.cut_left(std::round(rest.w * 0.47f));
  {
    const auto inner = ctx.ui.canvas.clip(inputs);
    const std::string region = "bench.inputs." + std::string(block.id);
    const ScrollRegion scroll = begin_scroll(ctx.ui, region, inputs);
    const float bottom =
        block_inputs(ctx, {inputs.x + pad, scroll.content_top + ctx.px(4)}, inputs.w - 2 * pad, bench, kept);
    end_scroll(ctx.ui, scroll, bottom + ctx.px(12));
  }
  if (narrow)
    separator(ctx, rest.x, rest.right(), rest.y);
  else
    vertical_separator(ctx, inputs.right(), rest.y, rest.bottom());
  const auto inner = ctx.ui.canvas.clip(rest);
  const std::string region = "bench.outputs." + std::string(block.id);
  const ScrollRegion scroll = begin_scroll(ctx.ui, region, rest);
  const float figure_bottom =
      workbench_figure(ctx, {rest.x + pad, scroll.content_top + ctx.px(4)}, rest.w - 2 * pad, bench, kept);
  const float bottom = block_outputs(ctx, {rest.x + pad, figure_bottom}, rest.w - 2 * pad, bench, kept);
  end_scroll(ctx.ui, scroll, bottom + ctx.px(12));
}

}  // namespace roofscape::app
