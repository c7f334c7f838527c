#include "widgets/figures/common/line_chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "widgets/canvas/number_format.h"
#include "widgets/canvas/palette.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/line_chart_parts.h"

namespace roofscape::widgets {

using namespace chart;

namespace {

constexpr float kFan = 22;             // between the ends of lines and their labels
constexpr float kWidestLabel = 0.42f;  // of the figure
constexpr float kWideLabel = 0.25f;    // of the figure, from which a label has its brief form
constexpr double kRoomAround = 1.4;    // of a logarithmic axis beyond its data
constexpr float kArrow = 24;           // behind the title of the x axis
constexpr float kArrowHead = 7;
constexpr int kTagsALine = 24;
constexpr int kWordALine = 5;     // what a name of a region with a word a line costs
constexpr float kHighChart = 14;  // lines of text, from which a note may take three
constexpr float kLeastWidth = 60, kLeastHeight = 36;

// Whether a line stops before the axis does, rather than leaving the axes.
bool stops_early(const Chart& chart, const ChartLine& line, const ChartPoint& end) {
  return end.x < chart.x_to && std::none_of(line.points.begin(), line.points.end(),
                                            [&](const ChartPoint& p) { return p.x > end.x && std::isfinite(p.y); });
}

// The point of a line farthest to the right inside the axes; nothing where it never is.
std::optional<ChartPoint> end_of(const Chart& chart, const ChartLine& line) {
  std::optional<ChartPoint> end;
  for (const ChartPoint& p : line.points)
    if (p.y >= chart.y_from && p.y <= chart.y_to && p.x >= chart.x_from * 0.999 && p.x <= chart.x_to * 1.001 &&
        (!end || p.x >= end->x))
      end = p;
  return end;
}

void choose_labels(const Canvas& canvas, const Chart& chart, float height, Placed& l) {
  for (const ChartLine& line : chart.lines)
    if (!line.label.empty() && end_of(chart, line)) l.labelled.push_back(&line);
  const auto fit = static_cast<std::size_t>(std::max(1.0f, height / (kLabelPitch * kSmallText * canvas.em())));
  while (l.labelled.size() > fit) {
    auto victim = l.labelled.end() - 1;
    for (auto it = l.labelled.end(); it-- != l.labelled.begin();)
      if (!(*it)->essential) {
        victim = it;
        break;
      }
    l.labelled.erase(victim);
  }
}

Placed lay_out(const Canvas& canvas, const Rect& area, const Theme& theme, const Chart& chart) {
  Placed l;
  const float small = kSmallText * canvas.em(), row = FontStack::kLineHeight * small;
  Rect rest = area;
  if (!chart.note.empty()) {
    l.note = wrap(canvas, chart.note, label_style(canvas, theme.ink3, Weight::regular), rest.w,
                  (rest.h > row * kHighChart ? 4 : 2) + (chart.letters ? 1 : 0));
    l.note_y = rest.cut_bottom(row * static_cast<float>(l.note.size())).y;
    rest.cut_bottom(canvas.px(2));
  }
  l.title_y = rest.cut_top(row).centre().y;
  rest.cut_top(canvas.px(4) + (chart.now ? row : small * 0.3f));
  const Scale x(chart.x_kind, chart.x_from, chart.x_to, 0, 1), y(chart.y_kind, chart.y_from, chart.y_to, 0, 1);
  l.frame.x.title = ellipsize(canvas, chart.x_title, label_style(canvas, {}, Weight::regular), rest.w * 0.7f);
  const Scale numbered(chart.x_even ? ScaleKind::linear : chart.x_kind, chart.x_from, chart.x_to, 0, 1);
  l.frame.x.unit = chart.x_unit, l.frame.y.unit = chart.y_unit;
  l.frame.x.ticks =
      ticks(numbered, {std::clamp(static_cast<int>(area.w / canvas.px(95)), 2, 8), chart.x_labels, true});
  l.frame.y.ticks = ticks(y, {std::clamp(static_cast<int>(rest.h / canvas.px(45)), 2, 6), chart.y_labels, true});
  Rect plot = plot_rect(canvas, rest, l.frame);
  choose_labels(canvas, chart, plot.h, l);
  float widest = 0;
  for (const ChartLine* line : l.labelled) {
    const TextStyle style = label_style(canvas, {}, line->weight);
    const bool brief = !line->brief.empty() && canvas.text_width(line->label, style) > area.w * kWideLabel;
    l.labels.push_back(brief ? line->brief : line->label);
    widest = std::max(widest, canvas.text_width(l.labels.back(), style));
  }
  const float room = std::min(widest, area.w * kWidestLabel);
  for (std::size_t i = 0; i < l.labels.size(); ++i)
    l.labels[i] = ellipsize(canvas, l.labels[i], label_style(canvas, {}, l.labelled[i]->weight), room);
  if (!l.labelled.empty()) plot = rect_between(plot.x, plot.y, rest.right() - room - canvas.px(kFan), plot.bottom());
  // The title ends where the axis does, and has room back to the edge of the figure.
  l.frame.x.title = ellipsize(canvas, l.frame.x.title, label_style(canvas, {}, Weight::regular),
                              plot.right() - area.x - canvas.px(kArrow));
  l.plot = plot;
  l.x = x.with_range(plot.x, plot.right());
  l.y = y.with_range(plot.bottom(), plot.y);
  for (const ChartLine& line : chart.lines) {
    std::vector<Point>& trace = l.traces.emplace_back();
    trace.reserve(line.points.size());
    for (const ChartPoint& p : line.points) trace.push_back(place_of(l, p));
  }
  for (const ChartLine* line : l.labelled) {
    const ChartPoint end = *end_of(chart, *line);
    const Point from = place_of(l, end);
    if (stops_early(chart, *line, end) && from.x < l.plot.right() - canvas.px(3))
      l.stubs.push_back({from, {l.plot.right(), from.y}});
  }
  return l;
}

bool has_room(const Canvas& canvas, const Placed& l) {
  return l.plot.w >= canvas.px(kLeastWidth) && l.plot.h >= canvas.px(kLeastHeight);
}

std::vector<Tint> tints_of(const Theme& theme, const Chart& chart, const Placed& l) {
  std::vector<Tint> out;
  for (const ChartBand& band : chart.bands) {
    Rect r = l.plot;
    if (band.across) {
      const float low = confined(l.y(band.from), l.plot.y, l.plot.bottom()),
                  high = confined(l.y(band.to), l.plot.y, l.plot.bottom());
      r = rect_between(l.plot.x, std::min(low, high), l.plot.right(), std::max(low, high));
    } else {
      const float left = confined(l.x(band.from), l.plot.x, l.plot.right()),
                  right = confined(l.x(band.to), l.plot.x, l.plot.right());
      r = rect_between(left, l.plot.y, right, l.plot.bottom());
    }
    if (!r.empty() && band.tint > 0)
      out.push_back({{{{r.x, r.y}, {r.right(), r.y}, {r.right(), r.bottom()}, {r.x, r.bottom()}}},
                     faded(theme.ink, band.tint)});
  }
  return out;
}

// `text` in lines of at most `room`; none where a word had to be broken or the sentence would not end.
std::vector<std::string> whole_lines(const Canvas& canvas, const std::string& text, const TextStyle& style,
                                     float room) {
  if (room < style.em * 2) return {};
  std::vector<std::string> lines = wrap(canvas, text, style, room, 3);
  std::size_t letters = 0;
  for (const std::string& line : lines) {
    if (line.ends_with("\u2026") || canvas.text_width(line, style) > room + 0.5f) return {};
    letters += line.size() + 1;
  }
  if (letters != text.size() + 1) lines.clear();
  return lines;
}

void draw_band_labels(Canvas& canvas, const Theme& theme, const Chart& chart, const Placed& l,
                      std::vector<Rect>& taken) {
  TextStyle style = small_text(canvas, theme.ink2, HAlign::centre);
  const float row = FontStack::kLineHeight * style.em, gap = canvas.px(6);
  for (const ChartBand& band : chart.bands) {
    if (band.label.empty()) continue;
    Rect best;
    int least = 1 << 20;
    std::vector<std::string> lines;
    const auto consider = [&](const Rect& r, int penalty) {
      if (r.x < l.plot.x || r.right() > l.plot.right() || r.y < l.plot.y || r.bottom() > l.plot.bottom()) return;
      if (std::any_of(taken.begin(), taken.end(), [&](const Rect& t) { return t.intersects(r); })) return;
      if (penalty < least && crossings(l, chart, r) == 0) least = penalty, best = r;
    };
    if (band.across) {
      const float width = canvas.text_width(band.label, style);
      lines = {band.label};
      const float top = confined(std::min(l.y(band.from), l.y(band.to)), l.plot.y, l.plot.bottom());
      const float bottom = confined(std::max(l.y(band.from), l.y(band.to)), l.plot.y, l.plot.bottom());
      if (bottom - top < row + gap) continue;
      for (const float at : {0.5f, 0.3f, 0.7f}) {
        const float left = l.plot.x + (l.plot.w - width) * at;
        consider({left, bottom - row - gap / 2, width, row}, 0);
        consider({left, top + gap / 2, width, row}, 1);
      }
    } else {
      const float left = confined(l.x(band.from), l.plot.x, l.plot.right()),
                  right = confined(l.x(band.to), l.plot.x, l.plot.right());
      // Beside the present value rather than under its line.
      std::vector<std::pair<float, float>> parts{{left, right}};
      if (chart.now)
        if (const float now = l.x(chart.now->x); now > left && now < right)
          parts = {{left, now}, {now, right}, {left, right}};
      for (const bool brief : {false, true}) {
        const std::string& label = brief ? band.brief : band.label;
        if (brief && (label.empty() || least < kWordALine)) continue;
        for (const auto& [from, to] : parts)
          for (const float share : {1.0f, 0.92f, 0.85f, 0.75f, 0.65f}) {  // of the width, in more lines
            const int before = least;
            const std::vector<std::string> words = whole_lines(canvas, label, style, (to - from - 2 * gap) * share);
            if (words.empty() || (share < 1 && words.size() < 2)) continue;
            float width = 0;
            for (const std::string& line : words) width = std::max(width, canvas.text_width(line, style));
            const float height = row * static_cast<float>(words.size());
            // A brief name is better than a word a line.
            const int more = 2 * (static_cast<int>(words.size()) - 1) + (words.size() > 2 ? kWordALine : 0);
            for (const float at : {0.5f, 0.25f, 0.75f, 0.0f, 1.0f}) {
              const float x = from + gap + (to - from - 2 * gap - width) * at;
              const int aside = more + (at == 0.5f ? 0 : 1);
              consider({x, l.plot.bottom() - height - gap / 2, width, height}, aside + (band.on_top ? 2 : 0));
              consider({x, l.plot.y + gap / 2, width, height}, aside + (band.on_top ? 0 : 2));
              for (const float down : {0.1f, 0.15f, 0.25f, 0.5f, 0.75f})
                consider({x, l.plot.y + (l.plot.h - height) * down, width, height}, aside + 3);
            }
            if (least < before) lines = words;
          }
      }
    }
    if (best.empty()) continue;  // rather no name than one on a line
    for (std::size_t i = 0; i < lines.size(); ++i)
      canvas.text({best.centre().x, best.y + row * (static_cast<float>(i) + 0.5f)}, lines[i], style);
    taken.push_back(best);
  }
}

void draw_line(Canvas& canvas, const Chart& chart, const ChartLine& line, std::span<const Point> trace) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < trace.size(); ++i)
    if (std::isfinite(line.points[i].y) && line.points[i].y > 0) points.push_back(trace[i]);
  if (points.size() < 2) return;
  const auto series = canvas.group(line.label.empty() ? (line.tag.empty() ? line.along : line.tag) : line.label);
  if (line.arrow)
    canvas.arrow(points.front(), points.back(), line.stroke, canvas.px(kArrowHead));
  else if (line.stroke.colour.visible())
    canvas.polyline(points, line.stroke);
  if (line.tag.empty() || !line.readout) return;
  const std::size_t step = std::max<std::size_t>(1, line.points.size() / kTagsALine);
  const float reach = canvas.px(5);
  int index = 0;
  for (std::size_t i = 0; i < line.points.size(); i += step, ++index) {
    const ChartPoint& p = line.points[i];
    if (!(p.y >= chart.y_from && p.y <= chart.y_to)) continue;
    canvas.tag_with(line.tag, index, {trace[i].x - reach, trace[i].y - reach, 2 * reach, 2 * reach},
                    [&] { return line.readout(p); });
  }
}

