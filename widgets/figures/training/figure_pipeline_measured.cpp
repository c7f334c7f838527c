#include "widgets/figures/training/figure_pipeline_measured.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "widgets/canvas/number_format.h"
#include "widgets/canvas/palette.h"
#include "widgets/figures/common/measured_ghost.h"
#include "widgets/figures/common/stage_rows.h"
#include "widgets/figures/training/figure_pipeline_blocks.h"

namespace roofscape::widgets::gantt {

using engine::LaneWork;
using engine::MeasuredLane;

namespace {

constexpr float kLaneGap = 6, kLeastLane = 8, kMostLane = 18, kLaneBar = 0.8f;  // scale-1 pixels; share of a lane
constexpr float kCollectiveShade = 0.68f;
constexpr float kMostOfRoom = 0.38f;  // of the figure's height
constexpr float kLeastWidth = 0.84f;  // of the figure, that rows have at least
constexpr float kLeastColumn = 1.5f;  // scale-1 pixels: shorter stretches are drawn together
constexpr float kSameShares = 0.02f;  // that differ by less are one bar
using Shares = std::array<float, engine::kLaneWorks>;

Fill lane_fill(const Theme& theme, LaneWork work, float em) {
  switch (work) {
    case LaneWork::compute:
      return measured_fill(theme, em);
    case LaneWork::optimizer:
      return fill_of(theme, StepPart::optimizer, em);
    case LaneWork::send_recv:
      return fill_of(theme, StepPart::pipeline, em);
    case LaneWork::collective:
      // Of which axis it is a trace does not say: no hue of an axis.
      return {.colour = mix(theme.panel, theme.ink, kCollectiveShade)};
  }
  return {};
}

double makespan_s(const FigureInput& input) {
  return static_cast<double>(input.report.pipeline.timeline.makespan) / kTicksPerSecond;
}

// Where a lane begins on the plan's time.
double lane_start(const FigureInput& input, const MeasuredLane& lane) {
  return lane.optimizer_s ? makespan_s(input) - *lane.optimizer_s : 0;
}

float words_height(const Canvas& canvas) { return small_line(canvas) * 1.1f; }

std::vector<KeyEntry> lane_key(const FigureInput& input, const MeasuredPlace& place, float em) {
  std::array<bool, engine::kLaneWorks> seen{};
  for (const std::size_t i : place.lanes)
    for (const Shares& bin : input.run->lanes[i].bins)
      for (std::size_t k = 0; k < bin.size(); ++k) seen[k] = seen[k] || bin[k] > 0;
  std::vector<KeyEntry> out;
  constexpr std::array kWords{"figure.pipeline.measured.compute", "figure.pipeline.measured.optimizer",
                              "figure.pipeline.measured.send_recv", "figure.pipeline.measured.collective"};
  for (std::size_t k = 0; k < seen.size(); ++k)
    if (seen[k])
      out.push_back({std::string(input.texts.text(kWords[k])), lane_fill(input.theme, static_cast<LaneWork>(k), em)});
  return out;
}

class LanePainter {
 public:
  LanePainter(Canvas& canvas, const FigureInput& input, const MeasuredLane& lane, const Rect& bar, const Scale& x,
              const TimeUnit& unit)
      : canvas_(canvas), input_(input), lane_(lane), bar_(bar), x_(x), unit_(unit) {}

