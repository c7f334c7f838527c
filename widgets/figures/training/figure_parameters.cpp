// The parameters figure: where the parameters of a model sit and where its FLOPs go, two bars a part, in percent of
// all.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/studies/parameter_map.h"
#include "widgets/canvas/number_format.h"
#include "widgets/canvas/palette.h"
#include "widgets/figures/common/bar_rows.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/empty_state.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/figures/common/stage_rows.h"
#include "widgets/figures/training/figure_pipeline_parts.h"
#include "widgets/plot/quantity_label.h"
#include "widgets/plot/ticks.h"

namespace roofscape::widgets {

using engine::ModelPart;
using engine::ModelPartRow;
using engine::Q;

namespace {

constexpr float kIdle = 0.45f;  // opacity of experts that a token does not pass through

std::string part_name(const FigureInput& input, ModelPart part) {
  return std::string(input.texts.text("figure.parameters.part." + std::string(engine::kModelPartIds[part])));
}

std::string params_text(const FigureInput& input, double params) { return parameters_text(input.texts, params); }
std::string flops_text(double flops) { return format(flops, engine::unit::flop); }

double total_params(const FigureInput& input) { return input.report.quantities.value_or(Q::params_total, 0); }
double total_flops(const FigureInput& input) { return input.report.quantities.value_or(Q::flops_per_token, 0); }

Readout readout_of(const FigureInput& input, const ModelPartRow& row) {
  const TextTable& t = input.texts;
  Readout r;
  r.title = part_name(input, row.part);
  if (row.params > 0) {
    r.rows.emplace_back(t.text("figure.parameters.params"), format_count(row.params));
    r.rows.emplace_back(t.text("figure.parameters.of_params"), format_share(row.params / total_params(input)));
  }
  r.rows.emplace_back(t.text("figure.parameters.flops"), flops_text(row.flops_per_token));
  if (total_flops(input) > 0)
    r.rows.emplace_back(t.text("figure.parameters.of_flops"), format_share(row.flops_per_token / total_flops(input)));
  return r;
}

FigureHead parameters_head(const FigureInput& input, const FigureView&) {
  const TextTable& t = input.texts;
  FigureHead head;
  head.title = t.text("figure.parameters.title");
  head.context = model_context(input);
  const auto rows = engine::parameter_map(input.scenario, input.report);
  if (rows.empty()) return head;
  const double total = total_params(input), active = input.report.quantities.value_or(Q::params_active, total);
  const std::string all = say(head, claim_of(input, Q::params_total, params_text(input, total)));
  if (input.scenario.model.is_moe()) {
    head.takeaway = t.format("figure.parameters.takeaway.moe",
                             {all, say(head, claim_of(input, Q::params_active, params_text(input, active))),
                              say(head, share_claim(input, {Q::params_active}, Q::params_total))});
    return head;
  }
  const auto& most = *std::max_element(
      rows.begin(), rows.end(), [](const ModelPartRow& a, const ModelPartRow& b) { return a.params < b.params; });
  head.takeaway =
      t.format("figure.parameters.takeaway",
               {all, part_name(input, most.part),
                say(head, own_claim("parameters.largest", most.params / total, format_share(most.params / total)))});
  return head;
}

void draw_parameters(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  Rect rest = draw_figure_head(canvas, area, input, view, parameters_head(input, view));
  if (rest.empty()) return;
  const TextTable& t = input.texts;
  const auto rows = engine::parameter_map(input.scenario, input.report);
  if (rows.empty()) return draw_empty_state(canvas, input.theme, rest, t.text("figure.parameters.empty"));
  const double params = total_params(input), flops = total_flops(input);

  const Fill weights = fill_of(input.theme, MemoryPart::weights, canvas.em()),
             compute = fill_of(input.theme, StepPart::compute, canvas.em());
  std::vector<KeyEntry> key{{std::string(t.text("figure.parameters.params")), weights}};
  if (flops > 0) key.push_back({std::string(t.text("figure.parameters.flops")), compute});
  const Rect head = rest.cut_top(small_line(canvas) * 1.3f);
  draw_fitting_key(canvas, input.theme, {rest.x, head.centre().y}, rest.w, key, {});

  std::vector<BarRow> bars;
  for (const ModelPartRow& row : rows) {
    BarRow bar;
    bar.name = part_name(input, row.part);
    const double of_params = 100 * row.params / params, of_flops = flops > 0 ? 100 * row.flops_per_token / flops : 0;
    Fill fill = weights;
    if (row.part == ModelPart::experts_idle) fill.colour = faded(fill.colour, kIdle);
    bar.parts = {{0, of_params, fill, 0}};
    if (flops > 0) bar.parts.push_back({0, of_flops, compute, 1});
    bar.value = row.params > 0 ? params_text(input, row.params) : std::string(kNoValue);
    if (flops > 0) bar.second = row.flops_per_token > 0 ? flops_text(row.flops_per_token) : std::string(kNoValue);
    bar.weight = std::max(of_params, of_flops);
    bars.push_back(std::move(bar));
  }
  BarRow total;
  total.name = t.text("figure.parameters.total");
  total.value = params_text(input, params);
  if (flops > 0) total.second = flops_text(flops);
  total.bold = true;
  total.weight = std::numeric_limits<double>::infinity();
  bars.push_back(std::move(total));

  BarAxis axis;
  axis.to = 100;
  axis.unit = 0.01;
  axis.title = t.text("figure.parameters.x");
  axis.value = t.text("figure.parameters.params");
  if (flops > 0) axis.second = t.text("figure.parameters.flops");
  axis.lanes = flops > 0 ? 2 : 1;
  const BarRowsPlot plot = draw_bar_rows(canvas, input.theme, rest, bars, axis);
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (plot.has_row(i))
      canvas.tag_with(engine::quantity(rows[i].quantity).id, -1, plot.band(i, rest),
                      [&] { return readout_of(input, rows[i]); });
  const std::size_t last = rows.size();
  if (plot.has_row(last))
    canvas.tag_with(engine::quantity(Q::params_total).id, -1, plot.band(last, rest), [&] {
      Readout r;
      r.title = t.text("figure.parameters.total");
      r.rows.emplace_back(t.text("figure.parameters.params"), format_count(params));
      r.rows.emplace_back(t.text("figure.parameters.active"),
                          format_count(input.report.quantities.value_or(Q::params_active, params)));
      r.rows.emplace_back(t.text("figure.parameters.flops"), flops_text(flops));
      return r;
    });
}

std::string parameters_data(const FigureInput& input, const FigureView&) {
  std::string out = "part\tparameters\tFLOPs per token\n";
  for (const ModelPartRow& row : engine::parameter_map(input.scenario, input.report))
    out += fmt::format("{}\t{}\t{}\n", engine::kModelPartIds[row.part], row.params, row.flops_per_token);
  return out;
}

}  // namespace

extern constinit const FigureRow parameters_figure{
    .name = "parameters",
    .subject = Subject::any,
    .about = About::model,
    .rests = Rests::parameters,
    .height_pt = 269.3f,
    .head = parameters_head,
    .draw = draw_parameters,
    .data = parameters_data,
};

}  // namespace roofscape::widgets
