#include "app/panels/workbench_figure.h"

#include <algorithm>
#include <cmath>

#include "app/panels/nearest_tag.h"
#include "app/panels/panel_parts.h"
#include "widgets/figures/blocks/block_figure.h"
#include "widgets/figures/blocks/block_text.h"

namespace roofscape::app {

using namespace widgets;

namespace {

constexpr float kOfWidth = 0.58f, kLeastFigure = 190, kMostFigure = 330;

struct Choices {
  std::vector<Option> options;
  std::vector<std::string> ids;
  int now = 0;
};

// The first choice is the block's own picture.
Choices over_choices(const PanelContext& ctx, const engine::BuildingBlock& block, const std::string& chosen) {
  Choices out;
  const std::string_view own = engine::picture_of(block).over;
  const auto add = [&](std::string id, std::string name, bool own_choice) {
    if (id == chosen || (own_choice && chosen.empty())) out.now = static_cast<int>(out.options.size());
    out.options.push_back({std::move(name), {}});
    out.ids.push_back(own_choice ? std::string() : std::move(id));
  };
  const engine::BlockInput* own_input = block.find_input(own);
  add(std::string(own),
      own_input == nullptr ? std::string(ctx.text("ui.bench.figure.beside")) : input_label(ctx.ui.texts, *own_input),
      true);
  for (const engine::BlockInput* in : engine::picture_inputs(block))
    if (in->name != own) add(std::string(in->name), input_label(ctx.ui.texts, *in), false);
  if (!own.empty()) add("none", std::string(ctx.text("ui.bench.figure.beside")), false);
  return out;
}

Choices show_choices(const PanelContext& ctx, const engine::BuildingBlock& block, const std::string& chosen,
                     bool lists) {
  Choices out;
  const engine::BlockPicture& own = engine::picture_of(block);
  std::string names;
  for (const engine::BlockOutput* o : engine::picture_outputs(block))
    if (std::find(own.outputs.begin(), own.outputs.end(), o->name) != own.outputs.end())
      names += (names.empty() ? "" : ", ") + output_label(ctx.ui.texts, *o);
  out.options.push_back({names, {}});
  out.ids.emplace_back();
  for (const engine::BlockOutput* o : engine::picture_outputs(block)) {
    if (!lists && o->kind == engine::OutputKind::list) continue;
    if (o->name == chosen) out.now = static_cast<int>(out.options.size());
    out.options.push_back({output_label(ctx.ui.texts, *o), {}});
    out.ids.emplace_back(o->name);
  }
  return out;
}

}  // namespace

float workbench_figure(PanelContext& ctx, Point top_left, float width, Workbench& bench,
                       const Workbench::Kept& kept) {
  if (!kept.reply.result || !kept.reply.question) return top_left.y;
  float y = top_left.y;
  y += section_head(ctx, top_left, width, ctx.text("ui.bench.figure"));
  const engine::BuildingBlock& block = bench.shown();
  Workbench::Bench& now = bench.bench(ctx.session);
  const std::string word(ctx.text("ui.bench.figure.over"));
  TextStyle between = ctx.style(ctx.ui.theme.ink2);
  between.halign = HAlign::centre;
  const float h = std::round(ctx.px(kControlHeight)),
              gap = std::round(ctx.ui.canvas.text_width(word, between) + ctx.px(16)),
              half = std::round((width - gap) / 2);
  const Choices show = show_choices(ctx, block, now.show, kept.picture.over.empty()),
                over = over_choices(ctx, block, now.over);
  const int shown =
      drop_down(ctx.ui, {top_left.x, y, half, h}, "bench.figure.show", show.options, show.now,
                {std::string(ctx.text("ui.bench.figure.show")), {}}, ctx.text("ui.bench.figure.show.about"));
  const int along = drop_down(ctx.ui, {top_left.x + half + gap, y, width - half - gap, h}, "bench.figure.over",
                              over.options, over.now, {std::string(ctx.text("ui.bench.figure.over")), {}},
                              ctx.text("ui.bench.figure.over.about"));
  ctx.ui.canvas.text({top_left.x + half + gap / 2, y + h / 2}, word, between);
  if (shown != show.now) now.show = show.ids[static_cast<std::size_t>(shown)];
  if (along != over.now) now.over = over.ids[static_cast<std::size_t>(along)];
  y += h + std::round(ctx.px(6));

  const Rect area{top_left.x, y, width,
                  std::round(std::clamp(width * kOfWidth, ctx.px(kLeastFigure), ctx.px(kMostFigure)))};
  const BlockFigure figure{kept.reply.question->call, kept.data, ctx.ui.texts, ctx.ui.theme};
  Canvas& canvas = ctx.ui.canvas;
  const ItemState s = ctx.ui.item("bench.figure", area, Interaction::Focus::none);
  const std::size_t first = canvas.tags().size();
  const Tagging before = canvas.tagging();
  if (before != Tagging::all) canvas.set_tagging(s.hovered ? Tagging::near_pointer : Tagging::none);
  {
    const auto clip = canvas.clip(area);
    draw_block_figure(canvas, area, figure, false);
  }
  if (before != Tagging::all) canvas.set_tagging(before);
  if (s.hovered)
    if (const TagRegion* hit = nearest_tag(ctx, first); hit != nullptr && !hit->readout.empty()) {
      Rect avoid = hit->rect;
      const Point p = ctx.ui.io.pointer();
      if (avoid.w > ctx.px(60)) avoid = {p.x - ctx.px(6), avoid.y, ctx.px(12), avoid.h};
      ctx.ui.io.hint("bench.figure/" + hit->id, avoid, hit->readout, {}, 0.08, area);
    }
  return area.bottom() + std::round(ctx.px(10));
}

}  // namespace roofscape::app
