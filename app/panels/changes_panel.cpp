#include "app/panels/changes_panel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "app/core/scenario_changes.h"
#include "app/panels/field_text.h"
#include "app/panels/panel_parts.h"
#include "engine/scenario/scenario_fields.h"
#include "widgets/canvas/number_format.h"
#include "widgets/plot/plot.h"

namespace roofscape::app {

using namespace widgets;

namespace {
constexpr std::size_t kMostRows = 6;
}  // namespace

float changes_panel(PanelContext& ctx, const Rect& r, engine::Scenario& scenario) {
  const Theme& t = ctx.ui.theme;
  const engine::Scenario& before = ctx.baseline->scenario;
  const auto changes = scenario_changes(before, ctx.session.scenario());
  const float pad = std::round(ctx.px(16)), x = r.x + pad, width = r.w - 2 * pad;
  const auto clip = ctx.ui.canvas.clip(r);
  float y = r.y;
  y += section_head(ctx, {x, y + ctx.px(4)}, width, ctx.text("ui.pin.changed"),
                    ctx.ui.texts.count("ui.pin.edits", static_cast<double>(changes.size()))) +
       ctx.px(4);
  const float row_h = std::round(ctx.px(24)), label_w = std::min(ctx.px(130), width * 0.4f);
  for (std::size_t i = 0; i < changes.size() && i < kMostRows; ++i) {
    const ScenarioChange& c = changes[i];
    const Rect row{x - ctx.px(6), y, width + ctx.px(12), row_h};
    const std::string id = "change." + c.what;
    const ItemState s = ctx.ui.item(id, row, Interaction::Focus::none);
    if (s.hovered) {
      ctx.ui.canvas.rect(row, {.colour = mix(t.panel, t.ctl, 0.8f)}, ctx.px(3));
      ctx.ui.io.hint(id, row, {std::string(ctx.text("ui.pin.take_back")), {}});
      ctx.ui.io.set_cursor(Cursor::hand);
    }
    if (s.clicked) {
      // A switch over a list brings the list back that was there.
      if (c.what == engine::kLayersByHand || c.what == "pipeline.layers_per_stage")
        scenario.pipeline.layers_per_stage = before.pipeline.layers_per_stage;
      else if (c.what == engine::kGivenOrder || c.what == "pipeline.order")
        scenario.pipeline.order = before.pipeline.order;
      else if (c.field != nullptr)
        c.field->set(scenario, c.field->get(before));
      else if (c.figure != nullptr)
        scenario.cluster.chip[c.figure->field] = before.cluster.chip[c.figure->field];
      else if (c.what == "cluster.fabric")
        scenario.cluster.fabric = before.cluster.fabric;
      else if (c.what == "model")
        scenario.model = before.model;
      else
        scenario.cluster = before.cluster;
    }
    const std::string label =
        c.field != nullptr ? field_label(ctx, c.what) : std::string(ctx.text("field." + c.what + ".label"));
    const auto figure = [&](const engine::Scenario& of) {
      const auto& value = of.cluster.chip[c.figure->field].value;
      return value ? ctx.ui.texts.amount(*value, c.figure->unit, {.trim_zeros = true, .significant = 4})
                   : std::string(ctx.text("ui.editor.unknown"));
    };
    const auto value_of = [&](const engine::Scenario& of, const std::string& name) {
      return c.field != nullptr    ? field_value(ctx, *c.field, c.field->get(of))
             : c.figure != nullptr ? figure(of)
                                   : name;
    };
    const std::string was = value_of(before, c.before), now = value_of(ctx.session.scenario(), c.now);
    const TextStyle l = ctx.style(t.ink2), old = ctx.style(t.ink3), fresh = ctx.style(t.ink);
    const float middle = y + row_h / 2;
    ctx.ui.canvas.text({x, middle}, ellipsize(ctx.ui.canvas, label, l, label_w - ctx.px(8)), l);
    float vx = x + label_w;
    const std::string shown = ellipsize(ctx.ui.canvas, was, old, (width - label_w) * 0.45f);
    ctx.ui.canvas.text({vx, middle}, shown, old);
    const float w = ctx.ui.canvas.text_width(shown, old);
    ctx.ui.canvas.line({vx, middle}, {vx + w, middle}, {t.ink3, std::max(1.0f, ctx.px(1)), {}});
    vx += w + ctx.px(8);
    ctx.ui.canvas.text({vx, middle}, "\u2192", old);
    vx += ctx.px(20);
    ctx.ui.canvas.text({vx, middle}, ellipsize(ctx.ui.canvas, now, fresh, x + width - vx), fresh);
    y += row_h;
  }
  if (changes.size() > kMostRows) {
    ctx.ui.canvas.text({x, y + row_h / 2},
                       ctx.format("ui.pin.more", {format_count(static_cast<double>(changes.size() - kMostRows))}),
                       ctx.style(t.ink3, kSmallText));
    y += row_h;
  }
  y += ctx.px(4);
  const float gap = ctx.px(8), h = std::round(ctx.px(kControlHeight)), w = std::floor((width - 2 * gap) / 3);
  const std::array<std::string_view, 3> ids{"baseline.undo", "baseline.swap", "baseline.pin"};
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const Rect b{x + static_cast<float>(i) * (w + gap), std::round(y), w, h};
    if (button(ctx.ui, b, ids[i], ctx.text("ui.pin.button." + std::to_string(i)))) ctx.requests.run(ids[i]);
  }
  y += h + ctx.px(8);
  // The way to the picture of it, unless it is there.
  if (!changes.empty() && !ctx.in_sight.comparison) {
    if (button(ctx.ui, {x, std::round(y), width, h}, "changes.compare", ctx.text("ui.pin.compare")))
      ctx.requests.run("figure.compare");
    y += h + ctx.px(8);
  }
  y += ctx.px(2);
  return y - r.y;
}

}  // namespace roofscape::app
