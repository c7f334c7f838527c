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
constexpr float kHighLines = 14;  // of text, from which the note may take two
// Of ink, the pieces of lines that are neither of the best nor the plan's: one drawn for all that share it, a little
// stronger the more they are, and never so strong as to look like one of the best.
constexpr float kFaintInk = 0.05f, kFaintMost = 0.2f;
constexpr float kCrowd = 100;          // pieces between two axes, of more each is fainter
constexpr float kFirst = 0.3f;         // of an axis' room that is left of it
constexpr double kLeastBright = 0.45;  // of the shades, the last of the best
constexpr float kColumn = 460;         // at scale 1: a narrower figure rather has fewer axes than cut words
constexpr float kNarrow = 62;          // between axes, at scale 1: closer ones drop axes on which nothing differs

// An axis with what occurs on it.
struct Scaled {
  const ParallelAxis* axis = nullptr;
  std::size_t at = 0;          // of a line's values
  std::vector<double> values;  // that occur, ascending; of a continuous one its ends
  // What is marked between the ends.
  std::vector<double> levels() const {
    if (values.size() < 2) return {};
    if (!axis->continuous) return {values.begin() + 1, values.end() - 1};
    std::vector<double> out;
    const double low = values.front(), high = values.back();
    const double unit = std::pow(10, std::floor(std::log10(axis->logarithmic ? low : high)));
    if (!(low > 0) && axis->logarithmic) return {};
    if (axis->logarithmic) {
      for (double decade = unit; decade < high; decade *= 10)
        for (const double step : {1.0, 2.0, 5.0}) out.push_back(step * decade);
    } else {
      const double step = (high / unit >= 5 ? 2 : high / unit >= 2 ? 1 : 0.5) * unit;
      for (double v = step; v < high; v += step) out.push_back(v);
    }
    std::erase_if(out, [&](double v) { return v <= low || v >= high; });
    return out;
  }
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

// Many lines share a piece between two axes of few values: drawn one over the other they would be as dark as the best.
void draw_faint(Canvas& canvas, const Theme& theme, const std::vector<Scaled>& axes, const PlacedAxes& l,
                const std::vector<ParallelLine>& lines, float width) {
  const auto group = canvas.group("others");
  for (std::size_t i = 0; i + 1 < axes.size(); ++i) {
    std::map<std::pair<float, float>, int> pieces;
    for (const ParallelLine& line : lines) ++pieces[{l.y(axes[i], line), l.y(axes[i + 1], line)}];
    const float crowd = std::clamp(std::sqrt(kCrowd / static_cast<float>(pieces.size() + 1)), 0.5f, 1.0f);
    for (const auto& [ends, n] : pieces) {
      const float ink = std::min(kFaintMost, crowd * kFaintInk * (1 + std::log2(static_cast<float>(n)) / 2));
      canvas.line({l.x[i], ends.first}, {l.x[i + 1], ends.second}, {faded(theme.ink, ink), width, {}});
    }
  }
}

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

// "20 GB" of "20.0 GB": of round values.
std::string round_words(std::string words) {
  const std::size_t point = words.find('.');
  if (point == std::string::npos) return words;
  std::size_t end = point + 1;
  while (end < words.size() && words[end] >= '0' && words[end] <= '9') ++end;
  std::size_t keep = end;
  while (keep > point && (words[keep - 1] == '0' || words[keep - 1] == '.')) --keep;
  return words.erase(keep, end - keep);
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

// The ends of an axis, over and under it.
void draw_ends(Canvas& canvas, const FigureInput& input, const Scaled& d, float x, float before, float after,
               bool words, std::vector<Rect>& texts, const PlacedAxes& l) {
  const TextStyle centred = small_text(canvas, input.theme.ink3, HAlign::centre);
  const float gap = canvas.px(12);
  const auto end = [&](double value, float y) {
    const float room = words ? after - canvas.px(24) : std::min(before, after) - canvas.px(6);
    const std::string text = ellipsize(canvas, d.axis->words(value), centred, room);
    const float half = canvas.text_width(text, centred) / 2;
    // Words as wide as the room between axes begin at theirs.
    const float at = std::max(words ? x + half - canvas.px(4) : x, l.plot.x + half);
    canvas.text({at, y}, text, centred);
    texts.push_back({at - half, y - centred.em * 0.5f, 2 * half, centred.em});
  };
  const double low = d.values.front(), high = d.values.back();
  const bool one = !(high > low);
  end(low, one ? l.plot.centre().y + gap : l.plot.bottom() + gap);
  if (!one) end(high, l.plot.y - gap);
}

// The values between, beside the axis, where none of the bold lines passes if there is such a side; what would touch
// another is left out.
void draw_levels(Canvas& canvas, const FigureInput& input, const Scaled& d, float x, float before, float after,
                 std::span<const std::vector<Point>> bold, std::vector<Rect>& texts, const PlacedAxes& l) {
  const TextStyle style = small_text(canvas, input.theme.ink3, HAlign::left);
  const float line = style.em * 1.35f, gap = canvas.px(12), off = canvas.px(9);
  std::vector<float> taken{l.plot.y - line / 2, l.plot.bottom() + line / 2};
  for (const double level : d.levels()) {
    const float y = l.plot.bottom() - static_cast<float>(d.place(level)) * l.plot.h;
    if (std::any_of(taken.begin(), taken.end(), [&](float other) { return std::abs(other - y) < line; })) continue;
    const std::string text = d.axis->continuous
                                 ? round_words(d.axis->words(level))
                                 : ellipsize(canvas, d.axis->words(level), style, after - canvas.px(16));
    if (text.empty()) continue;
    const float width = canvas.text_width(text, style), high_half = style.em * 0.4f;
    const auto clear = [&](const Rect& r) {
      return std::none_of(texts.begin(), texts.end(), [&](const Rect& t) { return t.intersects(r); });
    };
    // Beside its level, on the right if it can be; else a little over or under it.
    std::optional<Rect> place;
    for (const bool avoid : {true, false}) {
      for (const float shift : {0.0f, -0.5f, 0.5f})
        for (const float at : {x + off, x - off - width}) {
          const Rect r{at, y - high_half + shift * line, width, 2 * high_half};
          if (place || (at < x && r.x <= l.plot.x) || r.y < l.plot.y || r.bottom() > l.plot.bottom()) continue;
          if (r.right() > std::min(l.plot.right(), x + after - gap / 2) || r.x < x - before + gap / 2) continue;
          if (!clear(r.inset(at < x ? -style.em * 0.4f : 0)) || (avoid && under(bold, r))) continue;
          place = r;
        }
      if (place) break;
    }
    if (!place) continue;
    taken.push_back(y);
    texts.push_back(place->inset(-style.em * 0.3f));
    haloed_text(canvas, input.theme, {place->x, place->centre().y}, text, style);
  }
}

// The best and the present plan by their names where their lines end.
void draw_line_ends(Canvas& canvas, const FigureInput& input, const PlacedAxes& l, const Scaled& last,
                    const ParallelAxes& p, Colour best, std::vector<Rect>& texts) {
  struct End {
    float y = 0;
    std::string text;
    TextStyle style;
  };
  std::vector<End> ends;
  if (!p.bright.empty())
    ends.push_back({l.y(last, p.bright.back()), std::string(input.texts.text("figure.parallel-coordinates.best")),
                    small_text(canvas, best, HAlign::left, Weight::bold)});
  if (p.present)
    ends.push_back({l.y(last, *p.present), std::string(input.texts.text("figure.frontier.now")),
                    small_text(canvas, input.theme.ink, HAlign::left, Weight::bold)});
  if (ends.empty()) return;
  std::sort(ends.begin(), ends.end(), [](const End& a, const End& b) { return a.y < b.y; });
  const float line = ends.front().style.em * 1.35f, x = l.x.back() + canvas.px(9);
  // Apart from one another and from what stands over and under the axis.
  const float top = l.plot.y + line * 0.3f, low = l.plot.bottom() - line * 0.3f;
  const auto apart = static_cast<float>(ends.size() - 1) * line;
  if (ends.size() == 2)
    if (const float lacks = line - (ends[1].y - ends[0].y); lacks > 0) ends[0].y -= lacks / 2, ends[1].y += lacks / 2;
  ends.front().y = confined(ends.front().y, top, low - apart);
  ends.back().y = std::clamp(ends.back().y, std::min(low, top + apart), low);
  for (const End& e : ends) {
    const Rect box{x, e.y - line / 2, canvas.text_width(e.text, e.style), line};
    if (box.right() > l.plot.right()) continue;
    haloed_text(canvas, input.theme, {x, e.y}, e.text, e.style);
    texts.push_back(box.inset(-e.style.em * 0.3f, 0));
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
  // The shades run over the best alone: on the scale of all plans they would be one.
  double lowest = 1, highest = 0;
  for (const ParallelLine& line : p.bright)
    lowest = std::min(lowest, by.place(line.values[by.at])),
    highest = std::max(highest, by.place(line.values[by.at]));
  const auto colour_of = [&](const ParallelLine& l) {
    const double place = highest > lowest ? (by.place(l.values[by.at]) - lowest) / (highest - lowest)
                         : p.low_is_best  ? 0
                                          : 1;
    return shades(kLeastBright + (1 - kLeastBright) * (p.low_is_best ? 1 - place : place));
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
  PlacedAxes l;
  std::vector<float> steps;
  const float share = shares(canvas, axes, area.w, steps);
  const bool equal = steps.empty();
  if (equal) steps.assign(axes.size(), step);
  float begins = room.x;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    l.x.push_back(begins + (equal ? step : std::min(step, share)) * kFirst);
    begins += steps[i];
  }
  bool two_rows = false;
  for (std::size_t i = 1; i < axes.size(); ++i) {
    const float half = canvas.text_width(axes[i - 1].axis->name, name) / 2,
                next = canvas.text_width(axes[i].axis->name, name) / 2;
    two_rows = two_rows || std::max(l.x[i - 1], area.x + half) + half + canvas.px(6) > l.x[i] - next;
  }
  const Rect names = room.cut_top(row * (two_rows ? 2.0f : 1.0f));
  const bool narrow =
      canvas.text_width(p.note, small_text(canvas, theme.ink3, HAlign::left)) > area.w || !left_out.empty();
  const Rect note = room.cut_bottom(row * (narrow && area.h > row * kHighLines ? 3.2f : 1.2f));
  room.cut_top(row * 1.5f);
  room.cut_bottom(row * 1.5f);
  l.plot = room;
  if (room.h < canvas.px(40) || step < canvas.px(16)) return;
  const float width = theme.data_width * canvas.em();
  draw_names(canvas, input, axes, l, names, two_rows);

  draw_faint(canvas, theme, axes, l, p.faint, std::max(canvas.px(0.8f), width * 0.35f));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const Stroke stroke{theme.axis, theme.axis_width * canvas.em(), {}};
    canvas.line({l.x[i], room.y}, {l.x[i], room.bottom()}, stroke);
    // Levels without room for their words still have their place.
    for (const double v : axes[i].levels()) {
      const float y = room.bottom() - static_cast<float>(axes[i].place(v)) * room.h;
      canvas.line({l.x[i] - canvas.px(2.5f), y}, {l.x[i] + canvas.px(2.5f), y}, stroke);
    }
  }
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
  const auto before = [&](std::size_t i) { return i > 0 ? std::min(step, steps[i - 1]) : steps[i]; };
  for (std::size_t i = 0; i < axes.size(); ++i)
    draw_ends(canvas, input, axes[i], l.x[i], before(i), steps[i], steps[i] > step, texts, l);
  draw_line_ends(canvas, input, l, axes.back(), p, p.bright.empty() ? theme.ink : colour_of(p.bright.back()), texts);
  for (const ParallelLine& line : p.bright) over.push_back(l.points(axes, line));
  if (p.present) over.push_back(l.points(axes, *p.present));
  for (std::size_t i = 0; i < axes.size(); ++i)
    draw_levels(canvas, input, axes[i], l.x[i], before(i), steps[i], over, texts, l);
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
