#include "widgets/figures/common/parallel_axes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "widgets/canvas/palette.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/plot/plot.h"

namespace roofscape::widgets {

namespace {

constexpr float kClosest = 50;  // between axes with names and values that can be read
constexpr std::size_t kLeastAxes = 5;
constexpr float kHighLines = 14;    // of text, from which the note may take two
constexpr float kFaintInk = 0.06f;  // of the lines that are neither of the best nor the plan's
constexpr float kNarrow = 62;       // between axes, at scale 1: closer ones drop axes on which nothing differs

// An axis with what occurs on it.
struct Scaled {
  const ParallelAxis* axis = nullptr;
  std::size_t at = 0;          // of a line's values
  std::vector<double> values;  // that occur, ascending; of a continuous one its ends
  double place(double v) const {
    const double low = values.front(), high = values.back();
    if (!(high > low)) return 0.5;
    return axis->logarithmic ? std::log(v / low) / std::log(high / low) : (v - low) / (high - low);
  }
};

std::vector<Scaled> scaled_axes(const ParallelAxes& p) {
  std::vector<Scaled> out;
  for (std::size_t i = 0; i < p.axes.size(); ++i) {
    Scaled d{&p.axes[i], i, {}};
    for (const auto* lines : {&p.faint, &p.bright})
      for (const ParallelLine& l : *lines) d.values.push_back(l.values[i]);
    if (p.present) d.values.push_back(p.present->values[i]);
    if (d.values.empty()) d.values.push_back(1);
    std::sort(d.values.begin(), d.values.end());
    d.values.erase(std::unique(d.values.begin(), d.values.end()), d.values.end());
    if (d.axis->continuous) d.values = {d.values.front(), d.values.back()};
    out.push_back(std::move(d));
  }
  return out;
}

// Of the differences in what lines are coloured by, the share that the choice on this axis accounts for.
double effect_of(const Scaled& d, const Scaled& by, const ParallelAxes& p) {
  struct Group {
    double n = 0, sum = 0;
  };
  std::map<double, Group> groups;
  double n = 0, sum = 0, squares = 0;
  for (const auto* lines : {&p.faint, &p.bright})
    for (const ParallelLine& l : *lines) {
      const double value = by.place(l.values[by.at]);
      Group& g = groups[l.values[d.at]];
      g.n += 1, g.sum += value;
      n += 1, sum += value, squares += value * value;
    }
  const double all = n > 0 ? squares - sum * sum / n : 0;
  if (!(all > 0)) return 0;
  double between = -sum * sum / n;
  for (const auto& [value, g] : groups) between += g.sum * g.sum / g.n;
  return between / all;
}

// What decides most stands next to what it decides.
void order_by_effect(std::vector<Scaled>& axes, const Scaled& by, const ParallelAxes& p) {
  const auto choices =
      std::stable_partition(axes.begin(), axes.end(), [](const Scaled& d) { return !d.axis->continuous; });
  std::vector<std::pair<double, Scaled>> ranked;
  for (auto it = axes.begin(); it != choices; ++it) ranked.emplace_back(effect_of(*it, by, p), *it);
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::transform(ranked.begin(), ranked.end(), axes.begin(), [](const auto& r) { return r.second; });
}

struct PlacedAxes {
  Rect plot;
  std::vector<float> x;  // of the axes
  float y(const Scaled& d, const ParallelLine& l) const {
    return plot.bottom() - static_cast<float>(std::clamp(d.place(l.values[d.at]), 0.0, 1.0)) * plot.h;
  }
  std::vector<Point> points(const std::vector<Scaled>& axes, const ParallelLine& l) const {
    std::vector<Point> out;
    for (std::size_t i = 0; i < axes.size(); ++i) out.push_back({x[i], y(axes[i], l)});
    return out;
  }
};

void draw_names(Canvas& canvas, const FigureInput& input, const std::vector<Scaled>& axes, const PlacedAxes& l,
                const Rect& band, bool two_rows) {
  const float row = band.h / (two_rows ? 2 : 1), step = l.x.size() > 1 ? l.x[1] - l.x[0] : l.plot.w;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    // Names at the ends are moved inside, and end where the next in their row may begin.
    const float each = (two_rows ? 2 : 1) * step - canvas.px(6);
    const float room = std::min({each, l.x[i] - band.x + each / 2, band.right() - l.x[i] + each / 2});
    TextStyle style = small_text(canvas, input.theme.ink2, HAlign::centre);
    const std::string text = ellipsize(canvas, axes[i].axis->name, style, room);
    const float half = canvas.text_width(text, style) / 2;
    const float x = std::clamp(l.x[i], band.x + half, std::max(band.x + half, band.right() - half));
    canvas.text({x, band.y + row * ((two_rows && i % 2 == 1) ? 1.5f : 0.5f)}, text, style);
  }
}

// The ends over and under the axis, the values between beside it; what would touch another is left out.
void draw_values(Canvas& canvas, const FigureInput& input, const Scaled& d, float x, float room,
                 const PlacedAxes& l) {
  const TextStyle style = small_text(canvas, input.theme.ink3, HAlign::left),
                  centred = small_text(canvas, input.theme.ink3, HAlign::centre);
  const float line = style.em * 1.35f, gap = canvas.px(12);
  const auto end = [&](double value, float y) {
    const std::string text = ellipsize(canvas, d.axis->words(value), centred, room - canvas.px(6));
    const float half = canvas.text_width(text, centred) / 2;
    canvas.text({std::max(x, l.plot.x + half), y}, text, centred);
  };
  const double low = d.values.front(), high = d.values.back();
  const bool one = !(high > low);
  end(low, one ? l.plot.centre().y + gap : l.plot.bottom() + gap);
  if (one) return;
  end(high, l.plot.y - gap);
  std::vector<float> taken{l.plot.y - line / 2, l.plot.bottom() + line / 2};
  for (std::size_t i = 1; i + 1 < d.values.size(); ++i) {
    const float y = l.plot.bottom() - static_cast<float>(d.place(d.values[i])) * l.plot.h;
    if (std::any_of(taken.begin(), taken.end(), [&](float other) { return std::abs(other - y) < line; })) continue;
    const std::string text = ellipsize(canvas, d.axis->words(d.values[i]), style, room - canvas.px(16));
    if (text.empty()) continue;
    taken.push_back(y);
    haloed_text(canvas, input.theme, {x + canvas.px(9), y}, text, style);
  }
}

}  // namespace

