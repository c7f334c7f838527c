// The left rail: the model and the cluster.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/panels/panel_parts.h"
#include "app/panels/rail_parts.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/scenario/scenario_title.h"
#include "widgets/canvas/number_format.h"

namespace roofscape::app {

using namespace widgets;
using engine::Scenario;

namespace {

// The way into the editor, at the right of a choice; narrows the choice.
Rect with_pencil(PanelContext& ctx, const Rect& r, std::string_view command) {
  const Command* c = ctx.command(command);
  const float side = std::round(ctx.px(kControlHeight));
  const Rect pencil{r.right() - side, r.y, side, r.h};
  Readout tip{std::string(ctx.text("command." + std::string(command))), {}};
  if (c != nullptr) tip.rows.emplace_back(ctx.text("ui.tip.key"), key_text(c->key));
  if (icon_button(ctx.ui, pencil, command, Icon::pencil, tip)) ctx.requests.run(command);
  return {r.x, r.y, r.w - side - ctx.px(5), r.h};
}

// A model or chip of the scenario's own: its name, and that it was edited where it has a preset's.
std::string own_name(const PanelContext& ctx, const std::string& name, bool of_preset) {
  if (name.empty()) return std::string(ctx.text("ui.model.own"));
  return of_preset ? ctx.format("ui.editor.edited", {name}) : name;
}

// What a model that is no preset is called.
std::string model_label(const PanelContext& ctx, const engine::TransformerShape& model) {
  const bool of_preset = model.edits.fields == 0 && ctx.session.library().find_model(model.id) != nullptr;
  return own_name(ctx, engine::model_title(model), of_preset);
}

// Parameters are counted in billions, as people say them.
std::string parameter_count(double v) {
  if (v >= 1e12) return format_fixed(v / 1e12, 2) + std::string(kNarrowSpace) + "T";
  if (v >= 1e9) return format_fixed(v / 1e9, 2) + std::string(kNarrowSpace) + "B";
  return format_fixed(v / 1e6, 1) + std::string(kNarrowSpace) + "M";
}

}  // namespace

void model_section(PanelContext& ctx, Column& column, Scenario& s) {
  begin_section(ctx, column, "ui.section.model");
  std::vector<Option> options;
  std::vector<std::string> ids;
  int now = -1;
  for (const io::Preset& p : ctx.session.library().list(io::PresetKind::model)) {
    const engine::TransformerShape* shape = ctx.session.library().find_model(p.id);
    if (shape == nullptr) continue;
    if (*shape == s.model) now = static_cast<int>(ids.size());
    options.push_back(preset_option(p));
    ids.push_back(p.id);
  }
  if (now < 0) {  // a model of the scenario's own
    now = static_cast<int>(options.size());
    options.push_back({model_label(ctx, s.model), {}, true, false, 0});
    ids.emplace_back();
  }
  const auto params = ctx.session.report().quantities[engine::Q::params_total];
  if (params) options[static_cast<std::size_t>(now)].detail = parameter_count(*params);
  const Rect r{column.x, column.y, column.width, std::round(ctx.px(kControlHeight))};
  const int next = drop_down(ctx.ui, with_pencil(ctx, r, "editor.model"), "model", options, now,
                             {std::string(ctx.text("field.model.label")), {}}, ctx.text("field.model.about"));
  if (next != now && !ids[static_cast<std::size_t>(next)].empty())
    s.model = *ctx.session.library().find_model(ids[static_cast<std::size_t>(next)]);
  column.y = r.bottom() + ctx.px(3);
  const std::string layers = format_count(s.model.n_layers), width = format_count(s.model.d_model),
                    heads = format_count(s.model.n_heads);
  caption(ctx, column, "rail.model.shape",
          s.model.is_moe()
              ? ctx.format("ui.model.shape.moe", {layers, width, heads, format_count(s.model.moe.n_routed_experts),
                                                  format_count(s.model.moe.experts_per_token)})
              : ctx.format("ui.model.shape", {layers, width, heads, format_count(s.model.n_kv_heads)}));
}

void cluster_section(PanelContext& ctx, Column& column, Scenario& s) {
  begin_section(ctx, column, "ui.section.cluster");
  // Clusters that ship, then every chip: a chip is put in the place of the present ones, as many as there are.
  const io::PresetLibrary& library = ctx.session.library();
  std::vector<Option> options;
  std::vector<std::string> ids;
  int now = -1;
  const auto add = [&](const io::Preset& preset, const engine::Chip& chip, bool separated) {
    options.push_back(preset_option(preset, {}, separated));
    options.back().listed = true;  // of the present one it stands below, whatever room its name leaves
    if (const auto hbm = chip[engine::ChipField::hbm_bytes].value)
      options.back().detail = format(*hbm, engine::unit::bytes, {.trim_zeros = true});
    ids.push_back(preset.id);
  };
  // At another price it is the same cluster.
  engine::Cluster present = s.cluster;
  const auto priced = [&](const engine::Chip& as) -> const engine::Cluster& {
    constexpr auto kPrice = engine::ChipField::price_usd_per_chip_hour;
    if (present.chip.id == as.id) present.chip[kPrice] = as[kPrice];
    return present;
  };
  for (const io::Preset& p : library.list(io::PresetKind::cluster)) {
    const engine::Cluster* cluster = library.find_cluster(p.id);
    if (cluster == nullptr) continue;
    if (*cluster == priced(cluster->chip)) now = static_cast<int>(ids.size());
    add(p, cluster->chip, false);
  }
  const std::size_t clusters = ids.size();
  for (const io::Preset& p : library.list(io::PresetKind::chip)) {
    const engine::Chip* chip = library.find_chip(p.id);
    if (chip == nullptr) continue;
    if (now < 0 && *chip == priced(*chip).chip) now = static_cast<int>(ids.size());
    add(p, *chip, ids.size() == clusters);
  }
  if (now < 0) {
    now = static_cast<int>(ids.size());
    io::Preset own;
    own.name = own_name(ctx, s.cluster.chip.name, library.find_chip(s.cluster.chip.id) != nullptr);
    add(own, s.cluster.chip, true);
  }
  const Rect r{column.x, column.y, column.width, std::round(ctx.px(kControlHeight))};
  const int next = drop_down(ctx.ui, with_pencil(ctx, r, "editor.cluster"), "cluster", options, now,
                             {std::string(ctx.text("field.cluster.label")), {}}, ctx.text("field.cluster.about"));
  const auto chosen = static_cast<std::size_t>(next);
  if (next != now && !ids[chosen].empty()) {
    if (chosen < clusters)
      s.cluster = *library.find_cluster(ids[chosen]);
    else
      (void)io::set_field(s, "cluster.chip=" + ids[chosen], library);
  }
  column.y = r.bottom() + ctx.px(4);
  const engine::Chip& chip = s.cluster.chip;
  if (chip.interconnect == engine::Interconnect::torus) {
    for (int axis = 0; axis < 3; ++axis) {
      const int longest =
          std::max(chip.pod_shape[static_cast<std::size_t>(axis)], s.cluster.slice[static_cast<std::size_t>(axis)]);
      if (longest <= 1) continue;
      field_slider(ctx, column, s, fmt::format("cluster.slice.{}", axis), integers(1, longest));
    }
    field_slider(ctx, column, s, "cluster.slices", powers(1, 16), {.off = s.cluster.slices == 1});
  } else {
    field_slider(ctx, column, s, "cluster.nodes", powers(1, 4096));
    field_slider(ctx, column, s, "cluster.node_size", powers(1, 128));
  }
  const auto chips = static_cast<double>(engine::chip_count(s.cluster));
  const bool torus = chip.interconnect == engine::Interconnect::torus;
  std::string note = ctx.ui.texts.count(torus ? "ui.cluster.torus" : "ui.cluster.switched", chips);
  if (const auto hbm = chip[engine::ChipField::hbm_bytes].value)
    note += ctx.format("ui.cluster.hbm", {format(*hbm, engine::unit::bytes, {.trim_zeros = true})});
  if (torus) {
    if (const auto w = chip[engine::ChipField::ici_bytes_per_s_per_axis_bidirectional].value)
      note += ctx.format("ui.cluster.ici", {format(*w, engine::unit::bytes_per_s, {.trim_zeros = true})});
  } else if (const auto w = chip[engine::ChipField::scaleup_bytes_per_s_per_chip_oneway].value) {
    note += ctx.format("ui.cluster.nvlink", {format(*w, engine::unit::bytes_per_s, {.trim_zeros = true})});
  }
  caption(ctx, column, "rail.cluster.links", note);
}

}  // namespace roofscape::app