// Where a line crosses the upper edge of the plot after its last point inside; nothing where it does not.
std::optional<Point> exit_of(const Chart& chart, const Placed& l, const ChartLine& line) {
  const ChartPoint end = *end_of(chart, line);
  const auto last =
      std::find_if(line.points.begin(), line.points.end(), [&](const ChartPoint& p) { return p.x == end.x; });
  if (last == line.points.end() || last + 1 == line.points.end() || !(last[1].y > chart.y_to) ||
      !std::isfinite(last[1].y))
    return std::nullopt;
  const Point in = place_of(l, end), out = place_of(l, last[1]);
  return Point{in.x + (out.x - in.x) * (l.plot.y - in.y) / (out.y - in.y), l.plot.y};
}

void draw_ends(Canvas& canvas, const Theme& theme, const Chart& chart, const Placed& l) {
  std::vector<float> wanted;
  std::vector<Point> ends;
  for (const ChartLine* line : l.labelled) {
    const ChartPoint end = *end_of(chart, *line);
    ends.push_back(place_of(l, end));
    wanted.push_back(ends.back().y);
  }
  const float em = kSmallText * canvas.em();
  const std::vector<float> placed =
      spread(wanted, kLabelPitch * em, l.plot.y + em * 0.4f, l.plot.bottom() - em * 0.4f);
  const float start = l.plot.right() + canvas.px(kFan);
  for (std::size_t i = 0; i < l.labelled.size(); ++i) {
    Colour colour = l.labelled[i]->stroke.colour;
    const Stroke leader{faded(colour, 0.8f), theme.axis_width * canvas.em(), {}};
    if (ends[i].x > l.plot.right() - canvas.px(3))
      canvas.polyline({ends[i],
                       {l.plot.right() + canvas.px(5), ends[i].y},
                       {start - canvas.px(8), placed[i]},
                       {start - canvas.px(3), placed[i]}},
                      leader);
    else if (stops_early(chart, *l.labelled[i], *end_of(chart, *l.labelled[i])))
      canvas.polyline({ends[i],
                       {l.plot.right() + canvas.px(5), ends[i].y},
                       {start - canvas.px(8), placed[i]},
                       {start - canvas.px(3), placed[i]}},
                      {colour, leader.width, Dash{canvas.px(1), canvas.px(2)}});
    else if (const auto exit = exit_of(chart, l, *l.labelled[i]))  // along the edge to where the line leaves
      canvas.polyline({*exit,
                       {l.plot.right() + canvas.px(5), l.plot.y},
                       {start - canvas.px(8), placed[i]},
                       {start - canvas.px(3), placed[i]}},
                      {colour, leader.width, Dash{canvas.px(1), canvas.px(2)}});
    else
      canvas.line({l.plot.right() + canvas.px(5), placed[i]}, {start - canvas.px(3), placed[i]}, leader);
    canvas.text({start, placed[i]}, l.labels[i],
                label_style(canvas, readable(colour, theme.panel), l.labelled[i]->weight));
  }
}

