// The dots of a line chart, and where their numbers stand so that each is read as its own.
#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "widgets/figures/common/line_chart_parts.h"

namespace roofscape::widgets::chart {

Point place_of(const Placed& l, const ChartPoint& p) { return {l.x(p.x), l.y(p.y)}; }

TextStyle label_style(const Canvas& canvas, Colour colour, Weight weight) {
  TextStyle style = small_text(canvas, colour, HAlign::left, weight);
  return style;
}

int crossings(const Placed& l, const Chart& chart, const Rect& box) {
  int n = 0;
  for (const std::vector<Point>& trace : l.traces)
    for (std::size_t i = 1; i < trace.size(); ++i) {
      const Point a = trace[i - 1], b = trace[i];
      if (!std::isfinite(a.y) || !std::isfinite(b.y)) continue;  // no line is drawn there
      if (std::max(a.x, b.x) < box.x || std::min(a.x, b.x) > box.right()) continue;
      const auto at = [&](float x) {
        const float within = std::clamp(x, std::min(a.x, b.x), std::max(a.x, b.x));
        return b.x == a.x ? a.y : a.y + (b.y - a.y) * (within - a.x) / (b.x - a.x);
      };
      const float p = at(box.x), q = at(box.right());
      if (std::max(p, q) < box.y || std::min(p, q) > box.bottom()) continue;
      ++n;
      break;
    }
  for (const auto& [from, to] : l.stubs)
    if (from.x <= box.right() && to.x >= box.x && from.y >= box.y && from.y <= box.bottom()) ++n;
  if (chart.now) {
    const float x = l.x(chart.now->x);
    if (x >= box.x && x <= box.right()) n += 2;
  }
  return n;
}

namespace {

constexpr float kFoot = 7;  // crosses over the x axis

float dot_size(const Canvas& canvas, const Theme& theme, const ChartDot& dot) {
  return dot.size > 0 ? canvas.px(dot.size) : theme.marker_size * canvas.em();
}

bool on_plot(const Chart& chart, const ChartDot& dot) {
  return dot.at.x >= chart.x_from && dot.at.x <= chart.x_to &&
         (dot.failed || (dot.at.y >= chart.y_from && dot.at.y <= chart.y_to));
}

Point place_of_dot(const Canvas& canvas, const Placed& l, const ChartDot& dot) {
  const Point at = place_of(l, dot.at);
  return dot.failed ? Point{at.x, l.plot.bottom() - canvas.px(kFoot)} : at;
}

void draw_cross(Canvas& canvas, Point at, float size, const Stroke& stroke) {
  const float r = size * 0.45f;
  canvas.line({at.x - r, at.y - r}, {at.x + r, at.y + r}, stroke);
  canvas.line({at.x - r, at.y + r}, {at.x + r, at.y - r}, stroke);
}

// Where the name of a dot may stand, the better first: around it, then a line of text away, with a leader.
struct NamePlace {
  Rect box;
  bool away = false;
};
std::array<NamePlace, 16> name_places(const Canvas& canvas, Point at, float size, float w, float h) {
  const float off = size / 2 + canvas.px(3);
  const float drop = std::max(off * 0.6f, size / 2 + canvas.px(0.5f));  // clear of the dot itself
  const float right = at.x + off * 0.5f, left = at.x - off * 0.5f - w, above = at.y - off - h, below = at.y + drop;
  const float step = h * 0.8f;
  return {{{{at.x + off, at.y - h / 2, w, h}},
           {{left, above, w, h}},
           {{right, below, w, h}},
           {{at.x - off - w, at.y - h / 2, w, h}},
           {{at.x - w / 2, above, w, h}},
           {{at.x - w / 2, at.y + off, w, h}},
           {{right, above, w, h}},
           {{left, below, w, h}},
           {{right, above - step, w, h}, true},
           {{left, above - step, w, h}, true},
           {{right, above - 2 * step, w, h}, true},
           {{right, below + step, w, h}, true},
           {{left, below + step, w, h}, true},
           {{right, below + 2 * step, w, h}, true},
           {{right, above - 3.5f * step, w, h}, true},
           {{left, below + 2 * step, w, h}, true}}};
}
// The corner of a name at which its leader from the dot ends.
Point leader_end(const Canvas& canvas, Point dot, const Rect& box) {
  return {box.x > dot.x ? box.x + canvas.px(3) : box.right() - canvas.px(3), box.y > dot.y ? box.y : box.bottom()};
}

}  // namespace

void draw_dots(Canvas& canvas, const Theme& theme, const Chart& chart, const Placed& l, std::span<const Tint> tints,
               std::vector<Rect>& taken) {
  for (const ChartDot& dot : chart.dots) {
    if (!on_plot(chart, dot)) continue;
    const float size = dot_size(canvas, theme, dot);
    const Point at = place_of_dot(canvas, l, dot);
    taken.push_back(Rect{at.x - size / 2, at.y - size / 2, size, size}.inset(-canvas.px(1.5f)));  // with its ring
  }
  // A halo over the end of a line would seem to move it.
  const float end = canvas.px(3);
  for (const std::vector<Point>& trace : l.traces)
    for (const Point& at :
         {trace.empty() ? Point{-1e6f, 0} : trace.front(), trace.empty() ? Point{-1e6f, 0} : trace.back()})
      if (l.plot.contains(at)) taken.push_back({at.x - end, at.y - end, 2 * end, 2 * end});
  // Hollow ones over the others, which still show in them.
  const auto draw = [&](const ChartDot& dot) {
    const float size = dot_size(canvas, theme, dot);
    const Point at = place_of_dot(canvas, l, dot);
    Fill ring, fill;
    ring.colour = theme.panel;
    fill.colour = dot.colour;
    if (dot.hollow)
      fill.colour = theme.panel, fill.edge = dot.colour, fill.edge_width = theme.data_width * canvas.em() * 0.8f;
    if (dot.failed) {
      draw_cross(canvas, at, size, {dot.colour, theme.data_width * canvas.em(), {}});
    } else {
      canvas.marker(at, dot.marker, size + canvas.px(2), ring);
      canvas.marker(at, dot.marker, size, fill);
    }
    if (!dot.tag.empty()) {
      const float reach = std::max(size / 2, canvas.px(5));
      canvas.tag_with(dot.tag, -1, {at.x - reach, at.y - reach, 2 * reach, 2 * reach}, [&] { return dot.readout; });
    }
  };
  for (const bool hollow : {false, true})
    for (const ChartDot& dot : chart.dots)
      if (dot.hollow == hollow && on_plot(chart, dot)) draw(dot);
  for (const ChartDot& dot : chart.dots) {
    if (!on_plot(chart, dot) || dot.text.empty()) continue;
    const float size = dot_size(canvas, theme, dot);
    const Point at = place_of_dot(canvas, l, dot);
    TextStyle style =
        label_style(canvas, dot.bold ? theme.ink : theme.ink2, dot.bold ? Weight::bold : Weight::regular);
    const float w = canvas.text_width(dot.text, style) + canvas.px(4), h = style.em * 1.25f;
    const auto places = name_places(canvas, at, size, w, h);
    int least = 1 << 20, order = 0;
    const NamePlace* best = nullptr;
    for (const NamePlace& place : places) {
      const Rect& r = place.box;
      ++order;
      if (r.x < l.plot.x + 1 || r.right() > l.plot.right() || r.y < l.plot.y || r.bottom() > l.plot.bottom() - 1)
        continue;
      if (std::any_of(taken.begin(), taken.end(), [&](const Rect& t) { return t.intersects(r); })) continue;
      // Over or under another dot it would be read as that one's.
      const bool strange = std::any_of(chart.dots.begin(), chart.dots.end(), [&](const ChartDot& other) {
        if (&other == &dot || other.text.empty() || !on_plot(chart, other)) return false;
        const Point p = place_of_dot(canvas, l, other);
        return p.x > r.x && p.x < r.right() && std::abs(p.y - r.centre().y) < h * 1.5f;
      });
      const int crossed = crossings(l, chart, r);
      int cost = 20 * crossed + order + (strange ? 25 : 0);
      if (place.away) {  // but for its start: the dot is on its own line
        const Point to = leader_end(canvas, at, r), from = at + (to - at) * 0.3f;
        cost += 10 * crossings(l, chart,
                               rect_between(std::min(from.x, to.x), std::min(from.y, to.y), std::max(from.x, to.x),
                                            std::max(from.y, to.y)));
      }
      if (cost < least) least = cost, best = &place;
    }
    if (best == nullptr) continue;
    const Rect& box = best->box;
    const Point anchor{box.x + canvas.px(2), box.centre().y};
    if (best->away) {
      const Point to = leader_end(canvas, at, box);
      const Point way = (to - at) * (1 / std::max(distance(at, to), 1e-3f));
      canvas.line(at + way * (size / 2 + canvas.px(1)), to, {theme.ink3, theme.axis_width * canvas.em(), {}});
    }
    haloed_text(canvas, theme, anchor, dot.text, style, tints);
    taken.push_back(
        {box.x - canvas.px(4), box.y, box.w + canvas.px(8), box.h});  // a number beside it would be read with it
  }
}

}  // namespace roofscape::widgets::chart
