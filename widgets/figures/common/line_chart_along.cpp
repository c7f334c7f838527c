// Names that run along the lines of a line chart.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/line_chart_parts.h"

namespace roofscape::widgets::chart {

namespace {

// Whether the first segment of a line runs through one of these.
bool passes(std::span<const Point> trace, std::span<const Rect> boxes) {
  if (trace.size() < 2) return false;
  constexpr int kSteps = 200;
  for (int i = 0; i <= kSteps; ++i) {
    const Point at = trace[0] + (trace[1] - trace[0]) * (static_cast<float>(i) / kSteps);
    if (std::any_of(boxes.begin(), boxes.end(), [&](const Rect& r) { return r.contains(at); })) return true;
  }
  return false;
}

// The name of a line along its first segment, over it and where no other text is; left out where there is no room,
// and unless it is essential where a line would run through it.
std::optional<AlongPlace> place_along(const Canvas& canvas, const Chart& chart, const Placed& l,
                                      const ChartLine& line, std::vector<Rect>& taken, std::vector<Rect>& words) {
  if (line.along.empty() || line.points.size() < 2) return std::nullopt;
  const Point a = place_of(l, line.points[0]), b = place_of(l, line.points[1]);
  const TextStyle style = label_style(canvas, {}, Weight::regular);
  const float width = canvas.text_width(line.along, style), length = distance(a, b), gap = canvas.px(8);
  if (length < width + 2 * gap) return std::nullopt;
  const Point way = (b - a) * (1 / length), over{way.y, -way.x};
  // Squares along the text stand for it: a turned text has no upright box worth keeping clear of.
  const float side = style.em * 1.05f;
  int least = 1 << 20;
  AlongPlace best;
  std::vector<Rect> kept;
  constexpr int kPlaces = 13;  // along the segment, over it, then under it
  for (int place = 0; place < 2 * kPlaces; ++place) {
    const int step = place % kPlaces;
    const float start = gap + (length - width - 2 * gap) * static_cast<float>(step) / (kPlaces - 1);
    const Point anchor = a + way * start + over * (style.em * (place < kPlaces ? 0.28f : -1.0f));
    std::vector<Rect> squares;
    for (float at = 0; at <= width + side / 2; at += side / 2) {
      const Point p = anchor + way * std::min(at, width) + over * (style.em * 0.36f);
      squares.push_back({p.x - side / 2, p.y - side / 2, side, side});
    }
    if (std::any_of(squares.begin(), squares.end(), [&](const Rect& r) {
          return r.x < l.plot.x || r.right() > l.plot.right() || r.y < l.plot.y || r.bottom() > l.plot.bottom() ||
                 std::any_of(taken.begin(), taken.end(), [&](const Rect& t) { return t.intersects(r); });
        }))
      continue;
    int crossed = 0;
    for (const Rect& r : squares) crossed += std::max(0, crossings(l, chart, r.inset(side * 0.1f)));
    if (crossed > 0 && !line.essential) continue;
    // A line that would have to give way.
    int driven = 0;
    for (std::size_t i = 0; i < chart.lines.size(); ++i)
      driven += chart.lines[i].named && &chart.lines[i] != &line && passes(l.traces[i], squares) ? 1 : 0;
    const int cost = 20 * crossed + 9 * driven + std::abs(step - 7) + (place < kPlaces ? 0 : 5);
    if (cost < least) least = cost, best = {anchor, crossed > 0}, kept = std::move(squares);
  }
  if (kept.empty()) return std::nullopt;
  taken.insert(taken.end(), kept.begin(), kept.end());
  for (const Rect& r : kept) words.push_back(r.inset(side * 0.2f));
  return best;
}

}  // namespace

std::vector<std::optional<AlongPlace>> place_names_along(const Canvas& canvas, const Chart& chart, const Placed& l,
                                                         const std::vector<PlacedName>& names,
                                                         std::vector<Rect>& taken) {
  std::vector<Rect> words;
  for (const PlacedName& name : names)
    if (!name.box.empty()) words.push_back(name.box);
  std::vector<std::optional<AlongPlace>> along(chart.lines.size());
  for (const bool essential : {true, false})
    for (std::size_t i = 0; i < chart.lines.size(); ++i) {
      const ChartLine& line = chart.lines[i];
      if (line.essential != essential || (line.named && passes(l.traces[i], words))) continue;
      along[i] = place_along(canvas, chart, l, line, taken, words);
    }
  return along;
}

void draw_name_along(Canvas& canvas, const Theme& theme, const Placed& l, const ChartLine& line, Point anchor) {
  TextStyle style = label_style(canvas, line.essential ? theme.ink : theme.ink2, Weight::regular);
  const Point way = place_of(l, line.points[1]) - place_of(l, line.points[0]);
  style.angle = std::atan2(way.y, way.x);
  style.valign = VAlign::baseline;
  canvas.text(anchor, line.along, style);
}

}  // namespace roofscape::widgets::chart