void draw_arranged(Canvas& canvas, const Rect& area, const Theme& theme, const Chart& chart, Arranged at) {
  const Placed& l = at.placed;
  if (!has_room(canvas, l)) return;
  const std::vector<Tint> tints = tints_of(theme, chart, l);
  for (const Tint& tint : tints)
    canvas.rect(rect_between(tint.corners[0].x, tint.corners[0].y, tint.corners[2].x, tint.corners[2].y),
                {.colour = tint.colour});
  draw_frame(canvas, theme, l.plot, l.x, l.y, l.frame);
  if (canvas.frames() != nullptr) {
    canvas.frames()->back().title = "\u2191 " + chart.y_title;
    canvas.frames()->back().title_at = {area.x, l.title_y};
  }
  const TextStyle title = small_text(canvas, theme.ink3, HAlign::left);
  canvas.text({area.x, l.title_y}, ellipsize(canvas, "\u2191 " + chart.y_title, title, area.w), title);
  if (chart.now) draw_now(canvas, theme, l.plot, l.x(chart.now->x), chart.now->pill);
  {
    const Canvas::Clip inside = canvas.clip(l.plot);
    for (std::size_t i = chart.lines.size(); i-- > 0;)
      if (!chart.lines[i].named || at.along[i]) draw_line(canvas, chart, chart.lines[i], l.traces[i]);
  }
  draw_ends(canvas, theme, chart, l);
  draw_dots(canvas, theme, chart, l, tints, at.names);
  for (std::size_t i = 0; i < chart.lines.size(); ++i)
    if (at.along[i]) draw_name_along(canvas, theme, l, chart.lines[i], at.along[i]->anchor);
  draw_band_labels(canvas, theme, chart, l, at.taken);
  for (std::size_t i = 0; i < l.note.size(); ++i) {
    TextStyle style = small_text(canvas, theme.ink3, HAlign::left);
    const float row = FontStack::kLineHeight * style.em;
    canvas.text({area.x, l.note_y + row * (static_cast<float>(i) + 0.5f)}, l.note[i], style);
  }
}

}  // namespace

