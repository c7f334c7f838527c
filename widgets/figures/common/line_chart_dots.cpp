// The dots of a line chart, and where their numbers stand so that each is read as its own.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "widgets/canvas/palette.h"
#include "widgets/figures/common/line_chart_parts.h"

namespace roofscape::widgets::chart {

Point place_of(const Placed& l, const ChartPoint& p) { return {l.x(p.x), l.y(p.y)}; }

TextStyle label_style(const Canvas& canvas, Colour colour, Weight weight) {
  TextStyle style = small_text(canvas, colour, HAlign::left, weight);
  return style;
}

int crossings(const Placed& l, const Chart& chart, const Rect& box) {
  int n = lines_through(l, chart, box, 0);
  for (const auto& [from, to] : l.stubs)
    if (from.x <= box.right() && to.x >= box.x && from.y >= box.y && from.y <= box.bottom()) ++n;
  if (chart.now) {
    const float x = l.x(chart.now->x);
    if (x >= box.x && x <= box.right()) n += 2;
  }
  return n;
}

int lines_through(const Placed& l, const Chart& chart, const Rect& box, float least_width) {
  int n = 0;
  for (std::size_t line = 0; line < l.traces.size(); ++line) {
    if (chart.lines[line].named || chart.lines[line].faint) continue;  // gives way
    if (chart.lines[line].stroke.width < least_width) continue;
    const std::vector<Point>& trace = l.traces[line];
    for (std::size_t i = 1; i < trace.size(); ++i) {
      const Point a = trace[i - 1], b = trace[i];
      if (!std::isfinite(a.y) || !std::isfinite(b.y)) continue;  // no line is drawn there
      if (std::max(a.x, b.x) < box.x || std::min(a.x, b.x) > box.right()) continue;
      if (std::max(a.y, b.y) < box.y || std::min(a.y, b.y) > box.bottom()) continue;
      const auto at = [&](float x) {
        const float within = std::clamp(x, std::min(a.x, b.x), std::max(a.x, b.x));
        return b.x == a.x ? a.y : a.y + (b.y - a.y) * (within - a.x) / (b.x - a.x);
      };
      const float p = at(box.x), q = at(box.right());
      if (std::max(p, q) < box.y || std::min(p, q) > box.bottom()) continue;
      ++n;
      break;
    }
  }
  return n;
}

namespace {

constexpr int kOnLine = 60;        // what a line through a name costs, in places
constexpr int kAtEdge = 10;        // a name that is moved along the edge of the plot
constexpr int kBrief = 8;          // the shorter name
constexpr float kBoldLine = 2.4f;  // px
constexpr float kFoot = 7;         // crosses over the x axis

float dot_size(const Canvas& canvas, const Theme& theme, const ChartDot& dot) {
  return dot.size > 0 ? canvas.px(dot.size) : theme.marker_size * canvas.em();
}

// Told in the note.
bool is_letter(const Chart& chart, const ChartDot& dot) { return chart.letters && dot.text.size() == 1; }

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
  int cost = 0;  // beyond its order
};
std::vector<NamePlace> name_places(const Canvas& canvas, const Rect& plot, const ChartDot& dot, Point at, float size,
                                   float w, float h) {
  const float off = size / 2 + canvas.px(3);
  const float drop = std::max(off * 0.6f, size / 2 + canvas.px(0.5f));  // clear of the dot itself
  const float right = at.x + off * 0.5f, left = at.x - off * 0.5f - w, above = at.y - off - h, below = at.y + drop;
  const float step = h * 0.8f;
  if (dot.side == ChartDot::Side::over) {
    std::vector<NamePlace> out;
    for (const float up : {0.0f, 1.2f, 2.4f, 3.6f})
      for (const float x : {at.x - w / 2, left, right}) out.push_back({{x, above - up * h, w, h}, up > 0});
    return out;
  }
  const Rect beside{at.x + off, at.y - h / 2, w, h};
  if (dot.side == ChartDot::Side::right)
    return {{beside}, {{right, above, w, h}}, {{right, below, w, h}}, {{left, above, w, h}}, {{left, below, w, h}}};
  std::vector<NamePlace> out{{beside},
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
                             {{left, below + 2 * step, w, h}, true},
                             {{left, above - 2.5f * step, w, h}, true},
                             {{left, above - 4 * step, w, h}, true},
                             {{right, below + 3.5f * step, w, h}, true}};
  // At the edge of the plot, over or under its dot rather than far from it.
  for (const float x : {right, left})
    if (const float within = confined(x, plot.x + canvas.px(4), plot.right() - w); within != x)
      for (const float down : {0.0f, 1.0f, 2.0f, 3.5f, 5.0f})
        for (const float y : {above - down * step, below + down * step})
          out.push_back({{within, y, w, h}, down > 0, kAtEdge});
  // Rather far from its dot than on another line.
  for (const float down : {0.0f, 1.5f, 3.5f, 5.0f, 7.0f, 9.0f})
    for (const float x : {left, right, at.x + off * 2.5f, at.x - off * 2.5f - w})
      for (const float y : {above - down * step, below + down * step}) out.push_back({{x, y, w, h}, true});
  return out;
}
TextStyle name_style(const Canvas& canvas, const Theme& theme, const ChartDot& dot) {
  // Numbers beside dots of several lines are read by their colour.
  const Colour plain = dot.side == ChartDot::Side::near ? readable(dot.colour, theme.panel) : theme.ink2;
  return label_style(canvas, dot.bold ? theme.ink : plain, dot.bold ? Weight::bold : Weight::regular);
}
// Whether the straight way from `a` to `b` goes through one of these.
bool runs_through(Point a, Point b, std::span<const Rect> boxes) {
  constexpr int kSteps = 48;
  for (int i = 0; i <= kSteps; ++i) {
    const Point at = a + (b - a) * (static_cast<float>(i) / kSteps);
    if (std::any_of(boxes.begin(), boxes.end(), [&](const Rect& r) { return r.contains(at); })) return true;
  }
  return false;
}

// Where the leader from the dot ends at a name: straight over or under the dot, or at the corner next to it.
Point leader_end(const Canvas& canvas, Point dot, const Rect& box) {
  return {confined(dot.x, box.x + canvas.px(3), box.right() - canvas.px(3)), box.y > dot.y ? box.y : box.bottom()};
}

// Names over their dots in one row, pushed apart to either side where they would touch; nothing where the plot is too
// narrow for that.
void place_row(const Canvas& canvas, const Theme& theme, const Chart& chart, const Placed& l,
               std::vector<PlacedName>& out, std::vector<Rect>& taken) {
  std::vector<std::size_t> row;
  float all = 0, lowest = l.plot.bottom(), h = 0;
  for (std::size_t i = 0; i < chart.dots.size(); ++i) {
    const ChartDot& dot = chart.dots[i];
    if (dot.side != ChartDot::Side::over || dot.text.empty() || !on_plot(chart, dot)) continue;
    const TextStyle style = name_style(canvas, theme, dot);
    h = style.em * 1.25f;
    out[i].box = {0, 0, canvas.text_width(dot.text, style) + canvas.px(8), h};
    all += out[i].box.w;
    lowest = std::min(lowest, place_of_dot(canvas, l, dot).y - dot_size(canvas, theme, dot) / 2 - canvas.px(3));
    row.push_back(i);
  }
  std::stable_sort(row.begin(), row.end(),
                   [&](std::size_t a, std::size_t b) { return chart.dots[a].at.x < chart.dots[b].at.x; });
  const float step = h * 0.7f;
  const auto centre = [&](std::size_t i) { return place_of_dot(canvas, l, chart.dots[i]).x - out[i].box.w / 2; };
  bool moved = false;
  if (all > l.plot.w || lowest - h - step < l.plot.y) {
    for (const std::size_t i : row) out[i].box = {};
    return;
  }
  // Blocks of names that touch stand about the middle of their dots.
  struct Block {
    std::size_t first, last;
    float from, width;
  };
  std::vector<Block> blocks;
  for (std::size_t k = 0; k < row.size(); ++k) {
    Block b{k, k, centre(row[k]), out[row[k]].box.w};
    const auto settle = [&](Block& block) {
      float sum = 0, before = 0;
      for (std::size_t j = block.first; j <= block.last; ++j) {
        sum += centre(row[j]) - before;
        before += out[row[j]].box.w;
      }
      block.from = confined(sum / static_cast<float>(block.last - block.first + 1), l.plot.x + 1,
                            std::max(l.plot.x + 1, l.plot.right() - block.width));
    };
    settle(b);
    while (!blocks.empty() && blocks.back().from + blocks.back().width > b.from) {
      b.first = blocks.back().first, b.width += blocks.back().width;
      blocks.pop_back();
      settle(b);
    }
    blocks.push_back(b);
  }
  for (const Block& b : blocks) moved = moved || b.last > b.first;
  for (const Block& b : blocks) {
    float x = b.from;
    for (std::size_t j = b.first; j <= b.last; ++j) {
      Rect& box = out[row[j]].box;
      box.x = x, box.y = lowest - h - (moved ? step : 0);
      out[row[j]].away = moved;
      x += box.w;
      taken.push_back(box);
    }
  }
}

}  // namespace

