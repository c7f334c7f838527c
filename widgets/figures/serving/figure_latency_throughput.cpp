// The latency-throughput figure: time per output token against tokens per second of a chip, along the batch, one
// curve a tensor degree on the same chips (engine/studies/latency_throughput.h; scaling book, chapters 7 and 8).
// Curves end where the memory is full; the Pareto front is broad; the plan's own point is marked.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <vector>

#include "engine/studies/latency_throughput.h"
#include "widgets/canvas/number_format.h"
#include "widgets/canvas/palette.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/empty_state.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/figures/common/line_chart.h"

namespace roofscape::widgets {

using engine::Q;
using engine::TradePoint;

namespace {

constexpr int kDegreesBeside = 2;    // doublings of the plan's own tensor degree shown to either side
constexpr double kBetter = 1.01;     // throughput that is worth speaking of
constexpr double kLimitInSight = 4;  // times beyond the fastest or slowest point
constexpr float kBoxTint = 0.06f;    // what is within the promised time

struct Trade {
  std::vector<TradePoint> points;
};

Trade make_trade(const engine::Scenario& scenario) {
  engine::TradeOptions options;
  const int own = scenario.parallelism.tensor;
  for (int i = -kDegreesBeside; i <= kDegreesBeside; ++i) {
    if (i < 0 && own % (1 << -i) != 0) continue;
    options.tensor.push_back(i < 0 ? own >> -i : own << i);
  }
  return {engine::latency_throughput(scenario, options)};
}

const std::vector<TradePoint>& points_of(const FigureInput& input) {
  return input.studies.get<Trade>(input.scenario, [&] { return make_trade(input.scenario); }).points;
}

// Sustained, as the plan runs.
double own_time(const FigureInput& input) { return input.report.quantities.value_or(Q::mixed_token_time_q, 0); }
double own_throughput(const FigureInput& input) {
  return input.report.quantities.value_or(Q::sustained_tokens_per_chip, 0);
}
// Sequences in flight: the batch, or fewer under the scenario's arrivals.
double own_batch(const FigureInput& input) { return input.report.quantities.value_or(Q::steady_batch, 0); }
bool known(const FigureInput& input) {
  return own_time(input) > 0 && own_throughput(input) > 0 && !points_of(input).empty();
}

std::string token_rate_text(const TextTable& t, double tokens_per_s) {
  return t.amount(tokens_per_s, engine::unit::tokens_per_s);
}

std::vector<const TradePoint*> of_degree(const std::vector<TradePoint>& points, int tensor) {
  std::vector<const TradePoint*> out;
  for (const TradePoint& p : points)
    if (p.tensor == tensor && p.fits) out.push_back(&p);
  return out;
}

std::vector<int> degrees_of(const std::vector<TradePoint>& points) {
  std::vector<int> out;
  for (const TradePoint& p : points)
    if (std::find(out.begin(), out.end(), p.tensor) == out.end()) out.push_back(p.tensor);
  return out;
}

Readout readout_of(const FigureInput& input, double batch, double time_s, double decode_time_s,
                   double tokens_per_s_per_chip, double chip_bytes) {
  const TextTable& t = input.texts;
  Readout r;
  r.title = t.format("figure.latency-throughput.batch", {format_count(std::round(batch))});
  r.rows.emplace_back(t.text("figure.latency-throughput.time"), format_duration(time_s));
  r.rows.emplace_back(t.text("figure.latency-throughput.alone"), format_duration(decode_time_s));
  r.rows.emplace_back(t.text(chip_key(input, "figure.latency-throughput.rate")),
                      token_rate_text(t, tokens_per_s_per_chip));
  r.rows.emplace_back(t.text("figure.latency-throughput.memory"), format(chip_bytes, engine::unit::bytes));
  return r;
}

const engine::ServiceLevel& slo_of(const FigureInput& input) { return input.scenario.workload.slo; }
bool has_slo(const FigureInput& input) {
  return slo_of(input).ttft_s > 0 || slo_of(input).time_per_output_token_s > 0;
}

ChartPoint place(const TradePoint& p) { return {p.time_per_token_s * kMsPerS, p.tokens_per_s_per_chip}; }

// One line a degree, the plan's own first (over the others), and last, under all, the Pareto front.
std::vector<ChartLine> lines_of(const FigureInput& input, const std::vector<TradePoint>& points, float em) {
  const Theme& theme = input.theme;
  const float width = theme.data_width * em;
  std::vector<ChartLine> lines;
  // One hue, the axis's: dashes tell the degrees apart.
  constexpr std::array kDashes{Dash{12, 4}, Dash{6, 3}, Dash{2, 3}, Dash{12, 3, 2, 3}};
  std::size_t other = 0;
  for (const int tensor : degrees_of(points)) {
    const bool own = tensor == input.scenario.parallelism.tensor;
    ChartLine line;
    for (const TradePoint* p : of_degree(points, tensor)) line.points.push_back(place(*p));
    if (line.points.empty()) continue;
    line.stroke = own ? plan_stroke(theme, em)
                      : Stroke{line_of(theme, StepPart::tensor), width * 0.8f,
                               kDashes[other++ % kDashes.size()].scaled(width / 2)};
    line.weight = own ? Weight::bold : Weight::regular;
    line.essential = own;
    line.label = input.texts.format("figure.axis.tensor", {format_count(tensor)});
    lines.insert(own ? lines.begin() : lines.end(), std::move(line));
  }
  ChartLine front;
  for (const TradePoint& p : points)
    if (p.pareto) front.points.push_back(place(p));
  std::sort(front.points.begin(), front.points.end(),
            [](const ChartPoint& a, const ChartPoint& b) { return a.x < b.x; });
  front.stroke = {faded(theme.ink, 0.18f), width * 5, {}};
  lines.push_back(std::move(front));
  return lines;
}

// What is within the promised time per token: a region up to it, and its edge.
void add_box(const FigureInput& input, float em, Chart& chart) {
  const double limit = slo_of(input).time_per_output_token_s * kMsPerS;
  if (!(limit > 0)) return;
  const std::string name = input.texts.format("figure.latency-throughput.slo", {format_duration(limit / kMsPerS)});
  chart.bands.push_back({chart.x_from, std::clamp(limit, chart.x_from, chart.x_to), kBoxTint,
                         limit > chart.x_from ? name : std::string()});
  ChartLine edge;
  edge.points = {{limit, chart.y_from}, {limit, std::sqrt(chart.y_from * chart.y_to)}, {limit, chart.y_to}};
  edge.stroke = {input.theme.ink2, input.theme.data_width * em * 0.6f,
                 Dash{5, 4}.scaled(input.theme.data_width * em / 2)};
  edge.tag = engine::quantity(Q::mixed_token_time_q).id;
  edge.readout = [name](const ChartPoint&) {
    Readout r;
    r.title = name;
    return r;
  };
  chart.lines.push_back(std::move(edge));
}

Chart chart_of(const FigureInput& input, float em) {
  const Theme& theme = input.theme;
  const TextTable& t = input.texts;
  const std::vector<TradePoint>& points = points_of(input);
  const ChartPoint own{own_time(input) * kMsPerS, own_throughput(input)};
  Chart chart;
  chart.x_title = t.text("figure.latency-throughput.x");
  chart.y_title = t.text(chip_key(input, "figure.latency-throughput.y"));
  chart.x_kind = ScaleKind::log10;
  chart.y_labels = TickLabels::si;
  double left = own.x, right = own.x, low = own.y, high = own.y;
  for (const TradePoint& p : points) {
    if (!p.fits) continue;
    const ChartPoint at = place(p);
    left = std::min(left, at.x), right = std::max(right, at.x), low = std::min(low, at.y),
    high = std::max(high, at.y);
  }
  // The limit is in sight where it is near what the plan can do.
  if (const double limit = slo_of(input).time_per_output_token_s * kMsPerS;
      limit > left / kLimitInSight && limit < right * kLimitInSight)
    left = std::min(left, limit), right = std::max(right, limit);
  std::tie(chart.x_from, chart.x_to) = log_range(left, right, 4);
  std::tie(chart.y_from, chart.y_to) = log_range(low, high, 10);
  chart.lines = lines_of(input, points, em);
  add_box(input, em, chart);

  ChartDot mine;
  mine.at = own;
  mine.size = 11;
  mine.colour = input.report.fits() ? theme.ink : theme.err;
  const bool fewer = own_batch(input) < input.scenario.workload.batch;
  mine.text = t.format(
      !input.report.fits() ? "figure.latency-throughput.own.full"
      : fewer              ? "figure.latency-throughput.own.in_flight"
                           : "figure.latency-throughput.own",
      {format_count(input.report.fits() ? std::round(own_batch(input)) : double(input.scenario.workload.batch))});
  mine.tag = engine::quantity(Q::mixed_token_time_q).id;
  mine.readout = readout_of(input, own_batch(input), own_time(input),
                            input.report.quantities.value_or(Q::time_per_output_token, 0), own_throughput(input),
                            input.report.quantities.value_or(Q::memory_total, 0));
  chart.dots.push_back(std::move(mine));
  for (const TradePoint& p : points) {
    if (!p.fits || (p.tensor == input.scenario.parallelism.tensor && p.time_per_token_s == own_time(input))) continue;
    ChartDot dot;
    dot.at = place(p);
    dot.size = p.pareto ? 6.0f : 4.0f;
    dot.bold = false;
    const bool same = p.tensor == input.scenario.parallelism.tensor;
    dot.colour = same ? theme.ink : line_of(theme, StepPart::tensor);
    if (!p.keeps_slo) dot.colour = theme.ink3;
    if (same) dot.text = format_count(p.batch);
    dot.tag = engine::quantity(Q::sustained_tokens_per_chip).id;
    dot.readout = readout_of(input, p.batch, p.time_per_token_s, p.decode_time_per_token_s, p.tokens_per_s_per_chip,
                             p.chip_bytes);
    chart.dots.push_back(std::move(dot));
  }
  if (input.baseline)
    add_baseline(chart, input,
                 {input.baseline->report.quantities.value_or(Q::mixed_token_time_q, 0) * kMsPerS,
                  input.baseline->report.quantities.value_or(Q::sustained_tokens_per_chip, 0)});
  chart.note = t.text(has_slo(input) ? "figure.latency-throughput.note.slo" : "figure.latency-throughput.note");
  return chart;
}

FigureHead latency_throughput_head(const FigureInput& input, const FigureView&) {
  const TextTable& t = input.texts;
  FigureHead head;
  if (input.baseline) head.context = compared_context(input);
  head.title = t.text("figure.latency-throughput.title");
  if (!known(input)) return head;
  const std::string own = say(head, claim_of(input, Q::mixed_token_time_q));
  head.brief = t.format("figure.latency-throughput.takeaway.brief", {own});
  const std::string both = t.format(
      chip_key(input, "figure.latency-throughput.takeaway"),
      {own, say(head, claim_of(input, Q::sustained_tokens_per_chip, token_rate_text(t, own_throughput(input))))});
  const auto told = [&](std::string_view key, const TradePoint& p) {
    head.takeaway =
        t.format(key, {both, say(head, data_claim("tensor", p.tensor, format_count(p.tensor))),
                       say(head, data_claim("batch", static_cast<double>(p.batch), format_count(p.batch))),
                       say(head, data_claim("sustained tokens per s and chip", p.tokens_per_s_per_chip,
                                            token_rate_text(t, p.tokens_per_s_per_chip)))});
  };
  head.takeaway = both;
  if (has_slo(input)) {
    const TradePoint* kept = engine::best_kept(points_of(input));
    if (kept == nullptr)
      head.takeaway = t.format("figure.latency-throughput.takeaway.slo.none", {both});
    else
      told("figure.latency-throughput.takeaway.slo", *kept);
    return head;
  }
  const TradePoint* best = engine::best_within(points_of(input), own_time(input));
  if (best != nullptr && best->tokens_per_s_per_chip > kBetter * own_throughput(input))
    told("figure.latency-throughput.takeaway.better", *best);
  return head;
}

void draw_latency_throughput(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  const Rect rest = draw_figure_head(canvas, area, input, view, latency_throughput_head(input, view));
  if (rest.empty()) return;
  if (!known(input))
    return draw_empty_state(canvas, input.theme, rest, input.texts.text("figure.latency-throughput.empty"));
  draw_line_chart(canvas, rest, input.theme, on_held_axes(chart_of(input, canvas.em()), input, "latency-throughput"));
}

std::string latency_throughput_data(const FigureInput& input, const FigureView&) {
  std::string out =
      "tensor\tdata\tbatch\tsustained seconds per token\tsustained tokens per s and chip\tchip bytes\tseconds to "
      "first token\tseconds per token, decoding alone\ttokens per s and chip, decoding alone\tfits\twithin "
      "limits\tPareto\n";
  for (const TradePoint& p : points_of(input))
    out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", p.tensor, p.data, p.batch,
                       p.time_per_token_s, p.tokens_per_s_per_chip, p.chip_bytes, p.ttft_s, p.decode_time_per_token_s,
                       p.decode_tokens_per_s_per_chip, p.fits ? "yes" : "no", p.keeps_slo ? "yes" : "no",
                       p.pareto ? "yes" : "no");
  return out;
}

}  // namespace

extern constinit const FigureRow latency_throughput_figure{
    .name = "latency-throughput",
    .subject = Subject::serving,
    .head = latency_throughput_head,
    .draw = draw_latency_throughput,
    .data = latency_throughput_data,
};

}  // namespace roofscape::widgets
