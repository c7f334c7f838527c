// The latency-throughput figure: time per output token against tokens per second of a chip, along the batch
// (engine/studies/latency_throughput.h; scaling book, chapters 7 and 8). Option `lines`: one curve a tensor degree on the
// same chips, or one a length of the sequences. Axes are linear, so that the knee at the critical batch is seen. Curves
// end where the memory is full; the plan's own point is marked.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "engine/studies/latency_throughput.h"
#include "widgets/canvas/number_format.h"
#include "widgets/canvas/palette.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/empty_state.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_options.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/figures/common/line_chart.h"

namespace roofscape::widgets {

using engine::Q;
using engine::TradePoint;

namespace {

constexpr int kDegreesBeside = 2;         // doublings of the plan's own tensor degree shown to either side
constexpr double kBetter = 1.01;          // throughput that is worth speaking of
constexpr std::array kLengths{1, 4, 16};  // of the sequences, in quarters of the plan's
constexpr double kLimitInSight = 4;       // times beyond the plan's own time
constexpr double kFlat = 0.9;             // of the most throughput of a curve: from there it is past its knee
constexpr double kPastKnee = 1.35, kFarKnee = 3,
                 kPastOwn = 1.5;    // where the axis of time ends, of knees and of the plan's
constexpr double kOverBest = 1.12;  // of the axis of throughput
constexpr float kBoxTint = 0.06f;   // what is within the promised time

enum class Lines : std::uint8_t { tensor, context };
constexpr std::array<std::string_view, 2> kLines{"tensor", "context"};
constexpr FigureOptions kTradeOptions{OptionOf<Lines>{"lines", kLines}};

struct Trade {
  std::vector<TradePoint> points;
};

// The plan with shorter and longer sequences.
struct Lengths {
  struct Length {
    int tokens = 0;  // prompt and output
    bool own = false;
    std::vector<TradePoint> points;
  };
  std::vector<Length> all;
};

Lengths make_lengths(const engine::Scenario& scenario) {
  Lengths out;
  engine::TradeOptions options;
  options.tensor.push_back(scenario.parallelism.tensor);
  for (const int quarters : kLengths) {
    engine::Scenario s = scenario;
    const auto scaled = [&](auto tokens) {
      return std::max(static_cast<decltype(tokens)>(1), static_cast<decltype(tokens)>(tokens * quarters / 4));
    };
    s.workload.prompt_tokens = scaled(s.workload.prompt_tokens);
    s.workload.output_tokens = scaled(s.workload.output_tokens);
    out.all.push_back({static_cast<int>(s.workload.prompt_tokens + s.workload.output_tokens), quarters == 4,
                       engine::latency_throughput(s, options)});
  }
  return out;
}

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
bool has_slo(const FigureInput& input) { return slo_of(input).any(); }

ChartPoint place(const TradePoint& p) { return {p.time_per_token_s * kMsPerS, p.tokens_per_s_per_chip}; }

const Lengths& lengths_of(const FigureInput& input) {
  return input.studies.get<Lengths>(input.scenario, [&] { return make_lengths(input.scenario); });
}

// A curve: where its points are, and how it looks.
struct TradeLine {
  bool own = false;
  std::string label, brief;
  std::vector<const TradePoint*> points;  // that fit, batches rising
};

// One a degree or length, the plan's own first: over the others, and the first to have its numbers placed.
std::vector<TradeLine> trade_lines(const FigureInput& input, const FigureView& view) {
  const TextTable& t = input.texts;
  std::vector<TradeLine> out;
  const auto add = [&](TradeLine line, const std::vector<TradePoint>& points, int tensor) {
    for (const TradePoint& p : points)
      if (p.tensor == tensor && p.fits) line.points.push_back(&p);
    if (!line.points.empty()) out.insert(line.own ? out.begin() : out.end(), std::move(line));
  };
  if (kTradeOptions.chosen<Lines>(view) == Lines::context) {
    for (const Lengths::Length& l : lengths_of(input).all)
      add({l.own,
           t.format("figure.latency-throughput.length", {format_count(l.tokens)}),
           t.format("figure.latency-throughput.length.brief", {format_count(l.tokens)}),
           {}},
          l.points, input.scenario.parallelism.tensor);
    return out;
  }
  const std::vector<TradePoint>& points = points_of(input);
  for (const int tensor : degrees_of(points))
    add({tensor == input.scenario.parallelism.tensor, t.format("figure.axis.tensor", {format_count(tensor)}), {}, {}},
        points, tensor);
  return out;
}

// With a point where it leaves the axis, which its name stands beside.
std::vector<ChartPoint> points_within(const TradeLine& line, double x_to) {
  std::vector<ChartPoint> out;
  for (const TradePoint* p : line.points) {
    const ChartPoint at = place(*p);
    if (!out.empty() && out.back().x < x_to && at.x > x_to) {
      const ChartPoint& before = out.back();
      out.push_back({x_to, before.y + (at.y - before.y) * (x_to - before.x) / (at.x - before.x)});
    }
    if (at.x > x_to) break;
    out.push_back(at);
  }
  return out;
}

// Of a curve: its mark, and dashes in the hue of what it differs in.
constexpr std::array kMarkers{Marker::square, Marker::diamond, Marker::circle};
constexpr std::array kDashes{Dash{12, 4}, Dash{2, 3}, Dash{6, 3}, Dash{12, 3, 2, 3}};
Colour colour_of(const FigureInput& input, const FigureView& view, const TradeLine& line) {
  if (line.own) return input.theme.ink;
  const bool context = kTradeOptions.chosen<Lines>(view) == Lines::context;
  return line_of(input.theme, context ? StepPart::context : StepPart::tensor);
}

std::vector<ChartLine> lines_of(const FigureInput& input, const FigureView& view, const std::vector<TradeLine>& lines,
                                double x_to, float em) {
  const float width = input.theme.data_width * em;
  std::vector<ChartLine> out;
  std::size_t other = 0;
  for (const TradeLine& l : lines) {
    ChartLine line;
    line.points = points_within(l, x_to);
    line.stroke =
        l.own ? plan_stroke(input.theme, em)
              : Stroke{colour_of(input, view, l), width * 0.8f, kDashes[other++ % kDashes.size()].scaled(width / 2)};
    line.weight = l.own ? Weight::bold : Weight::regular;
    line.essential = l.own;
    line.label = l.label, line.brief = l.brief;
    out.push_back(std::move(line));
  }
  return out;
}

// Where the axis of time ends: past the knees of the curves, which no batch that only waits may push aside.
double end_of_time(const FigureInput& input, const std::vector<TradeLine>& lines) {
  const double own = own_time(input) * kMsPerS;
  double end = kPastOwn * own;
  for (const TradeLine& line : lines) {
    double most = 0;
    for (const TradePoint* p : line.points) most = std::max(most, p->tokens_per_s_per_chip);
    for (const TradePoint* p : line.points)
      if (p->tokens_per_s_per_chip >= kFlat * most) {
        end = std::max(end, std::min(kPastKnee * place(*p).x, kFarKnee * own));
        break;
      }
  }
  // The limit is in sight where it is near what the plan can do.
  if (const double limit = slo_of(input).time_per_output_token_s * kMsPerS;
      limit > own / kLimitInSight && limit < own * kLimitInSight)
    end = std::max(end, 1.1 * limit);
  const double step = tick_step(end, 6);
  return std::ceil(end / step) * step;
}

// What is within the promised time per token: a region up to it, and its edge.
void add_box(const FigureInput& input, float em, Chart& chart) {
  const double limit = slo_of(input).time_per_output_token_s * kMsPerS;
  if (!(limit > 0)) return;
  const std::string name = input.texts.format("figure.latency-throughput.slo",
                                              {format(limit / kMsPerS, engine::unit::seconds, {.trim_zeros = true})});
  chart.bands.push_back({chart.x_from, confined(limit, chart.x_from, chart.x_to), kBoxTint,
                         limit > chart.x_from ? name : std::string()});
  ChartLine edge;
  edge.points = {{limit, chart.y_from}, {limit, (chart.y_from + chart.y_to) / 2}, {limit, chart.y_to}};
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

Chart chart_of(const FigureInput& input, const FigureView& view, float em) {
  const Theme& theme = input.theme;
  const TextTable& t = input.texts;
  const std::vector<TradeLine> lines = trade_lines(input, view);
  const ChartPoint own{own_time(input) * kMsPerS, own_throughput(input)};
  Chart chart;
  chart.x_title = t.text("figure.latency-throughput.x");
  chart.y_title = t.text(chip_key(input, "figure.latency-throughput.y"));
  chart.x_kind = chart.y_kind = ScaleKind::linear;
  chart.x_from = 0, chart.x_to = end_of_time(input, lines);
  double high = own.y;
  for (const TradeLine& line : lines)
    for (const ChartPoint& p : points_within(line, chart.x_to)) high = std::max(high, p.y);
  chart.y_from = 0, chart.y_to = high * kOverBest;
  chart.lines = lines_of(input, view, lines, chart.x_to, em);
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
  std::size_t other = 0;
  for (const TradeLine& line : lines) {
    const Marker marker = line.own ? Marker::circle : kMarkers[other++ % kMarkers.size()];
    for (const TradePoint* p : line.points) {
      if (line.own && p->time_per_token_s == own_time(input)) continue;
      ChartDot dot;
      dot.at = place(*p);
      dot.bold = false;
      dot.marker = marker;
      dot.colour = p->keeps_slo ? colour_of(input, view, line) : theme.ink3;
      // Filled where the memory is full with the next.
      dot.hollow = p != line.points.back();
      dot.size = 6;
      dot.text = format_count(p->batch);
      dot.side = ChartDot::Side::near;
      dot.tag = engine::quantity(Q::sustained_tokens_per_chip).id;
      dot.readout = readout_of(input, p->batch, p->time_per_token_s, p->decode_time_per_token_s,
                               p->tokens_per_s_per_chip, p->chip_bytes);
      chart.dots.push_back(std::move(dot));
    }
  }
  if (input.baseline)
    add_baseline(chart, input,
                 {input.baseline->report.quantities.value_or(Q::mixed_token_time_q, 0) * kMsPerS,
                  input.baseline->report.quantities.value_or(Q::sustained_tokens_per_chip, 0)});
  chart.note = t.text(has_slo(input) ? "figure.latency-throughput.note.slo" : "figure.latency-throughput.note");
  return chart;
}

// Those that the plan may be compared with: of other degrees, or of other batches of the plan's own lengths.
const std::vector<TradePoint>& comparable(const FigureInput& input, const FigureView& view) {
  if (kTradeOptions.chosen<Lines>(view) == Lines::context)
    for (const Lengths::Length& l : lengths_of(input).all)
      if (l.own) return l.points;
  return points_of(input);
}

FigureHead latency_throughput_head(const FigureInput& input, const FigureView& view) {
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
    const TradePoint* kept = engine::best_kept(comparable(input, view));
    if (kept == nullptr)
      head.takeaway = t.format("figure.latency-throughput.takeaway.slo.none", {both});
    else
      told("figure.latency-throughput.takeaway.slo", *kept);
    return head;
  }
  const TradePoint* best = engine::best_within(comparable(input, view), own_time(input));
  if (best != nullptr && best->tokens_per_s_per_chip > kBetter * own_throughput(input))
    told("figure.latency-throughput.takeaway.better", *best);
  return head;
}

void draw_latency_throughput(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  const Rect rest = draw_figure_head(canvas, area, input, view, latency_throughput_head(input, view));
  if (rest.empty()) return;
  if (!known(input))
    return draw_empty_state(canvas, input.theme, rest, input.texts.text("figure.latency-throughput.empty"));
  draw_line_chart(canvas, rest, input.theme,
                  on_held_axes(chart_of(input, view, canvas.em()), input, "latency-throughput"));
}

std::string latency_throughput_data(const FigureInput& input, const FigureView& view) {
  std::string out =
      "tensor\tdata\tbatch\tsustained seconds per token\tsustained tokens per s and chip\tchip "
      "bytes\tseconds to "
      "first token\tseconds per token, decoding alone\ttokens per s and chip, decoding alone\tfits\twithin "
      "limits\tPareto\ttokens\n";
  const auto add = [&out](const TradePoint& p, int tokens) {
    out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", p.tensor, p.data, p.batch,
                       p.time_per_token_s, p.tokens_per_s_per_chip, p.chip_bytes, p.ttft_s, p.decode_time_per_token_s,
                       p.decode_tokens_per_s_per_chip, p.fits ? "yes" : "no", p.keeps_slo ? "yes" : "no",
                       p.pareto ? "yes" : "no", tokens);
  };
  if (kTradeOptions.chosen<Lines>(view) == Lines::context) {
    for (const Lengths::Length& l : lengths_of(input).all)
      for (const TradePoint& p : l.points) add(p, l.tokens);
    return out;
  }
  const engine::Workload& w = input.scenario.workload;
  for (const TradePoint& p : points_of(input)) add(p, static_cast<int>(w.prompt_tokens + w.output_tokens));
  return out;
}

}  // namespace

extern constinit const FigureRow latency_throughput_figure{
    .name = "latency-throughput",
    .subject = Subject::serving,
    .options = kTradeOptions.rows,
    .head = latency_throughput_head,
    .draw = draw_latency_throughput,
    .data = latency_throughput_data,
};

}  // namespace roofscape::widgets
