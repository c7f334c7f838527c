#include "widgets/figure_pipeline_tools.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/pipeline/timeline_analysis.h"
#include "widgets/number_format.h"
#include "widgets/plot.h"

namespace roofscape::widgets::gantt {

using engine::kNoOp;
using engine::Op;
using engine::OpKind;
using engine::Q;
using engine::WaitKind;

namespace {

constexpr float kLeastTracePitch = 8;   // of rows that have room for a trace
constexpr float kBarTop = 0.06f, kBarShare = 0.54f;  // of the pitch, with a trace below
constexpr float kTraceStep = 1.5f;      // narrower steps of a trace are one
constexpr float kTracePale = 0.5f;
constexpr float kPathWidth = 2, kPathCasing = 4.5f, kLinkWidth = 1.2f;
constexpr float kCasing = 0.7f;         // opacity of the ground under a line across blocks
constexpr float kVeil = 0.55f;          // of what the time cursor has not reached
constexpr float kAxisTick = 4;

std::string op_name(const FigureInput& input, Op op) {
  constexpr std::string_view kKeys[] = {"figure.pipeline.forward", "figure.pipeline.backward", "figure.pipeline.backward_input",
                                        "figure.pipeline.backward_weight"};
  return std::string(input.texts.text(kKeys[static_cast<std::size_t>(op.kind())]));
}

double start_of(const Gantt& g, std::uint32_t op) { return static_cast<double>(g.pipeline.timeline.start[op]); }
double end_of(const Gantt& g, std::uint32_t op) {
  return static_cast<double>(engine::op_end(g.pipeline.orders, g.pipeline.times, g.pipeline.timeline, op));
}

// Where an operation is drawn; halves of an overlapped pair share the height of the bar.
Rect op_rect(const Gantt& g, std::uint32_t op) {
  const engine::Orders& orders = g.pipeline.orders;
  const Rect bar = g.rows.bar(static_cast<int>(engine::device_of_op(orders, op)));
  Rect r = rect_between(g.at(start_of(g, op)), bar.y, g.at(end_of(g, op)), bar.bottom());
  if (orders.ops[op].joined_with_next()) r.h /= 2;
  if (engine::joined_with_previous(orders, op)) r = {r.x, r.y + r.h / 2, r.w, r.h / 2};
  return r;
}

// The operations whose results this one needs, and the one on the way of its microbatch that needs its own.
std::vector<std::uint32_t> inputs_of(const engine::Orders& orders, std::uint32_t i) {
  const Op op = orders.ops[i];
  const std::uint32_t s = op.stage(), k = op.microbatch(), route = std::max(1u, orders.route_length);
  std::vector<std::uint32_t> found;
  const auto add = [&](OpKind kind, std::uint32_t stage) {
    if (const std::uint32_t other = engine::find_op(orders, kind, stage, k); other != kNoOp) found.push_back(other);
  };
  if (op.kind() == OpKind::forward) {
    if (s % route != 0) add(OpKind::forward, s - 1);
  } else if (op.kind() == OpKind::backward_weight) {
    add(OpKind::backward_input, s);
  } else {
    add(OpKind::forward, s);
    if ((s + 1) % route != 0) add(OpKind::backward_input, s + 1);
  }
  return found;
}

std::uint32_t consumer_of(const engine::Orders& orders, std::uint32_t i) {
  const Op op = orders.ops[i];
  const std::uint32_t s = op.stage(), k = op.microbatch(), route = std::max(1u, orders.route_length);
  switch (op.kind()) {
    case OpKind::forward:
      return (s + 1) % route != 0 ? engine::find_op(orders, OpKind::forward, s + 1, k) : engine::find_op(orders, OpKind::backward_input, s, k);
    case OpKind::backward:
    case OpKind::backward_input:
      return s % route != 0 ? engine::find_op(orders, OpKind::backward_input, s - 1, k) : engine::find_op(orders, OpKind::backward_weight, s, k);
    case OpKind::backward_weight: break;
  }
  return kNoOp;
}

void link(Canvas& canvas, const Theme& theme, Point from, Point to) {
  canvas.line(from, to, {faded(theme.panel, kCasing), canvas.px(3 * kLinkWidth), {}});
  canvas.arrow(from, to, {theme.ink, canvas.px(kLinkWidth), {}}, canvas.px(5));
}

Point left_middle(const Rect& r) { return {r.x, r.centre().y}; }
Point right_middle(const Rect& r) { return {r.right(), r.centre().y}; }

Rect trace_rect(const Canvas& canvas, const Gantt& g, int device) {
  const Rect band = g.rows.band(device), bar = g.rows.bar(device);
  return rect_between(g.rows.plot.x, bar.bottom() + canvas.px(1.5f), g.rows.plot.right(), band.bottom() - canvas.px(1));
}

// Bytes a microbatch keeps on each device; microbatches themselves where the report has no bytes.
std::vector<double> bytes_per_microbatch(const FigureInput& input, const engine::PipelineReport& p, bool& known) {
  const auto part = std::find(engine::kMemoryParts.begin(), engine::kMemoryParts.end(), Q::memory_activations) - engine::kMemoryParts.begin();
  const auto& stages = input.report.stages;
  known = stages.size() == p.orders.devices() && p.peak_microbatches.size() == stages.size();
  std::vector<double> bytes(p.orders.devices(), 1);
  for (std::size_t d = 0; d < bytes.size() && known; ++d) {
    const double peak = p.peak_microbatches[d];
    bytes[d] = peak > 0 ? stages[d].memory_bytes[static_cast<std::size_t>(part)] / peak : 0;
  }
  if (std::all_of(bytes.begin(), bytes.end(), [](double b) { return !(b > 0); })) {
    known = false;
    std::fill(bytes.begin(), bytes.end(), 1);
  }
  return bytes;
}

}  // namespace

StageRows rows_with_trace(const Canvas& canvas, StageRows rows) {
  if (rows.pitch < canvas.px(kLeastTracePitch)) return rows;
  const float height = std::min(rows.bar_height, rows.pitch * kBarShare);
  rows.bar_shift = rows.pitch * kBarTop - (rows.pitch - height) / 2;
  rows.bar_height = height;
  return rows;
}

void draw_memory_traces(Canvas& canvas, const FigureInput& input, const Gantt& g) {
  if (g.rows.pitch < canvas.px(kLeastTracePitch)) return;
  const engine::PipelineReport& p = g.pipeline;
  bool known = false;
  const std::vector<double> bytes = bytes_per_microbatch(input, p, known);
  const double passes = std::max(1u, p.orders.passes_per_device);
  const std::size_t virtual_stages = p.orders.device_of.size();
  const engine::ActivationSizes sizes{std::vector<double>(virtual_stages, 0), std::vector<double>(virtual_stages, 1 / passes)};
  std::vector<std::vector<engine::MemoryPoint>> traces(bytes.size());
  std::vector<double> peaks(bytes.size(), 0);
  double most = 0;
  for (std::size_t d = 0; d < traces.size(); ++d) {
    engine::memory_trace(p.orders, p.times, p.timeline, sizes, static_cast<std::uint32_t>(d), traces[d]);
    for (const engine::MemoryPoint& point : traces[d]) peaks[d] = std::max(peaks[d], point.amount * bytes[d]);
    most = std::max(most, peaks[d]);
  }
  if (!(most > 0)) return;
  Fill fill = fill_of(input.theme, MemoryPart::activations, canvas.em());
  fill.hatch = Hatch::none;
  fill.edge_width = 0;
  fill.colour = mix(fill.colour, input.theme.panel, kTracePale);  // set off from the backward blocks, which share its hue
  const auto clip = canvas.clip(g.rows.plot);
  for (int device = 0; device < g.rows.count && device < static_cast<int>(traces.size()); ++device) {
    const auto d = static_cast<std::size_t>(device);
    const Rect area = trace_rect(canvas, g, device);
    canvas.line({area.x, area.bottom()}, {area.right(), area.bottom()}, {input.theme.line, input.theme.grid_width * canvas.em(), {}});
    const auto paint = [&](float from, float to, double amount) {
      const float h = area.h * static_cast<float>(amount * bytes[d] / most);
      if (to > from && h > canvas.px(0.2f)) canvas.rect({from, area.bottom() - h, to - from, h}, fill);
    };
    const auto& trace = traces[d];
    float open = g.at(g.from);
    double amount = 0;
    for (std::size_t i = 0; i < trace.size(); ++i) {
      const auto time = static_cast<double>(trace[i].time);
      const double until = i + 1 < trace.size() ? static_cast<double>(trace[i + 1].time) : time;
      if (until <= g.from && i + 1 < trace.size()) continue;
      if (time >= g.to) break;
      const float x = std::max(open, g.at(time));
      if (x - open >= canvas.px(kTraceStep) || i + 1 == trace.size()) {
        paint(open, x, amount);
        open = x;
        amount = trace[i].amount;
      } else {
        amount = std::max(amount, trace[i].amount);
      }
    }
    paint(open, g.at(g.to), amount);
    canvas.tag_with(engine::quantity(Q::memory_activations).id, device, area, [&] {
      Readout out;
      const std::string peak = known ? format(peaks[d], engine::unit::bytes)
                                     : input.texts.format("figure.pipeline.microbatches", {format_significant(peaks[d])});
      out.title = input.texts.format("figure.pipeline.readout.memory", {peak});
      out.rows.emplace_back(std::string(input.texts.text("figure.stage")), format_count(device));
      return out;
    });
  }
}

void draw_critical_path(Canvas& canvas, const FigureInput& input, const Gantt& g) {
  const engine::PipelineReport& p = g.pipeline;
  std::vector<engine::CriticalStep> path;
  engine::critical_path(p.orders, p.times, p.timeline, path);
  std::vector<Point> points;
  const float least = canvas.px(0.7f);
  const auto add = [&](Point point) {
    if (points.empty() || distance(points.back(), point) >= least) points.push_back(point);
  };
  for (const engine::CriticalStep& step : path) {
    if (end_of(g, step.op) < g.from) continue;
    const Rect r = op_rect(g, step.op);
    add(left_middle(r));
    add(right_middle(r));
    if (start_of(g, step.op) > g.to) break;
  }
  if (points.size() < 2) return;
  const auto clip = canvas.clip(g.rows.plot);
  canvas.polyline(points, {faded(input.theme.panel, kCasing), canvas.px(kPathCasing), {}});
  canvas.polyline(points, {input.theme.ink, canvas.px(kPathWidth), {}});
}

std::optional<std::uint32_t> op_at(const Gantt& g, Point point) {
  const engine::PipelineReport& p = g.pipeline;
  if (!g.rows.plot.contains(point) || g.detail == Detail::shares || g.rows.pitch <= 0) return std::nullopt;
  const int device = static_cast<int>((point.y - g.rows.plot.y) / g.rows.pitch);
  if (device < 0 || device >= g.rows.count || device >= static_cast<int>(p.orders.devices())) return std::nullopt;
  const Rect bar = g.rows.bar(device);
  if (point.y < bar.y || point.y > bar.bottom()) return std::nullopt;
  const auto d = static_cast<std::size_t>(device);
  const double tick = g.from + static_cast<double>(point.x - g.rows.plot.x) / g.px_per_tick;
  const auto begin = p.timeline.start.begin() + p.orders.first[d], end = p.timeline.start.begin() + p.orders.first[d + 1];
  const auto after = std::upper_bound(begin, end, static_cast<engine::Tick>(tick));
  if (after == begin) return std::nullopt;
  auto op = static_cast<std::uint32_t>(after - p.timeline.start.begin()) - 1;
  if (tick > end_of(g, op)) return std::nullopt;
  // Of an overlapped pair the half at this height; the later one starts at the same time.
  if (engine::joined_with_previous(p.orders, op) && point.y < bar.centre().y) --op;
  // In runs only those with room for a block of their own.
  if (g.detail == Detail::runs && (end_of(g, op) - start_of(g, op)) * g.px_per_tick < 3) return std::nullopt;
  return op;
}

void draw_links(Canvas& canvas, const FigureInput& input, const Gantt& g, Point pointer) {
  const auto op = op_at(g, pointer);
  if (!op) return;
  const auto clip = canvas.clip(g.rows.plot);
  const Rect here = op_rect(g, *op);
  for (const std::uint32_t other : inputs_of(g.pipeline.orders, *op))
    link(canvas, input.theme, right_middle(op_rect(g, other)), left_middle(here));
  if (const std::uint32_t other = consumer_of(g.pipeline.orders, *op); other != kNoOp)
    link(canvas, input.theme, right_middle(here), left_middle(op_rect(g, other)));
  canvas.frame(here.inset(-canvas.px(1)), {input.theme.ink, canvas.px(1.5f), {}});
}

void draw_time_cursor(Canvas& canvas, const FigureInput& input, const Gantt& g, double tick) {
  if (tick < g.from || tick > g.to) return;
  const Theme& theme = input.theme;
  const Rect& plot = g.rows.plot;
  const float x = g.at(tick);
  canvas.rect(rect_between(x, plot.y, plot.right(), plot.bottom()), {.colour = faded(theme.panel, kVeil)});
  canvas.line({x, plot.y}, {x, plot.bottom() + canvas.px(kAxisTick)}, {theme.ink, canvas.px(1.5f), {}});
  TextStyle style;
  style.em = kSmallText * canvas.em();
  style.weight = Weight::bold;
  style.halign = HAlign::centre;
  style.valign = VAlign::middle;
  style.colour = theme.inv;
  const std::string text = format_duration(tick / kTicksPerSecond);
  const float line = small_line(canvas), w = canvas.text_width(text, style) + canvas.px(12);
  // In the line of the axis title, clear of it at the right.
  const float most = std::max(plot.x, plot.right() - canvas.px(110) - w);
  const Rect pill{std::clamp(x - w / 2, plot.x, most), plot.bottom() + canvas.px(kAxisTick + 2) + line, w, line};
  canvas.rect(pill, {.colour = theme.ink}, canvas.px(3));
  canvas.text(pill.centre(), text, style);
}

std::string waited_text(const FigureInput& input, const engine::PipelineReport& p, std::uint32_t op) {
  const TextTable& t = input.texts;
  const engine::WaitedFor waited = engine::waited_for(p.orders, p.times, p.timeline, op);
  if (waited.kind == WaitKind::nothing || waited.op == kNoOp) return std::string(t.text("figure.pipeline.waited.nothing"));
  const Op other = p.orders.ops[waited.op];
  const std::string name = op_name(input, other), number = format_count(other.microbatch() + 1.0);
  const std::string stage = format_count(engine::device_of_op(p.orders, waited.op));
  switch (waited.kind) {
    case WaitKind::device_order: return t.format("figure.pipeline.waited.order", {name, number});
    case WaitKind::sending: return t.format("figure.pipeline.waited.sending", {name, number});
    case WaitKind::transfer:
    case WaitKind::input:
    case WaitKind::nothing: break;
  }
  // Of another stage even where the transfer takes no time.
  if (engine::device_of_op(p.orders, waited.op) == engine::device_of_op(p.orders, op))
    return t.format("figure.pipeline.waited.input", {name, number});
  return t.format("figure.pipeline.waited.transfer", {name, number, stage});
}

}  // namespace roofscape::widgets::gantt
