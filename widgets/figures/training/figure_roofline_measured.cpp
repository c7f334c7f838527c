// Measured operations over the roofline: a profile has a few of them or hundreds of thousands.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>

#include "engine/hardware/roofline.h"
#include "widgets/figures/training/figure_roofline_layout.h"
#include "widgets/plot/label_field.h"

namespace roofscape::widgets::roofline {

using engine::Q;

namespace {

constexpr float kMeasuredDot = 8.5f, kMeasuredName = 150;
// More marks than this hide each other: one then stands for all within a part of its own size.
constexpr std::size_t kMostMarks = 500;
constexpr float kCellOfMark = 0.5f;
constexpr std::size_t kMostNames = 200;  // tried, the longest operations first

// The longest of each cell, with what it stands for, in the order in which they were measured.
void thin_out(float cell, std::vector<MeasuredDot>& dots) {
  std::unordered_map<std::uint64_t, std::size_t> cells;  // place in `kept`
  std::vector<MeasuredDot> kept;
  for (MeasuredDot& dot : dots) {
    const auto x = static_cast<std::uint32_t>(static_cast<std::int32_t>(std::floor(dot.at.x / cell)));
    const auto y = static_cast<std::uint32_t>(static_cast<std::int32_t>(std::floor(dot.at.y / cell)));
    const auto [there, is_new] = cells.try_emplace(std::uint64_t{x} << 32 | y, kept.size());
    if (is_new) {
      kept.push_back(std::move(dot));
      continue;
    }
    MeasuredDot& mark = kept[there->second];
    const std::size_t count = mark.count + 1;
    const double seconds = mark.seconds + dot.seconds;
    if (dot.row->seconds > mark.row->seconds) mark = std::move(dot);
    mark.count = count, mark.seconds = seconds;
  }
  dots = std::move(kept);
}

}  // namespace

void find_measured(const Canvas& canvas, const FigureInput& input, Layout& l) {
  const float size = std::max(canvas.px(kMeasuredDot), input.theme.marker_size * canvas.em());
  for (const engine::MeasuredOperation& row : input.measured) {
    if (!(row.flops > 0) || !(row.bytes > 0) || !(row.seconds > 0)) continue;
    MeasuredDot dot;
    dot.row = &row;
    dot.seconds = row.seconds;
    dot.intensity = row.flops / row.bytes;
    dot.flop_per_s = row.flops / row.seconds;
    dot.size = size;
    l.measured.push_back(std::move(dot));
  }
}

void stand_measured(Layout& l) {
  for (MeasuredDot& d : l.measured) d.at = {l.x(d.intensity), l.y(d.flop_per_s)};
  if (l.measured.size() > kMostMarks) thin_out(l.measured.front().size * kCellOfMark, l.measured);
}

void name_measured(const Canvas& canvas, const FigureInput& input, const std::vector<Rect>& taken, Layout& l) {
  LabelField field(l.plot.inset(canvas.px(1)));
  for (const Rect& r : taken) field.take(r);
  for (const MeasuredDot& d : l.measured) field.take_mark(mark_rect(d));
  // A name beside the dot of a computed operation would be read as that one's.
  for (const Dot& d : l.dots) field.take_mark(mark_rect(d));
  std::vector<MeasuredDot*> named;
  for (MeasuredDot& d : l.measured) named.push_back(&d);
  if (named.size() > kMostNames) {
    std::stable_sort(named.begin(), named.end(),
                     [](const MeasuredDot* a, const MeasuredDot* b) { return a->row->seconds > b->row->seconds; });
    named.resize(kMostNames);
  }
  const TextStyle style = small(canvas, input.theme.ink, HAlign::left, VAlign::middle);
  for (MeasuredDot* d : named) {
    const std::string name = ellipsize(canvas, d->row->name, style, canvas.px(kMeasuredName));
    const LabelLine line{name, style};
    const auto spot =
        name.empty() ? std::nullopt : field.place_naming(mark_rect(*d), label_size(canvas, {&line, 1}), canvas.px(2));
    if (spot) d->label = place(canvas, name, {spot->x, spot->centre().y}, style);
  }
}

double measured_share(const FigureInput& input) {
  const double peak = input.report.quantities.value_or(Q::peak_flops, 0),
               bandwidth = input.report.quantities.value_or(Q::hbm_bandwidth, 0);
  double allowed = 0, taken = 0;
  for (const engine::MeasuredOperation& row : input.measured) {
    if (!(row.flops > 0) || !(row.bytes > 0) || !(row.seconds > 0)) continue;
    allowed += row.flops / engine::attainable(row.flops / row.bytes, bandwidth, peak);
    taken += row.seconds;
  }
  return taken > 0 && peak > 0 && bandwidth > 0 ? allowed / taken : 0;
}

}  // namespace roofscape::widgets::roofline