  void paint() {
    const double start = lane_start(input_, lane_), bin_s = lane_.step_s / static_cast<double>(lane_.bins.size());
    const float bin_w = at(start + bin_s) - at(start);
    const auto together =
        static_cast<std::size_t>(std::max(1.0f, std::ceil(canvas_.px(kLeastColumn) / std::max(bin_w, 1e-6f))));
    Shares open{};
    std::size_t from = 0;
    for (std::size_t i = 0; i < lane_.bins.size(); i += together) {
      const std::size_t end = std::min(lane_.bins.size(), i + together);
      Shares mean{};
      for (std::size_t k = i; k < end; ++k)
        for (std::size_t w = 0; w < mean.size(); ++w) mean[w] += lane_.bins[k][w] / static_cast<float>(end - i);
      if (i > 0 && !same(open, mean)) {
        column(open, start + static_cast<double>(from) * bin_s, start + static_cast<double>(i) * bin_s);
        from = i;
      }
      if (i == 0 || from == i) open = mean;
    }
    column(open, start + static_cast<double>(from) * bin_s, start + lane_.step_s);
    const Rect whole = rect_between(at(start), bar_.y, at(start + lane_.step_s), bar_.bottom());
    canvas_.frame(whole, {input_.theme.ink2, input_.theme.grid_width * canvas_.em(), {}});
  }

 private:
  float at(double seconds) const { return confined(x_(seconds / unit_.seconds), bar_.x, bar_.right()); }
  static bool same(const Shares& a, const Shares& b) {
    for (std::size_t i = 0; i < a.size(); ++i)
      if (std::abs(a[i] - b[i]) > kSameShares) return false;
    return true;
  }
  // Shares of the time as shares of the height, from below.
  void column(const Shares& shares, double from, double to) {
    const float left = at(from), right = at(to);
    if (right - left < canvas_.px(0.05f)) return;
    float bottom = bar_.bottom();
    for (std::size_t w = 0; w < shares.size(); ++w) {
      const float h = std::min(shares[w], 1.0f) * bar_.h;
      if (h < canvas_.px(0.2f)) continue;
      Fill fill = lane_fill(input_.theme, static_cast<LaneWork>(w), canvas_.em());
      fill.edge_width = 0;
      fill.hatch = Hatch::none;
      canvas_.rect(rect_between(left, std::max(bar_.y, bottom - h), right, bottom), fill);
      bottom -= h;
    }
  }

