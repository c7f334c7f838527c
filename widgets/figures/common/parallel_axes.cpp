#include "widgets/figures/common/parallel_axes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
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
constexpr float kColumn = 460;      // at scale 1: a narrower figure rather has fewer axes than cut words
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
  const std::size_t rows = two_rows ? 2 : 1;
  const float row = band.h / static_cast<float>(rows), gap = canvas.px(6);
  const TextStyle style = small_text(canvas, input.theme.ink2, HAlign::centre);
  std::vector<float> half, x;
  for (const Scaled& d : axes) half.push_back(canvas.text_width(d.axis->name, style) / 2);
  // Names at the ends are moved inside.
  for (std::size_t i = 0; i < axes.size(); ++i)
    x.push_back(confined(l.x[i], std::min(band.x + half[i], band.centre().x),
                         std::max(band.right() - half[i], band.centre().x)));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    // To where the neighbours in its row end, or half way where they are too long as well.
    float room = std::min(x[i] - band.x, band.right() - x[i]);
    const auto towards = [&](std::size_t other) {
      const float between = std::abs(x[i] - x[other]) - gap;
      room = std::min(room, std::max(between - half[other], between / 2));
    };
    if (i >= rows) towards(i - rows);
    if (i + rows < axes.size()) towards(i + rows);
    canvas.text({x[i], band.y + row * ((two_rows && i % 2 == 1) ? 1.5f : 0.5f)},
                ellipsize(canvas, axes[i].axis->name, style, 2 * room + 1), style);
  }
}

// Values of an axis that stand between its ends, and how wide the widest is.
float widest_word(const Canvas& canvas, const Scaled& d) {
  const TextStyle style = small_text(canvas, {}, HAlign::left);
  float widest = 0;
  if (!d.axis->continuous)
    for (std::size_t i = 1; i + 1 < d.values.size(); ++i)
      widest = std::max(widest, canvas.text_width(d.axis->words(d.values[i]), style));
  return widest;
}

// Whether one of these lines passes a place.
bool under(std::span<const std::vector<Point>> lines, const Rect& box) {
  constexpr int kSteps = 24;
  for (const std::vector<Point>& line : lines)
    for (std::size_t i = 1; i < line.size(); ++i) {
      if (line[i].x < box.x || line[i - 1].x > box.right()) continue;
      for (int k = 0; k <= kSteps; ++k)
        if (box.contains(line[i - 1] + (line[i] - line[i - 1]) * (static_cast<float>(k) / kSteps))) return true;
    }
  return false;
}

// The ends over and under the axis, the values between beside it, where none of the bold lines passes if there is such a
// side; what would touch another is left out.
void draw_values(Canvas& canvas, const FigureInput& input, const Scaled& d, float x, float before, float after,
                 bool words, std::span<const std::vector<Point>> bold, std::vector<Rect>& texts,
                 const PlacedAxes& l) {
  const TextStyle style = small_text(canvas, input.theme.ink3, HAlign::left),
                  centred = small_text(canvas, input.theme.ink3, HAlign::centre);
  const float line = style.em * 1.35f, gap = canvas.px(12), off = canvas.px(9);
  const auto end = [&](double value, float y) {
    const float room = words ? after - canvas.px(24) : std::min(before, after) - canvas.px(6);
    const std::string text = ellipsize(canvas, d.axis->words(value), centred, room);
    const float half = canvas.text_width(text, centred) / 2;
    // Words as wide as the room between axes begin at theirs.
    const float at = std::max(words ? x + half - canvas.px(4) : x, l.plot.x + half);
    canvas.text({at, y}, text, centred);
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
    const std::string text = ellipsize(canvas, d.axis->words(d.values[i]), style, after - canvas.px(16));
    if (text.empty()) continue;
    taken.push_back(y);
    const float width = canvas.text_width(text, style), high_half = style.em * 0.4f;
    const Rect right{x + off, y - high_half, width, 2 * high_half},
        left{x - off - width, y - high_half, width, 2 * high_half};
    const auto clear = [&](const Rect& r) {
      return std::none_of(texts.begin(), texts.end(), [&](const Rect& t) { return t.intersects(r); });
    };
    const bool turned =
        left.x > l.plot.x && clear(left.inset(-style.em * 0.4f)) && under(bold, right) && !under(bold, left);
    if (!turned && !clear(right)) continue;
    texts.push_back((turned ? left : right).inset(-style.em * 0.3f));
    haloed_text(canvas, input.theme, {turned ? left.x : right.x, y}, text, style);
  }
}

// Words between the ends of an axis have the room that they take; the other axes share the rest, which is returned. No
// steps and 0 where that is less than what stands at their ends.
float shares(const Canvas& canvas, const std::vector<Scaled>& axes, float width, std::vector<float>& steps) {
  const TextStyle style = small_text(canvas, {}, HAlign::left);
  const float even = width / static_cast<float>(axes.size());
  float wanted = 0, ends = canvas.px(kClosest * 0.8f);
  std::size_t sharing = 0;
  steps.clear();
  for (const Scaled& d : axes) {
    const float wide = widest_word(canvas, d) + canvas.px(20);
    steps.push_back(wide > even ? wide : 0);
    wanted += steps.back();
    if (wide > even) continue;
    ++sharing;
    for (const double end : {d.values.front(), d.values.back()})
      ends = std::max(ends, canvas.text_width(d.axis->words(end), style) + canvas.px(6));
  }
  const float share = sharing > 0 ? (width - wanted) / static_cast<float>(sharing) : 0;
  if (share < ends) {
    steps.clear();
    return 0;
  }
  for (float& s : steps) s = s > 0 ? s : share;
  return share;
}

bool narrow_at(const Canvas& canvas, const Rect& area) { return area.w < canvas.px(kColumn); }

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
  const auto crowded = [&] {
    std::vector<float> steps;
    return step_of() < canvas.px(kClosest) || (narrow_at(canvas, area) && shares(canvas, axes, area.w, steps) == 0);
  };
  std::string left_out;
  while (crowded() && axes.size() > kLeastAxes && !axes.front().axis->continuous) {
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
  std::vector<float> steps;
  const float share = shares(canvas, axes, area.w, steps);
  const bool equal = steps.empty();
  if (equal) steps.assign(axes.size(), step);
  float begins = room.x;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    l.x.push_back(begins + (equal ? step : std::min(step, share)) * 0.4f);
    begins += steps[i];
  }
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
  std::vector<std::vector<Point>> over;
  std::vector<Rect> texts;
  for (const ParallelLine& line : p.bright) over.push_back(l.points(axes, line));
  if (p.present) over.push_back(l.points(axes, *p.present));
  for (std::size_t i = 0; i < axes.size(); ++i)
    draw_values(canvas, input, axes[i], l.x[i], i > 0 ? std::min(step, steps[i - 1]) : steps[i], steps[i],
                steps[i] > step, over, texts, l);
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
