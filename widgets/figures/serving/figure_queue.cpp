// The queue figure: arrivals a second against percentiles of the time to first token, waiting included, or of the
// time per token, from a simulated replica (engine/studies/load_curve.h); the scenario's own rate and the promised
// time where there are any. Option `time`.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <tuple>

#include "engine/studies/load_curve.h"
#include "widgets/canvas/number_format.h"
#include "widgets/canvas/palette.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/empty_state.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_options.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/figures/common/line_chart.h"

namespace roofscape::widgets {

using engine::LoadCurve;
using engine::LoadPoint;
using engine::Percentiles;
using engine::Q;

namespace {

enum class Time : std::uint8_t { first_token, per_token };
constexpr std::array<std::string_view, 2> kTimes{"first-token", "per-token"};
constexpr FigureOptions kQueueOptions{OptionOf<Time>{"time", kTimes}};

constexpr double kInSeconds = 2;     // from here on the axis counts seconds
constexpr double kUsualShare = 0.8;  // of what the plan keeps up with, where the scenario has no rate of its own

bool per_token(const FigureView& view) { return kQueueOptions.chosen<Time>(view) == Time::per_token; }

const LoadCurve& load_curve_of(const FigureInput& input) {
  return input.studies.get<LoadCurve>(input.scenario, [&] { return engine::load_curve(input.scenario); });
}

// Of the baseline, in a place of its own; null: there is none that serves.
struct BaselineLoad {
  LoadCurve curve;
};
const LoadCurve* baseline_load_of(const FigureInput& input) {
  if (input.baseline == nullptr || !input.baseline->scenario.serves()) return nullptr;
  const engine::Scenario& before = input.baseline->scenario;
  const LoadCurve& curve =
      input.studies.get<BaselineLoad>(before, [&] { return BaselineLoad{engine::load_curve(before)}; }).curve;
  return curve.points.empty() ? nullptr : &curve;
}

const Percentiles& shown(const LoadPoint& p, bool token) {
  return token ? p.result.time_per_token_s : p.result.ttft_s;
}
double limit_of(const FigureInput& input, bool token) {
  return token ? input.scenario.workload.slo.time_per_output_token_s : input.scenario.workload.slo.ttft_s;
}

// The scenario's own rate, else the usual share of the most.
const LoadPoint* told(const LoadCurve& study) {
  const LoadPoint* out = nullptr;
  for (const LoadPoint& p : study.points)
    if (p.own || (out == nullptr && p.share_of_most >= kUsualShare * (1 - 1e-9))) out = &p;
  return out;
}

Readout readout_of(const FigureInput& input, const LoadPoint& p, bool token) {
  const TextTable& t = input.texts;
  Readout r;
  r.title = t.format("figure.queue.readout",
                     {t.amount(p.arrivals_per_s, engine::unit::requests_per_s), format_share(p.share_of_most)});
  r.rows.emplace_back(t.text("figure.queue.p50"), format_duration(shown(p, token).p50));
  r.rows.emplace_back(t.text("figure.queue.p90"), format_duration(shown(p, token).p90));
  r.rows.emplace_back(t.text("figure.queue.p99"), format_duration(shown(p, token).p99));
  r.rows.emplace_back(t.text("figure.queue.batch"), format_significant(p.result.mean_batch));
  return r;
}

Chart chart_of(const FigureInput& input, const FigureView& view, const LoadCurve& study, float em) {
  const Theme& theme = input.theme;
  const TextTable& t = input.texts;
  const bool token = per_token(view);
  const float width = theme.data_width * em;
  double latest = limit_of(input, token);
  for (const LoadPoint& p : study.points) latest = std::max(latest, shown(p, token).p99);
  const bool seconds = latest >= kInSeconds;
  const double scale = seconds ? 1 : kMsPerS, limit = limit_of(input, token) * scale;
  const std::string_view tag = engine::quantity(token ? Q::mixed_token_time_q : Q::ttft).id;
  Chart chart;
  chart.x_title = t.text("figure.queue.x");
  chart.y_title =
      t.text(std::string(token ? "figure.queue.y.token" : "figure.queue.y.first") + (seconds ? ".s" : ""));
  chart.x_kind = ScaleKind::linear;
  chart.y_labels = TickLabels::si;
  chart.x_from = 0, chart.x_to = std::max(study.most_per_s, study.points.back().arrivals_per_s);
  double low = limit > 0 ? limit : 1e300, high = limit;
  for (const LoadPoint& p : study.points)
    low = std::min(low, shown(p, token).p50 * scale), high = std::max(high, shown(p, token).p99 * scale);
  std::tie(chart.y_from, chart.y_to) = log_range(low, high, 4);

  struct Level {
    double Percentiles::*value;
    std::string_view key;
    Stroke stroke;
  };
  const std::array levels{
      Level{&Percentiles::p50, "figure.queue.p50", plan_stroke(theme, em)},
      Level{&Percentiles::p90, "figure.queue.p90", {theme.ink2, width, {}}},
      Level{&Percentiles::p99, "figure.queue.p99", {theme.ink3, width, Dash{6, 4}.scaled(width / 2)}}};
  for (const Level& level : levels) {
    ChartLine line;
    for (const LoadPoint& p : study.points)
      line.points.push_back({p.arrivals_per_s, shown(p, token).*level.value * scale});
    line.stroke = level.stroke;
    line.label = t.text(level.key);
    line.weight = level.value == &Percentiles::p50 ? Weight::bold : Weight::regular;
    line.tag = tag;
    line.readout = [&input, &study, token](const ChartPoint& at) {
      for (const LoadPoint& p : study.points)
        if (p.arrivals_per_s == at.x) return readout_of(input, p, token);
      return Readout{};
    };
    chart.lines.push_back(std::move(line));
  }
  if (const LoadCurve* before = baseline_load_of(input)) {
    ChartLine line;
    for (const LoadPoint& p : before->points) {
      const double value = shown(p, token).p50 * scale;
      line.points.push_back({p.arrivals_per_s, value});
      if (value > 0)
        chart.y_from = std::min(chart.y_from, value / 1.1), chart.y_to = std::max(chart.y_to, value * 1.1);
    }
    chart.x_to = std::max(chart.x_to, before->points.back().arrivals_per_s);
    line.stroke = {theme.ink, width * 0.8f, Dash{3, 3}.scaled(width / 2)};
    line.label = std::string(t.text("figure.step.baseline")) + std::string(t.text("figure.list_separator")) +
                 std::string(t.text("figure.queue.p50"));
    chart.lines.push_back(std::move(line));
  }
  if (limit > 0) {
    ChartLine promised;
    promised.points = {{chart.x_from, limit}, {chart.x_to, limit}};
    promised.stroke = {theme.err, width * 0.8f, Dash{5, 4}.scaled(width / 2)};
    promised.label = t.format("figure.latency-throughput.slo", {format_duration(limit / scale)});
    promised.essential = true;
    chart.lines.push_back(std::move(promised));
  }
  if (const LoadPoint* at = told(study); at != nullptr) {
    if (at->own)
      chart.now =
          Chart::Now{at->arrivals_per_s, t.format("figure.queue.now", {format_significant(at->arrivals_per_s)})};
    for (const auto value : {&Percentiles::p50, &Percentiles::p99}) {
      ChartDot dot;
      dot.at = {at->arrivals_per_s, shown(*at, token).*value * scale};
      dot.text = format_duration(shown(*at, token).*value);
      dot.bold = value == &Percentiles::p50;
      dot.size = dot.bold ? 9.0f : 7.0f;
      dot.colour = dot.bold ? theme.ink : theme.ink3;
      dot.tag = tag;
      dot.readout = readout_of(input, *at, token);
      chart.dots.push_back(std::move(dot));
    }
  }
  chart.note = t.text("figure.queue.note");
  return chart;
}

FigureHead queue_head(const FigureInput& input, const FigureView& view) {
  const TextTable& t = input.texts;
  FigureHead head;
  if (input.baseline) head.context = compared_context(input);
  head.title = t.text(per_token(view) ? "figure.queue.title.token" : "figure.queue.title.first");
  const LoadPoint* p = told(load_curve_of(input));
  if (p == nullptr || p->result.requests == 0) return head;
  const Percentiles& times = shown(*p, per_token(view));
  const std::string of = per_token(view) ? "per token " : "TTFT ",
                    rate = say(head, data_claim("arrivals per s", p->arrivals_per_s,
                                                t.amount(p->arrivals_per_s, engine::unit::requests_per_s)));
  const auto time = [&](const char* level, double seconds) {
    return say(head, data_claim(of + level, seconds, format_duration(seconds)));
  };
  if (p->result.overloaded) {
    head.takeaway = t.format("figure.queue.takeaway.overloaded", {rate});
    return head;
  }
  head.brief = t.format("figure.queue.takeaway.brief", {time("p50 s", times.p50), rate});
  head.takeaway = t.format("figure.queue.takeaway", {head.brief, time("p99 s", times.p99)});
  return head;
}

void draw_queue(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  const Rect rest = draw_figure_head(canvas, area, input, view, queue_head(input, view));
  if (rest.empty()) return;
  const LoadCurve& study = load_curve_of(input);
  const bool simulated = !study.points.empty() && shown(study.points.front(), per_token(view)).p50 > 0;
  if (!simulated || input.report.quantities.value_or(Q::capacity_requests, 0) <= 0)
    return draw_empty_state(canvas, input.theme, rest, input.texts.text("figure.queue.empty"));
  draw_line_chart(canvas, rest, input.theme, on_held_axes(chart_of(input, view, study, canvas.em()), input, "queue"));
}

std::string queue_data(const FigureInput& input, const FigureView&) {
  std::string out =
      "arrivals per s\tTTFT p50 s\tTTFT p90 s\tTTFT p99 s\tper token p50 s\tper token p90 s\tper token p99 s\tmean "
      "batch\toverloaded\n";
  for (const LoadPoint& p : load_curve_of(input).points) {
    const Percentiles &a = p.result.ttft_s, &b = p.result.time_per_token_s;
    out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", p.arrivals_per_s, a.p50, a.p90, a.p99, b.p50, b.p90,
                       b.p99, p.result.mean_batch, p.result.overloaded ? "yes" : "no");
  }
  return out;
}

}  // namespace

extern constinit const FigureRow queue_figure{
    .name = "queue",
    .subject = Subject::serving,
    .options = kQueueOptions.rows,
    .head = queue_head,
    .draw = draw_queue,
    .data = queue_data,
};

}  // namespace roofscape::widgets