std::string shade_word(const FigureInput& input) {
  return std::string(input.texts.text(input.theme.dark() ? "figure.parallel-coordinates.brighter"
                                                         : "figure.parallel-coordinates.darker"));
}

void draw_parallel_axes(Canvas& canvas, const Rect& area, const FigureInput& input, const ParallelAxes& p) {
  const Theme& theme = input.theme;
  std::vector<Scaled> axes = scaled_axes(p);
  if (axes.empty()) return;
  const Scaled by = axes[p.colour_axis];
  order_by_effect(axes, by, p);
  const LineShades shades(theme);
  const auto colour_of = [&](const ParallelLine& l) {
    const double place = std::clamp(by.place(l.values[by.at]), 0.0, 1.0);
    return shades(p.low_is_best ? 1 - place : place);
  };
  const auto step_of = [&] { return area.w / static_cast<float>(axes.size()); };
  if (step_of() < canvas.px(kNarrow)) std::erase_if(axes, [](const Scaled& d) { return d.values.size() < 2; });
  // Still too close: the choices of least effect, which stand first, give way.
  std::string left_out;
  while (step_of() < canvas.px(kClosest) && axes.size() > kLeastAxes && !axes.front().axis->continuous) {
    if (!left_out.empty()) left_out += input.texts.text("figure.list_separator");
    left_out += axes.front().axis->name;
    axes.erase(axes.begin());
  }
  if (axes.empty()) return;

  Rect room = area;
  const TextStyle name = small_text(canvas, theme.ink2, HAlign::centre);
  const float row = name.em * 1.45f, step = step_of();
  const bool two_rows = std::any_of(axes.begin(), axes.end(), [&](const Scaled& d) {
    return canvas.text_width(d.axis->name, name) > step - canvas.px(6);
  });
  const Rect names = room.cut_top(row * (two_rows ? 2.0f : 1.0f));
  const bool narrow =
      canvas.text_width(p.note, small_text(canvas, theme.ink3, HAlign::left)) > area.w || !left_out.empty();
  const Rect note = room.cut_bottom(row * (narrow && area.h > row * kHighLines ? 3.2f : 1.2f));
  room.cut_top(row * 1.5f);
  room.cut_bottom(row * 1.5f);
  PlacedAxes l;
  l.plot = room;
  if (room.h < canvas.px(40) || step < canvas.px(16)) return;
  for (std::size_t i = 0; i < axes.size(); ++i) l.x.push_back(room.x + step * (static_cast<float>(i) + 0.4f));
  const float width = theme.data_width * canvas.em();
  draw_names(canvas, input, axes, l, names, two_rows);

  for (const ParallelLine& line : p.faint)
    canvas.polyline(l.points(axes, line),
                    {faded(theme.ink, kFaintInk), std::max(canvas.px(0.8f), width * 0.35f), {}});
  for (std::size_t i = 0; i < axes.size(); ++i)
    canvas.line({l.x[i], room.y}, {l.x[i], room.bottom()}, {theme.axis, theme.axis_width * canvas.em(), {}});
  const auto bold = [&](const ParallelLine& line, Colour colour, float thickness) {
    const std::vector<Point> points = l.points(axes, line);
    canvas.polyline(points, {theme.panel, thickness + canvas.px(2), {}});
    canvas.polyline(points, {colour, thickness, {}});
    for (const Point& at : points) canvas.marker(at, Marker::circle, thickness * 2.4f, {.colour = colour});
  };
  for (const ParallelLine& line : p.bright) bold(line, colour_of(line), width * (line.index == 0 ? 1.3f : 0.8f));
  if (p.present) bold(*p.present, theme.ink, plan_stroke(theme, canvas.em()).width);
  // Over the lines, which meet where the values are; under the one pointed at.
  for (std::size_t i = 0; i < axes.size(); ++i) draw_values(canvas, input, axes[i], l.x[i], step, l);
  if (p.hovered) bold(*p.hovered, theme.ink, width * 1.4f);
  // What can be pointed at: any line on the last two axes, where few meet, and the bright ones everywhere.
  const float size = canvas.px(8);
  const auto tag = [&](const ParallelLine& line, std::size_t first) {
    for (std::size_t i = first; i < axes.size(); ++i) {
      const Point at{l.x[i], l.y(axes[i], line)};
      canvas.tag_with(p.tag, static_cast<int>(line.index), {at.x - size / 2, at.y - size / 2, size, size},
                      [&] { return p.readout(line.index); });
    }
  };
  for (const ParallelLine& line : p.faint) tag(line, axes.size() - std::min<std::size_t>(2, axes.size()));
  if (p.present) tag(*p.present, 0);
  for (const ParallelLine& line : p.bright) tag(line, 0);

  const TextStyle faint = small_text(canvas, theme.ink3, HAlign::left);
  const std::string words =
      left_out.empty() ? p.note : input.texts.format("figure.parallel-coordinates.left_out", {p.note, left_out});
  Rect foot = note;
  for (const std::string& line : wrap(canvas, words, faint, note.w, note.h > row * 2 ? 3 : 1))
    canvas.text({foot.x, foot.cut_top(row).centre().y}, line, faint);
}

}  // namespace roofscape::widgets
