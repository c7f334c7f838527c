// The prefill-decode figure: requests a second for each chip over the chips that prefill, beside the plan's decoding
// chips: what prefill keeps up with, what decoding does, and what both do; the plan's split and the best one, and for
// plans whose chips do both what those serve (engine/studies/phase_balance.h; scaling book, chapters 7 and 8).
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "engine/studies/phase_balance.h"
#include "widgets/canvas/number_format.h"
#include "widgets/canvas/palette.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/empty_state.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/figures/common/line_chart.h"

namespace roofscape::widgets {

using engine::PhaseBalance;
using engine::PhaseSplit;
using engine::Q;

namespace {

constexpr double kSameRate = 1e-9;
constexpr double kRoomAbove = 1.25;  // for what either phase could do beyond what is served

const PhaseBalance& phase_balance_of(const FigureInput& input) {
  return input.studies.get<PhaseBalance>(input.scenario, [&] { return engine::phase_balance(input.scenario); });
}

struct BaselineBalance {
  PhaseBalance study;
};

const PhaseSplit* own_split(const PhaseBalance& study) {
  for (const PhaseSplit& p : study.splits)
    if (p.own) return &p;
  return nullptr;
}
const PhaseSplit* best_split(const PhaseBalance& study) {
  return study.best < 0 ? nullptr : &study.splits[static_cast<std::size_t>(study.best)];
}

double per_chip(const PhaseSplit& p, double requests_per_s) { return requests_per_s / p.chips(); }
std::string request_rate_text(const TextTable& t, double requests_per_s) {
  return t.amount(requests_per_s, engine::unit::requests_per_s);
}

Readout readout_of(const FigureInput& input, const PhaseSplit& p) {
  const TextTable& t = input.texts;
  Readout r;
  r.title = t.format("figure.prefill-decode.readout", {format_count(p.prefill_chips), format_count(p.decode_chips)});
  r.rows.emplace_back(t.text("figure.prefill-decode.prefill"), request_rate_text(t, p.prefill_requests_per_s));
  r.rows.emplace_back(t.text("figure.prefill-decode.decode"), request_rate_text(t, p.decode_requests_per_s));
  r.rows.emplace_back(t.text(chip_key(input, "figure.prefill-decode.each")),
                      request_rate_text(t, per_chip(p, p.requests_per_s)));
  r.rows.emplace_back(t.text("figure.prefill-decode.ttft"), format_duration(p.ttft_s));
  return r;
}

ChartLine line_of_rates(const FigureInput& input, const PhaseBalance& study, Q q, std::string_view label,
                        const Stroke& stroke, double PhaseSplit::*rate) {
  ChartLine line;
  for (const PhaseSplit& p : study.splits) line.points.push_back({p.prefill_chips, per_chip(p, p.*rate)});
  line.stroke = stroke;
  line.label = input.texts.text(label);
  line.tag = engine::quantity(q).id;
  line.readout = [&input, &study](const ChartPoint& at) {
    for (const PhaseSplit& p : study.splits)
      if (p.prefill_chips == at.x) return readout_of(input, p);
    return Readout{};
  };
  return line;
}

void add_dot(const FigureInput& input, const PhaseSplit& p, std::string_view key, bool own, Chart& chart) {
  ChartDot dot;
  dot.at = {p.prefill_chips, per_chip(p, p.requests_per_s)};
  dot.size = own ? 11.0f : 8.0f;
  dot.bold = own;
  dot.colour = input.theme.ink;
  dot.text = input.texts.format(key, {format_count(p.prefill_chips), format_count(p.decode_chips)});
  dot.tag = engine::quantity(own ? Q::prefill_chips : Q::prefill_chip_ratio).id;
  dot.readout = readout_of(input, p);
  chart.dots.push_back(std::move(dot));
}

Chart chart_of(const FigureInput& input, const PhaseBalance& study, float em) {
  const Theme& theme = input.theme;
  const TextTable& t = input.texts;
  const float width = theme.data_width * em;
  const PhaseSplit &first = study.splits.front(), &last = study.splits.back();
  Chart chart;
  chart.x_title = t.format(chip_key(input, "figure.prefill-decode.x"), {format_count(first.decode_chips)});
  chart.y_title = t.text(chip_key(input, "figure.prefill-decode.y"));
  chart.x_from = first.prefill_chips, chart.x_to = std::max(last.prefill_chips, 2 * first.prefill_chips);
  double low = 1e300, high = study.shared_requests_per_chip;
  for (const PhaseSplit& p : study.splits)
    low = std::min(low, per_chip(p, p.requests_per_s)), high = std::max(high, per_chip(p, p.requests_per_s));
  if (study.shared_requests_per_chip > 0) low = std::min(low, study.shared_requests_per_chip);
  std::tie(chart.y_from, chart.y_to) = log_range(low, kRoomAbove * high, 4);

  ChartLine both = line_of_rates(input, study, Q::capacity_requests, "figure.prefill-decode.both",
                                 plan_stroke(theme, em), &PhaseSplit::requests_per_s);
  both.weight = Weight::bold;
  both.essential = true;
  chart.lines.push_back(std::move(both));
  const Stroke thin{theme.ink3, width * 0.8f, Dash{6, 4}.scaled(width / 2)};
  chart.lines.push_back(line_of_rates(input, study, Q::prefill_requests, "figure.prefill-decode.prefill", thin,
                                      &PhaseSplit::prefill_requests_per_s));
  chart.lines.push_back(line_of_rates(input, study, Q::decode_requests, "figure.prefill-decode.decode", thin,
                                      &PhaseSplit::decode_requests_per_s));
  if (study.shared_requests_per_chip > 0) {
    ChartLine shared;
    const double level = study.shared_requests_per_chip;
    shared.points = {{chart.x_from, level}, {chart.x_to, level}};
    shared.stroke = {theme.ink2, width, Dash{2, 3}.scaled(width)};
    shared.label = t.text("figure.prefill-decode.shared");
    shared.essential = true;
    shared.tag = engine::quantity(Q::capacity_requests).id;
    const std::string title = t.format("figure.prefill-decode.shared.readout", {request_rate_text(t, level)});
    shared.readout = [title](const ChartPoint&) {
      Readout r;
      r.title = title;
      return r;
    };
    chart.lines.push_back(std::move(shared));
  }
  if (input.baseline && input.baseline->scenario.serves()) {
    const PhaseBalance& base =
        input.studies
            .get<BaselineBalance>(input.baseline->scenario,
                                  [&] { return BaselineBalance{engine::phase_balance(input.baseline->scenario)}; })
            .study;
    ChartLine ghost =
        line_of_rates(input, base, Q::capacity_requests, "figure.step.baseline",
                      {theme.ink, theme.axis_width * em, Dash{3, 3}.scaled(em / 15)}, &PhaseSplit::requests_per_s);
    for (const ChartPoint& p : ghost.points)
      chart.y_from = std::min(chart.y_from, p.y), chart.y_to = std::max(chart.y_to, p.y);
    ghost.essential = true;
    chart.lines.push_back(std::move(ghost));
  }
  const PhaseSplit *own = own_split(study), *best = best_split(study);
  if (own != nullptr) add_dot(input, *own, "figure.prefill-decode.own", true, chart);
  if (best != nullptr && best != own) add_dot(input, *best, "figure.prefill-decode.best", false, chart);
  chart.note = study.decode_copies > 1
                   ? t.format("figure.prefill-decode.note.copies", {format_count(study.decode_copies)})
               : study.shared_requests_per_chip > 0 ? std::string(t.text("figure.prefill-decode.note.shared"))
                                                    : std::string(t.text("figure.prefill-decode.note.apart"));
  return chart;
}

FigureHead prefill_decode_head(const FigureInput& input, const FigureView&) {
  const TextTable& t = input.texts;
  FigureHead head;
  if (input.baseline) head.context = compared_context(input);
  head.title = t.text("figure.prefill-decode.title");
  const PhaseBalance& study = phase_balance_of(input);
  const PhaseSplit *own = own_split(study), *best = best_split(study);
  if (best == nullptr) return head;
  const double most = per_chip(*best, best->requests_per_s);
  const auto chips = [&](const char* column, double count) {
    return say(head, data_claim(column, count, format_count(count)));
  };
  const auto own_share = [&](const char* what, double share) {
    return say(head, own_claim(what, share, format_share(share)));
  };
  head.brief = t.format(chip_key(input, "figure.prefill-decode.takeaway.brief"),
                        {chips("prefill chips", best->prefill_chips), chips("decoding chips", best->decode_chips)});
  if (own == nullptr) {
    const std::string of_shared = own_share("prefill-decode.of_shared", most / study.shared_requests_per_chip);
    head.takeaway = t.format("figure.prefill-decode.takeaway.shared",
                             {head.brief,
                              say(head, own_claim("prefill-decode.balance", study.balance_chips / best->decode_chips,
                                                  format_significant(study.balance_chips / best->decode_chips))),
                              of_shared});
    head.brief = t.format("figure.prefill-decode.takeaway.shared.brief", {head.brief, of_shared});
  } else if (most <= (1 + kSameRate) * per_chip(*own, own->requests_per_s))
    head.takeaway = t.format("figure.prefill-decode.takeaway.is", {head.brief});
  else
    head.takeaway = t.format("figure.prefill-decode.takeaway.own",
                             {head.brief, chips("prefill chips", own->prefill_chips),
                              own_share("prefill-decode.of_best", per_chip(*own, own->requests_per_s) / most)});
  return head;
}

void draw_prefill_decode(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  const Rect rest = draw_figure_head(canvas, area, input, view, prefill_decode_head(input, view));
  if (rest.empty()) return;
  const PhaseBalance& study = phase_balance_of(input);
  if (study.splits.size() < 2 || study.best < 0 || input.report.quantities.value_or(Q::decode_requests, 0) <= 0)
    return draw_empty_state(canvas, input.theme, rest, input.texts.text("figure.prefill-decode.empty"));
  draw_line_chart(canvas, rest, input.theme,
                  on_held_axes(chart_of(input, study, canvas.em()), input, "prefill-decode"));
}

std::string prefill_decode_data(const FigureInput& input, const FigureView&) {
  std::string out =
      "prefill chips\tdecoding chips\tprefill requests per s\tdecoding requests per s\trequests per s\trequests per "
      "s and chip\tseconds to first token\n";
  for (const PhaseSplit& p : phase_balance_of(input).splits)
    out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\n", p.prefill_chips, p.decode_chips, p.prefill_requests_per_s,
                       p.decode_requests_per_s, p.requests_per_s, per_chip(p, p.requests_per_s), p.ttft_s);
  return out;
}

}  // namespace

extern constinit const FigureRow prefill_decode_figure{
    .name = "prefill-decode",
    .subject = Subject::serving,
    .head = prefill_decode_head,
    .draw = draw_prefill_decode,
    .data = prefill_decode_data,
};

}  // namespace roofscape::widgets
