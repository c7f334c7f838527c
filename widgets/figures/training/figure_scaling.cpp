// The scaling figure: chips against throughput or MFU, with the line of perfect scaling, what bounds each part of the
// way, and the points that cannot run, named. Options `mode` (strong: fixed batch; weak: it grows with the chips),
// `quantity`.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/scenario/mesh_size.h"
#include "engine/studies/scaling.h"
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
using engine::ScalingMode;
using engine::ScalingPoint;
using engine::ScalingStudy;

namespace {

enum class ScalingQuantity : std::uint8_t { throughput, mfu };
constexpr std::array<std::string_view, 2> kScalingQuantities{"throughput", "mfu"};
constexpr FigureOptions kScalingOptions{OptionOf<ScalingMode>{"mode", engine::kScalingModeIds},
                                        OptionOf<ScalingQuantity>{"quantity", kScalingQuantities}};

constexpr double kRoomForNames = 2.5;  // over and under the data, for names of points at the ends

struct ScalingKey {
  engine::Scenario scenario;
  ScalingMode mode;
  bool operator==(const ScalingKey&) const = default;
};

ScalingMode mode_of(const FigureView& view) { return kScalingOptions.chosen<ScalingMode>(view); }
bool shows_mfu(const FigureView& view) {
  return kScalingOptions.chosen<ScalingQuantity>(view) == ScalingQuantity::mfu;
}

const ScalingStudy& scaling_study_of(const FigureInput& input, const FigureView& view) {
  const ScalingKey key{input.scenario, mode_of(view)};
  return input.studies.get<ScalingStudy>(key, [&] { return engine::scaling_study(key.scenario, key.mode); });
}

double shown(const ScalingPoint& p, bool mfu) { return mfu ? 100 * p.mfu : p.tokens_per_s; }

std::string bound_name(const FigureInput& input, const ScalingPoint& p) {
  return std::string(input.texts.text("figure.scaling.bound." + std::string(p.bound.id())));
}
// A title as a phrase: its first letter small, unless the word is an abbreviation.
std::string uncapitalized(std::string_view title) {
  std::string out(title);
  const auto letter = [&](std::size_t i, char from, char to) {
    return i < out.size() && out[i] >= from && out[i] <= to;
  };
  if (letter(0, 'A', 'Z') && (letter(1, 'a', 'z') || letter(1, ' ', ' ')))
    out[0] = static_cast<char>(out[0] + ('a' - 'A'));
  return out;
}
std::string problem_name(const FigureInput& input, const ScalingPoint& p) {
  if (!p.problem.empty()) return uncapitalized(input.texts.text("diagnostic." + std::string(p.problem) + ".title"));
  return std::string(input.texts.text("figure.scaling.too_full"));
}
std::string throughput_text(const TextTable& t, double tokens_per_s) {
  return t.amount(tokens_per_s, engine::unit::tokens_per_s);
}

const ScalingPoint* own_point(const ScalingStudy& study) {
  for (const ScalingPoint& p : study.points)
    if (p.own && p.tokens_per_s > 0) return &p;
  return nullptr;
}
// The largest number of chips at which the plan still runs.
const ScalingPoint* last_point(const ScalingStudy& study) {
  const ScalingPoint* out = nullptr;
  for (const ScalingPoint& p : study.points)
    if (p.runs()) out = &p;
  return out;
}

Readout readout_of(const FigureInput& input, const ScalingPoint& p) {
  const TextTable& t = input.texts;
  Readout r;
  r.title = t.format(chip_key(input, "figure.scaling.readout"), {format_count(p.chips)});
  if (!p.runs()) r.rows.emplace_back(t.text("figure.scaling.problem"), problem_name(input, p));
  if (!p.problem.empty()) return r;  // it has no times
  r.rows.emplace_back(t.text("figure.scaling.throughput"), throughput_text(t, p.tokens_per_s));
  r.rows.emplace_back("MFU", format_percent(p.mfu));
  r.rows.emplace_back(t.text("figure.scaling.bound"), bound_name(input, p));
  return r;
}

Chart chart_of(const FigureInput& input, const FigureView& view, const ScalingStudy& study, float em) {
  const Theme& theme = input.theme;
  const TextTable& t = input.texts;
  const bool mfu = shows_mfu(view);
  const ScalingPoint& own = *own_point(study);
  Chart chart;
  chart.letters = true;
  chart.x_title = t.text(chip_key(input, "figure.scaling.x"));
  chart.y_title = t.text(mfu ? "figure.scaling.y.mfu" : "figure.scaling.y.throughput");
  chart.y_labels = TickLabels::si;
  chart.x_from = study.points.front().chips, chart.x_to = study.points.back().chips;
  double low = 1e300, high = 0;
  for (const ScalingPoint& p : study.points) {
    for (const double v : {shown(p, mfu), mfu ? shown(own, mfu) : p.ideal_tokens_per_s})
      if (v > 0) low = std::min(low, v), high = std::max(high, v);
  }
  if (mfu) {
    chart.y_kind = ScaleKind::linear;
    chart.y_from = 0, chart.y_to = std::max(100.0, high * 1.05);
    chart.y_unit = 0.01;
  } else {
    chart.y_from = low / kRoomForNames, chart.y_to = high * kRoomForNames;
  }
  chart.now = Chart::Now{own.chips, t.format("figure.scaling.now", {format_count(own.chips)})};

  ChartLine line, ideal;
  for (const ScalingPoint& p : study.points) {
    line.points.push_back({p.chips, p.runs() ? shown(p, mfu) : std::nan("")});
    ideal.points.push_back({p.chips, mfu ? shown(own, mfu) : p.ideal_tokens_per_s});
  }
  const float width = theme.data_width * em;
  line.stroke = plan_stroke(theme, em);
  line.weight = Weight::bold;
  line.essential = true;
  line.label = t.text(mode_of(view) == ScalingMode::weak ? "figure.scaling.line.weak" : "figure.scaling.line.strong");
  ideal.stroke = {theme.ink3, width * 0.8f, Dash{6, 4}.scaled(width / 2)};
  ideal.label = t.text(mfu ? "figure.scaling.line.ideal.mfu" : "figure.scaling.line.ideal");
  chart.lines = {line, ideal};

  // A name where the limit changes along the way, and for the first point of each reason not to run.
  std::string before, reason;
  for (const ScalingPoint& p : study.points) {
    ChartDot d;
    d.at = {p.chips, p.runs() ? shown(p, mfu) : mfu ? shown(own, mfu) : p.ideal_tokens_per_s};
    d.size = p.own ? 10.0f : p.runs() ? 7.0f : 9.0f;
    d.bold = false;
    d.tag = p.own ? std::string(engine::quantity(mfu ? Q::mfu : Q::tokens_per_s).id) : std::string("scaling.point");
    d.readout = readout_of(input, p);
    if (p.runs()) {
      d.colour = theme.ink;
      const std::string name = bound_name(input, p);
      if (name != before) d.text = t.format("figure.scaling.bound_at", {name});
      before = name;
    } else {
      d.colour = theme.err;
      d.failed = true;
      const std::string name = problem_name(input, p);
      if (name != reason) d.text = name;
      reason = name;
    }
    chart.dots.push_back(std::move(d));
  }
  if (input.baseline)
    add_baseline(chart, input,
                 {engine::mesh_chips(input.baseline->scenario.parallelism),
                  mfu ? 100 * input.baseline->report.quantities.value_or(Q::mfu, 0)
                      : input.baseline->report.quantities.value_or(Q::tokens_per_s, 0)});
  const auto name_of = [](engine::Axis axis) { return std::string(engine::kAxisIds[axis]); };
  chart.note = t.text("figure.scaling.rule." + name_of(study.axis));
  if (const ScalingPoint* first = study.without_sequences())
    chart.note = t.format("figure.scaling.rule.then",
                          {name_of(study.axis), format_count(first->chips), name_of(first->grown)});
  return chart;
}

FigureHead scaling_head(const FigureInput& input, const FigureView& view) {
  const TextTable& t = input.texts;
  FigureHead head;
  if (input.baseline) head.context = compared_context(input);
  head.title =
      t.text(mode_of(view) == ScalingMode::weak ? "figure.scaling.title.weak" : "figure.scaling.title.strong");
  const ScalingStudy& study = scaling_study_of(input, view);
  const ScalingPoint *own = own_point(study), *last = last_point(study);
  if (own == nullptr) return head;
  if (last == nullptr) {
    head.takeaway = t.format("figure.scaling.takeaway.never", {problem_name(input, *own)});
    return head;
  }
  const auto chips = [&](const ScalingPoint& p) {
    return say(head, data_claim("chips", p.chips, format_count(p.chips)));
  };
  const std::string now = chips(*own);
  if (last->own) {
    const std::string rate = say(head, claim_of(input, Q::tokens_per_s)), mfu = say(head, claim_of(input, Q::mfu));
    head.takeaway = t.format(chip_key(input, "figure.scaling.takeaway.own"), {now, rate, mfu});
    head.brief = t.format("figure.scaling.takeaway.own.brief", {rate, mfu});
    return head;
  }
  const std::string most = chips(*last);
  if (shows_mfu(view)) {
    head.takeaway = t.format(chip_key(input, "figure.scaling.takeaway.mfu"),
                             {say(head, data_claim("MFU", last->mfu, format_percent(last->mfu))), most,
                              say(head, claim_of(input, Q::mfu)), now});
    return head;
  }
  const double linear = last->ideal_tokens_per_s > 0 ? last->tokens_per_s / last->ideal_tokens_per_s : 0;
  const std::string share = say(head, own_claim("scaling.of_linear", linear, format_share(linear)));
  head.takeaway = t.format(
      chip_key(input, "figure.scaling.takeaway"),
      {most, say(head, data_claim("tokens per s", last->tokens_per_s, throughput_text(t, last->tokens_per_s))), share,
       now});
  head.brief = t.format("figure.scaling.takeaway.brief", {share, most, now});
  return head;
}

void draw_scaling(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  const Rect rest = draw_figure_head(canvas, area, input, view, scaling_head(input, view));
  if (rest.empty()) return;
  const ScalingStudy& study = scaling_study_of(input, view);
  if (own_point(study) == nullptr || study.points.size() < 2)
    return draw_empty_state(canvas, input.theme, rest, input.texts.text("figure.scaling.empty"));
  draw_line_chart(canvas, rest, input.theme,
                  on_held_axes(chart_of(input, view, study, canvas.em()), input, "scaling"));
}

std::string scaling_data(const FigureInput& input, const FigureView& view) {
  std::string out = "chips\ttokens per s\tMFU\tideal tokens per s\tbound\tfits\tproblem\n";
  for (const ScalingPoint& p : scaling_study_of(input, view).points)
    out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\n", p.chips, p.tokens_per_s, p.mfu, p.ideal_tokens_per_s,
                       p.bound.id(), p.fits ? "yes" : "no", p.problem);
  return out;
}

}  // namespace

extern constinit const FigureRow scaling_figure{
    .name = "scaling",
    .options = kScalingOptions.rows,
    .head = scaling_head,
    .draw = draw_scaling,
    .data = scaling_data,
};

}  // namespace roofscape::widgets
