// Parallel axes as rows, for columns of text: every axis is drawn with its name at the left, and what a line has on it
// can be read from the values under it. Lines end over a value and begin again under it, so that none crosses a word.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "widgets/figures/common/parallel_axes_parts.h"
#include "widgets/plot/plot.h"

namespace roofscape::widgets::parallel {

namespace {

// At scale 1.
constexpr float kUnderAxis = 6;    // to the capitals of the values under it
constexpr float kUnderValues = 4;  // and from there to where lines begin again
constexpr float kSlope = 24;       // from one axis' values to the next axis
constexpr float kLeastSlope = 18;
constexpr float kTickGap = 3;          // between ticks, of many values those that have it
constexpr float kMostSlope = 40;       // at most: rows further apart are not read as neighbours
constexpr float kNameGap = 10;         // between names and axes
constexpr float kWordGap = 5;          // between values
constexpr float kEndRoom = 13;         // at the ends of axes, for half of the values there
constexpr float kMostName = 90;        // a wider name takes two lines
constexpr float kCapitals = 0.72f;     // em: height of digits
constexpr std::size_t kMostLines = 3;  // of values under an axis

struct ValueLabel {
  std::string text;
  TextStyle style;
  float centre = 0, half = 0;
  std::size_t line = 0;
};

struct AxisRow {
  const Scaled* axis = nullptr;
  std::vector<std::string> name;
  std::vector<ValueLabel> labels = {};
  std::size_t lines = 1;  // of labels
  float y = 0, values_end = 0;
};

struct RowsLayout {
  std::vector<AxisRow> rows;
  float from = 0, to = 0;  // of the axes on x
  std::vector<std::string> note;
  float pitch = 0;  // of lines of text
  float foot = 0;   // with the names of lines, and the note
  float x(const Scaled& d, const ParallelLine& l) const { return x_at(d.place_of(l)); }
  float x_at(double place) const { return from + static_cast<float>(place) * (to - from); }
};

float band_height(const Canvas& canvas, const AxisRow& row, float pitch) {
  return canvas.px(kUnderAxis + kUnderValues) + kCapitals * kSmallText * canvas.em() +
         static_cast<float>(row.lines - 1) * pitch;
}

// Puts values under an axis, those that matter first; one that would touch another is left out.
class ValuesPlacer {
 public:
  ValuesPlacer(const Canvas& canvas, AxisRow& row, const RowsLayout& l, const Rect& area, float left)
      : canvas_(canvas), row_(row), l_(l), left_(left), right_(area.right()) {}
  void put(double value, std::string text, const TextStyle& style, std::size_t most_lines) {
    ValueLabel label{std::move(text), style};
    label.half = canvas_.text_width(label.text, style) / 2;
    label.centre =
        confined(l_.x_at(std::clamp(row_.axis->place(value), 0.0, 1.0)), left_ + label.half, right_ - label.half);
    for (; label.line < most_lines; ++label.line) {
      const bool free = std::none_of(row_.labels.begin(), row_.labels.end(), [&](const ValueLabel& other) {
        return other.line == label.line &&
               std::abs(other.centre - label.centre) < other.half + label.half + canvas_.px(kWordGap);
      });
      // The same words at the same place stand there already.
      const bool said = std::any_of(row_.labels.begin(), row_.labels.end(), [&](const ValueLabel& other) {
        return other.text == label.text && std::abs(other.centre - label.centre) < other.half;
      });
      if (said) return;
      if (!free) continue;
      row_.lines = std::max(row_.lines, label.line + 1);
      row_.labels.push_back(std::move(label));
      return;
    }
  }

