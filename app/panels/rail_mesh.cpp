// The left rail: the mesh, and where it lies on the torus.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "app/panels/rail_parts.h"
#include "app/session/scenario_edits.h"
#include "app/session/settle_edit.h"
#include "engine/scenario/mesh_size.h"
#include "engine/serving/serving_inputs.h"
#include "widgets/canvas/number_format.h"
#include "widgets/plot/plot.h"

namespace roofscape::app {

using namespace widgets;
using engine::Scenario;

namespace {

// The toggle with its partner, in one row.
void chain_row(PanelContext& ctx, Column& column, MeshEditing& mesh) {
  const float h = std::round(ctx.px(kRowHeight)), y = column.y + h / 2;
  mesh.keep_product =
      check_box(ctx.ui, {column.x, y}, "mesh.keep_product", ctx.text("ui.mesh.keep"), mesh.keep_product,
                {std::string(ctx.text("ui.mesh.keep")), {}}, ctx.text("ui.mesh.keep.about"));
  if (mesh.keep_product) {
    // While a control is held, of the mesh that it was taken hold of.
    const engine::Parallelism& plan = ctx.base.parallelism;
    const engine::Axis giving = giving_partner(plan, mesh.partner);
    std::vector<Option> options;
    int now = 0;
    for (std::size_t i = 0; i < kPartners.size(); ++i) {
      if (kPartners[i] == giving) now = static_cast<int>(i);
      const std::string name(
          ctx.text("axis." + std::string(engine::kAxisIds[static_cast<std::size_t>(kPartners[i])])));
      options.push_back(
          {name, {}, kPartners[i] == giving || plan.degree(kPartners[i]) > 1, false, static_cast<int>(i)});
    }
    const float w = std::round(ctx.px(100));
    const Rect r{column.x + column.width - w, std::round(y - ctx.px(kControlHeight) / 2), w,
                 std::round(ctx.px(kControlHeight))};
    const int next = drop_down(ctx.ui, r, "mesh.partner", options, now,
                               {std::string(ctx.text("ui.mesh.partner")), {}}, ctx.text("ui.mesh.partner.about"));
    // An axis that happens to have nothing to give stays the preferred one.
    if (next != now) mesh.partner = kPartners[static_cast<std::size_t>(next)];
  }
  column.y += h;
}

// Which mesh axis takes each axis of the torus: as the engine places them, or as it is said here.
void torus_rows(PanelContext& ctx, Column& column, Scenario& s) {
  if (s.cluster.chip.interconnect != engine::Interconnect::torus) return;
  const auto dims = s.cluster.chip[engine::ChipField::ici_torus_dims].value;
  const int count = dims ? std::clamp(static_cast<int>(*dims), 1, 3) : 3;
  const float gap = ctx.px(8),
              w = std::floor((column.width - static_cast<float>(count - 1) * gap) / static_cast<float>(count)),
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
    const std::string taken = ctx.format(
        "ui.mesh.torus_taken", {std::string(1, "xyz"[side]), length, there.empty() ? std::string(kNoValue) : there});
    ctx.ui.canvas.text({r.x, top + ctx.px(9)}, ellipsize(ctx.ui.canvas, taken, small, r.w), small);
    std::vector<Option> options{{std::string(ctx.text("ui.mesh.torus_auto")), {}, true, false, 0}};
    int now = 0;
    for (std::size_t i = 0; i < engine::kAxisIds.size(); ++i) {
      options.push_back({std::string(ctx.text("axis." + std::string(engine::kAxisIds[i]))),
                         {},
                         true,
                         i == 0,
                         static_cast<int>(i) + 1});
      if (now == 0 && (static_cast<unsigned>(s.placement.on[i]) & bit) != 0) now = static_cast<int>(i) + 1;
    }
    Readout tip{ctx.format("ui.mesh.torus_axis", {std::string(1, "xyz"[side]), length}), {}};
    tip.rows.emplace_back(ctx.text("ui.mesh.torus_there"), all.empty() ? std::string(kNoValue) : all);
    const std::string id = fmt::format("placement.{}", "xyz"[side]);
    const int next = drop_down(ctx.ui, r, id, options, now, tip, ctx.text("ui.mesh.torus.about"));
    if (next == now) continue;
    s.placement =
        with_torus_axis(s, side, next == 0 ? std::nullopt : std::optional(static_cast<engine::Axis>(next - 1)));
    ctx.requests.used = {id, false};
  }
  column.y = top + std::round(ctx.px(19)) + h + ctx.px(4);
}

}  // namespace

