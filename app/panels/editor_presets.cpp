#include "app/panels/editor_presets.h"

#include <algorithm>
#include <cmath>

#include "app/panels/panel_parts.h"
#include "engine/base/text_match.h"
#include "engine/io/scenario/scenario_json.h"
#include "widgets/canvas/number_format.h"
#include "widgets/plot/plot.h"

namespace roofscape::app {

using namespace widgets;
using engine::Scenario;

namespace {

constexpr std::string_view kPresetSearch = "editor.search";

struct Entry {
  std::string id, name, detail;
  bool chip = false, now = false;
  const io::Preset* preset = nullptr;  // null: a model of a file
};

std::vector<Entry> model_entries(const PanelContext& ctx, const EditorPreset& preset) {
  std::vector<Entry> all;
  const auto add = [&](std::string id, const engine::TransformerShape& model, std::string name,
                       const io::Preset* from = nullptr) {
    const double total = model.published_total_params;
    const bool now = preset.model && preset.scenario.model.id == model.id && preset.scenario.model.name == model.name;
    all.push_back(
        {std::move(id), std::move(name), total > 0 ? format_si(total, "", {}) : std::string(), false, now, from});
  };
  for (const engine::TransformerShape& model : ctx.session.imported_models()) add({}, model, model.name);
  for (const io::Preset& p : ctx.session.library().list(io::PresetKind::model))
    if (const auto* model = ctx.session.library().find_model(p.id)) add(p.id, *model, p.name, &p);
  return all;
}

std::vector<Entry> cluster_entries(const PanelContext& ctx, const Scenario& s) {
  std::vector<Entry> all;
  const io::PresetLibrary& library = ctx.session.library();
  for (const io::Preset& p : library.list(io::PresetKind::cluster))
    if (const auto* cluster = library.find_cluster(p.id))
      all.push_back({p.id, p.name, format_count(static_cast<double>(engine::chip_count(*cluster))), false,
                     *cluster == s.cluster, &p});
  for (const io::Preset& p : library.list(io::PresetKind::chip))
    if (const auto* chip = library.find_chip(p.id)) {
      const auto hbm = (*chip)[engine::ChipField::hbm_bytes].value;
      all.push_back({p.id, p.name, hbm ? format(*hbm, engine::unit::bytes, {.trim_zeros = true}) : std::string(),
                     true, p.id == s.cluster.chip.id, &p});
    }
  return all;
}

void take(const PanelContext& ctx, const Entry& entry, EditorPart part, Scenario& s) {
  const io::PresetLibrary& library = ctx.session.library();
  if (part == EditorPart::model) {
    if (const auto* model = library.find_model(entry.id)) s.model = *model;
    for (const engine::TransformerShape& model : ctx.session.imported_models())
      if (entry.id.empty() && model.name == entry.name) s.model = model;
  } else if (entry.chip) {
    (void)io::set_field(s, "cluster.chip=" + entry.id, library);
  } else if (const auto* cluster = library.find_cluster(entry.id)) {
    s.cluster = *cluster;
  }
}

}  // namespace

void editor_presets(PanelContext& ctx, Rect r, EditorState& editor, const EditorPreset& preset, Scenario& scenario) {
  const Theme& t = ctx.ui.theme;
  const bool model = editor.part == EditorPart::model;
  const float pad = std::round(ctx.px(8)), row_h = std::round(ctx.px(26));
  const Rect box = r.cut_top(std::round(ctx.px(42))).inset(pad, std::round(ctx.px(7)));
  const auto accepted = typed_line(ctx, box, kPresetSearch, editor.search,
                                   ctx.text(model ? "ui.editor.find.model" : "ui.editor.find.cluster"));
  if (ctx.ui.io.editing(kPresetSearch))
    editor.search = ctx.ui.io.entry().text;
  else if (accepted)
    editor.search = *accepted;
  if (model) {  // the other way to a model
    const TextStyle small = ctx.style(t.ink3, kSmallText);
    const std::string_view words = ctx.text("ui.editor.drop");
    const float height = prose_height(small, wrapped_lines(ctx.ui.canvas, words, small, r.w - ctx.px(24)).size());
    const Rect foot = r.cut_bottom(std::round(height + ctx.px(14)));
    separator(ctx, foot.x, foot.right(), foot.y);
    draw_prose(ctx.ui.canvas, {foot.x + ctx.px(12), foot.y + ctx.px(7)}, words, small, foot.w - ctx.px(24));
  }
  const auto clip = ctx.ui.canvas.clip(r);
  const ScrollRegion scroll = begin_scroll(ctx.ui, model ? "editor.models" : "editor.clusters", r);
  float y = scroll.content_top;
  const std::vector<Entry> entries = model ? model_entries(ctx, preset) : cluster_entries(ctx, scenario);
  const Entry* chosen = nullptr;
  const Entry* best = nullptr;
  engine::Match best_match = engine::Match::none;
  bool chips = false;
  for (const Entry& e : entries) {
    const engine::Match match =
        e.preset != nullptr ? io::match_of(editor.search, *e.preset) : engine::match_of(editor.search, e.name);
    if (match == engine::Match::none) continue;
    if (e.chip && !chips) {
      chips = true;
      ctx.ui.canvas.text({r.x + ctx.px(12), y + row_h * 0.6f}, ctx.text("ui.editor.chips"),
                         ctx.style(t.ink3, kSmallText));
      y += row_h;
    }
    if (best == nullptr || match > best_match) best = &e, best_match = match;
    const Rect row{r.x, y, r.w - ctx.px(10), row_h};
    y += row_h;
    const std::string id = "editor.preset." + (e.id.empty() ? e.name : e.id);
    const ItemState s = ctx.ui.item(id, row);
    if (e.now) chosen_row(ctx.ui, scroll, id, row);
    if (e.now || s.hovered)
      ctx.ui.canvas.rect(row.inset(ctx.px(4), 0), {.colour = e.now ? t.ctlh : t.ctl}, ctx.px(3));
    if (s.ring) ctx.ui.canvas.frame(row.inset(ctx.px(4), 0), {t.ink, ctx.px(2), {}}, ctx.px(3));
    TextStyle detail = ctx.style(t.ink3, kSmallText);
    detail.halign = HAlign::right;
    const float right = e.detail.empty() ? 0 : ctx.ui.canvas.text_width(e.detail, detail) + ctx.px(8);
    const TextStyle name = ctx.style(t.ink, 1, e.now ? Weight::bold : Weight::regular);
    const std::string shown = ellipsize(ctx.ui.canvas, e.name, name, row.w - ctx.px(20) - right);
    ctx.ui.canvas.text({row.x + ctx.px(12), row.centre().y}, shown, name);
    ctx.ui.canvas.text({row.right() - ctx.px(10), row.centre().y}, e.detail, detail);
    if (s.hovered && shown != e.name) ctx.ui.io.hint(id, row, {e.name, {}});
    if (s.clicked) chosen = &e;
  }
  if (best == nullptr)
    y += draw_prose(ctx.ui.canvas, {r.x + ctx.px(12), y + ctx.px(6)}, ctx.format("ui.list.none", {editor.search}),
                    ctx.style(t.ink2, kSmallText), r.w - ctx.px(24));
  // Enter takes what was found best.
  if (accepted && chosen == nullptr && !editor.search.empty() && !ctx.ui.io.pressed_now()) chosen = best;
  end_scroll(ctx.ui, scroll, y + ctx.px(8));
  if (chosen == nullptr) return;
  take(ctx, *chosen, editor.part, scenario);
  editor.refused.clear();
}

}  // namespace roofscape::app