 private:
  const Canvas& canvas_;
  AxisRow& row_;
  const RowsLayout& l_;
  float left_, right_;
};

void put_values(const Canvas& canvas, const Theme& theme, const ParallelAxes& p, const BestShades& colour_of,
                ValuesPlacer& to, const Scaled& d) {
  const TextStyle plain = small_text(canvas, theme.ink3, HAlign::centre);
  const bool words = !d.axis->continuous && !d.axis->logarithmic;
  const std::size_t most = words ? kMostLines : 1;
  const auto put = [&](double v, const TextStyle& style, std::size_t lines) {
    to.put(v, d.axis->words(v), style, lines);
  };
  if (p.present)
    put(p.present->values[d.at], small_text(canvas, theme.ink, HAlign::centre, Weight::bold), kMostLines);
  if (!p.bright.empty())
    put(p.bright.back().values[d.at], small_text(canvas, colour_of(p.bright.back()), HAlign::centre, Weight::bold),
        kMostLines);
  put(d.values.front(), plain, most);
  put(d.values.back(), plain, most);
  if (d.axis->continuous) {
    for (const double v : d.levels()) to.put(v, round_words(d.axis->words(v)), plain, 1);
    return;
  }
  for (const ParallelLine& l : p.bright) put(l.values[d.at], plain, most);
  // Where not all have room, those at even distances.
  std::size_t stride = 1;
  while (stride < d.values.size()) stride *= 2;
  for (; stride > 0; stride /= 2)
    for (std::size_t i = 0; i < d.values.size(); i += stride) put(d.values[i], plain, most);
}

// On one line, or on two as even as they can be.
std::vector<std::string> name_lines(const Canvas& canvas, std::string_view text, const TextStyle& style) {
  float width = canvas.px(kMostName);
  std::vector<std::string> lines = wrap(canvas, text, style, width, 2);
  if (lines.size() < 2) return lines;
  for (;;) {
    width -= canvas.px(2);
    std::vector<std::string> next = wrap(canvas, text, style, width, 3);
    if (next.size() > 2) return lines;
    for (const std::string& line : next)
      if (canvas.text_width(line, style) > width || line.ends_with('/')) return lines;
    lines = std::move(next);
  }
}

RowsLayout layout_of(const Canvas& canvas, const Rect& area, const FigureInput& input, const ParallelAxes& p,
                     const std::vector<Scaled>& axes) {
  RowsLayout l;
  const TextStyle name = small_text(canvas, input.theme.ink2, HAlign::left);
  l.pitch = name.em * kLabelPitch;
  float names = 0;
  for (const Scaled& d : axes) {
    AxisRow row{&d, name_lines(canvas, d.axis->name, name)};
    for (const std::string& line : row.name) names = std::max(names, canvas.text_width(line, name));
    l.rows.push_back(std::move(row));
  }
  const float left = area.x + names + canvas.px(kNameGap);
  l.from = left + canvas.px(kEndRoom), l.to = area.right() - canvas.px(kEndRoom);
  const BestShades colour_of(input.theme, p, axes);
  for (AxisRow& row : l.rows) {
    ValuesPlacer placer(canvas, row, l, area, left);
    put_values(canvas, input.theme, p, colour_of, placer, *row.axis);
  }
  l.note = wrap(canvas, p.note, name, area.w, 6);
  l.foot = l.pitch * (1 + static_cast<float>(l.note.size())) + canvas.px(kUnderAxis);
  return l;
}

// Without what lies between one row and the next.
float rows_alone(const Canvas& canvas, const RowsLayout& l) {
  float out = canvas.px(kUnderAxis) + l.foot;
  for (const AxisRow& row : l.rows) out += band_height(canvas, row, l.pitch);
  return out;
}

// Where a line stands under an axis and no value is in its way: from and to on y, from the axis down.
std::vector<std::pair<float, float>> clear_runs(const Canvas& canvas, const AxisRow& row, float pitch, float x) {
  std::vector<std::pair<float, float>> words;
  for (const ValueLabel& label : row.labels)
    if (std::abs(label.centre - x) < label.half + canvas.px(3)) {
      const float top = row.y + canvas.px(kUnderAxis) + static_cast<float>(label.line) * pitch;
      words.emplace_back(top - canvas.px(kUnderValues), top + kCapitals * label.style.em + canvas.px(kUnderValues));
    }
  std::sort(words.begin(), words.end());
  std::vector<std::pair<float, float>> out{{row.y, row.values_end}};
  for (const auto& [from, to] : words) {
    const float end = out.back().second;
    out.back().second = from;
    out.emplace_back(to, end);
  }
  return out;
}

// A line in the pieces that no word is on.
std::vector<std::vector<Point>> pieces_of(const Canvas& canvas, const RowsLayout& l, const ParallelLine& line) {
  std::vector<std::vector<Point>> out{{}};
  for (const AxisRow& row : l.rows) {
    const float x = l.x(*row.axis, line);
    out.back().push_back({x, row.y});
    if (&row == &l.rows.back()) break;
    const auto runs = clear_runs(canvas, row, l.pitch, x);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (i > 0) out.push_back({{x, runs[i].first}});
      if (runs[i].second > runs[i].first) out.back().push_back({x, runs[i].second});
    }
  }
  return out;
}

// Between the axes alone: among the values so many would be a grey ground.
void draw_others(Canvas& canvas, const Theme& theme, const RowsLayout& l, const std::vector<ParallelLine>& lines) {
  const auto group = canvas.group("others");
  const float width = faint_width(canvas, theme);
  for (std::size_t i = 0; i + 1 < l.rows.size(); ++i) {
    const AxisRow &row = l.rows[i], &next = l.rows[i + 1];
    std::map<std::pair<float, float>, int> slopes;
    for (const ParallelLine& line : lines) ++slopes[{l.x(*row.axis, line), l.x(*next.axis, line)}];
    for (const auto& [ends, n] : slopes)
      canvas.line({ends.first, row.values_end}, {ends.second, next.y},
                  {faded(theme.ink, faint_ink(n, slopes.size())), width, {}});
  }
}

void draw_bold(Canvas& canvas, const Theme& theme, const RowsLayout& l, const ParallelLine& line, Colour colour,
               float width) {
  const auto pieces = pieces_of(canvas, l, line);
  for (const auto& piece : pieces) canvas.polyline(piece, {theme.panel, width + canvas.px(2), {}});
  for (const auto& piece : pieces) canvas.polyline(piece, {colour, width, {}});
  for (const AxisRow& row : l.rows)
    canvas.marker({l.x(*row.axis, line), row.y}, Marker::circle, width * 2.4f, {.colour = colour});
}

void draw_axis(Canvas& canvas, const Theme& theme, const RowsLayout& l, const AxisRow& row) {
  const Stroke stroke{theme.axis, theme.axis_width * canvas.em(), {}};
  canvas.line({l.from, row.y}, {l.to, row.y}, stroke);
  float last = l.from;
  for (const double v : row.axis->levels()) {
    const float x = l.x_at(row.axis->place(v));
    if (x - last < canvas.px(kTickGap)) continue;
    last = x;
    canvas.line({x, row.y - canvas.px(2.5f)}, {x, row.y + canvas.px(2.5f)}, stroke);
  }
}

void draw_words(Canvas& canvas, const Theme& theme, const RowsLayout& l, const AxisRow& row, float left) {
  const TextStyle name = small_text(canvas, theme.ink2, HAlign::left);
  const float first = row.y + canvas.px(kUnderAxis) + kCapitals * name.em / 2;
  // On the line of the values; two lines have their middle there, a little higher.
  float y = row.name.size() > 1 ? first - name.em * 0.75f : first;
  for (const std::string& line : row.name) {
    canvas.text({left, y}, line, name);
    y += name.em * 1.15f;
  }
  for (const ValueLabel& label : row.labels)
    canvas.text({label.centre, first + static_cast<float>(label.line) * l.pitch}, label.text, label.style);
}

// The best and the present plan by their names where their lines end.
void draw_ends(Canvas& canvas, const FigureInput& input, const RowsLayout& l, const ParallelAxes& p,
               const BestShades& colour_of, float y, float right) {
  struct End {
    float x = 0;
    std::string text;
    TextStyle style;
    float half = 0;
  };
  std::vector<End> ends;
  const AxisRow& last = l.rows.back();
  const auto add = [&](const ParallelLine& line, const char* key, Colour colour) {
    End e{l.x(*last.axis, line), std::string(input.texts.text(key)),
          small_text(canvas, colour, HAlign::centre, Weight::bold)};
    e.half = canvas.text_width(e.text, e.style) / 2;
    ends.push_back(std::move(e));
  };
  if (!p.bright.empty()) add(p.bright.back(), "figure.parallel-coordinates.best", colour_of(p.bright.back()));
  if (p.present) add(*p.present, "figure.frontier.now", input.theme.ink);
  std::sort(ends.begin(), ends.end(), [](const End& a, const End& b) { return a.x < b.x; });
  if (ends.size() == 2)
    if (const float lacks = ends[0].half + ends[1].half + canvas.px(kWordGap * 2) - (ends[1].x - ends[0].x);
        lacks > 0) {
      ends[0].x -= lacks / 2, ends[1].x += lacks / 2;
      if (const float over = ends[1].x + ends[1].half - right; over > 0) ends[0].x -= over, ends[1].x -= over;
    }
  for (const End& e : ends) canvas.text({confined(e.x, e.half, right - e.half), y}, e.text, e.style);
}

}  // namespace

