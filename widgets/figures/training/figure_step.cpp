// The step figure: where the time of a step goes, as a waterfall. The parts of engine::kStepParts stand under one
// another, each beginning where the one before it ends, down to the step time; communication that work hides stands
// under a rule below. A baseline is a dashed outline in every row; a measured run is a bar below that of the step, or,
// where its kernels are known, in every row.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/empty_state.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/figures/common/measured_ghost.h"
#include "widgets/figures/common/quantity_look.h"
#include "widgets/figures/common/step_words.h"
#include "widgets/figures/training/figure_step_measured.h"
#include "widgets/figures/training/time_bars.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape::widgets {

using engine::Q;

namespace {

double step_seconds(const engine::Report& report) { return seconds_of(report, Q::step_time); }
bool has_training_step(const engine::Report& report) { return step_seconds(report) > 0; }

// Communication that work hides, of a step and chip: all of it less what is a part of the step, by axis in proportion
// to what of its transfers runs beside work.
struct Hidden {
  double total = 0;
  engine::AxisArray<double> by_axis{};
};
Hidden hidden_of(const engine::Report& report) {
  Hidden out;
  double exposed = 0, sum = 0;
  for (int i = 0; i < engine::kAxisCount; ++i) {
    const auto axis = static_cast<engine::Axis>(i);
    if (axis == engine::Axis::pipeline) continue;  // point to point; the simulation has it
    const auto a = static_cast<std::size_t>(i);
    out.by_axis[a] = std::max(0.0, report.transfers[a].hidden_s);
    sum += out.by_axis[a];
    exposed += seconds_of(report, engine::kExposedParts[a]);
  }
  out.total = std::max(0.0, seconds_of(report, Q::network_total) - exposed);
  // Less than a thousandth of the step is not worth a row.
  if (out.total < 1e-3 * step_seconds(report) || sum <= 0) return {};
  for (double& seconds : out.by_axis) seconds *= out.total / sum;
  return out;
}

struct StepRow {
  std::optional<Q> part;  // none: hidden communication
  double from = 0, to = 0;
  double base_from = 0, base_to = 0;
};

// Those that take time here or in the baseline, and under their sum the communication that takes none: it is hidden.
std::vector<StepRow> step_rows(const FigureInput& input) {
  std::vector<StepRow> out;
  double at = 0, base_at = 0;
  for (const Q part : engine::kStepParts) {
    const double seconds = seconds_of(input.report, part);
    const double base = input.baseline ? seconds_of(input.baseline->report, part) : 0;
    if (seconds > 0 || base > 0) out.push_back({part, at, at + seconds, base_at, base_at + base});
    at += seconds;
    base_at += base;
  }
  const double base = input.baseline ? step_seconds(input.baseline->report) : 0;
  out.push_back({Q::step_time, 0, step_seconds(input.report), 0, base});
  if (const Hidden hidden = hidden_of(input.report); hidden.total > 0) out.push_back({{}, 0, hidden.total, 0, 0});
  return out;
}

std::string row_name(const FigureInput& input, const StepRow& row) {
  if (!row.part) return std::string(input.texts.text("figure.step.hidden"));
  return quantity_label(input.texts, *row.part);
}

std::string_view row_tag(const StepRow& row) { return engine::quantity(row.part.value_or(Q::network_total)).id; }

Readout readout_of(const FigureInput& input, const StepRow& row, const Hidden& hidden) {
  const TextTable& t = input.texts;
  Readout r;
  const double seconds = row.to - row.from;
  r.title = t.format("figure.step.readout", {row_name(input, row), format_duration(seconds)});
  if (!row.part) {
    for (std::size_t i = 0; i < hidden.by_axis.size(); ++i)
      if (hidden.by_axis[i] > 0 && r.rows.size() < 4)
        r.rows.emplace_back(t.text("figure.scaling.bound." + std::string(engine::kAxisIds[i])),
                            format_duration(hidden.by_axis[i]));
    return r;
  }
  if (*row.part != Q::step_time)
    r.rows.emplace_back(t.text("figure.step.share"), format_share(seconds / step_seconds(input.report)));
  if (input.baseline) add_baseline_time(r, t, seconds, row.base_to - row.base_from);
  if (*row.part == Q::step_time)
    if (const auto measured = measured_step(input)) add_measured_time(r, input, *measured);
  return r;
}

FigureHead plain_head(const FigureInput& input) {
  const TextTable& t = input.texts;
  FigureHead head;
  head.title = t.text("figure.step.title");
  if (!has_training_step(input.report)) return head;
  if (input.baseline && has_training_step(input.baseline->report)) {
    head.takeaway = t.format("figure.step.takeaway.baseline", {say(head, claim_of(input, Q::step_time)),
                                                               say(head, difference_claim(input, Q::step_time))});
    return head;
  }
  head.takeaway =
      t.format("figure.step.takeaway", {format_duration(step_seconds(input.report)), step_words(input.report, t)});
  head.claims = step_claims(input);
  return head;
}

FigureHead step_head(const FigureInput& input, const FigureView&) {
  FigureHead head = plain_head(input);
  if (has_training_step(input.report)) say_measured_step(input, head);
  return head;
}

void draw_step(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  const Rect rest = draw_figure_head(canvas, area, input, view, step_head(input, view));
  if (rest.empty()) return;
  const TextTable& t = input.texts;
  if (!has_training_step(input.report))
    return draw_empty_state(canvas, input.theme, rest, t.text("figure.step.empty"));
  if (has_measured_terms(input)) return draw_measured_terms(canvas, rest, input, view);
  const std::vector<StepRow> rows = step_rows(input);
  const Hidden hidden = hidden_of(input.report);
  const auto measured = measured_step(input);
  const double step = step_seconds(input.report);
  double end = std::max(hidden.total, measured.value_or(0));
  for (const StepRow& row : rows) end = std::max({end, row.to, row.base_to});
  end = kept_range(input.axes, "step.x", {0, end}).to;
  const TimeUnit unit = time_unit(end);

  std::vector<BarRow> bars;
  for (const StepRow& row : rows) {
    BarRow bar;
    const double seconds = row.to - row.from;
    const bool total = row.part == Q::step_time;
    bar.name = row_name(input, row);
    bar.value = format_duration(seconds);
    bar.bold = total;
    bar.joined = row.part && !total;
    bar.aside = !row.part;
    bar.weight = total ? std::numeric_limits<double>::infinity() : std::max(seconds, row.base_to - row.base_from);
    if (!row.part) {
      double from = 0;
      for (std::size_t i = 0; i < hidden.by_axis.size(); ++i) {
        if (hidden.by_axis[i] <= 0) continue;
        const Fill fill = hidden_fill(input.theme, fill_of(input.theme, engine::kExposedParts[i], canvas.em()), view);
        bar.parts.push_back({from / unit.seconds, (from + hidden.by_axis[i]) / unit.seconds, fill, 0,
                             std::string(t.text("figure.scaling.bound." + std::string(engine::kAxisIds[i])))});
        from += hidden.by_axis[i];
      }
    } else {
      Fill fill = fill_of(input.theme, *row.part, canvas.em());
      if (total)
        fill = Fill{.colour = input.theme.ink};
      else if (view.compact && *row.part != Q::step_bubble)
        fill.hatch = Hatch::none;
      bar.parts.push_back({row.from / unit.seconds, row.to / unit.seconds, fill});
      if (!total) bar.second = format_share(seconds / step);
      if (total && measured)
        bar.under = BarPart{0, *measured / unit.seconds, measured_fill(input.theme, canvas.em())};
      if (input.baseline) bar.ghost = BarPart{row.base_from / unit.seconds, row.base_to / unit.seconds, {}};
    }
    bars.push_back(std::move(bar));
  }
  BarAxis axis = time_bar_axis(t, end, unit);
  if (measured) axis.key = {measured_key(input, canvas.em())};
  const BarRowsPlot plot = draw_bar_rows(canvas, input.theme, rest, bars, axis);
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (plot.has_row(i))
      canvas.tag_with(row_tag(rows[i]), -1, plot.band(i, rest), [&] { return readout_of(input, rows[i], hidden); });
}

std::string step_data(const FigureInput& input, const FigureView&) {
  if (has_training_step(input.report) && has_measured_terms(input)) return measured_terms_data(input);
  const auto measured = measured_step(input);
  std::string out = "part\tseconds";
  if (input.baseline) out += "\tbaseline seconds";
  if (measured) out += "\tmeasured seconds";
  out += '\n';
  for (const StepRow& row : step_rows(input)) {
    const auto seconds = [&row](const engine::Report& r) { return seconds_of(r, *row.part); };
    out += fmt::format("{}\t{}", row.part ? engine::quantity(*row.part).id : std::string_view("hidden communication"),
                       row.part ? seconds(input.report) : row.to - row.from);
    if (input.baseline) out += fmt::format("\t{}", row.part ? seconds(input.baseline->report) : 0);
    if (measured) out += row.part == Q::step_time ? fmt::format("\t{}", *measured) : "\t";
    out += '\n';
  }
  return out;
}

}  // namespace

extern constinit const FigureRow step_figure{
    .name = "step",
    .measures = Measures::run,
    .height_pt = 272,
    .head = step_head,
    .draw = draw_step,
    .data = step_data,
};

}  // namespace roofscape::widgets
