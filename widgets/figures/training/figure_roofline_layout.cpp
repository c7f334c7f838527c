#include "widgets/figures/training/figure_roofline_layout.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/hardware/roofline.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/stage_rows.h"

namespace roofscape::widgets::roofline {

using engine::OperationKind;
using engine::OperationRow;
using engine::Q;

TextStyle small(const Canvas& canvas, Colour colour, HAlign h, VAlign v) {
  TextStyle s;
  s.em = kSmallText * canvas.em();
  s.halign = h;
  s.valign = v;
  s.colour = colour;
  return s;
}

TextPlace place(const Canvas& canvas, std::string text, Point anchor, const TextStyle& style) {
  TextPlace p{std::move(text), anchor, style, {}};
  p.bounds = canvas.text_bounds(anchor, p.text, style);
  return p;
}

namespace {

constexpr float kDotAtWholeStep = 52;  // diameter of a mark that is the whole step ...
constexpr float kDotOfHeight = 0.17f;  // ... and at most this part of the figure's height
constexpr float kLeastDot = 6.8f;
constexpr double kMargin = 1.35;        // a mark stays this factor inside the axes
constexpr double kRidgeShare = 0.9;     // marks left of this part of the ridge stand on the slope
constexpr double kClearlyUnder = 0.98;  // of the peak
constexpr double kNextTop = 1.25;       // of the axis: tops that are tried until the names over the roof have room
constexpr int kMostTops = 24;
constexpr float kKeyMark = 8;
constexpr float kFlagPitch = 1.35f;  // of draw_flags, in small text
constexpr float kFlagElbow = 12, kFlagColumn = 6;

Roof look_of(OperationKind kind) {
  if (engine::is_vector_operation(kind)) return Roof::vector;
  return kind == OperationKind::attention ? Roof::attention : Roof::matmul;
}

bool inside(const Rect& inner, const Rect& outer) {
  return inner.x >= outer.x && inner.y >= outer.y && inner.right() <= outer.right() &&
         inner.bottom() <= outer.bottom();
}

double whole_decade_below(double v) { return std::pow(10.0, std::floor(std::log10(v) + 1e-9)); }
double half_decade_below(double v) { return std::pow(10.0, std::floor(2 * std::log10(v) + 1e-9) / 2); }

void find_dots(const Canvas& canvas, const Rect& area, const FigureInput& input, Layout& out) {
  const float whole = std::min(canvas.px(kDotAtWholeStep), area.h * kDotOfHeight);
  const float least = std::max(canvas.px(kLeastDot), input.theme.marker_size * canvas.em());
  for (const OperationRow& row : input.report.operations) {
    // The 6 P convention counts the embedding as a matrix multiplication, but it is a lookup: it has no place here.
    if (row.kind == OperationKind::embedding) continue;
    if (!(row.flops > 0) || !(row.hbm_bytes > 0) || !(row.intensity_flop_per_byte > 0) ||
        !(row.achieved_flop_per_s > 0))
      continue;
    Dot dot;
    dot.row = &row;
    dot.look = look_of(row.kind);
    dot.name = operation_name(input, row.kind);
    const double share = std::clamp(row.share_of_step, 0.0, 1.0);
    // Ideal, vector operations are hidden under the others: their time is no part of the step's.
    dot.size = dot.look == Roof::vector && hides_vectors(input)
                   ? least
                   : std::max(least, whole * static_cast<float>(std::sqrt(share)));
    out.dots.push_back(std::move(dot));
  }
  std::stable_sort(out.dots.begin(), out.dots.end(), [](const Dot& a, const Dot& b) { return a.size > b.size; });
}

// Of the matrix units, by number type.
struct TypePeak {
  engine::ChipField field;
  std::string_view key;
};
constexpr std::array kTypePeaks{TypePeak{engine::ChipField::peak_bf16_dense_flops_per_s, "figure.dtype.bf16"},
                                TypePeak{engine::ChipField::peak_fp8_dense_flops_per_s, "figure.dtype.fp8"},
                                TypePeak{engine::ChipField::peak_fp4_dense_flops_per_s, "figure.dtype.fp4"}};
constexpr double kSamePeak = 0.05;  // nearer to the plan's own, and it is the same line

std::string peak_text(const FigureInput& input, std::string_view dtype_key, double flop_per_s) {
  return input.texts.format(
      "figure.roofline.peak",
      {std::string(input.texts.text(dtype_key)), format(flop_per_s, engine::unit::flop_per_s, {.trim_zeros = true})});
}

void find_other_peaks(const FigureInput& input, Layout& l) {
  for (const TypePeak& type : kTypePeaks) {
    const auto peak = input.scenario.cluster.chip[type.field].value;
    if (!peak || std::abs(*peak / l.peak - 1) < kSamePeak) continue;
    OtherPeak other;
    other.flop_per_s = *peak;
    other.label.text = peak_text(input, type.key, *peak);
    l.other_peaks.push_back(std::move(other));
  }
}

Scale x_scale(const FigureInput& input, const Layout& l) {
  double low = l.ridge, high = l.ridge * 10;
  for (const Dot& d : l.dots) {
    low = std::min(low, d.row->intensity_flop_per_byte);
    high = std::max(high, d.row->intensity_flop_per_byte);
  }
  for (const MeasuredDot& d : l.measured) {
    low = std::min(low, d.intensity);
    high = std::max(high, d.intensity);
  }
  low = whole_decade_below(std::min(low / kMargin, l.ridge / 100));
  high = 10 * whole_decade_below(high * kMargin);
  const auto range = kept_range(input.axes, "roofline.x", {low, high});
  return Scale(ScaleKind::log10, range.from, range.to, 0, 1);
}

double y_low(const Layout& l) {
  double low = std::min(l.peak, l.x.from() * l.bandwidth);
  for (const Dot& d : l.dots) low = std::min(low, d.row->achieved_flop_per_s / kMargin);
  for (const MeasuredDot& d : l.measured) low = std::min(low, d.flop_per_s / kMargin);
  return half_decade_below(low);
}

void place_axes(const Canvas& canvas, const Rect& area, const FigureInput& input, Layout& l) {
  l.x = x_scale(input, l);
  l.frame.x.title = input.texts.text("figure.roofline.x");
  l.frame.y.title = input.texts.text(chip_key(input, "figure.roofline.y"));
  TextStyle label = small(canvas, {}, HAlign::left, VAlign::bottom);
  // The top leaves room over the roof for its label, which must clear half of the largest dot on it.
  float over = canvas.text_bounds({0, 0}, "0", label).h + canvas.px(4);
  float largest = 0;
  for (const Dot& d : l.dots)
    if (d.row->achieved_flop_per_s > l.peak * 0.5) largest = std::max(largest, d.size);
  const float line = over;
  over += largest / 2;
  double highest = l.peak;  // of what must be under the top with a line of text over it
  for (const OtherPeak& o : l.other_peaks) highest = std::max(highest, o.flop_per_s);
  for (const MeasuredDot& d : l.measured) highest = std::max(highest, d.flop_per_s);
  const auto range = kept_range(input.axes, "roofline.y", {y_low(l), l.peak * 1.5});
  const double bottom = range.from;
  double top = range.to;
  for (int i = 0; i < kMostTops; ++i) {
    l.y = Scale(ScaleKind::log10, bottom, top, 1, 0);
    TickOptions options{std::clamp(static_cast<int>(area.h / canvas.px(40)), 2, 8), TickLabels::si, true};
    l.frame.y.ticks = ticks(l.y, options);
    options.about = std::clamp(static_cast<int>(area.w / canvas.px(50)), 2, 8);
    l.frame.x.ticks = ticks(l.x, options);
    l.plot = plot_rect(canvas, area, l.frame);
    l.x = l.x.with_range(l.plot.x, l.plot.right());
    l.y = l.y.with_range(l.plot.bottom(), l.plot.y);
    if (l.y(l.peak) - l.plot.y >= over && l.y(highest) - l.plot.y >= line) break;
    top *= kNextTop;
  }
}

Slope slope_of(const Layout& l, double bytes_per_s, std::string label) {
  Slope s;
  s.bytes_per_s = bytes_per_s;
  s.label = std::move(label);
  const double low = std::max(l.x.from(), l.y.from() / bytes_per_s), high = engine::ridge_point(l.peak, bytes_per_s);
  s.low = {l.x(low), l.y(low * bytes_per_s)};
  s.high = {l.x(high), l.y(l.peak)};
  return s;
}

void place_slopes(const FigureInput& input, Layout& l) {
  const auto label = [&](std::string_view key, double v) {
    return input.texts.format(key, {format(v, engine::unit::bytes_per_s, {.trim_zeros = true})});
  };
  l.hbm = slope_of(l, l.bandwidth, label("figure.roofline.hbm", l.bandwidth));
  struct Faster {
    engine::ChipField field;
    std::string_view key;
  };
  for (const Faster& f : {Faster{engine::ChipField::vmem_bytes_per_s, "figure.roofline.vmem"},
                          Faster{engine::ChipField::l2_bytes_per_s, "figure.roofline.l2"}}) {
    const std::optional<double> v = input.scenario.cluster.chip[f.field].value;
    // Its ridge must be on the axis, else there is no line to see.
    if (!v || !(*v > l.bandwidth * 1.05) || engine::ridge_point(l.peak, *v) <= l.x.from() * 1.5 || !l.faster.empty())
      continue;
    l.faster.push_back(slope_of(l, *v, label(f.key, *v)));
  }
}

float slope_x_at(const Layout& l, float y) { return l.x(l.y.value(y) / l.bandwidth); }

// Rectangles flags will take, in the order of x; the same measures as draw_flags.
bool flags_clear(const Canvas& canvas, const FigureInput& input, const Layout& l, std::size_t* culprit) {
  const TextStyle style = small(canvas, {}, HAlign::left, VAlign::middle);
  const float pitch = style.em * kFlagPitch;
  float values = 0;
  for (const Flag& f : l.flags) values = std::max(values, canvas.text_width(f.value, style));
  float y = l.flag_top;
  const auto crosses = [&](float left, float from) {
    return left < l.plot.x + canvas.px(2) || left < slope_x_at(l, from) + canvas.px(4);
  };
  if (l.flag_heading && !l.flags.empty()) {
    const float width = canvas.text_width(share_heading(input), style);
    *culprit = l.flags.size();
    if (crosses(l.flags.front().at.x - canvas.px(kFlagElbow) - width, y)) return false;
    y += pitch;
  }
  for (std::size_t i = 0; i < l.flags.size(); ++i, y += pitch) {
    *culprit = i;
    const float left =
        l.flags[i].at.x - canvas.px(kFlagElbow + kFlagColumn) - values - canvas.text_width(l.flags[i].name, style);
    if (crosses(left, y)) return false;
  }
  return true;
}

void place_flags(const Canvas& canvas, const FigureInput& input, Layout& l) {
  struct Candidate {
    const Dot* dot;
    double share;
  };
  std::vector<Candidate> right;
  l.flag_top = l.y(l.peak);
  for (const Dot& d : l.dots)
    if (d.look != Roof::vector && d.row->intensity_flop_per_byte >= l.ridge * kRidgeShare) {
      right.push_back({&d, d.row->share_of_step});
      l.flag_top = std::max(l.flag_top, d.at.y + d.size / 2);
    }
  l.flag_top += canvas.px(4);
  const float pitch = kSmallText * canvas.em() * kFlagPitch;
  // The ridge label has the lowest line of the plot.
  const float room = l.plot.bottom() - pitch * 1.4f - l.flag_top;
  const auto most = static_cast<std::size_t>(std::max(0.0f, std::floor(room / pitch)));
  l.flag_heading = right.size() + 1 <= most;
  std::stable_sort(right.begin(), right.end(),
                   [](const Candidate& a, const Candidate& b) { return a.share > b.share; });
  if (right.size() > most) right.resize(most);
  std::stable_sort(right.begin(), right.end(),
                   [](const Candidate& a, const Candidate& b) { return a.dot->at.x < b.dot->at.x; });
  for (const Candidate& c : right) l.flags.push_back({c.dot->at, c.dot->name, format_share(c.share)});
  // Lower down the slope is further left: flags that would cross it sink while there is room, then give way.
  const float high = l.flag_top;
  std::size_t culprit = 0;
  while (!l.flags.empty() && !flags_clear(canvas, input, l, &culprit)) {
    const std::size_t lines = l.flags.size() + (l.flag_heading ? 1 : 0);
    if (l.flag_top + pitch * (static_cast<float>(lines) + 0.5f) <= high + room) {
      l.flag_top += pitch / 2;
      continue;
    }
    if (l.flag_heading)
      l.flag_heading = false;
    else
      l.flags.erase(l.flags.begin() + static_cast<std::ptrdiff_t>(culprit));
    l.flag_top = high;
  }
}

// Everything that labels must keep off.
std::vector<Rect> taken_places(const Canvas& canvas, const FigureInput& input, const Layout& l) {
  std::vector<Rect> taken;
  for (const Dot& d : l.dots) taken.push_back({d.at.x - d.size / 2, d.at.y - d.size / 2, d.size, d.size});
  const TextStyle style = small(canvas, {}, HAlign::left, VAlign::middle);
  const float pitch = style.em * kFlagPitch;
  float values = 0, y = l.flag_top;
  for (const Flag& f : l.flags) values = std::max(values, canvas.text_width(f.value, style));
  if (l.flag_heading && !l.flags.empty()) {
    const float right = l.flags.front().at.x - canvas.px(kFlagElbow);
    taken.push_back(rect_between(right - canvas.text_width(share_heading(input), style), y, right, y + pitch));
    y += pitch;
  }
  for (const Flag& f : l.flags) {
    const float left = f.at.x - canvas.px(kFlagElbow + kFlagColumn) - values - canvas.text_width(f.name, style);
    taken.push_back(rect_between(left - canvas.px(8), y, f.at.x + canvas.px(2), y + pitch));
    taken.push_back(rect_between(f.at.x - canvas.px(1), f.at.y, f.at.x + canvas.px(2), y + pitch));
    y += pitch;
  }
  return taken;
}

bool free_of(const Rect& r, const std::vector<Rect>& taken) {
  return std::none_of(taken.begin(), taken.end(), [&](const Rect& t) { return t.intersects(r); });
}

// Where text at the height `y` ends so that its lower half stays left of every slope, which rises to the right.
float before_slopes(const Canvas& canvas, const Layout& l, float y) {
  const float under = std::min(l.plot.bottom(), y + small_line(canvas) / 2);
  float left = l.x(l.y.value(under) / l.bandwidth);
  for (const Slope& s : l.faster)
    if (under > s.high.y) left = std::min(left, l.x(l.y.value(under) / s.bytes_per_s));
  return left - canvas.px(4);
}

void place_peak_label(const Canvas& canvas, const FigureInput& input, Layout& l) {
  const engine::Field& compute = *engine::find_field("precision.compute");
  const std::string dtype =
      "figure.dtype." + std::string(compute.choices[static_cast<std::size_t>(input.scenario.precision.compute)]);
  const std::string text = peak_text(input, dtype, l.peak);
  const TextStyle style = small(canvas, input.theme.ink2, HAlign::right, VAlign::bottom);
  Point at{l.plot.right(), l.y(l.peak) - canvas.px(2)};
  const float left = at.x - canvas.text_width(text, style);
  for (const Dot& d : l.dots)
    if (d.at.x + d.size / 2 > left) at.y = std::min(at.y, d.at.y - d.size / 2);
  l.peak_label = place(canvas, text, at, style);
  // No room over those dots: to the left of them.
  if (l.peak_label.bounds.y < l.plot.y) {
    for (const Dot& d : l.dots)
      if (d.at.x + d.size / 2 > left) at.x = std::min(at.x, d.at.x - d.size / 2 - canvas.px(4));
    l.peak_label = place(canvas, text, {at.x, l.y(l.peak) - canvas.px(2)}, style);
  }
  // A line that runs through it would be taken for the one it names.
  const auto on_line = [&](const OtherPeak& o) {
    const float y = l.y(o.flop_per_s);
    return y > l.peak_label.bounds.y - canvas.px(1) && y < l.peak_label.bounds.bottom() + canvas.px(1);
  };
  std::erase_if(l.other_peaks, on_line);
}

void place_ridge_label(const Canvas& canvas, const FigureInput& input, const std::vector<Rect>& taken, Layout& l) {
  const std::string text = input.texts.format("figure.roofline.ridge", {format_significant(l.ridge)});
  TextStyle style = small(canvas, input.theme.ink2, HAlign::left, VAlign::bottom);
  const float at = l.x(l.ridge), y = l.plot.bottom() - canvas.px(2);
  TextPlace right = place(canvas, text, {at + canvas.px(5), y}, style);
  if (inside(right.bounds, l.plot) && free_of(right.bounds, taken)) {
    l.ridge_label = std::move(right);
    return;
  }
  style.halign = HAlign::right;
  TextPlace left = place(canvas, text, {at - canvas.px(5), y}, style);
  if (inside(left.bounds, l.plot) && free_of(left.bounds, taken)) l.ridge_label = std::move(left);
}

// Names beside the dots on the slope, to their right where the plot is empty; dots close together share a line.
void place_side_labels(const Canvas& canvas, const FigureInput& input, std::vector<Rect>& taken, Layout& l) {
  std::vector<const Dot*> dots;
  for (const Dot& d : l.dots)
    if (d.row->intensity_flop_per_byte < l.ridge * kRidgeShare || d.look == Roof::vector) dots.push_back(&d);
  std::stable_sort(dots.begin(), dots.end(), [](const Dot* a, const Dot* b) { return a->at.y < b->at.y; });
  const TextStyle style = small(canvas, input.theme.ink2, HAlign::left, VAlign::middle);
  const float line = style.em * kFlagPitch;
  for (std::size_t i = 0; i < dots.size();) {
    std::size_t end = i + 1;
    while (end < dots.size() && dots[end]->at.y - dots[end - 1]->at.y < line) ++end;
    std::vector<const Dot*> group(dots.begin() + static_cast<std::ptrdiff_t>(i),
                                  dots.begin() + static_cast<std::ptrdiff_t>(end));
    std::stable_sort(group.begin(), group.end(), [](const Dot* a, const Dot* b) { return a->at.x > b->at.x; });
    float right = 0;
    for (const Dot* d : group) right = std::max(right, d->at.x + d->size / 2);
    // Vector operations share a line; the others have one each, with their share of the step, the largest first.
    std::vector<std::string> lines;
    std::string vectors;
    std::vector<const Dot*> others;
    for (const Dot* d : group) {
      if (d->look != Roof::vector) {
        others.push_back(d);
        continue;
      }
      if (!vectors.empty()) vectors += input.texts.text("figure.list_separator");
      vectors += d->name;
      if (!hides_vectors(input)) vectors += " " + format_share(d->row->share_of_step);
    }
    std::stable_sort(others.begin(), others.end(),
                     [](const Dot* a, const Dot* b) { return a->row->share_of_step > b->row->share_of_step; });
    for (const Dot* d : others) lines.push_back(d->name + " " + format_share(d->row->share_of_step));
    if (!vectors.empty()) lines.push_back(std::move(vectors));
    // As much lower than the rightmost dot as keeps the roof, which rises to the right, off the capitals.
    const float gap = canvas.px(6);
    const Point run = l.hbm.high - l.hbm.low;
    const float rise = run.x > 0 ? -run.y / run.x * (right + gap - group.front()->at.x) : 0;
    const float cap = canvas.metrics().cap_height() * style.em;
    Point at{right + gap, group.front()->at.y + std::max(canvas.px(1), cap / 2 + canvas.px(4) - rise)};
    float room = l.plot.right() - at.x - canvas.px(2);
    float widest = 0;
    for (const std::string& text : lines) widest = std::max(widest, canvas.text_width(text, style));
    // Not across the line of the ridge: cut before it, or past it where it is near.
    if (const float to_ridge = l.x(l.ridge) - at.x - canvas.px(5); to_ridge > canvas.px(60)) {
      room = std::min(room, to_ridge);
    } else if (to_ridge > -canvas.px(10) && to_ridge < widest) {
      at.x += to_ridge + canvas.px(11);
      room -= to_ridge + canvas.px(11);
    }
    const float roof = at.x < l.hbm.high.x ? l.hbm.low.y + run.y / run.x * (at.x - l.hbm.low.x) : l.hbm.high.y;
    at.y = std::max(at.y, roof + cap / 2 + canvas.px(4));
    // A list of names goes on in the next line where it does not fit.
    const std::string_view separator = input.texts.text("figure.list_separator");
    const std::size_t comma = separator.find_last_not_of(' ') + 1;  // stays at the end of the line
    for (std::size_t k = 0; k < lines.size(); ++k) {
      std::size_t cut = canvas.text_width(lines[k], style) > room ? lines[k].rfind(separator) : std::string::npos;
      while (cut != std::string::npos && cut > 0 &&
             canvas.text_width(std::string_view(lines[k]).substr(0, cut + comma), style) > room)
        cut = lines[k].rfind(separator, cut - 1);
      if (cut == std::string::npos || cut == 0) continue;
      std::string rest = lines[k].substr(cut + separator.size());
      lines[k].resize(cut + comma);
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(k) + 1, std::move(rest));
    }
    for (const std::string& text : lines) {
      const std::string fitted = ellipsize(canvas, text, style, room);
      TextPlace p = place(canvas, fitted, at, style);
      p.bounds = {p.bounds.x, at.y - cap * 0.7f, p.bounds.w, cap * 1.6f};  // ink, not the whole line
      if (fitted.empty() || !inside(p.bounds, l.plot) || !free_of(p.bounds, taken)) break;
      taken.push_back(p.bounds);
      l.side_labels.push_back(p);
      at.y += line;
    }
    i = end;
  }
}

// Roofs of other number types, where they and their names stand clear.
void place_other_peaks(const Canvas& canvas, const FigureInput& input, std::vector<Rect>& taken, Layout& l) {
  std::vector<OtherPeak> kept;
  for (OtherPeak& o : l.other_peaks) {
    const float y = l.y(o.flop_per_s), clear = canvas.px(2);
    o.low = {std::max(l.plot.x, l.x(o.flop_per_s / l.bandwidth)), y};
    o.high = {l.plot.right(), y};
    struct Spot {
      Point at;
      HAlign h;
      VAlign v;
    };
    // Before its line, where the plot is empty; else over one of its ends.
    for (const Spot& spot : {Spot{{before_slopes(canvas, l, y), y}, HAlign::right, VAlign::middle},
                             Spot{{o.high.x, y - clear}, HAlign::right, VAlign::bottom},
                             Spot{{o.low.x + clear, y - clear}, HAlign::left, VAlign::bottom}}) {
      TextPlace p = place(canvas, o.label.text, spot.at, small(canvas, input.theme.ink2, spot.h, spot.v));
      if (!inside(p.bounds, l.plot) || !free_of(p.bounds, taken)) continue;
      taken.push_back(p.bounds);
      taken.push_back(rect_between(o.low.x, y - clear, o.high.x, y + clear));
      o.label = std::move(p);
      kept.push_back(std::move(o));
      break;
    }
  }
  l.other_peaks = std::move(kept);
}

// What the marks are, in the corner over the slopes; nothing where that is not free.
void place_key(const Canvas& canvas, const FigureInput& input, std::vector<Rect>& taken, Layout& l) {
  const TextStyle style = small(canvas, input.theme.ink2, HAlign::left, VAlign::middle);
  const float line = style.em * kFlagPitch, mark = canvas.px(kKeyMark), gap = canvas.px(8);
  std::vector<Roof> looks;
  for (const Roof look : {Roof::matmul, Roof::attention, Roof::vector})
    if (std::any_of(l.dots.begin(), l.dots.end(), [&](const Dot& d) { return d.look == look; }))
      looks.push_back(look);
  Rect box{l.plot.x + gap, l.plot.y + gap / 2, 0, line * static_cast<float>(looks.size())};
  std::vector<KeyMark> key;
  for (const Roof look : looks) {
    const Point at{box.x + mark / 2, box.y + line * (static_cast<float>(key.size()) + 0.5f)};
    const std::string name(input.texts.text("figure.roofline.key." + std::string(name_of(look))));
    KeyMark entry{look, at, mark, place(canvas, name, {box.x + mark + canvas.px(6), at.y}, style)};
    box.w = std::max(box.w, entry.label.bounds.right() - box.x);
    key.push_back(std::move(entry));
  }
  // Clear of all slopes, which are farthest to the left where they are highest.
  if (looks.size() < 2 || box.right() > before_slopes(canvas, l, box.bottom()) || !inside(box, l.plot) ||
      !free_of(box, taken))
    return;
  taken.push_back(box);
  l.key = std::move(key);
}

// Along the slope where nothing is in the way. False if there is no such place; then it has an empty text.
bool place_slope_label(const Canvas& canvas, const Theme& theme, const Slope& slope, bool below, bool strong,
                       std::vector<Rect>& taken, Layout& l) {
  const Point run = slope.high - slope.low;
  TextStyle style = small(canvas, strong ? theme.ink2 : theme.ink3, HAlign::centre, VAlign::baseline);
  style.angle = std::atan2(run.y, run.x);
  const float cap = canvas.metrics().cap_height() * style.em;
  const float length = std::hypot(run.x, run.y), width = canvas.text_width(slope.label, style);
  const Point normal{-std::sin(style.angle), std::cos(style.angle)};  // downwards
  const float off = below ? cap + canvas.px(5) : -canvas.px(5);
  TextPlace best;
  for (const float t : {0.62f, 0.7f, 0.55f, 0.78f, 0.48f, 0.4f, 0.85f, 0.32f, 0.25f, 0.18f}) {
    if (width + canvas.px(12) > length * 2 * std::min(t, 1 - t)) continue;
    const Point at = slope.low + run * t + normal * off;
    TextPlace p = place(canvas, slope.label, at, style);
    // The box of slanted text is mostly air: three pieces along it are what it covers.
    const Point along{std::cos(style.angle), std::sin(style.angle)};
    std::vector<Rect> pieces;
    for (const float k : {-0.42f, -0.25f, -0.08f, 0.08f, 0.25f, 0.42f}) {
      const Point c = at + along * (k * width) - normal * (cap / 2);
      pieces.push_back({c.x - width * 0.1f, c.y - cap, width * 0.2f, cap * 2});
    }
    if (!inside(p.bounds, l.plot) ||
        !std::all_of(pieces.begin(), pieces.end(), [&](const Rect& r) { return free_of(r, taken); }))
      continue;
    best = std::move(p);
    taken.insert(taken.end(), pieces.begin(), pieces.end());
    break;
  }
  const bool placed = !best.text.empty();
  l.slope_labels.push_back(std::move(best));
  return placed;
}

}  // namespace