Chart on_held_axes(Chart chart, const FigureInput& input, std::string_view figure) {
  // Of the same figure with another choice the axis is another.
  const std::string name(figure);
  const auto x = kept_range(input.axes, name + ".x " + chart.x_title, {chart.x_from, chart.x_to});
  const auto y = kept_range(input.axes, name + ".y " + chart.y_title, {chart.y_from, chart.y_to});
  chart.x_from = x.from, chart.x_to = x.to;
  chart.y_from = y.from, chart.y_to = y.to;
  return chart;
}

std::pair<double, double> log_range(double low, double high, double least_ratio) {
  low /= kRoomAround, high *= kRoomAround;
  const double missing = least_ratio / (high / low);
  if (missing > 1) low /= std::sqrt(missing), high *= std::sqrt(missing);
  return {low, high};
}

void add_baseline(Chart& chart, const FigureInput& input, ChartPoint at) {
  if (input.baseline == nullptr || !(at.x > 0 && at.y > 0) || !std::isfinite(at.x * at.y)) return;
  const auto reach = [](ScaleKind kind, double value, double& from, double& to) {
    const double room = kind == ScaleKind::linear ? 0 : 0.1;
    from = std::min(from, value * (1 - room)), to = std::max(to, value * (1 + std::max(room, 0.02)));
  };
  if (at.x < chart.x_from || at.x > chart.x_to) reach(chart.x_kind, at.x, chart.x_from, chart.x_to);
  if (at.y < chart.y_from || at.y > chart.y_to) reach(chart.y_kind, at.y, chart.y_from, chart.y_to);
  ChartDot dot;
  dot.at = at;
  dot.text = input.texts.text("figure.step.baseline");
  dot.tag = "baseline";
  dot.readout.title = dot.text;
  dot.readout.rows.emplace_back(chart.x_title, format_significant(at.x));
  dot.readout.rows.emplace_back(chart.y_title, format_significant(at.y));
  dot.colour = input.theme.ink;
  dot.size = 9;
  dot.bold = false;
  dot.hollow = true;
  // Under the plan's own, and before the many that would take the room for its name.
  chart.dots.insert(chart.dots.begin() + (chart.dots.empty() ? 0 : 1), std::move(dot));
}

namespace chart {

Arranged arrange(const Canvas& canvas, const Rect& area, const Theme& theme, const Chart& chart) {
  Arranged at;
  at.placed = lay_out(canvas, area, theme, chart);
  if (!has_room(canvas, at.placed)) return at;
  at.names = place_names(canvas, theme, chart, at.placed, at.taken);
  at.along = place_names_along(canvas, chart, at.placed, at.names, at.taken);
  return at;
}

}  // namespace chart

void draw_line_chart(Canvas& canvas, const Rect& area, const Theme& theme, const Chart& chart) {
  if (!takes_letters(chart)) return draw_arranged(canvas, area, theme, chart, arrange(canvas, area, theme, chart));
  Chart lettered = chart;
  Arranged at = arrange_with_letters(canvas, area, theme, lettered);
  draw_arranged(canvas, area, theme, lettered, std::move(at));
}

}  // namespace roofscape::widgets