void mesh_section(PanelContext& ctx, Column& column, MeshEditing& mesh, Scenario& s) {
  // "128 x 8 x 16 = 16 384": the product against the chips there are.
  std::string product;
  for (const engine::Axis axis : {engine::Axis::data, engine::Axis::fsdp, engine::Axis::tensor, engine::Axis::context,
                                  engine::Axis::pipeline}) {
    const int degree = s.parallelism.degree(axis);
    if (degree > 1) product += (product.empty() ? "" : " \u00d7 ") + format_count(degree);
  }
  if (product.empty()) product = "1";
  double used = engine::mesh_chips(s.parallelism);
  const auto chips = static_cast<double>(engine::chip_count(s.cluster));
  const bool single = product == format_count(used);
  std::string note = single ? product : product + " = " + format_count(used);
  // With prefill chips of their own: both meshes.
  if (s.serves() && s.serving.disaggregated) {
    const double apart = engine::mesh_chips(engine::prefill_parallelism(s));
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
    widgets::StepPart look;
    int degree;
    engine::Axis axis;
  };
  const auto& p = s.parallelism;
  for (const Row& row : {Row{"parallelism.data", widgets::StepPart::data, p.data, engine::Axis::data},
                         Row{"parallelism.fsdp", widgets::StepPart::fsdp, p.fsdp, engine::Axis::fsdp},
                         Row{"parallelism.tensor", widgets::StepPart::tensor, p.tensor, engine::Axis::tensor},
                         Row{"parallelism.context", widgets::StepPart::context, p.context, engine::Axis::context},
                         Row{"parallelism.pipeline", widgets::StepPart::pipeline, p.pipeline, engine::Axis::pipeline},
                         Row{"parallelism.expert", widgets::StepPart::expert, p.expert, engine::Axis::expert}}) {
    const bool narrow = row.look == widgets::StepPart::tensor || row.look == widgets::StepPart::context ||
                        row.look == widgets::StepPart::expert;
    const double to = row.look == widgets::StepPart::pipeline ? 128 : narrow ? 256 : std::max(16.0, top);
    const Fill swatch = axis_swatch(ctx, row.look);
    if (row.look == widgets::StepPart::expert && !s.model.is_moe() && row.degree == 1) {
      field_unavailable(ctx, column, row.path, ctx.text("ui.model.no_experts"), swatch);
      continue;
    }
    field_slider(ctx, column, s, row.path, powers(1, to), {.swatch = swatch, .off = row.degree == 1});
  }
  chain_row(ctx, column, mesh);
  runners_row(ctx, column, s);
  torus_rows(ctx, column, s);
  // Rows that do not apply stay where they are: what is below must not move when an axis is opened.
  const auto where = [&](bool applies, std::string_view path, std::string_view reason, const auto& row) {
    if (applies)
      row();
    else
      field_unavailable(ctx, column, path, ctx.text(reason));
  };
  if (s.model.is_moe())
    where(p.tensor > 1, "parallelism.expert_tensor", "ui.mesh.one_rank", [&] {
      field_slider(ctx, column, s, "parallelism.expert_tensor", integers(0, p.tensor), {.off = p.expert_tensor == 0});
    });
  // Weights that are gathered for every token are no plan for serving, but a training mesh may come with them.
  where(!s.serves() || p.fsdp > 1, "parallelism.zero_stage", "ui.mesh.one_rank",
        [&] { field_segments(ctx, column, s, "parallelism.zero_stage"); });
  if (!s.serves())
    where(p.zero_stage == 3 && p.fsdp * p.context > 1, "parallelism.keep_gathered", "ui.mesh.whole_weights",
          [&] { field_choice(ctx, column, s, "parallelism.keep_gathered"); });
  where(p.context > 1, "parallelism.context_method", "ui.mesh.one_rank",
        [&] { field_choice(ctx, column, s, "parallelism.context_method"); });
  where(p.tensor > 1, "parallelism.sequence_parallel", "ui.mesh.one_rank",
        [&] { field_switch(ctx, column, s, "parallelism.sequence_parallel"); });
  if (s.cluster.chip.interconnect == engine::Interconnect::switched)
    where(engine::rank_order_matters(s.cluster, p), "placement.order", "ui.mesh.one_order",
          [&] { field_choice(ctx, column, s, "placement.order"); });
}

}  // namespace roofscape::app