bool hides_vectors(const FigureInput& input) { return input.scenario.assumptions.mode == engine::Mode::ideal; }

bool recomputes(const FigureInput& input) {
  return input.report.quantities.value_or(engine::Q::step_recompute, 0) > 0;
}

std::string_view share_heading(const FigureInput& input) { return input.texts.text("figure.roofline.share"); }

std::string operation_name(const FigureInput& input, OperationKind kind) {
  std::string key = "figure.roofline.operation." + std::string(engine::kOperationIds[kind]);
  if (!input.scenario.model.gated_mlp && (kind == OperationKind::gate_up || kind == OperationKind::activation))
    key += ".plain";
  return std::string(input.texts.text(key));
}

double matmul_flop_per_s(const engine::Report& report) {
  double flops = 0, time = 0;
  for (const OperationRow& row : report.operations)
    if (look_of(row.kind) == Roof::matmul && row.flops > 0 && row.time_s > 0) {
      flops += row.flops;
      time += row.time_s;
    }
  return time > 0 ? flops / time : 0;
}

Layout lay_out(const Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView&) {
  Layout l;
  l.peak = input.report.quantities.value_or(Q::peak_flops, 0);
  l.bandwidth = input.report.quantities.value_or(Q::hbm_bandwidth, 0);
  if (!(l.peak > 0) || !(l.bandwidth > 0)) return l;
  l.drawn = true;
  l.ridge = engine::ridge_point(l.peak, l.bandwidth);
  const double reached = matmul_flop_per_s(input.report);
  find_dots(canvas, area, input, l);
  find_other_peaks(input, l);
  find_measured(canvas, input, l);
  place_axes(canvas, area, input, l);
  for (const Dot& d : l.dots)  // only where arithmetic, not bandwidth, is what they miss the peak by
    if (d.look == Roof::matmul && d.row->intensity_flop_per_byte >= l.ridge && reached < kClearlyUnder * l.peak &&
        d.row->achieved_flop_per_s < kClearlyUnder * l.peak)
      l.achieved = reached;
  for (Dot& d : l.dots) d.at = {l.x(d.row->intensity_flop_per_byte), l.y(d.row->achieved_flop_per_s)};
  stand_measured(l);
  place_slopes(input, l);
  place_flags(canvas, input, l);
  place_peak_label(canvas, input, l);
  std::vector<Rect> taken = taken_places(canvas, input, l);
  taken.push_back(l.peak_label.bounds);
  const float corner = canvas.px(6);  // an end of a line that a halo would cut
  for (const Point& p : {l.hbm.low, l.hbm.high})
    taken.push_back({p.x - corner / 2, p.y - corner / 2, corner, corner});
  for (const MeasuredDot& d : l.measured) taken.push_back({d.at.x - d.size / 2, d.at.y - d.size / 2, d.size, d.size});
  place_other_peaks(canvas, input, taken, l);
  place_key(canvas, input, taken, l);
  place_ridge_label(canvas, input, taken, l);
  if (!l.ridge_label.text.empty()) taken.push_back(l.ridge_label.bounds);
  place_side_labels(canvas, input, taken, l);
  if (!place_slope_label(canvas, input.theme, l.hbm, true, true, taken, l)) {
    // Above the slope, unless the dashed line of the faster memory runs there.
    const float between = l.faster.empty() ? area.h : l.hbm.low.y - l.y(l.x.from() * l.faster.front().bytes_per_s);
    if (between > small_line(canvas) * 2.2f) {
      l.slope_labels.clear();
      place_slope_label(canvas, input.theme, l.hbm, false, true, taken, l);
    }
  }
  for (const Slope& s : l.faster) place_slope_label(canvas, input.theme, s, false, false, taken, l);
  name_measured(canvas, input, taken, l);
  return l;
}

}  // namespace roofscape::widgets::roofline
