// The serving-roofline figure: linear layers and attention of prefill and decoding by arithmetic intensity under the
// roof of a chip, the way of decoding's linear layers along the batch, and the critical batch
// (engine/studies/phase_roofline.h; scaling book, chapters 7 and 8).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/studies/phase_roofline.h"
#include "widgets/canvas/number_format.h"
#include "widgets/canvas/palette.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/empty_state.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/figures/common/line_chart.h"

namespace roofscape::widgets {

using engine::BatchPlace;
using engine::LayerShare;
using engine::PhaseRoofline;
using engine::PhaseWork;
using engine::Q;
using engine::ServingPhase;

namespace {

constexpr double kTera = 1e12;
constexpr double kNear = 0.15;        // of an intensity: what is so near has no mark of its own
constexpr double kSlopeInSight = 30;  // ridge over the left end of the axis, at least

const PhaseRoofline& phase_roofline_of(const FigureInput& input) {
  return input.studies.get<PhaseRoofline>(input.scenario, [&] { return engine::phase_roofline(input.scenario); });
}

std::string_view key_of(const PhaseWork& w) {
  static constexpr std::array<std::string_view, 4> kKeys{
      "figure.serving-roofline.prefill.linear", "figure.serving-roofline.prefill.attention",
      "figure.serving-roofline.decode.linear", "figure.serving-roofline.decode.attention"};
  return kKeys[(w.phase == ServingPhase::decode ? 2u : 0u) + (w.share == LayerShare::attention ? 1u : 0u)];
}
Q quantity_of(const PhaseWork& w) {
  const bool attention = w.share == LayerShare::attention;
  if (w.phase == ServingPhase::decode) return attention ? Q::decode_attention : Q::decode_linear;
  return attention ? Q::prefill_attention_flops : Q::prefill_linear_flops;
}

const PhaseWork* find_work(const PhaseRoofline& study, ServingPhase phase, LayerShare share) {
  for (const PhaseWork& w : study.works)
    if (w.phase == phase && w.share == share) return &w;
  return nullptr;
}

std::string flop_rate_text(double flop_per_s) { return format(flop_per_s, engine::unit::flop_per_s); }
std::string intensity_text(double intensity) { return format(intensity, engine::unit::flop_per_byte); }

Readout readout_of(const FigureInput& input, const PhaseWork& w) {
  const TextTable& t = input.texts;
  Readout r;
  r.title = t.format("figure.serving-roofline.readout",
                     {std::string(t.text(key_of(w))), flop_rate_text(w.attainable_flop_per_s)});
  r.rows.emplace_back(t.text("figure.serving-roofline.intensity"), intensity_text(w.intensity_flop_per_byte));
  r.rows.emplace_back("FLOP", format(w.flops, engine::unit::flop));
  r.rows.emplace_back(t.text("figure.serving-roofline.bytes"), format(w.hbm_bytes, engine::unit::bytes));
  r.rows.emplace_back(t.text(w.phase == ServingPhase::decode ? "figure.serving-roofline.share.decode"
                                                             : "figure.serving-roofline.share.prefill"),
                      format_share(w.share_of_phase));
  return r;
}

// As every other place writes it: the report's number, not rounded up to whole sequences.
std::string critical_text(const PhaseRoofline& study) {
  return format(study.critical_batch, engine::quantity(Q::critical_sequences).unit, {.unit = false});
}

ChartDot critical_dot(const FigureInput& input, const PhaseRoofline& study) {
  const TextTable& t = input.texts;
  ChartDot dot;
  dot.at = {study.ridge_flop_per_byte, study.peak_flop_per_s / kTera};
  dot.size = 8;
  dot.colour = input.theme.ink;
  dot.text = t.format("figure.serving-roofline.critical", {critical_text(study)});
  dot.tag = engine::quantity(Q::critical_sequences).id;
  dot.readout.title = dot.text;
  dot.readout.rows.emplace_back(t.text("figure.serving-roofline.intensity"),
                                intensity_text(study.ridge_flop_per_byte));
  return dot;
}

Chart chart_of(const FigureInput& input, const PhaseRoofline& study, float em) {
  const Theme& theme = input.theme;
  const TextTable& t = input.texts;
  const double ridge = study.ridge_flop_per_byte, peak = study.peak_flop_per_s / kTera;
  Chart chart;
  chart.x_title = t.text("figure.serving-roofline.x");
  chart.y_title = t.text(chip_key(input, "figure.serving-roofline.y"));
  chart.x_kind = ScaleKind::log10;
  chart.x_labels = TickLabels::si;
  double left = ridge / kSlopeInSight, right = ridge;
  for (const PhaseWork& w : study.works)
    left = std::min(left, w.intensity_flop_per_byte), right = std::max(right, w.intensity_flop_per_byte);
  chart.x_from = left / 2, chart.x_to = right * 3;
  chart.y_from = chart.x_from * study.hbm_bytes_per_s / kTera,
  chart.y_to = std::max(peak, study.ideal_flop_per_s / kTera) * 2.5;

  ChartLine roof;
  roof.points = {{chart.x_from, chart.y_from}, {ridge, peak}, {chart.x_to, peak}};
  roof.stroke = {theme.ink, theme.data_width * em * 1.15f, {}};
  roof.label = flop_rate_text(study.peak_flop_per_s);
  roof.essential = true;
  chart.lines.push_back(std::move(roof));
  const bool slower =
      study.ideal_flop_per_s > study.peak_flop_per_s || study.ideal_hbm_bytes_per_s > study.hbm_bytes_per_s;
  if (slower) {
    // What the data sheet promises, over what the mode expects.
    ChartLine sheet;
    sheet.points = {{chart.x_from, chart.x_from * study.ideal_hbm_bytes_per_s / kTera},
                    {study.ideal_flop_per_s / study.ideal_hbm_bytes_per_s, study.ideal_flop_per_s / kTera},
                    {chart.x_to, study.ideal_flop_per_s / kTera}};
    sheet.stroke = {theme.ink3, theme.axis_width * em, Dash{5, 4}.scaled(em / 15)};
    sheet.faint = true;
    sheet.label = t.format("figure.serving-roofline.sheet", {flop_rate_text(study.ideal_flop_per_s)});
    chart.lines.push_back(std::move(sheet));
  }
  // The marks of batches crowd along the slope: what it is stands under it.
  chart.bands.push_back(
      {chart.x_from, ridge, kRegionTint,
       t.format("figure.serving-roofline.below", {format(study.hbm_bytes_per_s, engine::unit::bytes_per_s)})});

  // Its name has the first choice of room.
  const PhaseWork* linear = find_work(study, ServingPhase::decode, LayerShare::linear);
  const bool apart = linear == nullptr || std::abs(linear->intensity_flop_per_byte / ridge - 1) > kNear;
  if (study.critical_batch > 0 && apart) chart.dots.push_back(critical_dot(input, study));
  for (const bool attention : {false, true})
    for (const PhaseWork& w : study.works) {
      if ((w.share == LayerShare::attention) != attention) continue;
      const Roof look = attention ? Roof::attention : Roof::matmul;
      ChartDot dot;
      dot.at = {w.intensity_flop_per_byte, w.attainable_flop_per_s / kTera};
      dot.size = 12;
      dot.marker = marker_of(look);
      dot.colour = fill_of(theme, look, em).colour;
      dot.text = t.text(key_of(w));
      if (w.phase == ServingPhase::decode && !attention) {
        dot.brief = dot.text;
        dot.text = t.format("figure.serving-roofline.decode.batch",
                            {dot.brief, format_count(input.scenario.workload.batch)});
      }
      dot.tag = engine::quantity(quantity_of(w)).id;
      dot.readout = readout_of(input, w);
      chart.dots.push_back(std::move(dot));
    }
  for (const BatchPlace& b : study.batches) {
    const auto beside = [&](double intensity) { return std::abs(b.intensity_flop_per_byte / intensity - 1) < kNear; };
    if (b.batch == input.scenario.workload.batch || b.intensity_flop_per_byte > ridge * (1 - 2 * kNear)) continue;
    if (std::any_of(study.works.begin(), study.works.end(),
                    [&](const PhaseWork& w) { return beside(w.intensity_flop_per_byte); }))
      continue;
    ChartDot dot;
    dot.at = {b.intensity_flop_per_byte, b.attainable_flop_per_s / kTera};
    dot.size = 4;
    dot.bold = false;
    dot.colour = b.fits ? theme.ink : theme.err;
    dot.text = format_count(b.batch);
    dot.side = ChartDot::Side::near;
    dot.tag = engine::quantity(Q::decode_linear).id;
    dot.readout.title =
        t.format("figure.serving-roofline.batch", {format_count(b.batch), flop_rate_text(b.attainable_flop_per_s)});
    dot.readout.rows.emplace_back(t.text("figure.serving-roofline.intensity"),
                                  intensity_text(b.intensity_flop_per_byte));
    chart.dots.push_back(std::move(dot));
  }
  chart.note = t.text(slower ? "figure.serving-roofline.note.slower" : "figure.serving-roofline.note");
  return chart;
}

FigureHead serving_roofline_head(const FigureInput& input, const FigureView&) {
  const TextTable& t = input.texts;
  FigureHead head;
  head.title = t.text("figure.serving-roofline.title");
  const PhaseRoofline& study = phase_roofline_of(input);
  const PhaseWork* linear = find_work(study, ServingPhase::decode, LayerShare::linear);
  if (linear == nullptr) return head;
  const double reached = linear->attainable_flop_per_s / study.peak_flop_per_s;
  if (reached >= 1) {
    const double batch = static_cast<double>(input.scenario.workload.batch);
    head.takeaway = t.format("figure.serving-roofline.takeaway.reached",
                             {say(head, data_claim("batch", batch, format_count(batch)))});
    return head;
  }
  head.brief = t.format("figure.serving-roofline.takeaway.brief",
                        {say(head, own_claim("serving-roofline.reached", reached, format_share(reached)))});
  head.takeaway =
      t.format("figure.serving-roofline.takeaway",
               {head.brief,
                say(head, own_claim("serving-roofline.critical_batch", study.critical_batch, critical_text(study)))});
  return head;
}

void draw_serving_roofline(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  const Rect rest = draw_figure_head(canvas, area, input, view, serving_roofline_head(input, view));
  if (rest.empty()) return;
  const PhaseRoofline& study = phase_roofline_of(input);
  if (study.works.empty() || input.report.quantities.value_or(Q::decode_step, 0) <= 0)
    return draw_empty_state(canvas, input.theme, rest, input.texts.text("figure.serving-roofline.empty"));
  draw_line_chart(canvas, rest, input.theme,
                  on_held_axes(chart_of(input, study, canvas.em()), input, "serving-roofline"));
}

std::string serving_roofline_data(const FigureInput& input, const FigureView&) {
  std::string out = "part\tbatch\tFLOP\tHBM bytes\tFLOP/byte\tattainable FLOP/s\tshare of the phase\n";
  const PhaseRoofline& study = phase_roofline_of(input);
  for (const PhaseWork& w : study.works)
    out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\n", input.texts.text(key_of(w)), input.scenario.workload.batch,
                       w.flops, w.hbm_bytes, w.intensity_flop_per_byte, w.attainable_flop_per_s, w.share_of_phase);
  for (const BatchPlace& b : study.batches)
    out += fmt::format("{}\t{}\t\t\t{}\t{}\t\n", input.texts.text("figure.serving-roofline.decode.linear"), b.batch,
                       b.intensity_flop_per_byte, b.attainable_flop_per_s);
  return out;
}

}  // namespace

extern constinit const FigureRow serving_roofline_figure{
    .name = "serving-roofline",
    .subject = Subject::serving,
    .head = serving_roofline_head,
    .draw = draw_serving_roofline,
    .data = serving_roofline_data,
};

}  // namespace roofscape::widgets
