#include "app/panels/scenario_rail.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "app/panels/field_text.h"
#include "app/panels/layer_strip.h"
#include "app/panels/panel_parts.h"
#include "app/panels/rail_parts.h"
#include "app/session/editor.h"
#include "engine/scenario/checkpoint_policies.h"
#include "widgets/canvas/number_format.h"
#include "widgets/plot/plot.h"

namespace roofscape::app {

using namespace widgets;
using engine::Scenario;

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

void begin_section(PanelContext& ctx, Column& column, std::string_view key, std::string_view note,
                   std::optional<Mark> mark) {
  column.y +=
      section_head(ctx, {column.x, column.y + ctx.px(4)}, column.width, ctx.text(key), note, mark) + ctx.px(4);
}

Fill axis_swatch(const PanelContext& ctx, widgets::StepPart look) {
  Fill swatch = fill_of(ctx.ui.theme, look, ctx.ui.em());
  swatch.hatch = Hatch::none;
  if (!swatch.colour.visible()) swatch.colour = ctx.ui.theme.ink2;
  return swatch;
}

namespace {

void end_section(PanelContext& ctx, Column& column, const Rect& rail) {
  column.y += ctx.px(8);
  separator(ctx, rail.x, rail.right(), column.y);
}

std::string small_count(double v) { return format_si(v, "", {.trim_zeros = true}); }

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
  if (!s.workload.has_lengths()) {
    field_slider(ctx, column, s, "workload.prompt_tokens", powers(64, 1 << 20));
    field_slider(ctx, column, s, "workload.output_tokens", powers(16, 1 << 16));
    return;
  }
  for (std::size_t i = 0; i < s.workload.lengths.size(); ++i) {
    if (s.workload.lengths[i].share <= 0) continue;
    field_slider(ctx, column, s, fmt::format("workload.lengths.{}.prompt_tokens", i), powers(64, 1 << 20));
    field_slider(ctx, column, s, fmt::format("workload.lengths.{}.output_tokens", i), powers(16, 1 << 16));
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
  if (s.serves()) {
    lengths_rows(ctx, column, s);
    field_slider(ctx, column, s, "workload.batch", powers(1, 65536));
    SliderRange arrivals;
    arrivals.kind = SliderKind::linear;
    arrivals.track_to = std::max(1.0, std::ceil(1.5 * q.value_or(engine::Q::decode_requests, 1)));
    field_slider(ctx, column, s, "workload.arrivals_per_s", arrivals, {.off = s.workload.arrivals_per_s == 0});
    limit_rows(ctx, column, s);
    if (q[engine::Q::kv_sequence_bytes] && q[engine::Q::kv_total_bytes])
      caption(ctx, column, "rail.workload.cache",
              ctx.format("ui.workload.cache", {format(*q[engine::Q::kv_sequence_bytes], engine::unit::bytes),
                                               format(*q[engine::Q::kv_total_bytes], engine::unit::bytes)}));
    else
      caption(ctx, column, "rail.workload.cache", {});
    return;
  }
  field_slider(ctx, column, s, "workload.global_batch_sequences", powers(1, 65536));
  field_slider(ctx, column, s, "workload.sequence_length", powers(512, 1 << 20));
  if (q[engine::Q::tokens_per_step] && q[engine::Q::tokens_per_chip])
    caption(ctx, column, "rail.workload.tokens",
            ctx.format("ui.workload.tokens",
                       {small_count(*q[engine::Q::tokens_per_step]),
                        format(*q[engine::Q::tokens_per_chip], engine::unit::tokens_per_chip, {.unit = false})}));
  else
    caption(ctx, column, "rail.workload.tokens", {});
}

// How requests are served: chunks, caches, speculation, and the plan of prefill chips of their own.
void serving_section(PanelContext& ctx, Column& column, Scenario& s) {
  begin_section(ctx, column, "ui.section.serving");
  engine::ServingPlan& plan = s.serving;
  field_switch(ctx, column, s, "serving.disaggregated");
  if (plan.disaggregated) {
    struct Row {
      std::string_view path;
      widgets::StepPart look;
      int degree;
      double to;
    };
    const auto& p = plan.prefill;
    for (const Row& row : {Row{"serving.prefill.data", widgets::StepPart::data, p.data, 4096},
                           Row{"serving.prefill.tensor", widgets::StepPart::tensor, p.tensor, 256},
                           Row{"serving.prefill.context", widgets::StepPart::context, p.context, 256},
                           Row{"serving.prefill.pipeline", widgets::StepPart::pipeline, p.pipeline, 128},
                           Row{"serving.prefill.expert", widgets::StepPart::expert, p.expert, 256}})
      if (row.look != widgets::StepPart::expert || s.model.is_moe() || row.degree > 1)
        field_slider(ctx, column, s, row.path, powers(1, row.to),
                     {.swatch = axis_swatch(ctx, row.look), .off = row.degree == 1});
  }
  field_slider(ctx, column, s, "serving.prefill_chunk_tokens", powers(128, 1 << 16),
               {.off = plan.prefill_chunk_tokens == 0});
  field_slider(ctx, column, s, "serving.prefix_hit_rate", shares(), {.off = plan.prefix_hit_rate == 0});
  if (s.parallelism.tensor > s.model.n_kv_heads)
    field_choice(ctx, column, s, "serving.kv_split");
  else
    field_unavailable(ctx, column, "serving.kv_split", ctx.text("ui.serving.heads_for_all"));
  field_slider(ctx, column, s, "serving.page_tokens", powers(1, 256), {.off = plan.page_tokens == 0});
  field_slider(ctx, column, s, "serving.draft_tokens", integers(0, 16), {.off = plan.draft_tokens == 0});
  SliderRange cost = shares();
  cost.track_to = 0.5;
  if (plan.draft_tokens > 0) {
    field_slider(ctx, column, s, "serving.acceptance_rate", shares());
    field_slider(ctx, column, s, "serving.draft_cost", cost);
  } else {
    field_unavailable(ctx, column, "serving.acceptance_rate", ctx.text("ui.serving.no_drafts"));
    field_unavailable(ctx, column, "serving.draft_cost", ctx.text("ui.serving.no_drafts"));
  }
}

void pipeline_section(PanelContext& ctx, Column& column, Scenario& s) {
  const auto m = ctx.session.report().quantities[engine::Q::microbatches];
  begin_section(ctx, column, "ui.section.pipeline",
                m ? ctx.ui.texts.count("ui.pipeline.microbatches", *m) : std::string());
  field_choice(ctx, column, s, "pipeline.schedule");
  if (s.pipeline.order)
    field_switch(ctx, column, s, engine::kGivenOrder);
  else
    field_unavailable(ctx, column, engine::kGivenOrder, ctx.text("ui.pipeline.own_order"));
  if (engine::facts_of(s.pipeline.schedule).orders_backwards && !s.pipeline.order)
    field_choice(ctx, column, s, "pipeline.backward_order");
  else
    field_unavailable(ctx, column, "pipeline.backward_order", ctx.text("ui.pipeline.fixed_backwards"));
  field_slider(ctx, column, s, "pipeline.microbatch_sequences", powers(1, 64));
  field_slider(ctx, column, s, "pipeline.virtual_stages", integers(1, 8), {.off = s.pipeline.virtual_stages == 1});
  if (engine::facts_of(s.pipeline.schedule).takes_groups)
    field_slider(ctx, column, s, "pipeline.group_size", integers(0, 128), {.off = s.pipeline.group_size == 0});
  else
    field_unavailable(ctx, column, "pipeline.group_size", ctx.text("ui.pipeline.no_groups"));
  field_choice(ctx, column, s, "pipeline.sends");
  layer_strip(ctx, column, s);
  for (const std::string_view path : {"pipeline.embedding_as_layers", "pipeline.head_as_layers"}) {
    const engine::Field* field = engine::find_field(path);
    if (s.parallelism.pipeline == 1)
      field_unavailable(ctx, column, path, ctx.text("ui.pipeline.one_stage"));
    else if (s.pipeline.layers_per_stage.empty())
      field_slider(ctx, column, s, path, integers(0, 8), {.off = field->get(s) == 0});
    else
      field_unavailable(ctx, column, path, ctx.text("ui.layers.by_hand"));
  }
}

void memory_section(PanelContext& ctx, Column& column, Scenario& s) {
  begin_section(ctx, column, s.serves() ? "ui.section.formats" : "ui.section.memory");
  field_choice(ctx, column, s, "checkpointing.policy");
  // The one number of the policy, in one place whichever it is.
  if (!s.serves()) switch (engine::facts_of(s.checkpointing.policy).count) {
      case engine::CheckpointCount::k:
        field_slider(ctx, column, s, "checkpointing.k", integers(1, 20));
        break;
      case engine::CheckpointCount::blocks:
        field_slider(ctx, column, s, "checkpointing.blocks", integers(1, std::max(2, s.model.n_layers)));
        break;
      case engine::CheckpointCount::segments:
        field_slider(ctx, column, s, "checkpointing.segments", integers(0, std::max(2, s.model.n_layers)));
        break;
      case engine::CheckpointCount::none:
        field_unavailable(ctx, column, "checkpointing.k", ctx.text("ui.memory.no_count"));
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
  if (!s.serves() && engine::is_muon(s.precision.optimizer)) {
    row_of({"muon.homes", "muon.tensor"});
    field_slider(ctx, column, s, "muon.newton_schulz_steps", integers(1, 10));
  }
  if (!s.serves()) {
    field_slider(ctx, column, s, "adapter.rank", integers(0, 128), {.off = s.adapter.rank == 0});
    // Dragging the rank off zero moves no row under the pointer.
    const bool adapts = s.adapter.rank > 0;
    const auto whole = ctx.text("ui.adapter.none");
    if (adapts)
      field_choice(ctx, column, s, "adapter.targets");
    else
      field_unavailable(ctx, column, "adapter.targets", whole);
    if (s.model.is_moe() && adapts)
      field_switch(ctx, column, s, "adapter.experts");
    else if (s.model.is_moe())
      field_unavailable(ctx, column, "adapter.experts", whole);
  }
  if (!s.serves()) {
    field_choice(ctx, column, s, "precision.residual");
    row_of({"kernels.attention", "kernels.loss"});
    row_of({"kernels.elementwise", "kernels.launch"});
  }
  field_switch(ctx, column, s, "offload.optimizer");
  if (s.offload.optimizer)
    field_slider(ctx, column, s, "offload.optimizer_fraction", shares());
  else
    field_unavailable(ctx, column, "offload.optimizer_fraction", ctx.text("ui.offload.on_chip"));
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
  info.tip = {
      std::string(ctx.text("rail.price")),
      {{std::string(ctx.text("ui.tip.unit")), info.unit}, {std::string(ctx.text("ui.tip.field")), price->path}}};
  info.about = editor_source(*price, s);
  const auto now = editor_value(*price, s);
  info.off = !now;
  const bool typing = ctx.ui.io.editing(price->path);
  const Edited e = slider(ctx.ui, {column.x, column.y}, column.width, info, range, now.value_or(0));
  if (e.value != now.value_or(0) && editor_takes(*price, e.value)) {
    set_editor_value(*price, s, e.value, editor_preset(ctx.session));
    ctx.requests.used = {price->path, typing};
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
    info.tip = {std::string(ctx.text("field.workload.train_tokens.label")),
                {{std::string(ctx.text("ui.tip.unit")), unit_words(ctx, field->unit)}}};
    info.about = ctx.text("field.workload.train_tokens.about");
    tokens.minimum = field->minimum;
    tokens.maximum = field->maximum;
    tokens.unit = {"tokens", {}, engine::Notation::si};
    tokens.reset_to = field->get(ctx.session.loaded());
    const double value = field->get(s);
    const Edited e = slider(ctx.ui, {column.x, column.y}, column.width, info, tokens, value);
    if (e.value != value && engine::in_domain(*field, e.value)) field->set(s, e.value);
    tell_refused(ctx, e, info.label, engine::domain_of(*field));
    column.y += e.height;
  }
  price_row(ctx, column, s);
  field_slider(ctx, column, s, "assumptions.stated_mfu", shares());
  field_slider(ctx, column, s, "assumptions.overlap", shares());
  SliderRange reserve;
  reserve.kind = SliderKind::linear;
  reserve.track_from = 0;
  reserve.track_to = 20e9;
  field_slider(ctx, column, s, "assumptions.reserve_bytes", reserve, {.off = s.assumptions.reserve_bytes == 0});
  field_segments(ctx, column, s, "assumptions.flops");
  field_segments(ctx, column, s, "assumptions.axes_overlap");
  field_segments(ctx, column, s, "assumptions.parameters");
  field_slider(ctx, column, s, "assumptions.context_share", shares());
}

}  // namespace

Scenario scenario_rail(PanelContext& ctx, const Rect& r, MeshEditing& mesh, Scenario scenario) {
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
    mesh_section(ctx, column, mesh, scenario);
    end_section(ctx, column, r);
    if (scenario.serves())
      serving_section(ctx, column, scenario);
    else
      pipeline_section(ctx, column, scenario);
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