std::vector<PlacedName> place_names(const Canvas& canvas, const Theme& theme, const Chart& chart, const Placed& l,
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
  std::vector<PlacedName> out(chart.dots.size());
  std::vector<Rect> named;                       // boxes of names
  std::vector<std::pair<Point, Point>> leaders;  // from dots to names away from them
  place_row(canvas, theme, chart, l, out, taken);
  for (std::size_t i = 0; i < chart.dots.size(); ++i) {
    const ChartDot& dot = chart.dots[i];
    if (!on_plot(chart, dot) || dot.text.empty() || !out[i].box.empty()) continue;
    const float size = dot_size(canvas, theme, dot);
    const Point at = place_of_dot(canvas, l, dot);
    const TextStyle style = name_style(canvas, theme, dot);
    const float h = style.em * 1.25f;
    // The best place of a name of this width; none where it would cover what it may not.
    const auto place_for = [&](float w) -> std::optional<NamePlace> {
      // A name may have a letter in its place rather than stand on a line; a letter stands wherever it can.
      const bool near = dot.side == ChartDot::Side::near;
      const bool clear = near || (chart.letters && !dot.bold && dot.text.size() > 1);
      int least = 1 << 20, order = 0;
      std::optional<NamePlace> best;
      for (const NamePlace& place : name_places(canvas, l.plot, dot, at, size, w, h)) {
        const Rect& r = place.box;
        ++order;
        if (r.x < l.plot.x + 1 || r.right() > l.plot.right() || r.y < l.plot.y || r.bottom() > l.plot.bottom() - 1)
          continue;
        if (std::any_of(taken.begin(), taken.end(), [&](const Rect& t) { return t.intersects(r); })) continue;
        // Over or under another dot it would be read as that one's.
        const bool strange = dot.side == ChartDot::Side::any &&
                             std::any_of(chart.dots.begin(), chart.dots.end(), [&](const ChartDot& other) {
                               if (&other == &dot || other.text.empty() || !on_plot(chart, other)) return false;
                               const Point p = place_of_dot(canvas, l, other);
                               return p.x > r.x && p.x < r.right() && std::abs(p.y - r.centre().y) < h * 1.5f;
                             });
        int cost = place.cost + order + (strange ? 25 : 0);
        if (cost >= least) continue;  // lines only add to it, and are what takes time to find
        const int crossed = crossings(l, chart, r);
        if (clear && (crossed > 0 || (place.away && near))) continue;
        cost += kOnLine * crossed;
        for (const auto& [from, to] : leaders) cost += runs_through(from, to, {&r, 1}) ? kOnLine : 0;
        if (place.away) {  // but for its start: the dot is on its own line
          const Point to = leader_end(canvas, at, r), from = at + (to - at) * 0.3f;
          const Rect leader = rect_between(std::min(from.x, to.x), std::min(from.y, to.y), std::max(from.x, to.x),
                                           std::max(from.y, to.y));
          cost += kOnLine / 2 * crossings(l, chart, leader) + (runs_through(from, to, named) ? 2 * kOnLine : 0);
          if (clear && std::any_of(taken.begin(), taken.end(), [&](const Rect& t) { return t.intersects(leader); }))
            continue;
        }
        if (cost < least) least = cost, best = place, best->cost = cost;
      }
      // Rather no name than a bold line with a hole in it; a letter is told of in the note.
      if (best && !is_letter(chart, dot) && lines_through(l, chart, best->box, canvas.px(kBoldLine)) > 0) return {};
      return best;
    };
    const auto width = [&](const std::string& text) { return canvas.text_width(text, style) + canvas.px(4); };
    std::optional<NamePlace> best = place_for(width(dot.text));
    bool brief = false;
    if (!dot.brief.empty() && (!best || best->cost > kBrief))
      if (const auto shorter = place_for(width(dot.brief)); shorter && (!best || shorter->cost + kBrief < best->cost))
        best = shorter, brief = true;
    if (!best) continue;
    const Rect& box = best->box;
    out[i] = {box, best->away, brief};
    named.push_back(box);
    if (best->away) leaders.emplace_back(at, leader_end(canvas, at, box));
    taken.push_back(
        {box.x - canvas.px(4), box.y, box.w + canvas.px(8), box.h});  // a number beside it would be read with it
  }
  return out;
}

