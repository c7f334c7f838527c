// The collective figure: time of AllGather and ReduceScatter, AllReduce and AllToAll over bytes on one group of
// ranks, the latency and the bandwidth regime with the size between them, and the messages the plan sends there.
// Options: group, hop.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <tuple>

#include "engine/studies/collective.h"
#include "widgets/canvas/number_format.h"
#include "widgets/canvas/palette.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/empty_state.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_options.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/figures/common/line_chart.h"
#include "widgets/figures/common/quantity_look.h"

namespace roofscape::widgets {

using engine::CollectiveKind;
using engine::CollectiveLine;
using engine::CollectiveStudy;

namespace {

// typical: of the chip, published or assumed.
enum class Hop : std::uint8_t { typical, published, us_1, us_3, us_10 };
constexpr std::array<std::string_view, 5> kHops{"typical", "published", "1us", "3us", "10us"};
constexpr FigureOptions kCollectiveOptions{OptionOf<engine::CollectiveGroup>{"group", engine::kCollectiveGroupIds},
                                           OptionOf<Hop>{"hop", kHops}};

constexpr float kLatencyTint = 0.075f;  // of ink
constexpr double kRoomUnder = 5;        // the lowest line, for the sizes at its corner
constexpr std::array<double, kHops.size()> kHopSeconds{0, 0, 1e-6, 3e-6, 10e-6};
struct CollectiveKey {
  engine::Scenario scenario;
  engine::CollectiveQuestion question;
  friend bool operator==(const CollectiveKey&, const CollectiveKey&) = default;
};

engine::CollectiveQuestion question_of(const FigureView& view) {
  const Hop hop = kCollectiveOptions.chosen<Hop>(view);
  return {kCollectiveOptions.chosen<engine::CollectiveGroup>(view), kHopSeconds[static_cast<std::size_t>(hop)],
          hop == Hop::published};
}

const CollectiveStudy& collective_study_of(const FigureInput& input, const FigureView& view) {
  const CollectiveKey key{input.scenario, question_of(view)};
  return input.studies.get<CollectiveStudy>(
      key, [&] { return engine::collective_study(key.scenario, input.report, key.question); });
}

struct BaselineCollectives {
  CollectiveStudy study;
};

std::string_view kind_id(CollectiveKind kind) { return engine::kCollectiveIds[kind]; }

std::string group_name(const FigureInput& input, const FigureView& view, const CollectiveStudy& study) {
  const auto name = [&](engine::Axis axis, int ranks) {
    return input.texts.format("figure.axis." + std::string(engine::kAxisIds[axis]), {format_count(ranks)});
  };
  const engine::Parallelism& mesh = input.scenario.parallelism;
  // State is sharded over both.
  if (study.axis == engine::Axis::fsdp && mesh.context > 1 && study.ranks == mesh.fsdp * mesh.context) {
    const std::string context = name(engine::Axis::context, mesh.context);
    return mesh.fsdp == 1
               ? context
               : input.texts.format("figure.collective.both", {name(engine::Axis::fsdp, mesh.fsdp), context});
  }
  if (study.axis) return name(*study.axis, study.ranks);
  const bool node = kCollectiveOptions.chosen<engine::CollectiveGroup>(view) == engine::CollectiveGroup::node;
  return input.texts.format(chip_key(input, node ? "figure.collective.node" : "figure.collective.cluster"),
                            {format_count(study.ranks)});
}

// The hue is that of the mesh axis it runs over; what runs there is told by the dash.
Stroke stroke_of_kind(const Theme& theme, const CollectiveStudy& study, CollectiveKind kind, float em) {
  const float width = theme.data_width * em;
  const Colour colour = study.axis ? line_of(theme, look_of(*study.axis)) : theme.ink2;
  switch (kind) {
    case CollectiveKind::all_reduce:
      return {colour, width, Dash{width * 5, width * 2}};
    case CollectiveKind::all_to_all:
      return {colour, width, Dash{width * 1.5f, width * 1.5f}};
    default:
      return {colour, width, {}};
  }
}

const CollectiveLine* line_for(const CollectiveStudy& study, CollectiveKind kind) {
  if (kind == CollectiveKind::reduce_scatter) kind = CollectiveKind::all_gather;
  for (const CollectiveLine& line : study.lines)
    if (line.kind == kind) return &line;
  return nullptr;
}

Readout readout_of(const FigureInput& input, const CollectiveStudy& study, const std::string& name,
                   const CollectiveLine& line, double bytes) {
  const TextTable& t = input.texts;
  Readout out;
  const double bandwidth = bytes * line.seconds_a_byte, time = line.time(bytes);
  out.title = t.format("figure.collective.readout", {name, format_duration(time)});
  out.rows.emplace_back(std::string(t.text("figure.collective.bytes")), format(bytes, engine::unit::bytes));
  out.rows.emplace_back(std::string(t.text("figure.collective.bandwidth_time")), format_duration(bandwidth));
  if (line.latency_s > 0)
    out.rows.emplace_back(std::string(t.text("figure.collective.latency_time")), format_duration(line.latency_s));
  // An AllToAll's array is that of all ranks together.
  const bool exchange = line.kind == CollectiveKind::all_to_all;
  out.rows.emplace_back(std::string(t.text(exchange ? "figure.collective.rate.rank" : "figure.collective.rate")),
                        format(bytes / time / (exchange ? study.ranks : 1), engine::unit::bytes_per_s));
  return out;
}

Chart chart_of(const FigureInput& input, const FigureView& view, const CollectiveStudy& study, float em) {
  const TextTable& t = input.texts;
  const Theme& theme = input.theme;
  Chart c;
  c.x_kind = ScaleKind::log10;
  c.x_labels = TickLabels::si;
  c.x_title = t.text("figure.collective.x");
  c.x_from = study.bytes.front(), c.x_to = study.bytes.back();
  c.y_title = t.text("figure.collective.y");
  c.y_labels = TickLabels::duration;
  double low = 1e300, high = 0;
  for (const CollectiveLine& line : study.lines) {
    ChartLine out;
    out.label = t.text("figure.collective.line." + std::string(kind_id(line.kind)));
    if (line.kind == CollectiveKind::all_gather) out.brief = t.text("figure.collective.line.all_gather.brief");
    out.stroke = stroke_of_kind(theme, study, line.kind, em);
    out.essential = line.kind == CollectiveKind::all_gather;
    out.tag = "collective." + std::string(kind_id(line.kind));
    for (std::size_t i = 0; i < study.bytes.size(); ++i) {
      out.points.push_back({study.bytes[i], line.seconds[i]});
      low = std::min(low, out.points.back().y), high = std::max(high, out.points.back().y);
    }
    out.readout = [&input, &study, &line, name = out.label](const ChartPoint& p) {
      return readout_of(input, study, name, line, p.x);
    };
    c.lines.push_back(std::move(out));
  }
  std::tie(c.y_from, c.y_to) = log_range(low, high);
  c.y_from /= kRoomUnder;
  for (const CollectiveLine& line : study.lines) {
    if (!line.crossing_bytes) continue;
    ChartDot dot;
    dot.at = {*line.crossing_bytes, line.time(*line.crossing_bytes)};
    // Twice the latency and twice the bytes: gather and reduction cross at one size, which is said once.
    const bool again = line.kind == CollectiveKind::all_reduce && study.lines.front().crossing_bytes &&
                       std::abs(*line.crossing_bytes / *study.lines.front().crossing_bytes - 1) < 1e-3;
    if (!again) dot.text = format(*line.crossing_bytes, engine::unit::bytes);
    dot.bold = false;
    dot.colour = theme.ink;
    dot.tag = "collective.crossing." + std::string(kind_id(line.kind));
    dot.readout =
        readout_of(input, study, std::string(t.text("figure.collective.line." + std::string(kind_id(line.kind)))),
                   line, *line.crossing_bytes);
    c.dots.push_back(std::move(dot));
  }
  for (const engine::CollectiveUse& use : study.uses) {
    const CollectiveLine* line = line_for(study, use.kind);
    if (line == nullptr) continue;
    ChartDot dot;
    dot.at = {use.bytes, use.seconds};
    dot.text = t.format("figure.collective.use", {format(use.bytes, engine::unit::bytes)});
    dot.size = 10;
    dot.colour = theme.ink;
    dot.tag = fmt::format("collective.plan.{}", kind_id(use.kind));
    dot.readout =
        readout_of(input, study, std::string(t.text("figure.collective.kind." + std::string(kind_id(use.kind)))),
                   *line, use.bytes);
    dot.readout.rows.back() = {std::string(t.text("figure.collective.calls")),
                               format_count(std::round(use.calls_per_step))};
    const auto near = [&](const ChartDot& d) { return std::abs(d.at.x / dot.at.x - 1) < 0.02 && d.at.y == dot.at.y; };
    if (std::any_of(c.dots.begin(), c.dots.end(), near)) dot.text.clear();
    c.dots.push_back(std::move(dot));
  }
  // The plan's own first, so that their names have the first choice of room.
  std::stable_partition(c.dots.begin(), c.dots.end(),
                        [](const ChartDot& d) { return d.tag.starts_with("collective.plan"); });
  // The baseline's largest message over the same group.
  if (input.baseline) {
    const CollectiveKey key{input.baseline->scenario, question_of(view)};
    const CollectiveStudy& base =
        input.studies
            .get<BaselineCollectives>(key,
                                      [&] {
                                        return BaselineCollectives{engine::collective_study(
                                            key.scenario, input.baseline->report, key.question)};
                                      })
            .study;
    const auto most = std::max_element(
        base.uses.begin(), base.uses.end(),
        [](const engine::CollectiveUse& a, const engine::CollectiveUse& b) { return a.bytes < b.bytes; });
    if (most != base.uses.end())
      if (line_for(base, most->kind) != nullptr) add_baseline(c, input, {most->bytes, most->seconds});
  }
  if (const auto& crossing = study.main_line().crossing_bytes) {
    c.bands.push_back({c.x_from, confined(*crossing, c.x_from, c.x_to), kLatencyTint,
                       std::string(t.text("figure.collective.latency")), false});
    c.bands.push_back({confined(*crossing, c.x_from, c.x_to), c.x_to, 0,
                       std::string(t.text("figure.collective.bandwidth")), false});
  } else {
    c.note = t.text("figure.collective.no_latency");
  }
  if (study.hop_s && study.assumed)
    c.note = t.format("figure.collective.assumed_latency", {format_duration(*study.hop_s)});
  if (!study.as_step) c.note += (c.note.empty() ? "" : " ") + std::string(t.text("figure.collective.not_of_step"));
  if (study.calibrated) c.note = t.text("figure.collective.calibrated");
  if (study.experts_bytes > 0)
    c.note += (c.note.empty() ? "" : " ") +
              t.format("figure.collective.experts",
                       {format(study.experts_bytes, engine::unit::bytes), format_count(study.experts_ranks)});
  return c;
}

FigureHead collective_head(const FigureInput& input, const FigureView& view) {
  const TextTable& t = input.texts;
  FigureHead head;
  const CollectiveStudy& study = collective_study_of(input, view);
  head.title = t.text("figure.collective.title");
  if (!study.calibrated) head.context = published_context(input);
  if (!study.known()) return head;
  const double bytes_per_s = study.exchanges() ? study.exchange_bytes_per_s : study.bandwidth_bytes_per_s;
  const std::string group = say(head, name_claim(group_name(input, view, study))),
                    rate = say(head, own_claim(study.exchanges() ? "collective.exchange" : "collective.rate",
                                               bytes_per_s, format(bytes_per_s, engine::unit::bytes_per_s)));
  const std::string kind = study.exchanges() ? ".exchange" : "";
  head.brief = t.format("figure.collective.takeaway.rate" + kind, {group, rate});
  if (const auto& crossing = study.main_line().crossing_bytes)
    head.takeaway = t.format(
        "figure.collective.takeaway" + kind,
        {group, say(head, own_claim("collective.crossing", *crossing, format(*crossing, engine::unit::bytes))),
         rate});
  else
    head.takeaway = t.format("figure.collective.takeaway.rate" + kind, {group, rate});
  return head;
}

void draw_collective(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  const Rect rest = draw_figure_head(canvas, area, input, view, collective_head(input, view));
  if (rest.empty()) return;
  const CollectiveStudy& study = collective_study_of(input, view);
  if (!study.known())
    return draw_empty_state(
        canvas, input.theme, rest,
        input.texts.text(study.ranks > 1 ? "figure.collective.unknown" : "figure.collective.one_rank"));
  draw_line_chart(canvas, rest, input.theme,
                  on_held_axes(chart_of(input, view, study, canvas.em()), input, "collective"));
}

std::string collective_data(const FigureInput& input, const FigureView& view) {
  const CollectiveStudy& study = collective_study_of(input, view);
  std::string out = "bytes";
  for (const CollectiveLine& line : study.lines) out += fmt::format("\t{} s", kind_id(line.kind));
  out += "\n";
  for (std::size_t i = 0; i < study.bytes.size(); ++i) {
    out += fmt::format("{}", study.bytes[i]);
    for (const CollectiveLine& line : study.lines) out += fmt::format("\t{}", line.seconds[i]);
    out += "\n";
  }
  return out;
}

}  // namespace

extern constinit const FigureRow collective_figure{
    .name = "collective",
    .subject = Subject::any,
    .about = About::cluster,
    .options = kCollectiveOptions.rows,
    .head = collective_head,
    .draw = draw_collective,
    .data = collective_data,
};

}  // namespace roofscape::widgets
