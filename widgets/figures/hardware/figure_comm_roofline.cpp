// The comm-roofline figure: FLOP/s a chip can reach for a number of FLOPs a byte moved, one roof for each tier of
// links, and each mesh axis of the plan as a dot on the roof of its tier.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "engine/studies/comm_roofline.h"
#include "widgets/canvas/number_format.h"
#include "widgets/canvas/palette.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/empty_state.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/figures/common/line_chart.h"
#include "widgets/figures/common/quantity_look.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape::widgets {

using engine::AxisDot;
using engine::CommRoofline;
using engine::LinkRoof;
using engine::RoofTier;

namespace {

constexpr double kRoomX = 3, kRoomY = 30;  // of the axes beyond what they show, as factors
// Slack is drawn under the roof, an arrow for each axis: the first so far below it, and from arrow to arrow.
constexpr double kFirstSlack = 2, kNextSlack = 1.9, kNameSlack = 2.6;
constexpr double kUnderSlack = 2.8;     // below the last: a slope's name stands clear of them
constexpr std::size_t kAxesInARow = 2;  // names over the roof
constexpr double kRoomForRows = 4.5;    // as kRoomX, for more
constexpr double kNameShare = 0.25;     // of the axis of FLOP per byte, in powers
constexpr double kSlackShare = 0.2;     // the same at its right, for the slack of what lies there
constexpr float kAxisDot = 13, kSlackEnd = 3;
constexpr float kNamesAlong = 30;  // em wide: room for names along slopes, beside each other and over arrows

const CommRoofline& comm_roofline_of(const FigureInput& input) {
  return input.studies.get<CommRoofline>(input.scenario,
                                         [&] { return engine::comm_roofline(input.scenario, input.report); });
}

std::string_view axis_id(engine::Axis axis) { return engine::kAxisIds[axis]; }
std::string dot_name(const FigureInput& input, const AxisDot& dot) {
  return input.texts.format("figure.axis." + std::string(axis_id(dot.axis)), {format_count(dot.degree)});
}

std::string roof_name(const FigureInput& input, const LinkRoof& roof) {
  const TextTable& t = input.texts;
  const std::string key = "figure.comm-roofline.roof." + std::string(engine::kRoofTierIds[roof.tier]);
  const std::string rate = format(roof.bytes_per_s, engine::unit::bytes_per_s, {.trim_zeros = true});
  if (roof.tier == RoofTier::ici) return t.count(key, roof.torus_axes, {rate});
  if (roof.tier == RoofTier::fabric && roof.fabric_level >= 0)
    return t.format(
        key + ".level",
        {source_text(t, input.scenario.cluster.fabric[static_cast<std::size_t>(roof.fabric_level)].name), rate});
  return t.format(key, {rate});
}

std::string dtype_name(const FigureInput& input) {
  const engine::Field& compute = *engine::find_field("precision.compute");
  return std::string(input.texts.text(
      "figure.dtype." + std::string(compute.choices[static_cast<std::size_t>(input.scenario.precision.compute)])));
}

const AxisDot* tightest(const CommRoofline& study) {
  const AxisDot* least = nullptr;
  for (const AxisDot& dot : study.axes)
    if (least == nullptr || dot.margin < least->margin) least = &dot;
  return least;
}

const AxisDot* tightest_forward(const CommRoofline& study) {
  const AxisDot* least = nullptr;
  for (const AxisDot& dot : study.axes)
    if (dot.forward_margin > 0 && (least == nullptr || dot.forward_margin < least->forward_margin)) least = &dot;
  return least;
}

bool used(const CommRoofline& study, std::size_t roof) {
  return std::any_of(study.axes.begin(), study.axes.end(),
                     [&](const AxisDot& d) { return d.roof == static_cast<int>(roof); });
}

Readout roof_readout(const FigureInput& input, const LinkRoof& roof) {
  Readout out;
  out.title = roof_name(input, roof);
  out.rows.emplace_back(std::string(input.texts.text("figure.comm-roofline.ridge")),
                        format(roof.ridge, engine::unit::flop_per_byte));
  return out;
}

Readout dot_readout(const FigureInput& input, const AxisDot& dot) {
  const TextTable& t = input.texts;
  Readout out;
  out.title = t.format("figure.comm-roofline.readout",
                       {dot_name(input, dot), format(dot.intensity, engine::unit::flop_per_byte)});
  out.rows.emplace_back(std::string(t.text("figure.comm-roofline.bytes")), format(dot.bytes, engine::unit::bytes));
  out.rows.emplace_back(std::string(t.text("figure.comm-roofline.seconds")), format_duration(dot.seconds));
  out.rows.emplace_back(std::string(t.text("figure.comm-roofline.reach")),
                        format(dot.flop_per_s, engine::unit::flop_per_s));
  out.rows.emplace_back(std::string(t.text("figure.comm-roofline.margin")), format_ratio(dot.margin));
  if (dot.forward_margin > 0)
    out.rows.emplace_back(std::string(t.text("figure.comm-roofline.margin.forward")),
                          format_ratio(dot.forward_margin));
  return out;
}

// An arrow under the roof, and at which height.
struct Slack {
  const AxisDot* axis = nullptr;
  double level = 0;
};
std::vector<Slack> slack_of(const CommRoofline& study) {
  std::vector<Slack> out;
  for (const AxisDot& a : study.axes)
    if (a.roof >= 0) out.push_back({&a, 0});
  const auto ridge = [&](const AxisDot& a) { return study.roofs[static_cast<std::size_t>(a.roof)].ridge; };
  const auto reach = [&](const Slack& s) { return std::max(s.axis->intensity, ridge(*s.axis)); };
  // The farthest first: what it hangs from ends over the others' numbers.
  std::stable_sort(out.begin(), out.end(), [&](const Slack& a, const Slack& b) { return reach(a) > reach(b); });
  double level = study.peak / kFirstSlack;
  bool lower = false;
  for (Slack& s : out) {
    // Over one that crosses another slope there is room for the name of that.
    for (std::size_t i = 0; i < study.roofs.size() && !lower; ++i)
      if (const double x = level / study.roofs[i].bytes_per_s;
          used(study, i) && x > ridge(*s.axis) && x < s.axis->intensity)
        level /= kNameSlack, lower = true;
    s.level = level;
    level /= kNextSlack;
  }
  return out;
}

// Of the tiers that carry something, in a column, where names along the slopes would stand on each other and on arrows.
std::string slopes_note(const FigureInput& input, const CommRoofline& study) {
  std::string names;
  for (std::size_t i = 0; i < study.roofs.size(); ++i)
    if (used(study, i)) names += (names.empty() ? "" : "; ") + roof_name(input, study.roofs[i]);
  return input.texts.format("figure.comm-roofline.slopes", {names});
}

Chart chart_of(const FigureInput& input, const CommRoofline& study, float em, float width) {
  const TextTable& t = input.texts;
  const Theme& theme = input.theme;
  Chart c;
  c.x_kind = ScaleKind::log10;
  c.x_labels = c.y_labels = TickLabels::si;
  c.x_title = t.text("figure.comm-roofline.x");
  // The flat roof's name stands in the title: dots and slopes leave no room along it.
  const std::string peak_text =
      t.format("figure.roofline.peak",
               {dtype_name(input), format(study.peak, engine::unit::flop_per_s, {.trim_zeros = true})});
  c.y_title = t.format("figure.comm-roofline.y.with_peak",
                       {std::string(t.text(chip_key(input, "figure.comm-roofline.y"))), peak_text});
  double left = study.roofs.front().ridge, right = study.roofs.back().ridge, low = study.peak;
  for (const AxisDot& dot : study.axes)
    left = std::min(left, dot.intensity), right = std::max(right, dot.intensity), low = std::min(low, dot.flop_per_s);
  // Room for the name along the fastest tier's short slope, however wide the axis.
  c.x_from = left / std::max(kRoomX, std::pow(right / left, kNameShare));
  c.x_to = right * std::max(kRoomX, std::pow(right / left, kSlackShare));
  std::tie(c.y_from, c.y_to) = std::pair{std::min(low / kRoomX, study.peak / kRoomY),
                                         study.peak * (study.axes.size() > kAxesInARow ? kRoomForRows : kRoomX)};
  int slopes = 0;
  for (std::size_t i = 0; i < study.roofs.size(); ++i) slopes += used(study, i);
  const bool along = slopes < 2 || width >= kNamesAlong * em;
  const std::vector<Slack> slack = slack_of(study);
  const double last = slack.empty() ? study.peak / kFirstSlack : slack.back().level / kNextSlack;
  c.y_from = std::min(c.y_from, along ? last / kUnderSlack : last);
  c.x_from = std::max(c.x_from, c.y_from / study.roofs.front().bytes_per_s);

  // The peak that all share, then the slope of each tier.
  ChartLine peak;
  peak.stroke = {theme.ink, theme.data_width * em * 1.15f, {}};
  peak.points = {{study.roofs.front().ridge, study.peak}, {c.x_to, study.peak}};
  c.lines.push_back(std::move(peak));
  for (std::size_t i = 0; i < study.roofs.size(); ++i) {
    const LinkRoof& roof = study.roofs[i];
    const bool carries = used(study, i);
    ChartLine line;
    line.stroke = carries ? Stroke{theme.ink, theme.data_width * em, {}}
                          : Stroke{theme.ink3, theme.axis_width * em, Dash{em * 0.3f, em * 0.25f}};
    const double from = std::max(c.x_from, c.y_from / roof.bytes_per_s);
    line.points = {{from, from * roof.bytes_per_s}, {roof.ridge, study.peak}};
    if (along) line.along = roof_name(input, roof);
    line.essential = carries;
    line.named = !carries;
    line.tag = "comm-roofline.roof." + std::to_string(i);
    line.readout = [&input, &roof](const ChartPoint&) { return roof_readout(input, roof); };
    c.lines.push_back(std::move(line));
  }
  for (const AxisDot& a : study.axes) {
    ChartDot dot;
    dot.at = {a.intensity, a.flop_per_s};
    dot.text = dot_name(input, a);
    dot.colour = line_of(theme, look_of(a.axis));
    dot.size = kAxisDot;
    dot.side = ChartDot::Side::over;
    dot.tag = std::string(engine::quantity(engine::kExposedParts[static_cast<std::size_t>(a.axis)]).id);
    dot.readout = dot_readout(input, a);
    c.dots.push_back(std::move(dot));
  }
  // From what the links need to what the axis brings: how much more arithmetic there is than would hide the bytes.
  for (const auto& [axis, level] : slack) {
    const AxisDot& a = *axis;
    const LinkRoof& roof = study.roofs[static_cast<std::size_t>(a.roof)];
    ChartLine arrow;
    arrow.arrow = true;
    arrow.points = {{roof.ridge, level}, {a.intensity, level}};
    arrow.stroke = {a.margin >= 1 ? line_of(theme, look_of(a.axis)) : theme.err, theme.data_width * em, {}};
    arrow.tag = "comm-roofline.slack." + std::string(axis_id(a.axis));
    arrow.readout = [&input, &a = *axis](const ChartPoint&) { return dot_readout(input, a); };
    for (const double x : {roof.ridge, a.intensity}) {
      ChartLine drop;
      drop.points = {{x, study.peak}, {x, level}};
      drop.stroke = {theme.ink3, theme.grid_width * em, Dash{em * 0.1f, em * 0.15f}};
      c.lines.push_back(std::move(drop));
    }
    ChartDot end;
    end.at = {std::max(a.intensity, roof.ridge), level};
    end.text = t.format("figure.comm-roofline.slack", {format_ratio(a.margin)});
    end.bold = false;
    end.size = kSlackEnd;
    end.side = ChartDot::Side::right;
    end.colour = arrow.stroke.colour;
    c.dots.push_back(std::move(end));
    c.lines.push_back(std::move(arrow));
  }
  c.note = t.text(study.axes.empty() ? "figure.comm-roofline.silent" : "figure.comm-roofline.note");
  if (!along) c.note = slopes_note(input, study) + " " + c.note;
  return c;
}

FigureHead comm_roofline_head(const FigureInput& input, const FigureView&) {
  const TextTable& t = input.texts;
  FigureHead head;
  head.title = t.text("figure.comm-roofline.title");
  head.context = published_context(input);
  const CommRoofline& study = comm_roofline_of(input);
  if (!study.known()) return head;
  const AxisDot* least = tightest(study);
  if (least == nullptr)
    head.takeaway = t.text("figure.comm-roofline.takeaway.silent");
  else if (least->margin >= 1) {
    head.takeaway =
        t.format("figure.comm-roofline.takeaway.hides",
                 {say(head, name_claim(dot_name(input, *least))),
                  say(head, own_claim("comm-roofline.margin", least->margin, format_ratio(least->margin)))});
    head.brief = t.text("figure.comm-roofline.takeaway.hides.brief");
  } else
    head.takeaway = t.format(chip_key(input, "figure.comm-roofline.takeaway.caps"),
                             {say(head, name_claim(dot_name(input, *least))),
                              say(head, data_claim("FLOP/s reachable", least->flop_per_s,
                                                   format(least->flop_per_s, engine::unit::flop_per_s)))});
  // Overlap is judged pass by pass: a forward pass waits for what a whole step would hide.
  const AxisDot* forward = tightest_forward(study);
  if (forward != nullptr && forward->forward_margin < 1) {
    if (head.brief.empty()) head.brief = head.takeaway;
    head.takeaway = t.format(
        forward == least ? "figure.comm-roofline.takeaway.forward.same" : "figure.comm-roofline.takeaway.forward",
        {head.takeaway,
         say(head, own_claim("comm-roofline.forward", 1 / forward->forward_margin,
                             format_ratio(1 / forward->forward_margin))),
         say(head, name_claim(dot_name(input, *forward)))});
  }
  return head;
}

void draw_comm_roofline(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  const Rect rest = draw_figure_head(canvas, area, input, view, comm_roofline_head(input, view));
  if (rest.empty()) return;
  const CommRoofline& study = comm_roofline_of(input);
  if (!study.known())
    return draw_empty_state(canvas, input.theme, rest, input.texts.text("figure.comm-roofline.unknown"));
  draw_line_chart(canvas, rest, input.theme,
                  on_held_axes(chart_of(input, study, canvas.em(), rest.w), input, "comm-roofline"));
}

std::string comm_roofline_data(const FigureInput& input, const FigureView&) {
  const CommRoofline& study = comm_roofline_of(input);
  std::string out = "axis\tranks\tFLOP/byte\tbytes per step\ttime s\tFLOP/s reachable\n";
  for (const AxisDot& dot : study.axes)
    out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", axis_id(dot.axis), dot.degree, dot.intensity, dot.bytes,
                       dot.seconds, dot.flop_per_s);
  for (const LinkRoof& roof : study.roofs)
    out +=
        fmt::format("{}\t{}\t{}\t\t\t{}\n", engine::kRoofTierIds[roof.tier], roof.torus_axes, roof.ridge, study.peak);
  return out;
}

}  // namespace

extern constinit const FigureRow comm_roofline_figure{
    .name = "comm-roofline",
    .head = comm_roofline_head,
    .draw = draw_comm_roofline,
    .data = comm_roofline_data,
};

}  // namespace roofscape::widgets
