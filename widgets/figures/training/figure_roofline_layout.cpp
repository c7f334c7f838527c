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

std::string peak_text(const FigureInput& input, std::string_view dtype_key, double flop_per_s) {
  return input.texts.format(
      "figure.roofline.peak",
      {std::string(input.texts.text(dtype_key)), format(flop_per_s, engine::unit::flop_per_s, {.trim_zeros = true})});
}

namespace {

constexpr float kDotAtWholeStep = 52;  // diameter of a mark that is the whole step ...
constexpr float kDotOfHeight = 0.17f;  // ... and at most this part of the figure's height
constexpr float kLeastDot = 6.8f;
constexpr double kMargin = 1.35;        // a mark stays this factor inside the axes
constexpr double kClearlyUnder = 0.98;  // of the peak
constexpr double kNextTop = 1.25;       // of the axis: tops that are tried until the names over the roof have room
constexpr int kMostTops = 24;

Roof look_of(OperationKind kind) {
  if (engine::is_vector_operation(kind)) return Roof::vector;
  return kind == OperationKind::attention ? Roof::attention : Roof::matmul;
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

// Measured operations that the words of the flags lie on.
std::size_t covered_by_flags(const Canvas& canvas, const FigureInput& input, const Layout& l) {
  const std::vector<Rect> words = flag_words(canvas, input, l);
  return static_cast<std::size_t>(std::ranges::count_if(l.measured, [&](const MeasuredDot& d) {
    const Rect mark = mark_rect(d);
    return std::ranges::any_of(words, [&mark](const Rect& r) { return r.intersects(mark); });
  }));
}

// Down to `lowest`, to where the words lie on fewest measured operations: the highest of those places.
void clear_measured(const Canvas& canvas, const FigureInput& input, float step, float lowest, Layout& l) {
  float best = l.flag_top;
  std::size_t fewest = covered_by_flags(canvas, input, l), culprit = 0;
  while (fewest > 0 && l.flag_top + step <= lowest) {
    l.flag_top += step;
    if (!flags_clear(canvas, input, l, &culprit)) continue;
    if (const std::size_t covered = covered_by_flags(canvas, input, l); covered < fewest)
      best = l.flag_top, fewest = covered;
  }
  l.flag_top = best;
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
  const std::size_t lines = l.flags.size() + (l.flag_heading ? 1 : 0);
  clear_measured(canvas, input, pitch / 2, high + room - pitch * (static_cast<float>(lines) + 0.5f), l);
}

}  // namespace

std::vector<Rect> flag_words(const Canvas& canvas, const FigureInput& input, const Layout& l) {
  std::vector<Rect> out;
  const TextStyle style = small(canvas, {}, HAlign::left, VAlign::middle);
  const float pitch = style.em * kFlagPitch;
  float values = 0, y = l.flag_top;
  for (const Flag& f : l.flags) values = std::max(values, canvas.text_width(f.value, style));
  if (l.flag_heading && !l.flags.empty()) {
    const float right = l.flags.front().at.x - canvas.px(kFlagElbow);
    out.push_back(rect_between(right - canvas.text_width(share_heading(input), style), y, right, y + pitch));
    y += pitch;
  }
  for (const Flag& f : l.flags) {
    const float left = f.at.x - canvas.px(kFlagElbow + kFlagColumn) - values - canvas.text_width(f.name, style);
    out.push_back(rect_between(left - canvas.px(8), y, f.at.x + canvas.px(2), y + pitch));
    y += pitch;
  }
  return out;
}

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
  place_labels(canvas, input, l);
  return l;
}

}  // namespace roofscape::widgets::roofline
