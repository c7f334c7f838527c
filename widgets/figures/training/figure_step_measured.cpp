#include "widgets/figures/training/figure_step_measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/measured_ghost.h"
#include "widgets/figures/common/quantity_look.h"
#include "widgets/figures/training/time_bars.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape::widgets {

using engine::Q;

namespace {

// A row: what is predicted, made of parts, and what was measured, each where the row before it ends.
struct MeasuredTerm {
  std::string id;            // of its data: "arithmetic", "unexplained", "total"
  std::span<const Q> parts;  // of the predicted step
  double from = 0, to = 0;   // predicted, seconds
  double base_from = 0, base_to = 0;
  double ran_from = 0, ran_to = 0;  // measured; what is not known stands for what is predicted
  bool measured = true;
};

std::vector<MeasuredTerm> measured_terms(const FigureInput& input) {
  const engine::MeasuredComparison c = *measured_comparison(input);
  std::vector<MeasuredTerm> out;
  double at = 0, base_at = 0, ran_at = 0;
  for (const engine::StepTermRow& row : c.terms) {
    MeasuredTerm term;
    term.id = engine::kStepTerms[row.term];
    term.parts = row.parts;
    double base = 0;
    if (input.baseline)
      for (const Q part : row.parts) base += seconds_of(input.baseline->report, part);
    term.measured = row.measured_s.has_value();
    term.from = at, term.to = at += row.predicted_s;
    term.base_from = base_at, term.base_to = base_at += base;
    term.ran_from = ran_at, term.ran_to = ran_at += row.measured_s.value_or(row.predicted_s);
    out.push_back(std::move(term));
  }
  MeasuredTerm rest;
  rest.id = "unexplained";
  rest.from = rest.to = at;
  rest.base_from = rest.base_to = base_at;
  rest.ran_from = ran_at, rest.ran_to = ran_at + c.unexplained_s;
  out.push_back(std::move(rest));
  MeasuredTerm total;
  total.id = "total";
  total.to = *c.predicted_s;
  total.base_to = input.baseline ? seconds_of(input.baseline->report, Q::step_time) : 0;
  total.ran_to = *c.measured_s;
  out.push_back(std::move(total));
  return out;
}

std::string term_name(const FigureInput& input, const MeasuredTerm& term) {
  if (term.id == "unexplained") return std::string(input.texts.text("measured.unexplained"));
  if (term.id == "total") return quantity_label(input.texts, Q::step_time);
  return std::string(input.texts.text("measured.term." + term.id));
}

Readout term_readout(const FigureInput& input, const MeasuredTerm& term) {
  const TextTable& t = input.texts;
  Readout r;
  r.title = t.format("figure.step.readout", {term_name(input, term), format_duration(term.to - term.from)});
  for (const Q part : term.parts)
    if (const double seconds = seconds_of(input.report, part); seconds > 0 && term.parts.size() > 1)
      r.rows.emplace_back(quantity_label(t, part), format_duration(seconds));
  if (term.measured) {
    add_measured_time(r, input, term.ran_to - term.ran_from);
    r.rows.emplace_back(
        t.text("figure.step.difference"),
        format_difference(term.ran_to - term.ran_from - (term.to - term.from), engine::unit::seconds));
  }
  if (input.baseline)
    r.rows.emplace_back(t.text("figure.step.baseline"), format_duration(term.base_to - term.base_from));
  return r;
}

std::string signed_duration(double seconds) {
  return (seconds < 0 ? "-" : seconds > 0 ? "+" : "") + format_duration(std::abs(seconds));
}

}  // namespace

bool has_measured_terms(const FigureInput& input) {
  if (input.run == nullptr || !input.run->kernels) return false;
  const auto c = measured_comparison(input);
  return c->predicted_s && c->measured_s;
}

void draw_measured_terms(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  const std::vector<MeasuredTerm> terms = measured_terms(input);
  double end = 0;
  for (const MeasuredTerm& term : terms) end = std::max({end, term.to, term.base_to, term.ran_from, term.ran_to});
  end = kept_range(input.axes, "step.x", {0, end}).to;
  const TimeUnit unit = time_unit(end);
  std::vector<BarRow> bars;
  for (const MeasuredTerm& term : terms) {
    const bool total = term.id == "total", rest = term.id == "unexplained";
    BarRow bar;
    bar.name = term_name(input, term);
    if (const std::string brief = "measured.term." + term.id + ".brief"; input.texts.has(brief))
      bar.brief = input.texts.text(brief);
    bar.value = rest ? std::string() : format_duration(term.to - term.from);
    bar.second = !term.measured ? std::string(kNoValue)
                 : rest         ? signed_duration(term.ran_to - term.ran_from)
                                : format_duration(term.ran_to - term.ran_from);
    bar.bold = total;
    bar.weight = total || rest ? std::numeric_limits<double>::infinity()
                               : std::max(term.to - term.from, term.ran_to - term.ran_from);
    if (total) {
      bar.parts.push_back({0, term.to / unit.seconds, Fill{.colour = input.theme.ink}});
    } else {
      double at = term.from;
      for (const Q part : term.parts) {
        const double seconds = seconds_of(input.report, part);
        Fill fill = fill_of(input.theme, part, canvas.em());
        if (view.compact && part != Q::step_bubble) fill.hatch = Hatch::none;
        if (seconds > 0) bar.parts.push_back({at / unit.seconds, (at + seconds) / unit.seconds, fill});
        at += seconds;
      }
    }
    if (term.measured)
      bar.under =
          BarPart{std::max(0.0, std::min(term.ran_from, term.ran_to)) / unit.seconds,
                  std::max(term.ran_from, term.ran_to) / unit.seconds, measured_fill(input.theme, canvas.em())};
    if (input.baseline && !rest) bar.ghost = BarPart{term.base_from / unit.seconds, term.base_to / unit.seconds, {}};
    bars.push_back(std::move(bar));
  }
  BarAxis axis = time_bar_axis(input.texts, end, unit);
  axis.value = input.texts.text("measured.predicted");
  axis.second = input.texts.text("measured.measured");
  axis.keeps_second = true;
  axis.key = {measured_key(input, canvas.em())};
  const BarRowsPlot plot = draw_bar_rows(canvas, input.theme, area, bars, axis);
  for (std::size_t i = 0; i < terms.size(); ++i)
    if (plot.has_row(i))
      canvas.tag_with("step.measured", static_cast<int>(i), plot.band(i, area),
                      [&] { return term_readout(input, terms[i]); });
}

std::string measured_terms_data(const FigureInput& input) {
  std::string out = "part\tseconds\tmeasured seconds";
  if (input.baseline) out += "\tbaseline seconds";
  out += '\n';
  for (const MeasuredTerm& term : measured_terms(input)) {
    out += fmt::format("{}\t{}\t{}", term.id, term.to - term.from,
                       term.measured ? fmt::format("{}", term.ran_to - term.ran_from) : std::string());
    if (input.baseline) out += fmt::format("\t{}", term.base_to - term.base_from);
    out += '\n';
  }
  return out;
}

}  // namespace roofscape::widgets
