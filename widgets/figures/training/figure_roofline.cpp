// The roofline figure: what the operations of one training step reach on one chip, against its peak and its HBM
// bandwidth. Both axes are logarithmic; the area of a mark is its share of the step.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/hardware/roofline.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/figures/training/figure_roofline_layout.h"

namespace roofscape::widgets {

using engine::Q;
using namespace roofline;

namespace {

constexpr float kRing = 1.3f;       // of panel around a mark, so that marks over one another stay apart
constexpr double kMostlyHbm = 0.2;  // of the step

Tint region_of(const Theme& theme, const Layout& l) {
  const float bottom = l.plot.bottom();
  return {{{{l.hbm.low.x, l.hbm.low.y}, {l.hbm.high.x, l.hbm.high.y}, {l.hbm.high.x, bottom}, {l.hbm.low.x, bottom}}},
          faded(theme.ink, kRegionTint)};
}

void draw_roofs(Canvas& canvas, const FigureInput& input, const Layout& l) {
  const Theme& theme = input.theme;
  const float em = canvas.em(), thin = theme.axis_width * em;
  const float peak = l.y(l.peak), ridge = l.x(l.ridge);
  const Dash dash{canvas.px(5), canvas.px(4)}, dots{canvas.px(1.5f), canvas.px(3)};
  canvas.line({ridge, l.plot.bottom()}, {ridge, peak}, {theme.ink3, thin, dots});
  for (const Slope& s : l.faster) canvas.line(s.low, s.high, {theme.ink3, thin, dash});
  for (const OtherPeak& o : l.other_peaks) {
    if (o.flop_per_s > l.peak) canvas.line(l.hbm.high, o.low, {theme.ink3, thin, dash});  // bandwidth goes on to it
    canvas.line(o.low, o.high, {theme.ink3, thin, dash});
  }
  if (l.achieved > 0) {
    const float y = l.y(l.achieved);
    canvas.line({l.x(l.achieved / l.bandwidth), y}, {l.plot.right(), y}, {theme.ink3, thin, dash});
  }
  canvas.polyline({l.hbm.low, l.hbm.high, {l.plot.right(), peak}}, {theme.ink, theme.data_width * em * 1.15f, {}});

  const auto tag_text = [&](Q q, const Rect& r, double value) {
    canvas.tag_with(engine::quantity(q).id, -1, r, [&] {
      Readout out;
      out.title = input.texts.amount(value, engine::quantity(q).unit);
      return out;
    });
  };
  const float reach = canvas.px(4);
  tag_text(Q::peak_flops, rect_between(ridge, peak - reach, l.plot.right(), peak + reach), l.peak);
  tag_text(Q::ridge, rect_between(ridge - reach, peak, ridge + reach, l.plot.bottom()), l.ridge);
}

void draw_labels(Canvas& canvas, const FigureInput& input, const Layout& l) {
  const Theme& theme = input.theme;
  const std::array tints{region_of(theme, l)};
  draw_flags(canvas, theme, l.flags, l.flag_top, l.flag_heading ? share_heading(input) : std::string_view{}, tints);
  haloed_text(canvas, theme, l.peak_label.anchor, l.peak_label.text, l.peak_label.style, tints);
  for (const OtherPeak& o : l.other_peaks) canvas.text(o.label.anchor, o.label.text, o.label.style);
  if (!l.ridge_label.text.empty())
    haloed_text(canvas, theme, l.ridge_label.anchor, l.ridge_label.text, l.ridge_label.style, tints);
  for (const TextPlace& p : l.side_labels) canvas.text(p.anchor, p.text, p.style);
  for (std::size_t i = 0; i < l.slope_labels.size(); ++i) {
    const TextPlace& p = l.slope_labels[i];
    if (p.text.empty()) continue;
    canvas.text(p.anchor, p.text, p.style);
    if (i == 0)
      canvas.tag_with(engine::quantity(Q::hbm_bandwidth).id, -1, p.bounds, [&] {
        Readout r;
        r.title = p.text;
        return r;
      });
  }
}

Fill mark_fill(const Canvas& canvas, const Theme& theme, Roof look) {
  Fill fill = fill_of(theme, look, canvas.em());
  fill.hatch = Hatch::none;
  return fill;
}

void draw_mark_key(Canvas& canvas, const FigureInput& input, const Layout& l) {
  const auto key = canvas.group("key");
  for (const KeyMark& k : l.key) {
    canvas.marker(k.at, marker_of(k.look), k.size, mark_fill(canvas, input.theme, k.look));
    canvas.text(k.label.anchor, k.label.text, k.label.style);
  }
}

Readout dot_readout(const FigureInput& input, const Dot& dot) {
  const TextTable& t = input.texts;
  const engine::OperationRow& row = *dot.row;
  Readout r;
  r.title =
      t.format("figure.roofline.readout", {dot.name, format(row.achieved_flop_per_s, engine::unit::flop_per_s)});
  const auto add = [&](std::string_view key, std::string value) {
    r.rows.emplace_back(std::string(t.text(key)), std::move(value));
  };
  add("figure.roofline.flops", format(row.flops, engine::unit::flop));
  add("figure.roofline.bytes", format(row.hbm_bytes, engine::unit::bytes));
  add("figure.roofline.intensity", format(row.intensity_flop_per_byte, engine::unit::flop_per_byte));
  add(recomputes(input) ? "figure.roofline.time.recompute" : "figure.roofline.time",
      dot.look == Roof::vector && hides_vectors(input)
          ? t.format("figure.roofline.time_hidden", {format_duration(row.time_s)})
          : t.format("figure.roofline.time_share", {format_duration(row.time_s), format_share(row.share_of_step)}));
  return r;
}

void draw_dots(Canvas& canvas, const FigureInput& input, const FigureView& view, const Layout& l) {
  const Theme& theme = input.theme;
  for (const Dot& d : l.dots) {
    const Fill fill = mark_fill(canvas, theme, d.look);
    Fill ring;
    ring.colour = theme.panel;
    canvas.marker(d.at, marker_of(d.look), d.size + 2 * canvas.px(kRing), ring);
    canvas.marker(d.at, marker_of(d.look), d.size, fill);
    const int index = static_cast<int>(d.row->kind);
    if (view.hovered_operation == index || view.hovered_part == engine::part_of(d.row->kind)) {
      Fill halo;
      halo.edge = theme.ink;
      halo.edge_width = canvas.px(2);
      canvas.marker(d.at, marker_of(d.look), d.size + canvas.px(6), halo);
    }
    const std::string id = "operation." + std::string(engine::kOperationIds.ids()[static_cast<std::size_t>(index)]);
    const Rect box = mark_rect(d);
    canvas.tag_with(id, index, box, [&] { return dot_readout(input, d); });
  }
}

Readout measured_readout(const FigureInput& input, const Layout& l, const MeasuredDot& dot) {
  const TextTable& t = input.texts;
  Readout r;
  r.title = t.format("figure.roofline.measured", {dot.row->name, format(dot.flop_per_s, engine::unit::flop_per_s)});
  const auto add = [&](std::string_view key, std::string value) {
    r.rows.emplace_back(std::string(t.text(key)), std::move(value));
  };
  add("figure.roofline.reached",
      format_percent(dot.flop_per_s / engine::attainable(dot.intensity, l.bandwidth, l.peak), 0));
  add("figure.roofline.bytes", format(dot.row->bytes, engine::unit::bytes));
  add("figure.roofline.intensity", format(dot.intensity, engine::unit::flop_per_byte));
  add("figure.roofline.measured_time", format_duration(dot.row->seconds));
  if (dot.count > 1) {
    add("figure.roofline.measured_count", format_count(static_cast<double>(dot.count)));
    add("figure.roofline.measured_time_here", format_duration(dot.seconds));
  }
  return r;
}

// Hollow, so that none is taken for a prediction.
void draw_measured(Canvas& canvas, const FigureInput& input, const Layout& l) {
  const Theme& theme = input.theme;
  for (std::size_t i = 0; i < l.measured.size(); ++i) {
    const MeasuredDot& d = l.measured[i];
    canvas.marker(d.at, Marker::circle, d.size,
                  {.colour = theme.panel, .edge = theme.ink, .edge_width = canvas.px(1.6f)});
    if (!d.label.text.empty())
      haloed_text(canvas, theme, d.label.anchor, d.label.text, d.label.style, std::array{region_of(theme, l)});
    canvas.tag_with("measured", static_cast<int>(i), mark_rect(d), [&] { return measured_readout(input, l, d); });
  }
}

FigureHead roofline_head(const FigureInput& input, const FigureView&) {
  const TextTable& t = input.texts;
  FigureHead head;
  head.title = t.text("figure.roofline.title");
  const double peak = input.report.quantities.value_or(Q::peak_flops, 0);
  const double bandwidth = input.report.quantities.value_or(Q::hbm_bandwidth, 0);
  if (!(peak > 0) || !(bandwidth > 0)) return head;
  if (const double share = measured_share(input); share > 0) {
    head.takeaway = t.format("figure.roofline.measured_reach",
                             {say(head, own_claim("roofline.measured", share, format_share(share)))});
    return head;
  }
  const double ridge = engine::ridge_point(peak, bandwidth);
  double hbm_share = 0;
  for (const engine::OperationRow& row : input.report.operations)
    if (!engine::is_vector_operation(row.kind) && row.flops > 0 && row.intensity_flop_per_byte < ridge)
      hbm_share += row.share_of_step;
  if (hbm_share >= kMostlyHbm || input.report.bound.kind == engine::BoundKind::hbm) {
    const bool of_parts = hbm_share < kMostlyHbm && input.report.quantities.value_or(Q::step_time, 0) > 0;
    hbm_share = std::min(1.0, hbm_share);
    head.takeaway =
        t.format("figure.roofline.hbm_bound",
                 {say(head, of_parts ? share_claim(input, {Q::step_hbm}, Q::step_time)
                                     : own_claim("roofline.hbm_share", hbm_share, format_share(hbm_share)))});
    return head;
  }
  const double reached = matmul_flop_per_s(input.report);
  if (reached > 0)
    head.takeaway =
        t.format("figure.roofline.matmuls",
                 {say(head, own_claim("roofline.matmuls", reached / peak, format_share(reached / peak)))});
  return head;
}

void draw_roofline(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  const Rect rest = draw_figure_head(canvas, area, input, view, roofline_head(input, view));
  const Layout l = roofline::lay_out(canvas, rest, input, view);
  if (!l.drawn) {
    TextStyle style;
    style.halign = HAlign::centre;
    style.valign = VAlign::middle;
    style.colour = input.theme.ink2;
    canvas.text(rest.centre(), ellipsize(canvas, input.texts.text("figure.roofline.unknown"), style, rest.w), style);
    return;
  }
  const Tint region = region_of(input.theme, l);
  canvas.polygon(region.corners, {.colour = region.colour});
  draw_frame(canvas, input.theme, l.plot, l.x, l.y, l.frame);
  draw_roofs(canvas, input, l);
  draw_labels(canvas, input, l);
  draw_mark_key(canvas, input, l);
  draw_dots(canvas, input, view, l);
  draw_measured(canvas, input, l);
}

std::string roofline_data(const FigureInput& input, const FigureView&) {
  std::string out = "operation\tFLOP\tHBM bytes\tFLOP/byte\tFLOP/s\ttime s\tshare of step\n";
  for (const engine::OperationRow& row : input.report.operations)
    out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\n",
                       input.texts.text("operation." + std::string(engine::kOperationIds[row.kind])), row.flops,
                       row.hbm_bytes, row.intensity_flop_per_byte, row.achieved_flop_per_s, row.time_s,
                       row.share_of_step);
  for (const engine::MeasuredOperation& row : input.measured)
    out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t\n", input.texts.format("figure.roofline.measured_row", {row.name}),
                       row.flops, row.bytes, row.flops / row.bytes, row.flops / row.seconds, row.seconds);
  return out;
}

}  // namespace

extern constinit const FigureRow roofline_figure{
    .name = "roofline",
    .measures = Measures::operations,
    .head = roofline_head,
    .draw = draw_roofline,
    .data = roofline_data,
};

}  // namespace roofscape::widgets
