#include "widgets/figures/training/network_serving.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "engine/studies/serving_network.h"
#include "widgets/canvas/number_format.h"
#include "widgets/canvas/palette.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/empty_state.h"
#include "widgets/figures/common/line_chart.h"

namespace roofscape::widgets {

using engine::Q;
using engine::ServingNetwork;
using engine::ServingNetworkPoint;

namespace {

constexpr float kWorkWidth = 2;        // of other curves
constexpr float kLongerTint = 0.085f;  // of ink, where transfers take longer
constexpr double kTold = 0.01;         // of the step: what is exposed and worth telling

const ServingNetwork& serving_network_of(const FigureInput& input) {
  return input.studies.get<ServingNetwork>(input.scenario, [&] { return engine::serving_network(input.scenario); });
}

struct BaselineServing {
  ServingNetwork study;
};

double seconds(const FigureInput& input, Q q) { return input.report.quantities.value_or(q, 0); }
bool exposes(const FigureInput& input) {
  return seconds(input, Q::decode_exposed) > kTold * seconds(input, Q::decode_step);
}

Readout readout_of(const FigureInput& input, const ServingNetworkPoint& p) {
  const TextTable& t = input.texts;
  Readout r;
  r.title = t.format("figure.latency-throughput.batch", {format_count(p.batch)});
  r.rows.emplace_back(t.text("figure.network.serving.work"), format_duration(p.work_s));
  r.rows.emplace_back(t.text("figure.network.serving.transfers"), format_duration(p.network_s));
  r.rows.emplace_back(t.text("figure.network.serving.exposed"), format_duration(p.exposed_s));
  return r;
}

ChartLine line_of_points(const std::vector<ServingNetworkPoint>& points, double ServingNetworkPoint::*seconds) {
  ChartLine line;
  for (const ServingNetworkPoint& p : points)
    if (p.*seconds > 0) line.points.push_back({p.batch, p.*seconds});
  return line;
}

// Of work, on the line between two points.
double seconds_at(const std::vector<ServingNetworkPoint>& points, double batch) {
  for (std::size_t i = 1; i < points.size(); ++i) {
    const ServingNetworkPoint &a = points[i - 1], &b = points[i];
    if (batch < a.batch || batch > b.batch) continue;
    return a.work_s * std::pow(b.work_s / a.work_s, std::log(batch / a.batch) / std::log(b.batch / a.batch));
  }
  return 0;
}

Chart chart_of(const FigureInput& input, const ServingNetwork& study, float em) {
  const Theme& theme = input.theme;
  const TextTable& t = input.texts;
  Chart c;
  c.x_title = t.text("figure.kv.x.batch");
  c.y_title = t.text("figure.network.serving.y");
  c.y_labels = TickLabels::duration;
  c.x_from = study.points.front().batch, c.x_to = study.points.back().batch;
  double low = 1e300, high = 0;
  const auto add = [&](ChartLine line, std::string_view key, std::string tag) {
    line.label = t.text(std::string(key));
    line.tag = std::move(tag);
    for (const ChartPoint& p : line.points) low = std::min(low, p.y), high = std::max(high, p.y);
    line.readout = [&input, &study](const ChartPoint& at) {
      for (const ServingNetworkPoint& p : study.points)
        if (p.batch == at.x) return readout_of(input, p);
      return Readout{};
    };
    c.lines.push_back(std::move(line));
  };
  ChartLine plan = line_of_points(study.points, &ServingNetworkPoint::network_s);
  plan.stroke = plan_stroke(theme, em), plan.weight = Weight::bold, plan.essential = true;
  add(std::move(plan), "figure.network.serving.transfers", std::string(engine::quantity(Q::decode_network).id));
  ChartLine work = line_of_points(study.points, &ServingNetworkPoint::work_s);
  work.stroke = {theme.ink3, theme.data_width * em * kWorkWidth, {}}, work.essential = true;
  add(std::move(work), "figure.network.serving.work", std::string(engine::quantity(Q::decode_work).id));
  if (input.baseline && input.baseline->scenario.serves()) {
    const ServingNetwork& base =
        input.studies
            .get<BaselineServing>(input.baseline->scenario,
                                  [&] { return BaselineServing{engine::serving_network(input.baseline->scenario)}; })
            .study;
    ChartLine ghost = line_of_points(base.points, &ServingNetworkPoint::network_s);
    for (const ChartPoint& p : ghost.points) low = std::min(low, p.y), high = std::max(high, p.y);
    ghost.stroke = {theme.ink, theme.axis_width * em, Dash{3, 3}.scaled(em / 15)};
    ghost.label = t.text("figure.network.serving.baseline"), ghost.brief = t.text("figure.step.baseline");
    c.lines.push_back(std::move(ghost));
  }
  std::tie(c.y_from, c.y_to) = log_range(low, high, 10);
  // Regions from crossing to crossing.
  bool hides = study.points.front().hides();
  double from = c.x_from;
  const auto band = [&](double to) {
    const std::string_view key = !hides           ? "figure.network.plan.bound"
                                 : exposes(input) ? "figure.network.serving.shorter"
                                                  : "figure.network.plan.hides";
    if (to > from) c.bands.push_back({from, to, hides ? 0 : kLongerTint, std::string(t.text(key)), false});
    from = to, hides = !hides;
  };
  for (const double at : study.crossings) {
    band(at);
    ChartDot dot;
    dot.at = {at, seconds_at(study.points, at)};
    dot.text = format_significant(at);
    dot.colour = theme.ink;
    dot.tag = "network.serving.crossing";
    c.dots.push_back(std::move(dot));
  }
  band(c.x_to);
  c.now = Chart::Now{study.own, t.format("figure.network.now", {format_count(study.own)})};
  c.note = t.text("figure.network.serving.note");
  return c;
}

}  // namespace

FigureHead serving_network_head(const FigureInput& input) {
  const TextTable& t = input.texts;
  FigureHead head;
  if (input.baseline) head.context = compared_context(input);
  head.title = t.text("figure.network.title");
  if (!serving_network_of(input).known()) return head;
  const std::string network = say(head, claim_of(input, Q::decode_network)),
                    work = say(head, claim_of(input, Q::decode_work)),
                    batch = say(head, data_claim("batch", serving_network_of(input).own,
                                                 format_count(serving_network_of(input).own)));
  if (!(seconds(input, Q::decode_exposed) > 0)) {
    head.brief = t.format("figure.network.serving.takeaway.hidden.brief", {network});
    head.takeaway = t.format("figure.network.serving.takeaway.hidden", {network, work, batch});
    return head;
  }
  const std::string exposed = say(head, claim_of(input, Q::decode_exposed));
  // Told once where nothing is hidden.
  head.brief = exposed == network ? t.format("figure.network.serving.takeaway.exposed.brief", {network})
                                  : t.format("figure.network.serving.takeaway.brief", {network, exposed});
  head.takeaway = t.format("figure.network.serving.takeaway", {network, work, exposed, batch});
  return head;
}

void draw_serving_network(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  const Rect rest = draw_figure_head(canvas, area, input, view, serving_network_head(input));
  if (rest.empty()) return;
  const ServingNetwork& study = serving_network_of(input);
  if (!study.known())
    return draw_empty_state(canvas, input.theme, rest, input.texts.text("figure.network.serving.silent"));
  draw_line_chart(canvas, rest, input.theme, on_held_axes(chart_of(input, study, canvas.em()), input, "network"));
}

std::string serving_network_data(const FigureInput& input) {
  std::string out = "batch\twork s\ttransfers s\texposed s\tfits\n";
  for (const ServingNetworkPoint& p : serving_network_of(input).points)
    out += fmt::format("{}\t{}\t{}\t{}\t{}\n", p.batch, p.work_s, p.network_s, p.exposed_s, p.fits ? "yes" : "no");
  return out;
}

}  // namespace roofscape::widgets
