// The bubble figure: which share of the step's makespan a device idles under each schedule, over the number of
// microbatches. Every point is the simulated step of the scenario's stages; schedules that agree everywhere share a
// line.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/studies/schedule_comparison.h"
#include "widgets/canvas/number_format.h"
#include "widgets/canvas/palette.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/figures/training/figure_pipeline_blocks.h"
#include "widgets/figures/training/figure_pipeline_parts.h"
#include "widgets/plot/label_field.h"
#include "widgets/plot/plot.h"

namespace roofscape::widgets {

using engine::BubbleCurve;
using engine::BubblePoint;
using engine::ScheduleKind;

namespace {

constexpr double kSameCurve = 0.008;  // curves closer than this everywhere are one: a line's width on most plots
constexpr float kCurveNamePitch = 1.38f;
constexpr float kSample = 26;        // of a line, before its name in the key
constexpr float kCurveKeyGap = 8;    // between plot, sample, name and number
constexpr float kNames = 0.36f;      // of the width, at most
constexpr float kNumbersFrom = 340;  // a figure narrower than this has no numbers in its key
constexpr float kPoint = 4;          // diameter of a simulated point, beyond its line
constexpr float kFaintWidth = 0.5f;  // of a curve: 0.8 pt in print
// By rank of the schedule, so that faint curves are told from each other in print too: on and off, in px.
constexpr std::array kFaintDashes{Dash{},           Dash{7, 2.5f},
                                  Dash{1.5f, 2},    Dash{8, 2, 1.5f, 2},
                                  Dash{3.5f, 3.5f}, Dash{8, 2, 1.5f, 2, 1.5f, 2},
                                  Dash{14, 3},      Dash{3.5f, 2, 1.5f, 2}};
constexpr float kOpen = 9;   // of a line on either side of a number that it cannot run
constexpr int kPlaces = 24;  // for the present number, half a line apart

// Null where there is no pipeline. In a window it may not be finished yet.
const engine::BubbleStudy* curves_of(const FigureInput& input) {
  if (input.scenario.parallelism.pipeline < 2) return nullptr;
  const auto& held = input.studies.get<std::shared_ptr<engine::BubbleStudy>>(input.scenario, [&] {
    const int most =
        engine::microbatches_to_show(engine::shape_under(input.scenario, input.scenario.pipeline.schedule));
    return std::make_shared<engine::BubbleStudy>(input.scenario, most, order_spans(input));
  });
  if (!held->advance(input.studies.operations_left)) input.studies.unfinished = true;
  return held.get();
}

const BubblePoint* point_at(const BubbleCurve& curve, int microbatches) {
  for (const BubblePoint& p : curve.points)
    if (p.microbatches == microbatches) return &p;
  return nullptr;
}

// From the first point to the last that both have: a curve may end early where its steps are too long to simulate.
bool same(const BubbleCurve& a, const BubbleCurve& b) {
  const std::size_t n = std::min(a.points.size(), b.points.size());
  for (std::size_t i = 0; i < n; ++i)
    if (a.points[i].microbatches != b.points[i].microbatches ||
        std::abs(a.points[i].idle_fraction - b.points[i].idle_fraction) > kSameCurve)
      return false;
  return n > 0;
}

// What a line is for: the plan, the one that idles least now, 1F1B which all are held against; the others are faint.
enum class BubbleRole : std::uint8_t { other, reference, best, own };

struct BubbleLine {
  std::vector<const BubbleCurve*> members;  // of one curve
  BubbleRole role = BubbleRole::other;
  std::string label;
  std::size_t rank = 0;  // of its first schedule
  bool own() const { return role == BubbleRole::own; }
};

// Of a step of so many microbatches; below 0 where the schedule cannot run it.
double idle_at(const BubbleLine& line, int microbatches) {
  const BubblePoint* p = point_at(*line.members.front(), microbatches);
  return p == nullptr ? -1 : p->idle_fraction;
}

void give_roles(std::vector<BubbleLine>& lines, int now) {
  BubbleLine* best = nullptr;
  for (BubbleLine& line : lines) {
    const auto any = [&](auto&& is) { return std::any_of(line.members.begin(), line.members.end(), is); };
    if (any([](const BubbleCurve* c) { return c->own; }))
      line.role = BubbleRole::own;
    else if (any([](const BubbleCurve* c) { return c->shape.kind == ScheduleKind::one_f_one_b; }))
      line.role = BubbleRole::reference;
    const double idle = idle_at(line, now);
    if (idle >= 0 && (best == nullptr || idle < idle_at(*best, now))) best = &line;
  }
  if (best != nullptr && best->role == BubbleRole::other) best->role = BubbleRole::best;
}

std::vector<BubbleLine> lines_of(const FigureInput& input, const engine::BubbleStudy& c) {
  std::vector<BubbleLine> out;
  std::size_t rank = 0;
  for (const ScheduleKind kind : schedules_by_rank()) {
    ++rank;
    const BubbleCurve& curve = c.curves()[static_cast<std::size_t>(kind)];
    if (curve.points.empty()) continue;
    const std::string name = schedule_name(input, curve.shape);
    const auto twin = std::find_if(out.begin(), out.end(),
                                   [&](const BubbleLine& line) { return same(*line.members.front(), curve); });
    if (twin == out.end()) {
      out.push_back({{&curve}, BubbleRole::other, name, rank});
      continue;
    }
    twin->members.push_back(&curve);
    twin->label += std::string(input.texts.text("figure.list_separator")) + name;
  }
  give_roles(out, c.shape().microbatches);
  return out;
}

std::string number_of(const BubbleLine& line, int microbatches) {
  const double idle = idle_at(line, microbatches);
  return idle < 0 ? "\u2014" : format_percent(idle);
}

struct BubbleLayout {
  std::vector<BubbleLine> lines;
  Rect plot;
  Scale x, y;
  Frame frame;
  float title_y = 0;
  // Of the key: a line with its name, or where the names of several do not fit beside each other a row for each.
  struct Row {
    std::size_t line = 0;
    std::string label;
  };
  std::vector<Row> rows;
  float key_x = 0, key_right = 0, key_title_y = 0;
  bool numbers = false;  // in the key: what idles now
};

BubbleLayout lay_out(const Canvas& canvas, const Rect& area, const FigureInput& input, const engine::BubbleStudy& c) {
  BubbleLayout l;
  l.lines = lines_of(input, c);
  TextStyle style;
  style.em = kSmallText * canvas.em();
  double most = 0.02;  // of the makespan
  for (const BubbleLine& line : l.lines)
    for (const BubblePoint& p : line.members.front()->points) most = std::max(most, p.idle_fraction);
  const double low = std::min(engine::least_microbatches_to_show(c.most()), c.shape().microbatches), high = c.most();
  Rect rest = area;
  // The title of the vertical axis, then the pill over the plot.
  const float row = FontStack::kLineHeight * style.em;
  l.title_y = rest.cut_top(row).centre().y;
  rest.cut_top(canvas.px(4) + row);

  l.frame.x.title = input.texts.text("figure.bubble.x");
  l.frame.x.ticks = ticks(Scale(ScaleKind::log2, low, high, 0, 1),
                          {std::clamp(static_cast<int>(area.w / canvas.px(60)), 2, 12), TickLabels::plain, false});
  l.frame.x.grid = false;
  const Scale percent = rounded(Scale(ScaleKind::linear, 0, 100 * most, 0, 1), 5);
  l.frame.y.ticks =
      ticks(percent, {std::clamp(static_cast<int>(rest.h / canvas.px(45)), 2, 6), TickLabels::plain, false});
  Rect plot = plot_rect(canvas, rest, l.frame);
  // In the key they stand as they do in the plot, so that the one above idles longer.
  const int now = c.shape().microbatches;
  std::stable_sort(l.lines.begin(), l.lines.end(),
                   [&](const BubbleLine& a, const BubbleLine& b) { return idle_at(a, now) > idle_at(b, now); });
  // Too many lines for the room of their names: the least telling ones go, never the plan's own.
  const auto fit = static_cast<std::size_t>(std::max(1.0f, plot.h / (kCurveNamePitch * style.em)));
  while (l.lines.size() > fit) {
    auto victim = l.lines.end() - 1;
    if (victim->own() && l.lines.size() > 1) --victim;
    l.lines.erase(victim);
  }
  float widest = 0;
  TextStyle bold = style;
  bold.weight = Weight::bold;
  for (const BubbleLine& line : l.lines)
    widest = std::max(widest, canvas.text_width(line.label, line.own() ? bold : style));
  const float room = std::min(widest, rest.w * kNames), gap = canvas.px(kCurveKeyGap);
  l.numbers = rest.w >= canvas.px(kNumbersFrom);
  float number = 0;
  for (const BubbleLine& line : l.lines)
    number = std::max(number, canvas.text_width(number_of(line, now), line.own() ? bold : style));
  const float key = 2 * gap + canvas.px(kSample) + gap + room + (l.numbers ? gap + number : 0);
  std::size_t spare = fit - std::min(fit, l.lines.size());
  for (std::size_t i = 0; i < l.lines.size(); ++i) {
    const BubbleLine& line = l.lines[i];
    const TextStyle& words = line.own() ? bold : style;
    const std::size_t more = line.members.size() - 1;
    if (more > spare || canvas.text_width(line.label, words) <= room) {
      l.rows.push_back({i, ellipsize(canvas, line.label, words, room)});
      continue;
    }
    spare -= more;
    for (const BubbleCurve* member : line.members)
      l.rows.push_back({i, ellipsize(canvas, schedule_name(input, member->shape), words, room)});
  }
  plot = rect_between(plot.x, plot.y, rest.right() - key, plot.bottom());
  l.key_x = plot.right() + 2 * gap, l.key_right = rest.right(), l.key_title_y = plot.y - row / 2;
  l.plot = plot;
  l.x = Scale(ScaleKind::log2, low, high, plot.x, plot.right());
  l.y = percent.with_range(plot.bottom(), plot.y);
  return l;
}

Readout readout_of(const FigureInput& input, const BubbleCurve& curve, const BubblePoint& p) {
  const TextTable& t = input.texts;
  Readout out;
  out.title =
      t.format("figure.schedules.idle_of", {schedule_name(input, curve.shape), format_percent(p.idle_fraction)});
  out.rows.emplace_back(std::string(t.text("figure.bubble.microbatches")), format_count(p.microbatches));
  out.rows.emplace_back(std::string(t.text("figure.pipeline.duration")),
                        format_duration(static_cast<double>(p.makespan) / gantt::kTicksPerSecond));
  return out;
}

Stroke stroke_of(const Canvas& canvas, const Theme& theme, const BubbleLine& line) {
  const float width = theme.data_width * canvas.em();
  switch (line.role) {
    case BubbleRole::own:
      return plan_stroke(theme, canvas.em());
    case BubbleRole::best:
      return {theme.ink2, width, Dash{2, 3}.scaled(width / 2 * 1.5f)};
    case BubbleRole::reference:
      return {theme.ink2, width, Dash{12, 4}.scaled(width / 2)};
    case BubbleRole::other:
      break;
  }
  return {theme.ink3, width * kFaintWidth, kFaintDashes[line.rank % kFaintDashes.size()].scaled(canvas.px(1))};
}

std::vector<Point> points_of(const BubbleLayout& l, const BubbleLine& line) {
  std::vector<Point> points;
  for (const BubblePoint& p : line.members.front()->points)
    points.push_back({l.x(p.microbatches), l.y(100 * p.idle_fraction)});
  return points;
}

// Open at the present number where that cannot be run: a line that went through would tell what idles there.
void draw_curve(Canvas& canvas, const BubbleLayout& l, const BubbleLine& line, int now, const Stroke& stroke) {
  const std::vector<Point> points = points_of(l, line);
  const float from = l.x(now) - canvas.px(kOpen), to = l.x(now) + canvas.px(kOpen);
  if (idle_at(line, now) >= 0 || points.front().x >= to || points.back().x <= from)
    return canvas.polyline(points, stroke);
  std::vector<Point> before, after;
  for (const Point& p : points) {
    if (p.x <= from) before.push_back(p);
    if (p.x >= to) after.push_back(p);
  }
  const auto between = [&](float x) {
    for (std::size_t i = 1; i < points.size(); ++i)
      if (const Point& a = points[i - 1], &b = points[i]; x >= a.x && x <= b.x)
        return Point{x, a.y + (b.y - a.y) * (x - a.x) / std::max(b.x - a.x, 1e-6f)};
    return Point{x, points.back().y};
  };
  before.push_back(between(from));
  after.insert(after.begin(), between(to));
  canvas.polyline(before, stroke);
  canvas.polyline(after, stroke);
}

void draw_line(Canvas& canvas, const FigureInput& input, const BubbleLayout& l, const BubbleLine& line, int now) {
  const Stroke stroke = stroke_of(canvas, input.theme, line);
  const std::vector<Point> points = points_of(l, line);
  draw_curve(canvas, l, line, now, stroke);
  Fill fill;
  fill.colour = stroke.colour;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (line.role != BubbleRole::other)
      canvas.marker(points[i], Marker::circle, canvas.px(kPoint) + stroke.width / 2, fill);
    const BubbleCurve& curve = *line.members.front();
    const float reach = canvas.px(5);
    canvas.tag_with("bubble." + std::string(engine::schedule_id(curve.shape.kind)) + "." +
                        std::to_string(curve.points[i].microbatches),
                    -1, {points[i].x - reach, points[i].y - reach, 2 * reach, 2 * reach},
                    [&] { return readout_of(input, curve, curve.points[i]); });
  }
}

// A sample of each line, its name and what idles now. Names at the ends of lines would all point at one place: where
// there are many microbatches the lines come together.
void draw_line_key(Canvas& canvas, const FigureInput& input, const BubbleLayout& l, int now) {
  const Theme& theme = input.theme;
  const float pitch = kCurveNamePitch * kSmallText * canvas.em(), sample = canvas.px(kSample);
  if (l.numbers)
    canvas.text({l.key_right, l.key_title_y}, input.texts.format("figure.bubble.now", {format_count(now)}),
                small_text(canvas, theme.ink3, HAlign::right));
  for (std::size_t i = 0; i < l.rows.size(); ++i) {
    const BubbleLine& line = l.lines[l.rows[i].line];
    const float y = l.plot.y + pitch * (static_cast<float>(i) + 0.5f);
    const Stroke stroke = stroke_of(canvas, theme, line);
    canvas.line({l.key_x, y}, {l.key_x + sample, y}, stroke);
    const Weight weight = line.own() ? Weight::bold : Weight::regular;
    canvas.text({l.key_x + sample + canvas.px(kCurveKeyGap), y}, l.rows[i].label,
                small_text(canvas, readable(stroke.colour, theme.panel), HAlign::left, weight));
    if (l.numbers)
      canvas.text({l.key_right, y}, number_of(line, now),
                  small_text(canvas, line.own() ? theme.ink : theme.ink2, HAlign::right, weight));
  }
}

// Beside the dot where no line passes: near it if there is room, else over or under the lines with a leader to it.
void draw_now_number(Canvas& canvas, const FigureInput& input, const BubbleLayout& l, Point dot,
                     const std::string& text) {
  const Theme& theme = input.theme;
  const std::array lines{LabelLine{text, small_text(canvas, theme.ink, HAlign::left, Weight::bold)}};
  const Size size = label_size(canvas, lines);
  LabelField field(l.plot);
  const float width = theme.data_width * canvas.em() + canvas.px(2);
  for (const BubbleLine& line : l.lines) {
    const std::vector<Point> points = points_of(l, line);
    for (std::size_t i = 1; i < points.size(); ++i) field.take_line(points[i - 1], points[i], width);
  }
  field.take_line({dot.x, l.plot.y}, {dot.x, l.plot.bottom()}, width);
  std::vector<Point> corners;
  const float gap = canvas.px(7), near = size.h * 0.6f;
  for (int step = 0; step < kPlaces; ++step)
    for (const float away : {-1.0f, 1.0f})
      for (const float x : {dot.x + gap, dot.x - gap - size.w})
        corners.push_back({x, dot.y - size.h / 2 + away * static_cast<float>(step) * size.h / 2});
  const std::optional<Rect> place = field.place(size, corners);
  if (!place) return;  // it stands in the head too
  const float middle = place->centre().y;
  if (std::abs(middle - dot.y) > near) {
    const bool right = place->x > dot.x;
    canvas.line(dot, {right ? place->x - canvas.px(2) : place->right() + canvas.px(2), middle},
                {theme.ink3, theme.axis_width * canvas.em(), {}});
  }
  draw_label(canvas, *place, lines);
}

void draw_now_value(Canvas& canvas, const FigureInput& input, const BubbleLayout& l, int microbatches) {
  for (const BubbleLine& line : l.lines) {
    if (!line.own()) continue;
    const BubblePoint* p = point_at(*line.members.front(), microbatches);
    if (p == nullptr) continue;
    const Point at{l.x(microbatches), l.y(100 * p->idle_fraction)};
    Fill fill;
    fill.colour = input.theme.ink;
    canvas.marker(at, Marker::circle, input.theme.marker_size * canvas.em(), fill);
    draw_now_number(canvas, input, l, at, format_percent(p->idle_fraction));
  }
}

FigureHead bubble_head(const FigureInput& input, const FigureView&) {
  const TextTable& t = input.texts;
  FigureHead head;
  head.title = t.text("figure.bubble.title");
  const engine::BubbleStudy* c = curves_of(input);
  if (c == nullptr) return head;
  const int now = c->shape().microbatches;
  const BubbleCurve& own = c->curves()[static_cast<std::size_t>(c->shape().kind)];
  const BubblePoint* here = point_at(own, now);
  if (here == nullptr) return head;
  const std::string name = say(head, name_claim(schedule_name(input, own.shape)));
  const auto idle_of = [&](const BubblePoint& p) {
    return say(head, data_claim("idle share", p.idle_fraction, format_percent(p.idle_fraction)));
  };
  const auto microbatches_of = [&](const BubblePoint& p) {
    return say(head, data_claim("microbatches", p.microbatches, format_count(p.microbatches)));
  };
  const std::string idle = idle_of(*here);
  microbatches_of(*here);  // a claim of the text, which writes it as its count
  head.brief = t.format("figure.bubble.takeaway.brief", {name, idle});
  if (const BubblePoint* twice = point_at(own, 2 * now))
    head.takeaway =
        t.count("figure.bubble.takeaway.twice", now, {name, idle, idle_of(*twice), microbatches_of(*twice)});
  else
    head.takeaway = t.count("figure.bubble.takeaway.now", now, {name, idle});
  return head;
}

void draw_bubble(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  const Rect rest = draw_figure_head(canvas, area, input, view, bubble_head(input, view));
  if (rest.empty()) return;
  const engine::BubbleStudy* c = curves_of(input);
  if (c == nullptr) {
    if (input.report.pipeline.shape.stages > 1) return draw_schedule_reason(canvas, rest, input);
    return draw_one_stage(canvas, rest, input, input.texts.text("figure.schedules.try"));
  }
  const BubbleLayout l = lay_out(canvas, rest, input, *c);
  if (l.plot.w < canvas.px(40) || l.plot.h < canvas.px(24) || l.lines.empty()) return;
  const Theme& theme = input.theme;
  draw_frame(canvas, theme, l.plot, l.x, l.y, l.frame);
  TextStyle title;
  title.em = kSmallText * canvas.em();
  title.colour = theme.ink3;
  title.valign = VAlign::middle;
  const std::string words = input.texts.format("figure.bubble.y", {"\u2191"});
  canvas.text({rest.x, l.title_y}, ellipsize(canvas, words, title, rest.w), title);

  const int now = c->shape().microbatches;
  draw_now(canvas, theme, l.plot, l.x(now), input.texts.format("figure.bubble.now", {format_count(now)}));
  for (std::size_t i = l.lines.size(); i-- > 0;)  // the first one on top, the plan's own over all
    if (!l.lines[i].own()) draw_line(canvas, input, l, l.lines[i], now);
  for (const BubbleLine& line : l.lines)
    if (line.own()) draw_line(canvas, input, l, line, now);
  draw_line_key(canvas, input, l, now);
  draw_now_value(canvas, input, l, now);
}

std::string bubble_data(const FigureInput& input, const FigureView&) {
  std::string out = "schedule\tmicrobatches\tidle share\tmakespan s\n";
  const engine::BubbleStudy* c = curves_of(input);
  if (c == nullptr) return out;
  for (const engine::BubbleCurve& curve : c->curves())
    for (const engine::BubblePoint& p : curve.points)
      out += fmt::format("{}\t{}\t{}\t{}\n", engine::schedule_id(curve.shape.kind), p.microbatches, p.idle_fraction,
                         static_cast<double>(p.makespan) * 1e-12);
  return out;
}

}  // namespace

extern constinit const FigureRow bubble_figure{
    .name = "bubble",
    .needs = Needs::stages,
    .about = About::schedules,
    .head = bubble_head,
    .draw = draw_bubble,
    .data = bubble_data,
};

}  // namespace roofscape::widgets