bool name_missing(const Chart& chart, const std::vector<PlacedName>& names, std::size_t i) {
  return on_plot(chart, chart.dots[i]) && !chart.dots[i].text.empty() && names[i].box.empty();
}

void draw_dots(Canvas& canvas, const Theme& theme, const Chart& chart, const Placed& l, std::span<const Tint> tints,
               const std::vector<PlacedName>& names) {
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
  if (std::any_of(names.begin(), names.end(), [](const PlacedName& n) { return n.away && !n.box.empty(); })) {
    const auto group = canvas.group("leaders");
    for (std::size_t i = 0; i < chart.dots.size(); ++i) {
      const ChartDot& dot = chart.dots[i];
      const Rect& box = names[i].box;
      if (box.empty() || !names[i].away) continue;
      const Rect rim = box.inset(std::min(canvas.px(6), box.w / 2), 0);  // a leader ends clear of a name's corners
      const Point at = place_of_dot(canvas, l, dot),
                  to = dot.side == ChartDot::Side::over ? Point{confined(at.x, rim.x, rim.right()), rim.bottom()}
                                                        : leader_end(canvas, at, box);
      const Point way = (to - at) * (1 / std::max(distance(at, to), 1e-3f));
      canvas.line(at + way * (dot_size(canvas, theme, dot) / 2 + canvas.px(1)), to,
                  {theme.ink3, theme.axis_width * canvas.em(), {}});
    }
  }
  const auto draw_name = [&](std::size_t i) {
    const ChartDot& dot = chart.dots[i];
    const Rect& box = names[i].box;
    haloed_text(canvas, theme, {box.x + canvas.px(dot.side == ChartDot::Side::over ? 4.0f : 2.0f), box.centre().y},
                names[i].brief ? dot.brief : dot.text, name_style(canvas, theme, dot), tints);
  };
  bool letters = false;
  for (std::size_t i = 0; i < chart.dots.size(); ++i) {
    if (names[i].box.empty()) continue;
    if (is_letter(chart, chart.dots[i]))
      letters = true;
    else
      draw_name(i);
  }
  if (!letters) return;
  const auto group = canvas.group("letters");
  for (std::size_t i = 0; i < chart.dots.size(); ++i)
    if (!names[i].box.empty() && is_letter(chart, chart.dots[i])) draw_name(i);
}

}  // namespace roofscape::widgets::chart
