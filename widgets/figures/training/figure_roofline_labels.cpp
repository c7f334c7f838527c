// Names of the roofline figure: each where it covers neither a dot, nor a roof, nor another name; what has no room is
// left out.
#include <algorithm>
#include <array>
#include <cmath>

#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/stage_rows.h"
#include "widgets/figures/training/figure_roofline_layout.h"

namespace roofscape::widgets::roofline {
namespace {

constexpr float kKeyMark = 8;

bool inside(const Rect& inner, const Rect& outer) {
  return inner.x >= outer.x && inner.y >= outer.y && inner.right() <= outer.right() &&
         inner.bottom() <= outer.bottom();
}

// Everything that labels must keep off.
std::vector<Rect> taken_places(const Canvas& canvas, const FigureInput& input, const Layout& l) {
  std::vector<Rect> taken;
  for (const Dot& d : l.dots) taken.push_back(mark_rect(d));
  const std::vector<Rect> words = flag_words(canvas, input, l);
  taken.insert(taken.end(), words.begin(), words.end());
  for (std::size_t i = 0; i < l.flags.size(); ++i) {
    const Point& at = l.flags[i].at;
    const float bottom = words[words.size() - l.flags.size() + i].bottom();
    taken.push_back(rect_between(at.x - canvas.px(1), at.y, at.x + canvas.px(2), bottom));
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

void place_labels(const Canvas& canvas, const FigureInput& input, Layout& l) {
  place_peak_label(canvas, input, l);
  std::vector<Rect> taken = taken_places(canvas, input, l);
  taken.push_back(l.peak_label.bounds);
  const float corner = canvas.px(6);  // an end of a line that a halo would cut
  for (const Point& p : {l.hbm.low, l.hbm.high})
    taken.push_back({p.x - corner / 2, p.y - corner / 2, corner, corner});
  for (const MeasuredDot& d : l.measured) taken.push_back(mark_rect(d));
  place_other_peaks(canvas, input, taken, l);
  place_key(canvas, input, taken, l);
  place_ridge_label(canvas, input, taken, l);
  if (!l.ridge_label.text.empty()) taken.push_back(l.ridge_label.bounds);
  place_side_labels(canvas, input, taken, l);
  if (!place_slope_label(canvas, input.theme, l.hbm, true, true, taken, l)) {
    // Above the slope, unless the dashed line of the faster memory runs there.
    const float between = l.faster.empty() ? l.plot.h : l.hbm.low.y - l.y(l.x.from() * l.faster.front().bytes_per_s);
    if (between > small_line(canvas) * 2.2f) {
      l.slope_labels.clear();
      place_slope_label(canvas, input.theme, l.hbm, false, true, taken, l);
    }
  }
  for (const Slope& s : l.faster) place_slope_label(canvas, input.theme, s, false, false, taken, l);
  name_measured(canvas, input, taken, l);
}

}  // namespace roofscape::widgets::roofline