  Canvas& canvas_;
  const FigureInput& input_;
  const MeasuredLane& lane_;
  Rect bar_;
  const Scale& x_;
  const TimeUnit& unit_;
};

std::string lane_name(const FigureInput& input, const MeasuredLane& lane) {
  return lane.rank ? input.texts.format("figure.pipeline.measured.rank", {format_count(*lane.rank)})
                   : std::string(input.texts.text("measured.measured"));
}

Readout lane_readout(const FigureInput& input, const MeasuredLane& lane) {
  const TextTable& t = input.texts;
  Readout r{t.format("figure.step.readout", {lane_name(input, lane), format_duration(lane.step_s)}), {}};
  Shares sum{};
  for (const Shares& bin : lane.bins)
    for (std::size_t w = 0; w < sum.size(); ++w) sum[w] += bin[w] / static_cast<float>(lane.bins.size());
  float idle = 1;
  for (const float share : sum) idle -= share;
  r.rows.emplace_back(t.text("figure.pipeline.measured.compute"), format_share(sum[0]));
  r.rows.emplace_back(t.text("figure.pipeline.measured.optimizer"), format_share(sum[1]));
  r.rows.emplace_back(t.text("figure.pipeline.measured.exposed"), format_share(sum[2] + sum[3]));
  r.rows.emplace_back(t.text("figure.pipeline.idle"), format_share(std::max(0.0f, idle)));
  return r;
}

}  // namespace

MeasuredPlace place_measured(const Canvas& canvas, const FigureInput& input, const Rect& room) {
  MeasuredPlace out;
  const auto seconds = measured_step(input);
  if (!seconds) return out;
  const std::size_t all = input.run->lanes.size();
  const float words = words_height(canvas), gap = canvas.px(kLaneGap);
  const float most = room.h * kMostOfRoom - words - gap;
  const auto fits = static_cast<std::size_t>(std::max(1.0f, most / canvas.px(kLeastLane)));
  const std::size_t shown = std::min(all, fits);
  for (std::size_t i = 0; i < shown; ++i) out.lanes.push_back(i * all / shown);
  const std::size_t rows = std::max<std::size_t>(1, shown);
  out.pitch = confined(most / static_cast<float>(rows), canvas.px(kLeastLane), canvas.px(kMostLane));
  if (all > 0) {
    const std::vector<KeyEntry> key = lane_key(input, out, canvas.em());
    out.key = words * static_cast<float>(key_rows(canvas, room.w * kLeastWidth, key));
  }
  out.height = gap + words + out.key + out.pitch * static_cast<float>(rows);
  out.to_s = all > 0 ? 0 : *seconds;
  for (const std::size_t i : out.lanes) {
    const double start = lane_start(input, input.run->lanes[i]);
    out.from_s = std::min(out.from_s, start);
    out.to_s = std::max(out.to_s, start + input.run->lanes[i].step_s);
  }
  return out;
}

void draw_measured(Canvas& canvas, const FigureInput& input, const MeasuredPlace& place, const Rect& area,
                   const Scale& x, const TimeUnit& unit) {
  const TextTable& t = input.texts;
  const double seconds = *measured_step(input);
  const std::vector<MeasuredLane>& lanes = input.run->lanes;
  const float words = words_height(canvas), top = area.y + canvas.px(kLaneGap);
  const bool aligned = std::any_of(place.lanes.begin(), place.lanes.end(),
                                   [&](std::size_t i) { return lanes[i].optimizer_s.has_value(); });
  const TextStyle style = small_text(canvas, input.theme.ink, HAlign::left);
  std::string said =
      t.format(aligned ? "figure.pipeline.measured.aligned" : "figure.pipeline.measured", {format_duration(seconds)});
  if (place.lanes.size() < lanes.size())
    said = t.format("figure.pipeline.measured.some", {said, format_count(static_cast<double>(place.lanes.size())),
                                                      format_count(static_cast<double>(lanes.size()))});
  canvas.text({area.x, top + words / 2}, ellipsize(canvas, said, style, area.w), style);
  const auto series = canvas.group("pipeline.measured");
  if (lanes.empty()) {
    const Rect bar{area.x, top + words, area.w, place.pitch * kLaneBar};
    const float from = confined(x(0), area.x, area.right()),
                to = confined(x(seconds / unit.seconds), area.x, area.right());
    const Rect r = rect_between(from, bar.y, to, bar.bottom());
    canvas.rect(r, measured_fill(input.theme, canvas.em()));
    canvas.tag_with("pipeline.measured", -1, r, [&] {
      Readout readout{said, {}};
      readout.rows.emplace_back(t.text("measured.predicted"),
                                format_duration(input.report.quantities.value_or(engine::Q::step_time, 0)));
      return readout;
    });
    return;
  }
  draw_fitting_key(canvas, input.theme, {area.x, top + words + place.key / 2}, area.w,
                   lane_key(input, place, canvas.em()), {});
  const float first = top + words + place.key;
  const TextStyle name = small_text(canvas, input.theme.ink2, HAlign::right);
  for (std::size_t row = 0; row < place.lanes.size(); ++row) {
    const MeasuredLane& lane = lanes[place.lanes[row]];
    const Rect band{area.x, first + place.pitch * static_cast<float>(row), area.w, place.pitch};
    const Rect bar{band.x, band.y + band.h * (1 - kLaneBar) / 2, band.w, band.h * kLaneBar};
    LanePainter(canvas, input, lane, bar, x, unit).paint();
    const auto every = static_cast<std::size_t>(std::ceil(number_line(canvas) / place.pitch));
    if (lane.rank && row % every == 0)
      canvas.text({area.x - canvas.px(6), band.centre().y}, format_count(*lane.rank), name);
    canvas.tag_with("pipeline.measured", static_cast<int>(place.lanes[row]), band,
                    [&] { return lane_readout(input, lane); });
  }
  if (std::any_of(place.lanes.begin(), place.lanes.end(), [&](std::size_t i) { return lanes[i].rank.has_value(); }))
    canvas.text({area.x - canvas.px(6), first - words / 2}, t.text("figure.pipeline.measured.ranks"), name);
}

}  // namespace roofscape::widgets::gantt