float rows_height(const Canvas& canvas, float width, const FigureInput& input, const ParallelAxes& p) {
  const std::vector<Scaled> axes = ordered_axes(p);
  if (axes.empty()) return 0;
  const RowsLayout l = layout_of(canvas, {0, 0, width, 0}, input, p, axes);
  return rows_alone(canvas, l) + static_cast<float>(l.rows.size() - 1) * canvas.px(kSlope);
}

bool draw_rows(Canvas& canvas, const Rect& area, const FigureInput& input, const ParallelAxes& p,
               const std::vector<Scaled>& axes) {
  const Theme& theme = input.theme;
  RowsLayout l = layout_of(canvas, area, input, p, axes);
  constexpr float kHair = 0.01f;  // of rounding
  float slope = area.h - rows_alone(canvas, l) + kHair;
  if (l.rows.size() > 1) slope /= static_cast<float>(l.rows.size() - 1);
  if (slope < canvas.px(kLeastSlope)) return false;
  slope = std::min(slope, canvas.px(kMostSlope));
  float y = area.y + canvas.px(kUnderAxis);
  for (AxisRow& row : l.rows) {
    row.y = y, row.values_end = y + band_height(canvas, row, l.pitch);
    y = row.values_end + slope;
  }
  const BestShades colour_of(theme, p, axes);
  draw_others(canvas, theme, l, p.faint);
  for (const AxisRow& row : l.rows) draw_axis(canvas, theme, l, row);
  for (const ParallelLine& line : p.bright)
    draw_bold(canvas, theme, l, line, colour_of(line), bold_width(canvas, theme, line));
  if (p.present) draw_bold(canvas, theme, l, *p.present, theme.ink, plan_stroke(theme, canvas.em()).width);
  for (const AxisRow& row : l.rows) draw_words(canvas, theme, l, row, area.x);
  float foot = l.rows.back().values_end + canvas.px(kUnderValues) + l.pitch / 2;
  draw_ends(canvas, input, l, p, colour_of, foot, area.right());
  if (p.hovered) draw_bold(canvas, theme, l, *p.hovered, theme.ink, theme.data_width * canvas.em() * 1.4f);

  const float size = canvas.px(8);
  const auto tag = [&](const ParallelLine& line, std::size_t first) {
    for (std::size_t i = first; i < l.rows.size(); ++i) {
      const Point at{l.x(*l.rows[i].axis, line), l.rows[i].y};
      canvas.tag_with(p.tag, static_cast<int>(line.index), {at.x - size / 2, at.y - size / 2, size, size},
                      [&] { return p.readout(line.index); });
    }
  };
  for (const ParallelLine& line : p.faint) tag(line, l.rows.size() - std::min<std::size_t>(2, l.rows.size()));
  if (p.present) tag(*p.present, 0);
  for (const ParallelLine& line : p.bright) tag(line, 0);

  const TextStyle faint = small_text(canvas, theme.ink3, HAlign::left);
  foot += l.pitch + canvas.px(kUnderAxis - kUnderValues);
  for (const std::string& line : l.note) {
    canvas.text({area.x, foot}, line, faint);
    foot += l.pitch;
  }
  return true;
}

}  // namespace roofscape::widgets::parallel
