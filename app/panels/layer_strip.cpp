#include "app/panels/layer_strip.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "app/core/layers_text.h"
#include "app/panels/diagnostic_words.h"
#include "app/panels/field_text.h"
#include "widgets/canvas/number_format.h"
#include "widgets/canvas/palette.h"
#include "widgets/plot/plot.h"

namespace roofscape::app {

using namespace widgets;
using engine::Scenario;

namespace {

constexpr std::string_view kLayers = "pipeline.layers_per_stage";

std::vector<int> layers_of(const Scenario& s) {
  return engine::split_layers(engine::layer_split(s), s.pipeline.schedule, engine::virtual_stages_of(s));
}

// Where each stage begins, and the end of the last. A stage without layers keeps some width, so that it can be seen
// and given some.
struct Marks {
  std::vector<float> at;
  float layer = 0;  // width of one
  Marks(const std::vector<int>& layers, const Rect& r) {
    constexpr float kStage = 0.4f;  // of every stage, in layers
    const int sum = std::accumulate(layers.begin(), layers.end(), 0);
    layer = r.w / (static_cast<float>(sum) + kStage * static_cast<float>(layers.size()));
    at.push_back(r.x);
    for (const int n : layers) at.push_back(at.back() + layer * (static_cast<float>(n) + kStage));
  }
  // The nearest boundary between two stages; it lies before the stage of that number.
  std::size_t boundary(float x) const {
    std::size_t best = 1;
    for (std::size_t i = 1; i + 1 < at.size(); ++i)
      if (std::abs(at[i] - x) < std::abs(at[best] - x)) best = i;
    return best;
  }
};

// Layers after the boundary was dragged: one side gives, the other takes. Only the ends may be left without.
std::vector<int> moved(std::vector<int> layers, std::size_t boundary, int by) {
  const std::size_t left = boundary - 1, right = boundary;
  const int left_least = left == 0 ? 0 : 1, right_least = right + 1 == layers.size() ? 0 : 1;
  by = std::clamp(by, std::min(0, left_least - layers[left]), std::max(0, layers[right] - right_least));
  layers[left] += by;
  layers[right] -= by;
  return layers;
}

Readout tip_of(const PanelContext& ctx, const std::vector<int>& layers, std::size_t boundary) {
  Readout tip;
  tip.title = ctx.text("field.pipeline.layers_per_stage.label");
  const auto row = [&](std::size_t stage) {
    tip.rows.emplace_back(ctx.format("ui.layers.stage", {format_count(static_cast<double>(stage))}),
                          ctx.ui.texts.amount(layers[stage], engine::unit::layers));
  };
  row(boundary - 1);
  row(boundary);
  tip.rows.emplace_back(ctx.text("ui.tip.field"), std::string(kLayers));
  return tip;
}

void draw_stages(const PanelContext& ctx, const Rect& r, const std::vector<int>& layers, const Marks& marks) {
  const Theme& t = ctx.ui.theme;
  Canvas& canvas = ctx.ui.canvas;
  TextStyle number = ctx.style(t.ink, kSmallText);
  number.halign = HAlign::centre;
  for (std::size_t s = 0; s < layers.size(); ++s) {
    const Rect stage{marks.at[s], r.y, marks.at[s + 1] - marks.at[s], r.h};
    canvas.rect(stage, {.colour = mix(t.panel, t.ctl, s % 2 == 0 ? 1.0f : 0.6f)}, 0);
    const std::string text = format_count(layers[s]);
    if (canvas.text_width(text, number) + ctx.px(3) < stage.w) canvas.text(stage.centre(), text, number);
  }
}

}  // namespace

void layer_strip(PanelContext& ctx, Column& column, Scenario& scenario) {
  Interaction& io = ctx.ui.io;
  const Theme& t = ctx.ui.theme;
  const std::vector<int> layers = layers_of(scenario);
  const bool by_hand = engine::listed_layers(engine::layer_split(scenario), engine::virtual_stages_of(scenario)) ==
                       engine::ListedLayers::used;
  const engine::Diagnostic* finding = finding_of(ctx, kLayers);

  const float head = std::round(ctx.px(20)), h = std::round(ctx.px(kBoxHeight));
  TextStyle note = ctx.style(t.ink3, kSmallText);
  ctx.ui.canvas.text({column.x, column.y + head / 2}, ctx.text("field.pipeline.layers_per_stage.label"),
                     ctx.style(t.ink));
  note.halign = HAlign::right;
  ctx.ui.canvas.text({column.x + column.width, column.y + head / 2},
                     ctx.text(by_hand ? "ui.layers.by_hand" : "ui.layers.dealt"), note);
  const Rect r{column.x, column.y + head, column.width, h};
  column.y = r.bottom() + ctx.px(4);

  if (io.editing(kLayers)) {
    const auto event = text_box(ctx.ui, r, kLayers);
    if (event == Interaction::EntryEvent::none || event == Interaction::EntryEvent::changed) return;
    const std::string typed = io.entry().text;
    io.stop_entry();
    if (event == Interaction::EntryEvent::cancelled || typed == layers_text(layers)) return;
    if (auto read = read_layers_text(typed)) {
      scenario.pipeline.layers_per_stage = std::move(*read);
      ctx.requests.used = {std::string(kLayers), true};
    } else {
      Edited edited;
      edited.refused = typed;
      tell_refused(ctx, edited, std::string(ctx.text("field.pipeline.layers_per_stage.label")),
                   std::string(ctx.text("ui.layers.domain")));
    }
    return;
  }

  const Marks marks(layers, r);
  const ItemState s = ctx.ui.item(kLayers, r);
  ctx.ui.probe.report(std::string(kLayers) + ".track", r, ctx.ui.canvas.clip_rect());
  draw_control_frame(ctx.ui, r, s.hovered, s.ring,
                     finding == nullptr ? std::nullopt : std::optional(mark_of(finding->severity)));
  draw_stages(ctx, r.inset(ctx.px(1)), layers, marks);
  if (ctx.baseline && layers_of(ctx.baseline->scenario) != layers) draw_differs(ctx.ui, r);
  if (s.double_clicked || (s.clicked && s.focused && !s.hovered)) {
    io.start_entry(kLayers, layers_text(layers));
    return;
  }
  if (s.right_clicked && !scenario.pipeline.layers_per_stage.empty()) {
    scenario.pipeline.layers_per_stage.clear();
    ctx.requests.used = {std::string(kLayers), false};
    return;
  }
  if (layers.size() < 2) return;
  // Of a drag the boundary and the layers are those it began with.
  const std::vector<int> began = s.held ? layers_of(ctx.base) : layers;
  if (began.size() != layers.size()) return;
  const Marks from(began, r);
  const std::size_t boundary = from.boundary(s.held ? io.drag_origin().x : io.pointer().x);
  if (s.hovered || s.held) io.set_cursor(Cursor::resize_x);
  if (s.hovered && !s.held)
    io.hint(kLayers, r, tip_of(ctx, layers, boundary),
            finding != nullptr ? diagnostic_text(ctx, *finding) : std::string(ctx.text("ui.layers.about")));
  if (!s.held || s.pressed) return;
  const float by = (io.pointer().x - io.drag_origin().x) / from.layer;
  std::vector<int> next = moved(began, boundary, static_cast<int>(std::lround(by)));
  if (next == layers) return;
  scenario.pipeline.layers_per_stage = std::move(next);
  ctx.requests.used = {std::string(kLayers), false};
}

}  // namespace roofscape::app
