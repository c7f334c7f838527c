#include "widgets/figure_frontier.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "widgets/empty_state.h"
#include "widgets/figure_head.h"
#include "widgets/figure_memory_parts.h"
#include "widgets/figure_search_parts.h"
#include "widgets/label_field.h"
#include "widgets/number_format.h"
#include "widgets/plot.h"

namespace roofscape::widgets {

using engine::Plan;
using engine::RankedPlan;
using engine::SearchResult;
using memory::bytes_text;
using memory::kGb;
using search::AnyPlan;
using search::Shown;

namespace {

constexpr std::size_t kNumbered = 6;    // of the best plans
constexpr double kSlowest = 1.9;        // times the best that are shown at least
constexpr double kLinearUpTo = 5;       // ratio of the ends from which the axis of times is logarithmic
constexpr double kKnee = 1.05;          // times the best that a plan of little memory may take to be worth naming
constexpr double kKneeMemory = 0.7;     // of the best plan's memory that it takes at most

struct Ends {
  double memory_gb = 1, fast_s = 1, slow_s = 10;
};

// The best plan and the present one stand inside; what is far slower or larger does not.
Ends ends_of(const Shown& shown) {
  const SearchResult& r = *shown.result;
  double best = std::numeric_limits<double>::infinity(), slowest = 0;
  for (const engine::SampledPlan& s : r.sample) best = std::min(best, s.step_time_s), slowest = std::max(slowest, s.step_time_s);
  if (shown.fits()) best = r.front.back().step_time_s, slowest = std::max(slowest, r.front.front().step_time_s);
  Ends e;
  e.slow_s = std::min(slowest, kSlowest * best);
  double memory = shown.capacity_bytes * 1.1;
  if (r.present_legal && r.present.step_time_s > 0) {
    e.slow_s = std::max(e.slow_s, 1.1 * r.present.step_time_s);
    best = std::min(best, r.present.step_time_s);
    if (r.present.memory_bytes < 2 * shown.capacity_bytes) memory = std::max(memory, 1.1 * r.present.memory_bytes);
  }
  if (!(memory > 0))
    for (const engine::SampledPlan& s : r.sample) memory = std::max(memory, s.memory_bytes);
  e.memory_gb = memory / kGb;
  e.fast_s = best * 0.94;
  if (!(e.slow_s > 1.1 * e.fast_s)) e.slow_s = 1.5 * e.fast_s;
  return e;
}

struct Placed {
  Rect plot;
  Scale x, y;
  Frame frame;
  double unit_s = 1;  // of the axis of times
  Point at(double memory_bytes, double step_s) const { return {x(memory_bytes / kGb), y(step_s / unit_s)}; }
  bool shows(double memory_bytes, double step_s) const { return x.contains(memory_bytes / kGb) && y.contains(step_s / unit_s); }
};

Placed lay_out(const Canvas& canvas, const Rect& area, const FigureInput& input, const Shown& shown) {
  Placed l;
  const Ends e = ends_of(shown);
  l.unit_s = e.slow_s < 1 ? 1e-3 : 1;
  const bool log = e.slow_s > kLinearUpTo * e.fast_s;
  const Scale x(ScaleKind::linear, 0, e.memory_gb, 0, 1);
  const Scale y(log ? ScaleKind::log10 : ScaleKind::linear, e.fast_s / l.unit_s, e.slow_s / l.unit_s, 0, 1);
  const TextTable& t = input.texts;
  l.frame.x.title = ellipsize(canvas, t.text(chip_key(input, "figure.frontier.x")), small_text(canvas, {}, HAlign::left), area.w * 0.7f);
  l.frame.y.title = t.text(l.unit_s < 1 ? "figure.frontier.y.ms" : "figure.frontier.y.s");
  l.frame.x.ticks = ticks(x, {std::clamp(static_cast<int>(area.w / canvas.px(80)), 2, 8), TickLabels::plain, false});
  l.frame.y.ticks = ticks(y, {std::clamp(static_cast<int>(area.h / canvas.px(50)), 2, 8), TickLabels::plain, true});
  Frame untitled = l.frame;  // its title stands in a row of its own
  untitled.y.title.clear();
  l.plot = plot_rect(canvas, area, untitled);
  l.x = x.with_range(static_cast<double>(l.plot.x), static_cast<double>(l.plot.right()));
  l.y = y.with_range(static_cast<double>(l.plot.bottom()), static_cast<double>(l.plot.y));
  return l;
}

void tag_plan(Canvas& canvas, const FigureInput& input, const Shown& shown, const Placed& l, std::size_t index, float size) {
  const AnyPlan p = search::plan_at(*shown.result, index);
  if (!l.shows(p.memory_bytes, p.step_time_s)) return;
  const Point at = l.at(p.memory_bytes, p.step_time_s);
  canvas.tag_with("frontier.plan", static_cast<int>(index), {at.x - size / 2, at.y - size / 2, size, size},
                  [&] { return search::readout_of(input, shown, p, index == search::present_index(*shown.result)); });
}

void draw_cloud(Canvas& canvas, const FigureInput& input, const Shown& shown, const Placed& l) {
  const SearchResult& r = *shown.result;
  const float size = canvas.px(2.8f);
  const Fill dot{.colour = faded(input.theme.ink3, 0.55f)}, over{.colour = faded(input.theme.err, 0.4f)};
  for (std::size_t i = 0; i < r.sample.size(); ++i) {
    const engine::SampledPlan& s = r.sample[i];
    if (!l.shows(s.memory_bytes, s.step_time_s)) continue;
    const Point at = l.at(s.memory_bytes, s.step_time_s);
    canvas.rect({at.x - size / 2, at.y - size / 2, size, size}, s.fits ? dot : over);
    tag_plan(canvas, input, shown, l, search::sample_index(r, i), size);
  }
}

// What a chip has; to its right nothing fits.
void draw_capacity(Canvas& canvas, const FigureInput& input, const Shown& shown, const Placed& l, LabelField& field) {
  if (!(shown.capacity_bytes > 0) || !l.x.contains(shown.capacity_bytes / kGb)) return;
  const float x = l.x(shown.capacity_bytes / kGb);
  canvas.rect(rect_between(x, l.plot.y, l.plot.right(), l.plot.bottom()), {.colour = faded(input.theme.err, 0.1f)});
  canvas.line({x, l.plot.y}, {x, l.plot.bottom()}, {input.theme.err, canvas.px(1.6f), {}});
  const TextStyle style = small_text(canvas, input.theme.err, HAlign::right);
  const std::string text = bytes_text(shown.capacity_bytes);
  const Rect box{x - canvas.px(6) - canvas.text_width(text, style), l.plot.y + canvas.px(2), canvas.text_width(text, style), style.em * 1.3f};
  if (box.x < l.plot.x || !field.is_free(box)) return;
  backed_text(canvas, input.theme, {box.right(), box.centre().y}, text, style);
  field.take(box);
}

// Stepped: between two plans one can only have the slower.
std::vector<Point> steps_of(const Shown& shown, const Placed& l) {
  std::vector<Point> points;
  const auto& front = shown.result->front;
  if (front.empty()) return points;
  points.push_back({l.at(front.front().memory_bytes, 0).x, l.plot.y});
  for (const RankedPlan& p : front) {
    const Point at = l.at(p.memory_bytes, p.step_time_s);
    points.push_back({at.x, points.back().y});
    points.push_back(at);
  }
  const double end = shown.capacity_bytes > 0 ? shown.capacity_bytes : front.back().memory_bytes;
  points.push_back({std::min(l.at(end, 0).x, l.plot.right()), points.back().y});
  for (Point& p : points) p.y = std::clamp(p.y, l.plot.y, l.plot.bottom());
  return points;
}

// The smallest plan that is hardly slower than the best.
const RankedPlan* knee_of(const Shown& shown) {
  const auto& front = shown.result->front;
  if (front.empty()) return nullptr;
  for (const RankedPlan& p : front)
    if (p.step_time_s <= kKnee * front.back().step_time_s) return p.memory_bytes <= kKneeMemory * front.back().memory_bytes ? &p : nullptr;
  return nullptr;
}

void draw_knee(Canvas& canvas, const FigureInput& input, const Shown& shown, const Placed& l, LabelField& field) {
  const RankedPlan* knee = knee_of(shown);
  if (knee == nullptr || !(shown.capacity_bytes > 0) || !l.shows(knee->memory_bytes, knee->step_time_s)) return;
  const Point at = l.at(knee->memory_bytes, knee->step_time_s);
  const float size = canvas.px(7);
  canvas.marker(at, Marker::circle, size, {.colour = input.theme.panel, .edge = input.theme.ink, .edge_width = canvas.px(1.5f)});
  const std::array lines{LabelLine{input.texts.format("figure.frontier.knee", {format_share(knee->memory_bytes / shown.capacity_bytes),
                                                                              search::against_text(knee->step_time_s, shown.result->front.back().step_time_s)}),
                                   small_text(canvas, input.theme.ink2, HAlign::left)}};
  const Rect mark{at.x - size / 2, at.y - size / 2, size, size};
  field.take(mark);
  if (const auto place = field.place_around(mark, label_size(canvas, lines), canvas.px(5))) {
    canvas.rect(place->inset(-canvas.px(2), 0), {.colour = faded(input.theme.panel, 0.85f)});
    draw_label(canvas, *place, lines);
  }
}

// The best by rank; where two would cover each other the better one is shown.
void draw_best(Canvas& canvas, const FigureInput& input, const Shown& shown, const Placed& l, LabelField& field) {
  const Theme& theme = input.theme;
  const auto& best = shown.result->best;
  const float size = canvas.px(17);
  const TextStyle number = small_text(canvas, theme.inv, HAlign::centre, Weight::bold);
  for (std::size_t i = 0; i < best.size() && i < kNumbered; ++i) {
    if (!l.shows(best[i].memory_bytes, best[i].step_time_s)) continue;
    const Point at = l.at(best[i].memory_bytes, best[i].step_time_s);
    const Rect mark{at.x - size / 2, at.y - size / 2, size, size};
    if (!field.is_free(mark)) continue;
    field.take(mark);
    canvas.marker(at, Marker::circle, size, {.colour = theme.ink});
    canvas.text(at, format_count(static_cast<double>(i + 1)), number);
  }
}

void draw_present(Canvas& canvas, const FigureInput& input, const Shown& shown, const Placed& l, LabelField& field) {
  const SearchResult& r = *shown.result;
  if (!r.present_legal || !(r.present.step_time_s > 0) || !l.shows(r.present.memory_bytes, r.present.step_time_s)) return;
  const Theme& theme = input.theme;
  const bool fits = !(r.present_shortage.missing_bytes > 0);
  const Colour colour = fits ? theme.ink : theme.err;
  const Point at = l.at(r.present.memory_bytes, r.present.step_time_s);
  const float size = canvas.px(13);
  const Rect mark{at.x - size / 2, at.y - size / 2, size, size};
  std::vector<LabelLine> lines{{std::string(input.texts.text(fits ? "figure.frontier.now" : "figure.frontier.now.full")), small_text(canvas, colour, HAlign::left, Weight::bold)}};
  if (shown.fits() && l.shows(shown.best().memory_bytes, shown.best().step_time_s)) {
    const Point to = l.at(shown.best().memory_bytes, shown.best().step_time_s);
    const float length = distance(at, to), from = size / 2, until = length - canvas.px(10);
    if (until - from > canvas.px(24)) {
      const Point d = (to - at) * (1 / length);
      canvas.arrow(at + d * from, at + d * until, {theme.ink3, canvas.px(1), {}}, canvas.px(7));
      lines.push_back({input.texts.format("figure.frontier.gain", {format_difference(shown.best().step_time_s - r.present.step_time_s, engine::unit::seconds)}),
                       small_text(canvas, theme.ink2, HAlign::left)});
      field.take_line(at + d * from, at + d * until, canvas.px(3));
    }
  }
  canvas.marker(at, Marker::circle, size, {.colour = theme.panel, .edge = colour, .edge_width = canvas.px(2.2f)});
  field.take(mark);
  if (const auto place = field.place_around(mark, label_size(canvas, lines), canvas.px(5))) {
    canvas.rect(place->inset(-canvas.px(2), 0), {.colour = faded(theme.panel, 0.85f)});
    draw_label(canvas, *place, lines);
  }
}

void draw_hovered(Canvas& canvas, const FigureInput& input, const Shown& shown, const Placed& l, const FigureView& view) {
  if (!view.hovered_plan) return;
  for (std::size_t i = 0; i < search::plan_count(*shown.result); ++i) {
    const AnyPlan p = search::plan_at(*shown.result, i);
    if (*p.plan != *view.hovered_plan || !l.shows(p.memory_bytes, p.step_time_s)) continue;
    const Point at = l.at(p.memory_bytes, p.step_time_s);
    canvas.line({at.x, at.y}, {at.x, l.plot.bottom()}, {input.theme.ink3, canvas.px(1), {canvas.px(3), canvas.px(3)}});
    canvas.line({l.plot.x, at.y}, {at.x, at.y}, {input.theme.ink3, canvas.px(1), {canvas.px(3), canvas.px(3)}});
    canvas.marker(at, Marker::circle, canvas.px(21), {.colour = kTransparent, .edge = input.theme.ink, .edge_width = canvas.px(2)});
    return;
  }
}

}  // namespace

FigureHead frontier_head(const FigureInput& input, const FigureView&) { return search::head_of(input, "frontier"); }

void draw_frontier(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  const Rect rest = draw_figure_head(canvas, area, input, view, frontier_head(input, view));
  if (rest.empty()) return;
  const Shown shown = search::shown_of(input);
  if (!shown.priced()) return draw_empty_state(canvas, input.theme, rest, search::empty_text(input, shown));
  Rect room = rest;
  const float row = small_text(canvas, {}, HAlign::left).em * FontStack::kLineHeight;
  const Rect title = room.cut_top(row);
  room.cut_top(canvas.px(6));
  const Placed l = lay_out(canvas, room, input, shown);
  if (l.plot.w < canvas.px(60) || l.plot.h < canvas.px(40)) return;
  Frame frame = l.frame;
  const TextStyle faint = small_text(canvas, input.theme.ink3, HAlign::left);
  canvas.text({title.x, title.centre().y}, ellipsize(canvas, "\u2191 " + frame.y.title, faint, title.w), faint);
  frame.y.title.clear();
  draw_frame(canvas, input.theme, l.plot, l.x, l.y, frame);
  LabelField field(l.plot);
  {
    const auto clip = canvas.clip(l.plot.inset(-canvas.px(9)));
    draw_cloud(canvas, input, shown, l);
    draw_capacity(canvas, input, shown, l, field);
    const std::vector<Point> steps = steps_of(shown, l);
    canvas.polyline(steps, {input.theme.ink, input.theme.data_width * canvas.em(), {}});
    const SearchResult& r = *shown.result;
    for (std::size_t i = 0; i < r.front.size(); ++i) tag_plan(canvas, input, shown, l, search::front_index(r, i), canvas.px(8));
    draw_best(canvas, input, shown, l, field);
    draw_present(canvas, input, shown, l, field);
    for (std::size_t i = 1; i < steps.size(); ++i) field.take_line(steps[i - 1], steps[i], canvas.px(2));
    draw_knee(canvas, input, shown, l, field);
    for (std::size_t i = r.best.size(); i-- > 0;) tag_plan(canvas, input, shown, l, i, canvas.px(i < kNumbered ? 17 : 8));
    if (r.present_legal) tag_plan(canvas, input, shown, l, search::present_index(r), canvas.px(14));
    draw_hovered(canvas, input, shown, l, view);
  }
}

std::string frontier_data(const FigureInput& input, const FigureView&) {
  const Shown shown = search::shown_of(input);
  std::string out = "set\tdata\tfsdp\ttensor\tcontext\texpert\tpipeline\tzero\tmicrobatch\tschedule\tchunks\tcheckpointing\tstep s\tmemory bytes\tfits\n";
  if (shown.result == nullptr || !shown.result->finished) return out;
  const SearchResult& r = *shown.result;
  for (std::size_t i = 0; i < search::plan_count(r); ++i) {
    const AnyPlan a = search::plan_at(r, i);
    const Plan& p = *a.plan;
    const bool present = i == search::present_index(r);
    if (present && !r.present_legal) continue;
    const char* set = i < r.best.size() ? "best" : i < search::sample_index(r, 0) ? "front" : present ? "present" : "sample";
    out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", set, p.data, p.fsdp, p.tensor, p.context, p.expert, p.pipeline,
                       p.zero_stage, p.microbatch_sequences, engine::schedule_id(p.schedule), p.virtual_stages, search::policy_word(input.texts, p.policy),
                       a.step_time_s, a.memory_bytes, a.fits ? "yes" : "no");
  }
  return out;
}

}  // namespace roofscape::widgets
