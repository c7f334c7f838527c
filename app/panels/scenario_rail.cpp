// The left rail: every input of the scenario, by section.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "app/commands.h"
#include "app/editor.h"
#include "app/panels/field_control.h"
#include "app/scenario_edits.h"
#include "engine/io/scenario_json.h"
#include "engine/scenario_title.h"
#include "widgets/number_format.h"
#include "widgets/plot.h"

namespace roofscape::app {

using namespace widgets;
using engine::Scenario;

namespace {

// One line, however long it is: what follows must not move.
void caption(PanelContext& ctx, Column& column, std::string_view id, const std::string& text) {
  const TextStyle s = ctx.style(ctx.ui.theme.ink3, kSmallText);
  const Rect row{column.x, column.y, column.width + ctx.px(10), std::round(ctx.px(20))};
  const std::string shown = ellipsize(ctx.ui.canvas, text, s, row.w);
  ctx.ui.canvas.text({row.x, row.centre().y}, shown, s);
  if (shown != text) {
    const ItemState state = ctx.ui.item(id, row, Interaction::Focus::none);
    if (state.hovered) ctx.ui.io.hint(id, row, {text, {}});
  }
  column.y = row.bottom();
}

void begin_section(PanelContext& ctx, Column& column, std::string_view key, std::string_view note = {},
                   std::optional<Mark> mark = {}) {
  column.y +=
      section_head(ctx, {column.x, column.y + ctx.px(4)}, column.width, ctx.text(key), note, mark) + ctx.px(4);
}

void end_section(PanelContext& ctx, Column& column, const Rect& rail) {
  column.y += ctx.px(8);
  separator(ctx, rail.x, rail.right(), column.y);
}

// The way into the editor, at the right of a choice; narrows the choice.
Rect with_pencil(PanelContext& ctx, const Rect& r, std::string_view command) {
  const Command* c = find_command(command);
  const float side = std::round(ctx.px(kControlHeight));
  const Rect pencil{r.right() - side, r.y, side, r.h};
  Readout tip{std::string(ctx.text("command." + std::string(command))), {}};
  if (c != nullptr) tip.rows.emplace_back(ctx.text("ui.tip.key"), key_text(c->key));
  if (icon_button(ctx.ui, pencil, command, Icon::pencil, tip)) ctx.requests.emplace_back(command);
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

std::string small_count(double v) { return format_si(v, "", {.trim_zeros = true}); }

void model_section(PanelContext& ctx, Column& column, Scenario& s) {
  begin_section(ctx, column, "ui.section.model");
  std::vector<Option> options;
  std::vector<std::string> ids;
  int now = -1;
  for (const io::Preset& p : ctx.session.library().list(io::PresetKind::model)) {
    const engine::TransformerShape* shape = ctx.session.library().find_model(p.id);
    if (shape == nullptr) continue;
    if (*shape == s.model) now = static_cast<int>(ids.size());
    options.push_back({p.name, {}, true, false, 0});
    options.back().id = p.id;
    ids.push_back(p.id);
  }
  if (now < 0) {  // a model of the scenario's own
    now = static_cast<int>(options.size());
    options.push_back(
        {model_label(ctx, s.model), {}, true, false, 0});
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
  const auto add = [&](std::string name, std::string id, const engine::Chip& chip, bool separated) {
    options.push_back({std::move(name), {}, true, separated, 0});
    options.back().id = id;
    if (const auto hbm = chip[engine::ChipField::hbm_bytes].value)
      options.back().detail = format(*hbm, engine::unit::bytes, {.trim_zeros = true});
    ids.push_back(std::move(id));
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
    add(p.name, p.id, cluster->chip, false);
  }
  const std::size_t clusters = ids.size();
  for (const io::Preset& p : library.list(io::PresetKind::chip)) {
    const engine::Chip* chip = library.find_chip(p.id);
    if (chip == nullptr) continue;
    if (now < 0 && *chip == priced(*chip).chip) now = static_cast<int>(ids.size());
    add(p.name, p.id, *chip, ids.size() == clusters);
  }
  if (now < 0) {
    now = static_cast<int>(ids.size());
    add(own_name(ctx, s.cluster.chip.name, library.find_chip(s.cluster.chip.id) != nullptr), {}, s.cluster.chip,
        true);
  }
  const Rect r{column.x, column.y, column.width, std::round(ctx.px(kControlHeight))};
  const int next = drop_down(ctx.ui, with_pencil(ctx, r, "editor.cluster"), "cluster", options, now,
                             {std::string(ctx.text("field.cluster.label")), {}}, ctx.text("field.cluster.about"));
  const auto chosen = static_cast<std::size_t>(next);
  if (next != now && !ids[chosen].empty()) {
    if (chosen < clusters) s.cluster = *library.find_cluster(ids[chosen]);
    else (void)io::set_field(s, "cluster.chip=" + ids[chosen], library);
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
  std::string note =
      ctx.format(chip.interconnect == engine::Interconnect::torus ? "ui.cluster.torus" : "ui.cluster.switched",
                 {format_count(chips)});
  if (chip.interconnect == engine::Interconnect::torus) {
    if (const auto w = chip[engine::ChipField::ici_bytes_per_s_per_axis_bidirectional].value)
      note += ctx.format("ui.cluster.ici", {format(*w, engine::unit::bytes_per_s, {.trim_zeros = true})});
  } else if (const auto w = chip[engine::ChipField::scaleup_bytes_per_s_per_chip_oneway].value) {
    note += ctx.format("ui.cluster.nvlink", {format(*w, engine::unit::bytes_per_s, {.trim_zeros = true})});
  }
  caption(ctx, column, "rail.cluster.links", note);
}

// Which kind: everything else in the window follows.
void kind_row(PanelContext& ctx, Column& column, Scenario& s) {
  const engine::Field* field = engine::find_field("workload.kind");
  if (field == nullptr) return;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < field->choices.size(); ++i)
    names.push_back(field_value(ctx, *field, static_cast<double>(i)));
  const Rect r{column.x, column.y, column.width, std::round(ctx.px(kControlHeight))};
  const int now = static_cast<int>(field->get(s));
  const int next =
      segmented(ctx.ui, r, field->path, names, now, {std::string(ctx.text("field.workload.kind.label")), {}},
                ctx.text("field.workload.kind.about"));
  if (next != now) s = ctx.session.with_kind(static_cast<engine::WorkloadKind>(next));
  column.y = r.bottom() + ctx.px(6);
}

void lengths_rows(PanelContext& ctx, Column& column, Scenario& s) {
  const std::string tokens(ctx.text("ui.unit.tokens"));
  if (!s.workload.has_lengths()) {
    field_slider(ctx, column, s, "workload.prompt_tokens", powers(64, 1 << 20), {.unit = tokens});
    field_slider(ctx, column, s, "workload.output_tokens", powers(16, 1 << 16), {.unit = tokens});
    return;
  }
  for (std::size_t i = 0; i < s.workload.lengths.size(); ++i) {
    if (s.workload.lengths[i].share <= 0) continue;
    field_slider(ctx, column, s, fmt::format("workload.lengths.{}.prompt_tokens", i), powers(64, 1 << 20),
                 {.unit = tokens});
    field_slider(ctx, column, s, fmt::format("workload.lengths.{}.output_tokens", i), powers(16, 1 << 16),
                 {.unit = tokens});
  }
}

// What users are promised: from nothing to a few times what the plan does.
void limit_rows(PanelContext& ctx, Column& column, Scenario& s) {
  const auto& q = ctx.session.report().quantities;
  const auto range = [&q](engine::Q id) {
    SliderRange r;
    r.kind = SliderKind::linear;
    r.track_to = 3 * q.value_or(id, 1);
    return r;
  };
  field_slider(ctx, column, s, "workload.slo.ttft_s", range(engine::Q::ttft), {.off = s.workload.slo.ttft_s == 0});
  field_slider(ctx, column, s, "workload.slo.time_per_output_token_s", range(engine::Q::time_per_output_token),
               {.off = s.workload.slo.time_per_output_token_s == 0});
}

void workload_section(PanelContext& ctx, Column& column, Scenario& s) {
  begin_section(ctx, column, "ui.section.workload");
  kind_row(ctx, column, s);
  const auto& q = ctx.session.report().quantities;
  const std::string sequences(ctx.text("ui.unit.sequences"));
  if (s.serves()) {
    lengths_rows(ctx, column, s);
    field_slider(ctx, column, s, "workload.batch", powers(1, 65536), {.unit = sequences});
    SliderRange arrivals;
    arrivals.kind = SliderKind::linear;
    arrivals.track_to = std::max(1.0, std::ceil(1.5 * q.value_or(engine::Q::decode_requests, 1)));
    field_slider(ctx, column, s, "workload.arrivals_per_s", arrivals,
                 {.off = s.workload.arrivals_per_s == 0, .unit = std::string(ctx.text("ui.unit.per_second"))});
    limit_rows(ctx, column, s);
    if (q[engine::Q::kv_sequence_bytes] && q[engine::Q::kv_total_bytes])
      caption(ctx, column, "rail.workload.cache",
              ctx.format("ui.workload.cache", {format(*q[engine::Q::kv_sequence_bytes], engine::unit::bytes),
                                               format(*q[engine::Q::kv_total_bytes], engine::unit::bytes)}));
    else caption(ctx, column, "rail.workload.cache", {});
    return;
  }
  field_slider(ctx, column, s, "workload.global_batch_sequences", powers(1, 65536), {.unit = sequences});
  field_slider(ctx, column, s, "workload.sequence_length", powers(512, 1 << 20),
               {.unit = std::string(ctx.text("ui.unit.tokens"))});
  if (q[engine::Q::tokens_per_step] && q[engine::Q::tokens_per_chip])
    caption(ctx, column, "rail.workload.tokens",
            ctx.format("ui.workload.tokens",
                       {small_count(*q[engine::Q::tokens_per_step]),
                        format(*q[engine::Q::tokens_per_chip], engine::unit::tokens_per_chip, {.unit = false})}));
  else caption(ctx, column, "rail.workload.tokens", {});
}

constexpr std::array kPartners{engine::Axis::data, engine::Axis::fsdp, engine::Axis::tensor, engine::Axis::context,
                               engine::Axis::pipeline};

// The toggle with its partner, in one row.
void chain_row(PanelContext& ctx, Column& column) {
  const float h = std::round(ctx.px(kRowHeight)), y = column.y + h / 2;
  ctx.view.keep_product =
      check_box(ctx.ui, {column.x, y}, "mesh.keep_product", ctx.text("ui.mesh.keep"), ctx.view.keep_product,
                {std::string(ctx.text("ui.mesh.keep")), {}}, ctx.text("ui.mesh.keep.about"));
  if (ctx.view.keep_product) {
    std::vector<Option> options;
    int now = 0;
    for (std::size_t i = 0; i < kPartners.size(); ++i) {
      if (kPartners[i] == ctx.view.partner) now = static_cast<int>(i);
      options.push_back(
          {std::string(ctx.text("axis." + std::string(engine::kAxisIds[static_cast<std::size_t>(kPartners[i])]))),
           {},
           true,
           false,
           static_cast<int>(i)});
    }
    const float w = std::round(ctx.px(100));
    const Rect r{column.x + column.width - w, std::round(y - ctx.px(kControlHeight) / 2), w,
                 std::round(ctx.px(kControlHeight))};
    ctx.view.partner = kPartners[static_cast<std::size_t>(
        drop_down(ctx.ui, r, "mesh.partner", options, now, {std::string(ctx.text("ui.mesh.partner")), {}}))];
  }
  column.y += h;
}

// Which mesh axis takes each axis of the torus: as the engine places them, or as it is said here.
void torus_rows(PanelContext& ctx, Column& column, Scenario& s) {
  if (s.cluster.chip.interconnect != engine::Interconnect::torus) return;
  const auto dims = s.cluster.chip[engine::ChipField::ici_torus_dims].value;
  const int count = dims ? std::clamp(static_cast<int>(*dims), 1, 3) : 3;
  const float gap = ctx.px(8), w = std::floor((column.width - static_cast<float>(count - 1) * gap) / static_cast<float>(count)),
              h = std::round(ctx.px(kControlHeight)), top = column.y;
  const TextStyle small = ctx.style(ctx.ui.theme.ink2, kSmallText);
  for (int side = 0; side < count; ++side) {
    const auto bit = static_cast<unsigned>(1u << side);
    const Rect r{column.x + static_cast<float>(side) * (w + gap), top + std::round(ctx.px(19)), w, h};
    const std::string length = format_count(s.cluster.slice[static_cast<std::size_t>(side)]);
    // Who lies there now, whoever said so.
    std::string there, all;
    for (const engine::AxisPlacement& p : ctx.session.report().placement)
      if (p.degree > 1 && (static_cast<unsigned>(p.on) & bit) != 0) {
        const std::string name(ctx.text("axis." + std::string(engine::kAxisIds[static_cast<std::size_t>(p.axis)])));
        if (there.empty()) there = name;
        all += (all.empty() ? "" : ", ") + name;
      }
    const std::string taken = ctx.format("ui.mesh.torus_taken", {std::string(1, "xyz"[side]), length,
                                                                 there.empty() ? std::string(kNoValue) : there});
    ctx.ui.canvas.text({r.x, top + ctx.px(9)}, ellipsize(ctx.ui.canvas, taken, small, r.w), small);
    std::vector<Option> options{{std::string(ctx.text("ui.mesh.torus_auto")), {}, true, false, 0}};
    int now = 0;
    for (std::size_t i = 0; i < engine::kAxisIds.size(); ++i) {
      options.push_back({std::string(ctx.text("axis." + std::string(engine::kAxisIds[i]))), {}, true, i == 0,
                         static_cast<int>(i) + 1});
      if (now == 0 && (static_cast<unsigned>(s.placement.on[i]) & bit) != 0) now = static_cast<int>(i) + 1;
    }
    Readout tip{ctx.format("ui.mesh.torus_axis", {std::string(1, "xyz"[side]), length}), {}};
    tip.rows.emplace_back(ctx.text("ui.mesh.torus_there"), all.empty() ? std::string(kNoValue) : all);
    const std::string id = fmt::format("placement.{}", "xyz"[side]);
    const int next = drop_down(ctx.ui, r, id, options, now, tip, ctx.text("ui.mesh.torus.about"));
    if (next == now) continue;
    s.placement = with_torus_axis(s, side, next == 0 ? std::nullopt : std::optional(static_cast<engine::Axis>(next - 1)));
    ctx.view.edit = {id, false};
  }
  column.y = top + std::round(ctx.px(19)) + h + ctx.px(4);
}

double prefill_chips(const Scenario& s) {
  const engine::PrefillPlan& p = s.serving.prefill;
  return static_cast<double>(p.data) * p.tensor * p.context * p.pipeline;
}

// The swatch of a mesh axis: too small for a hatch; the name stands beside it.
Fill axis_swatch(const PanelContext& ctx, widgets::Axis look) {
  Fill swatch = fill_of(ctx.ui.theme, look, ctx.ui.em());
  swatch.hatch = Hatch::none;
  if (!swatch.colour.visible()) swatch.colour = ctx.ui.theme.ink2;
  return swatch;
}

void mesh_section(PanelContext& ctx, Column& column, Scenario& s) {
  // "128 x 8 x 16 = 16 384": the product against the chips there are.
  std::string product;
  double used = 1;
  for (const engine::Axis axis : {engine::Axis::data, engine::Axis::fsdp, engine::Axis::tensor, engine::Axis::context,
                                  engine::Axis::pipeline}) {
    const int degree = s.parallelism.degree(axis);
    used *= degree;
    if (degree > 1) product += (product.empty() ? "" : " \u00d7 ") + format_count(degree);
  }
  if (product.empty()) product = "1";
  const auto chips = static_cast<double>(engine::chip_count(s.cluster));
  const bool single = product == format_count(used);
  std::string note = single ? product : product + " = " + format_count(used);
  // With prefill chips of their own: both meshes.
  if (s.serves() && s.serving.disaggregated) {
    const double apart = prefill_chips(s);
    note = format_count(used) + " + " + format_count(apart) + " = " + format_count(used + apart);
    used += apart;
  }
  if (used != chips) note = ctx.format("ui.mesh.of", {note, format_count(chips)});
  const Mark mark = used == chips ? Mark::good : used < chips ? Mark::warning : Mark::error;
  begin_section(ctx, column, s.serves() && s.serving.disaggregated ? "ui.section.mesh.decode" : "ui.section.mesh",
                note, mark);
  const double top = std::exp2(std::ceil(std::log2(std::max(2.0, chips))));
  struct Row {
    std::string_view path;
    widgets::Axis look;
    int degree;
    engine::Axis axis;
  };
  const auto& p = s.parallelism;
  for (const Row& row : {Row{"parallelism.data", widgets::Axis::data, p.data, engine::Axis::data},
                         Row{"parallelism.fsdp", widgets::Axis::fsdp, p.fsdp, engine::Axis::fsdp},
                         Row{"parallelism.tensor", widgets::Axis::tensor, p.tensor, engine::Axis::tensor},
                         Row{"parallelism.context", widgets::Axis::context, p.context, engine::Axis::context},
                         Row{"parallelism.pipeline", widgets::Axis::pipeline, p.pipeline, engine::Axis::pipeline},
                         Row{"parallelism.expert", widgets::Axis::expert, p.expert, engine::Axis::expert}}) {
    const bool narrow =
        row.look == widgets::Axis::tensor || row.look == widgets::Axis::context || row.look == widgets::Axis::expert;
    const double to = row.look == widgets::Axis::pipeline ? 128 : narrow ? 256 : std::max(16.0, top);
    const Fill swatch = axis_swatch(ctx, row.look);
    if (row.look == widgets::Axis::expert && !s.model.is_moe() && row.degree == 1) {
      field_unavailable(ctx, column, row.path, ctx.text("ui.model.no_experts"), swatch);
      continue;
    }
    field_slider(ctx, column, s, row.path, powers(1, to), {.swatch = swatch, .off = row.degree == 1});
  }
  chain_row(ctx, column);
  torus_rows(ctx, column, s);
  // Rows that do not apply stay where they are: what is below must not move when an axis is opened.
  const auto where = [&](bool applies, std::string_view path, std::string_view reason, const auto& row) {
    if (applies) row();
    else field_unavailable(ctx, column, path, ctx.text(reason));
  };
  if (s.model.is_moe())
    where(p.tensor > 1, "parallelism.expert_tensor", "ui.mesh.one_rank", [&] {
      field_slider(ctx, column, s, "parallelism.expert_tensor", integers(0, p.tensor), {.off = p.expert_tensor == 0});
    });
  // Weights that are gathered for every token are no plan for serving, but a training mesh may come with them.
  where(!s.serves() || p.fsdp > 1, "parallelism.zero_stage", "ui.mesh.one_rank",
        [&] { field_segments(ctx, column, s, "parallelism.zero_stage"); });
  where(p.context > 1, "parallelism.context_method", "ui.mesh.one_rank",
        [&] { field_choice(ctx, column, s, "parallelism.context_method"); });
  where(p.tensor > 1, "parallelism.sequence_parallel", "ui.mesh.one_rank",
        [&] { field_switch(ctx, column, s, "parallelism.sequence_parallel"); });
}

// How requests are served: chunks, caches, speculation, and the plan of prefill chips of their own.
void serving_section(PanelContext& ctx, Column& column, Scenario& s) {
  begin_section(ctx, column, "ui.section.serving");
  const std::string tokens(ctx.text("ui.unit.tokens"));
  engine::ServingPlan& plan = s.serving;
  SliderRange share;
  share.kind = SliderKind::linear;
  share.track_from = 0;
  share.track_to = 1;
  field_switch(ctx, column, s, "serving.disaggregated");
  if (plan.disaggregated) {
    struct Row {
      std::string_view path;
      widgets::Axis look;
      int degree;
      double to;
    };
    const auto& p = plan.prefill;
    for (const Row& row : {Row{"serving.prefill.data", widgets::Axis::data, p.data, 4096},
                           Row{"serving.prefill.tensor", widgets::Axis::tensor, p.tensor, 256},
                           Row{"serving.prefill.context", widgets::Axis::context, p.context, 256},
                           Row{"serving.prefill.pipeline", widgets::Axis::pipeline, p.pipeline, 128},
                           Row{"serving.prefill.expert", widgets::Axis::expert, p.expert, 256}})
      if (row.look != widgets::Axis::expert || s.model.is_moe() || row.degree > 1)
        field_slider(ctx, column, s, row.path, powers(1, row.to),
                     {.swatch = axis_swatch(ctx, row.look), .off = row.degree == 1});
  }
  field_slider(ctx, column, s, "serving.prefill_chunk_tokens", powers(128, 1 << 16),
               {.off = plan.prefill_chunk_tokens == 0, .unit = tokens});
  field_slider(ctx, column, s, "serving.prefix_hit_rate", share, {.off = plan.prefix_hit_rate == 0, .unit = "%"});
  if (s.parallelism.tensor > s.model.n_kv_heads) field_choice(ctx, column, s, "serving.kv_split");
  else field_unavailable(ctx, column, "serving.kv_split", ctx.text("ui.serving.heads_for_all"));
  field_slider(ctx, column, s, "serving.page_tokens", powers(1, 256), {.off = plan.page_tokens == 0, .unit = tokens});
  field_slider(ctx, column, s, "serving.draft_tokens", integers(0, 16), {.off = plan.draft_tokens == 0});
  SliderRange cost = share;
  cost.track_to = 0.5;
  if (plan.draft_tokens > 0) {
    field_slider(ctx, column, s, "serving.acceptance_rate", share, {.unit = "%"});
    field_slider(ctx, column, s, "serving.draft_cost", cost);
  } else {
    field_unavailable(ctx, column, "serving.acceptance_rate", ctx.text("ui.serving.no_drafts"));
    field_unavailable(ctx, column, "serving.draft_cost", ctx.text("ui.serving.no_drafts"));
  }
}

void pipeline_section(PanelContext& ctx, Column& column, Scenario& s) {
  const auto m = ctx.session.report().quantities[engine::Q::microbatches];
  begin_section(ctx, column, "ui.section.pipeline",
                m ? ctx.format(*m == 1 ? "ui.pipeline.microbatch" : "ui.pipeline.microbatches", {format_count(*m)})
                  : std::string());
  field_choice(ctx, column, s, "pipeline.schedule");
  field_slider(ctx, column, s, "pipeline.microbatch_sequences", powers(1, 64),
               {.unit = std::string(ctx.text("ui.unit.sequences"))});
  field_slider(ctx, column, s, "pipeline.virtual_stages", integers(1, 8), {.off = s.pipeline.virtual_stages == 1});
  field_switch(ctx, column, s, "pipeline.blocking_send");
}

void memory_section(PanelContext& ctx, Column& column, Scenario& s) {
  begin_section(ctx, column, s.serves() ? "ui.section.formats" : "ui.section.memory");
  field_choice(ctx, column, s, "checkpointing.policy");
  // The one number of the policy, in one place whichever it is.
  if (!s.serves()) switch (s.checkpointing.policy) {
    case engine::CheckpointPolicy::k_per_layer: field_slider(ctx, column, s, "checkpointing.k", integers(1, 20)); break;
    case engine::CheckpointPolicy::some_blocks:
      field_slider(ctx, column, s, "checkpointing.blocks", integers(1, std::max(2, s.model.n_layers)));
      break;
    case engine::CheckpointPolicy::segments:
    case engine::CheckpointPolicy::segments_minimal:
      field_slider(ctx, column, s, "checkpointing.segments", integers(0, std::max(2, s.model.n_layers)));
      break;
    default: field_unavailable(ctx, column, "checkpointing.k", ctx.text("ui.memory.no_count"));
  }
  // The formats this kind of workload has: up to three in a row, the longer words of the rest in two.
  const float gap = ctx.px(8);
  const auto row_of = [&](std::initializer_list<std::string_view> paths) {
    std::vector<std::string_view> shown;
    for (const std::string_view path : paths)
      if (const engine::Field* field = engine::find_field(path);
          field != nullptr && engine::applies(*field, s.workload.kind))
        shown.push_back(path);
    if (shown.empty()) return;
    const auto n = static_cast<float>(shown.size());
    const float w = std::floor((column.width - (n - 1) * gap) / n);
    float bottom = column.y;
    for (std::size_t i = 0; i < shown.size(); ++i) {
      Column c{column.x + static_cast<float>(i) * (w + gap), column.y, w};
      field_choice(ctx, c, s, shown[i], true);
      bottom = std::max(bottom, c.y);
    }
    column.y = bottom;
  };
  row_of({"precision.compute", "precision.weights", "precision.gradients", "precision.kv_cache"});
  row_of({"precision.optimizer", "precision.master_weights"});
  field_switch(ctx, column, s, "offload.optimizer");
  field_switch(ctx, column, s, "offload.activations");
}

// What a chip costs: a figure of the chip, but the one that everybody has of their own.
void price_row(PanelContext& ctx, Column& column, Scenario& s) {
  const EditorRow* price = nullptr;
  const std::vector<EditorRow> rows = editor_rows(EditorPart::cluster, s);
  for (const EditorRow& row : rows)
    if (row.figure != nullptr && row.figure->field == engine::ChipField::price_usd_per_chip_hour) price = &row;
  if (price == nullptr) return;
  SliderRange range;
  range.kind = SliderKind::linear;
  range.track_from = 0;
  range.track_to = 12;
  range.minimum = price->minimum;
  range.maximum = price->maximum;
  range.reset_to = editor_value(*price, ctx.session.loaded());
  ControlInfo info;
  info.id = price->path;
  info.label = ctx.text("rail.price");
  info.label_width = kLabelWidth;
  info.unit = ctx.text("ui.unit.usd_per_hour");
  info.tip = {std::string(ctx.text("rail.price")), {{std::string(ctx.text("ui.tip.field")), price->path}}};
  info.about = editor_source(*price, s);
  const auto now = editor_value(*price, s);
  info.off = !now;
  const bool typing = ctx.ui.io.editing(price->path);
  const Edited e = slider(ctx.ui, {column.x, column.y}, column.width, info, range, now.value_or(0));
  if (e.value != now.value_or(0) && editor_takes(*price, e.value)) {
    set_editor_value(*price, s, e.value, editor_preset(ctx.session));
    ctx.view.edit = {price->path, typing};
  }
  column.y += e.height;
}

void assumptions_section(PanelContext& ctx, Column& column, Scenario& s) {
  begin_section(ctx, column, "ui.section.assumptions",
                field_value(ctx, *engine::find_field("assumptions.mode"), static_cast<double>(s.assumptions.mode)));
  SliderRange tokens;
  tokens.kind = SliderKind::logarithmic;
  tokens.track_from = 1e9;
  tokens.track_to = 1e14;
  if (const engine::Field* field = engine::find_field("workload.train_tokens");
      field != nullptr && engine::applies(*field, s.workload.kind)) {
    // Tokens of a run are read with a prefix ("15 T"), unlike other counts.
    ControlInfo info;
    info.id = field->path;
    info.label = field_label(ctx, field->path);
    info.label_width = kLabelWidth;
    info.unit = ctx.text("ui.unit.tokens");
    info.tip = {std::string(ctx.text("field.workload.train_tokens.label")), {}};
    info.about = ctx.text("field.workload.train_tokens.about");
    tokens.minimum = field->minimum;
    tokens.maximum = field->maximum;
    tokens.unit = {"tokens", {}, engine::Notation::si};
    tokens.reset_to = field->get(ctx.session.loaded());
    const double value = field->get(s);
    const Edited e = slider(ctx.ui, {column.x, column.y}, column.width, info, tokens, value);
    if (e.value != value && engine::in_domain(*field, e.value)) field->set(s, e.value);
    tell_refused(ctx, e, info.label, engine::domain_text(*field));
    column.y += e.height;
  }
  price_row(ctx, column, s);
  SliderRange share;
  share.kind = SliderKind::linear;
  share.track_from = 0;
  share.track_to = 1;
  field_slider(ctx, column, s, "assumptions.stated_mfu", share, {.unit = "%"});
  field_slider(ctx, column, s, "assumptions.overlap", share, {.unit = "%"});
  SliderRange reserve;
  reserve.kind = SliderKind::linear;
  reserve.track_from = 0;
  reserve.track_to = 20e9;
  field_slider(ctx, column, s, "assumptions.reserve_bytes", reserve,
               {.off = s.assumptions.reserve_bytes == 0, .unit = "B"});
  field_segments(ctx, column, s, "assumptions.flops");
  field_segments(ctx, column, s, "assumptions.axes_overlap");
  field_segments(ctx, column, s, "assumptions.parameters");
  field_slider(ctx, column, s, "assumptions.context_share", share, {.unit = "%"});
}

}  // namespace

Scenario scenario_rail(PanelContext& ctx, const Rect& r, Scenario scenario) {
  ctx.ui.canvas.rect(r, {.colour = ctx.ui.theme.panel});
  const float pad = std::round(ctx.px(16));
  {
    const auto clip = ctx.ui.canvas.clip(r);
    const ScrollRegion scroll = begin_scroll(ctx.ui, "rail", r);
    Column column{r.x + pad, scroll.content_top, r.w - 2 * pad};
    model_section(ctx, column, scenario);
    end_section(ctx, column, r);
    cluster_section(ctx, column, scenario);
    end_section(ctx, column, r);
    workload_section(ctx, column, scenario);
    end_section(ctx, column, r);
    mesh_section(ctx, column, scenario);
    end_section(ctx, column, r);
    if (scenario.serves()) serving_section(ctx, column, scenario);
    else pipeline_section(ctx, column, scenario);
    end_section(ctx, column, r);
    memory_section(ctx, column, scenario);
    end_section(ctx, column, r);
    assumptions_section(ctx, column, scenario);
    column.y += ctx.px(14);
    end_scroll(ctx.ui, scroll, column.y);
  }
  vertical_separator(ctx, r.right() - 1, r.y, r.bottom());
  return scenario;
}

}  // namespace roofscape::app
