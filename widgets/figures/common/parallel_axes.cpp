#include "widgets/figures/common/parallel_axes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <utility>

#include "widgets/canvas/number_format.h"
#include "widgets/canvas/palette.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/figures/common/parallel_axes_parts.h"
#include "widgets/plot/plot.h"

namespace roofscape::widgets {

namespace {

using parallel::Scaled;

constexpr float kClosest = 50;  // between axes with names and values that can be read
constexpr std::size_t kLeastAxes = 5;
constexpr float kTwoNoteLines = 11;  // of text: from there the note may take two
constexpr float kFirst = 0.3f;       // of an axis' room that is left of it
constexpr float kNarrow = 62;        // between axes, at scale 1: closer ones drop axes on which nothing differs

struct PlacedAxes {
  Rect plot;
  std::vector<float> x;  // of the axes
  float y(const Scaled& d, const ParallelLine& l) const {
    return plot.bottom() - static_cast<float>(d.place_of(l)) * plot.h;
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
    for (const auto& [ends, n] : pieces)
      canvas.line({l.x[i], ends.first}, {l.x[i + 1], ends.second},
                  {faded(theme.ink, parallel::faint_ink(n, pieces.size())), width, {}});
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

// Whether one of these lines, which run to the right, passes a place.
bool under(std::span<const std::vector<Point>> lines, const Rect& box) {
  for (const std::vector<Point>& line : lines)
    for (std::size_t i = 1; i < line.size(); ++i) {
      const Point a = line[i - 1], b = line[i];
      const float from = std::max(a.x, box.x), to = std::min(b.x, box.right());
      if (from > to || !(b.x > a.x)) continue;
      const float slope = (b.y - a.y) / (b.x - a.x), p = a.y + slope * (from - a.x), q = a.y + slope * (to - a.x);
      if (std::max(p, q) >= box.y && std::min(p, q) <= box.bottom()) return true;
    }
  return false;
}

// The ends of an axis, over and under it.
void draw_ends(Canvas& canvas, const FigureInput& input, const Scaled& d, float x, float before, float after,
               bool words, std::span<const std::vector<Point>> bold, std::vector<Rect>& texts, const PlacedAxes& l) {
  const TextStyle centred = small_text(canvas, input.theme.ink3, HAlign::centre);
  const float gap = canvas.px(12);
  const auto end = [&](double value, float y, bool inside) {
    const float room = words ? after - canvas.px(24) : std::min(before, after) - canvas.px(6);
    const std::string text = ellipsize(canvas, d.axis->words(value), centred, room);
    const float half = canvas.text_width(text, centred) / 2;
    // Words as wide as the room between axes begin at theirs.
    const float at = std::max(words ? x + half - canvas.px(4) : x, l.plot.x + half);
    Rect box{at - half, y - centred.em * 0.5f, 2 * half, centred.em};
    // One that all share is under the middle, where lines meet from both sides: as near as it is clear of them.
    const float middle = l.plot.centre().y;
    for (int k = 2; inside && k < 12 && under(bold, box.inset(-canvas.px(2))); ++k)
      box.y = middle + (k % 2 == 0 ? 1.0f : -1.0f) * gap * static_cast<float>(k / 2) - box.h / 2;
    if (inside)
      haloed_text(canvas, input.theme, {at, box.centre().y}, text, centred);
    else
      canvas.text({at, y}, text, centred);
    texts.push_back(box);
  };
  const double low = d.values.front(), high = d.values.back();
  const bool one = !(high > low);
  end(low, one ? l.plot.centre().y + gap : l.plot.bottom() + gap, one);
  if (!one) end(high, l.plot.y - gap, false);
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
                                 ? parallel::round_words(d.axis->words(level))
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
          if (!clear(r.inset(at < x ? -style.em * 0.4f : 0)) || (avoid && under(bold, r.inset(-canvas.px(1)))))
            continue;
          place = r;
        }
      // Round values are given up rather than crossed; a choice keeps its name.
      if (place || d.axis->continuous) break;
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

bool narrow_at(const Canvas& canvas, const Rect& area) { return area.w < canvas.px(kJournalColumn); }

}  // namespace

float parallel_axes_height(const Canvas& canvas, float width, const FigureInput& input, const ParallelAxes& p) {
  return narrow_at(canvas, {0, 0, width, 0}) ? parallel::rows_height(canvas, width, input, p) : 0;
}

std::string lines_note(const FigureInput& input, const ParallelAxes& lines, std::string_view best,
                       std::string others) {
  const TextTable& t = input.texts;
  std::string out;
  const auto add = [&](std::string_view clause) {
    if (!out.empty()) out += t.text("figure.clause_separator");
    out += clause;
  };
  if (!lines.bright.empty())
    add(t.format(best, {format_count(static_cast<double>(lines.bright.size())),
                        std::string(t.text(input.theme.dark() ? "figure.parallel-coordinates.brighter"
                                                              : "figure.parallel-coordinates.darker"))}));
  if (lines.present) add(t.text("figure.parallel-coordinates.note.now"));
  if (!lines.faint.empty()) add(others);
  return out.empty() ? out : t.format("figure.parallel-coordinates.note", {out});
}

void draw_parallel_axes(Canvas& canvas, const Rect& area, const FigureInput& input, const ParallelAxes& p) {
  const Theme& theme = input.theme;
  std::vector<Scaled> axes = parallel::ordered_axes(p);
  if (axes.empty()) return;
  if (narrow_at(canvas, area) && parallel::draw_rows(canvas, area, input, p, axes)) return;
  const parallel::BestShades colour_of(theme, p, axes);
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
  const Rect note = room.cut_bottom(row * (narrow && area.h > row * kTwoNoteLines ? 3.2f : 1.2f));
  room.cut_top(row * 1.5f);
  room.cut_bottom(row * 1.5f);
  l.plot = room;
  if (room.h < canvas.px(40) || step < canvas.px(16)) return;
  const float width = theme.data_width * canvas.em();
  draw_names(canvas, input, axes, l, names, two_rows);

  draw_faint(canvas, theme, axes, l, p.faint, parallel::faint_width(canvas, theme));
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
  for (const ParallelLine& line : p.bright) bold(line, colour_of(line), parallel::bold_width(canvas, theme, line));
  if (p.present) bold(*p.present, theme.ink, plan_stroke(theme, canvas.em()).width);
  // Over the lines, which meet where the values are; under the one pointed at.
  std::vector<std::vector<Point>> over;
  std::vector<Rect> texts;
  const auto before = [&](std::size_t i) { return i > 0 ? std::min(step, steps[i - 1]) : steps[i]; };
  for (const ParallelLine& line : p.bright) over.push_back(l.points(axes, line));
  if (p.present) over.push_back(l.points(axes, *p.present));
  {
    const auto levels = canvas.group("levels");
    for (std::size_t i = 0; i < axes.size(); ++i)
      draw_ends(canvas, input, axes[i], l.x[i], before(i), steps[i], steps[i] > step, over, texts, l);
    draw_line_ends(canvas, input, l, axes.back(), p, p.bright.empty() ? theme.ink : colour_of(p.bright.back()),
                   texts);
    for (std::size_t i = 0; i < axes.size(); ++i)
      draw_levels(canvas, input, axes[i], l.x[i], before(i), steps[i], over, texts, l);
  }
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
