#include "widgets/figures/training/figure_pipeline_tools.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/pipeline/timeline_analysis.h"
#include "widgets/canvas/number_format.h"
#include "widgets/plot/plot.h"

namespace roofscape::widgets::gantt {

using engine::kNoOp;
using engine::Op;
using engine::OpKind;
using engine::Q;
using engine::WaitKind;

namespace {

constexpr float kLeastTracePitch = 8;                // of rows that have room for a trace
constexpr float kBarTop = 0.06f, kBarShare = 0.54f;  // of the pitch, with a trace below
constexpr float kTraceStep = 1.5f;                   // narrower steps of a trace are one ...
constexpr float kMostTraceSteps = 5000;  // ... and wider ones where there would be more than these, of all rows
constexpr float kTraceLevel = 0.25f;     // heights that differ by less are one
constexpr float kTracePale = 0.5f, kRangePale = 0.75f;
constexpr float kPathStep = 1;  // of the critical path what lies in such a column is its range
constexpr float kPathWidth = 2, kPathCasing = 4.5f, kLinkWidth = 1.2f;
constexpr float kCasing = 0.7f;  // opacity of the ground under a line across blocks
constexpr float kVeil = 0.55f;   // of what the time cursor has not reached
constexpr float kAxisTick = 4;

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
      return (s + 1) % route != 0 ? engine::find_op(orders, OpKind::forward, s + 1, k)
                                  : engine::find_op(orders, OpKind::backward_input, s, k);
    case OpKind::backward:
    case OpKind::backward_input:
      return s % route != 0 ? engine::find_op(orders, OpKind::backward_input, s - 1, k)
                            : engine::find_op(orders, OpKind::backward_weight, s, k);
    case OpKind::backward_weight:
      break;
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
  return rect_between(g.rows.plot.x, bar.bottom() + canvas.px(1.5f), g.rows.plot.right(),
                      band.bottom() - canvas.px(1));
}

// Bytes a microbatch keeps on each device; microbatches themselves where the report has no bytes.
// The report says how many bytes the most is that a device holds.
std::vector<double> bytes_per_microbatch(const FigureInput& input, const Gantt& g, bool& known) {
  const engine::PipelineReport& p = g.pipeline;
  const auto part = std::find(engine::kMemoryParts.begin(), engine::kMemoryParts.end(), Q::memory_activations) -
                    engine::kMemoryParts.begin();
  const auto& stages = input.report.stages;
  known = stages.size() == p.orders.devices();
  std::vector<double> bytes(p.orders.devices(), 1);
  for (std::size_t d = 0; d < bytes.size() && known; ++d) {
    const double peak = g.levels->whole(d).most / std::max(1u, p.orders.passes_per_device);
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

namespace {

// One layer of a trace: equal heights that follow each other are one rectangle.
class TraceLayer {
 public:
  TraceLayer(Canvas& canvas, const Rect& area, const Fill& fill) : canvas_(canvas), area_(area), fill_(fill) {}
  void add(float from, float to, float height) {
    const float level = canvas_.px(kTraceLevel);
    height = std::round(height / level) * level;
    if (height == height_ && from <= to_ + 0.01f) {
      to_ = to;
      return;
    }
    flush();
    from_ = from;
    to_ = to;
    height_ = height;
  }
  void flush() {
    if (to_ > from_ && height_ > 0) canvas_.rect({from_, area_.bottom() - height_, to_ - from_, height_}, fill_);
    to_ = from_;
  }

 private:
  Canvas& canvas_;
  Rect area_;
  const Fill& fill_;
  float from_ = 0, to_ = 0, height_ = -1;
};

// The memory of one device over time: what it holds at least, and over it the range in which it goes up and down
// within a step of the picture.
class TracePainter {
 public:
  TracePainter(Canvas& canvas, const Gantt& g, int device, const Rect& area, double height_per_chunk,
               const Fill& fill, const Fill& range)
      : g_(g),
        d_(static_cast<std::size_t>(device)),
        height_(height_per_chunk),
        most_(canvas, area, range),
        least_(canvas, area, fill) {
    const float step =
        std::max(canvas.px(kTraceStep), g.rows.plot.w * static_cast<float>(g.rows.count) / kMostTraceSteps);
    step_ = static_cast<double>(step) / g.px_per_tick;
  }
  // The two layers one after the other: what is held at least lies on the range.
  void paint() {
    visit(g_.levels->levels.size() - 1, 0);
    close();
    most_.flush();
    for (const Column& c : columns_) least_.add(c.from, c.to, static_cast<float>(c.least * height_));
    least_.flush();
  }

 private:
  struct Column {
    float from, to;
    double least;
  };

  void visit(std::size_t level, std::uint32_t i) {
    const engine::TimelineDetail::Level& all = g_.levels->levels[level];
    if (i >= all.count(d_)) return;
    const engine::TimelineBlock& block = all.of(d_)[i];
    const auto start = static_cast<double>(block.start), next = static_cast<double>(all.of(d_)[i + 1].start);
    if (next <= g_.from || start >= g_.to) return;
    if (next - start <= step_) {
      add(start, next, block.least, block.most);
    } else if (level > 0) {
      visit(level - 1, 2 * i);
      visit(level - 1, 2 * i + 1);
    } else {
      operations(block, i * engine::TimelineDetail::kLeastOps, next);
    }
  }

  void operations(const engine::TimelineBlock& block, std::uint32_t first, double until) {
    const engine::Orders& orders = g_.pipeline.orders;
    const std::uint32_t begin = orders.first[d_] + first;
    const std::uint32_t end = std::min(orders.first[d_ + 1], begin + engine::TimelineDetail::kLeastOps);
    double held = block.before;
    const double put_off = g_.levels->put_off;
    auto at = static_cast<double>(block.start);
    for (std::uint32_t i = begin; i < end; ++i) {
      if (orders.ops[i].joined_with_next()) continue;
      double more = engine::held_at_start(orders.ops[i].kind()),
             less = engine::freed_at_end(orders.ops[i].kind(), put_off);
      if (engine::joined_with_previous(orders, i))
        more += engine::held_at_start(orders.ops[i - 1].kind()),
            less += engine::freed_at_end(orders.ops[i - 1].kind(), put_off);
      const double start = start_of(g_, i), stop = end_of(g_, i);
      add(at, start, held, held);
      held += more;
      add(start, stop, held, held);
      held -= less;
      at = stop;
    }
    add(at, until, held, held);
  }

  void add(double from, double to, double least, double most) {
    if (to <= from) return;
    if (open_ && to - from_ > step_) close();
    if (!open_) {
      open_ = true;
      from_ = from;
      low_ = least;
      high_ = most;
    }
    to_ = to;
    low_ = std::min(low_, least);
    high_ = std::max(high_, most);
  }

  void close() {
    if (!open_) return;
    open_ = false;
    const float from = g_.at(from_), to = g_.at(to_);
    if (high_ > low_) most_.add(from, to, static_cast<float>(high_ * height_));
    if (!columns_.empty() && columns_.back().least == low_)
      columns_.back().to = to;
    else
      columns_.push_back({from, to, low_});
  }

  const Gantt& g_;
  std::size_t d_;
  double height_ = 0, step_ = 0;
  TraceLayer most_, least_;
  std::vector<Column> columns_;
  bool open_ = false;
  double from_ = 0, to_ = 0;
  double low_ = 0, high_ = 0;
};

}  // namespace

Fill trace_fill(const Theme& theme, float em) {
  Fill fill = fill_of(theme, MemoryPart::activations, em);
  fill.hatch = Hatch::none;
  fill.edge_width = 0;
  fill.colour = mix(fill.colour, theme.panel, kTracePale);
  return fill;
}

bool has_traces(const Canvas& canvas, const Gantt& g) {
  return g.rows.pitch >= canvas.px(kLeastTracePitch) && g.levels != nullptr;
}

void draw_memory_traces(Canvas& canvas, const FigureInput& input, const Gantt& g) {
  if (!has_traces(canvas, g)) return;
  const engine::PipelineReport& p = g.pipeline;
  bool known = false;
  const std::vector<double> bytes = bytes_per_microbatch(input, g, known);
  const double passes = std::max(1u, p.orders.passes_per_device);
  std::vector<double> peaks;
  for (std::size_t d = 0; d < bytes.size(); ++d) peaks.push_back(g.levels->whole(d).most / passes * bytes[d]);
  const double most = *std::max_element(peaks.begin(), peaks.end());
  if (!(most > 0)) return;
  const Fill fill = trace_fill(input.theme, canvas.em());
  Fill range = fill;
  range.colour =
      mix(fill_of(input.theme, MemoryPart::activations, canvas.em()).colour, input.theme.panel, kRangePale);
  const auto clip = canvas.clip(g.rows.plot);
  for (int device = 0; device < g.rows.count && device < static_cast<int>(bytes.size()); ++device) {
    const auto d = static_cast<std::size_t>(device);
    const Rect area = trace_rect(canvas, g, device);
    canvas.line({area.x, area.bottom()}, {area.right(), area.bottom()},
                {input.theme.line, input.theme.grid_width * canvas.em(), {}});
    TracePainter(canvas, g, device, area, static_cast<double>(area.h) * bytes[d] / passes / most, fill, range)
        .paint();
    canvas.tag_with(engine::quantity(Q::memory_activations).id, device, area, [&] {
      Readout out;
      const std::string peak =
          known ? format(peaks[d], engine::unit::bytes)
                : input.texts.format("figure.pipeline.microbatches", {format_significant(peaks[d])});
      out.title = input.texts.format("figure.pipeline.readout.memory", {peak});
      out.rows.emplace_back(std::string(input.texts.text(g.rows.word)), format_count(device));
      return out;
    });
  }
}

namespace {

// A path of which many points may lie in one column of pixels: of such it keeps where it comes in, how far it goes up
// and down, and where it goes out.
class PathLine {
 public:
  explicit PathLine(float step) : step_(step) {}
  void add(Point p) {
    if (open_ && p.x - first_.x < step_) {
      low_ = std::min(low_, p.y);
      high_ = std::max(high_, p.y);
      last_ = p;
      return;
    }
    flush();
    open_ = true;
    first_ = last_ = p;
    low_ = high_ = p.y;
  }
  const std::vector<Point>& points() {
    flush();
    return points_;
  }

 private:
  void flush() {
    if (!open_) return;
    open_ = false;
    points_.push_back(first_);
    if (low_ < std::min(first_.y, last_.y)) points_.push_back({first_.x, low_});
    if (high_ > std::max(first_.y, last_.y)) points_.push_back({first_.x, high_});
    if (last_ != first_) points_.push_back(last_);
  }
  float step_;
  bool open_ = false;
  Point first_{}, last_{};
  float low_ = 0, high_ = 0;
  std::vector<Point> points_;
};

}  // namespace

void draw_critical_path(Canvas& canvas, const FigureInput& input, const Gantt& g) {
  const std::vector<engine::TimedStep>& path = path_of(input, g.pipeline);
  auto step = std::partition_point(path.begin(), path.end(),
                                   [&](const engine::TimedStep& s) { return static_cast<double>(s.end) < g.from; });
  PathLine line(canvas.px(kPathStep));
  const bool numbers = std::any_of(g.numbered.begin(), g.numbered.end(), [](bool any) { return any; });
  for (; step != path.end(); ++step) {
    const engine::Orders& orders = g.pipeline.orders;
    Rect bar = g.rows.bar(static_cast<int>(step->device));
    // Of an overlapped pair the half that was waited for.
    if (g.overlaps && orders.ops[step->op].joined_with_next())
      bar.h /= 2;
    else if (g.overlaps && engine::joined_with_previous(orders, step->op))
      bar.y += bar.h / 2, bar.h /= 2;
    // Under the numbers of microbatches.
    const float y = numbers ? bar.bottom() - canvas.px(kPathCasing / 2 + 1) : bar.centre().y;
    line.add({g.at(static_cast<double>(step->start)), y});
    line.add({g.at(static_cast<double>(step->end)), y});
    if (static_cast<double>(step->start) > g.to) break;
  }
  const std::vector<Point>& points = line.points();
  if (points.size() < 2) return;
  const auto clip = canvas.clip(g.rows.plot);
  canvas.polyline(points, {faded(input.theme.panel, kCasing), canvas.px(kPathCasing), {}});
  canvas.polyline(points, {input.theme.ink, canvas.px(kPathWidth), {}});
}

bool has_room_for_path(const Canvas& canvas, const Gantt& g) {
  const float bar = (g.overlaps ? 0.5f : 1.0f) * g.rows.bar_height, digits = kSmallText * canvas.em() * 0.72f;
  return (bar - digits) / 2 >= canvas.px(kPathCasing + 2);
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
  const auto begin = p.timeline.start.begin() + p.orders.first[d],
             end = p.timeline.start.begin() + p.orders.first[d + 1];
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
  const Rect pill{confined(x - w / 2, plot.x, most), plot.bottom() + canvas.px(kAxisTick + 2) + line, w, line};
  canvas.rect(pill, {.colour = theme.ink}, canvas.px(3));
  canvas.text(pill.centre(), text, style);
}

std::string waited_text(const FigureInput& input, const engine::PipelineReport& p, std::uint32_t op) {
  const TextTable& t = input.texts;
  const engine::WaitedFor waited = engine::waited_for(p.orders, p.times, p.timeline, op);
  if (waited.kind == WaitKind::nothing || waited.op == kNoOp)
    return std::string(t.text("figure.pipeline.waited.nothing"));
  const Op other = p.orders.ops[waited.op];
  const std::string name = kind_name(input, other.kind()), number = format_count(other.microbatch() + 1.0);
  const std::string stage = format_count(engine::device_of_op(p.orders, waited.op));
  switch (waited.kind) {
    case WaitKind::device_order:
      return t.format("figure.pipeline.waited.order", {name, number});
    case WaitKind::sending:
      return t.format("figure.pipeline.waited.sending", {name, number});
    case WaitKind::transfer:
    case WaitKind::input:
    case WaitKind::nothing:
      break;
  }
  // Of another stage even where the transfer takes no time.
  if (engine::device_of_op(p.orders, waited.op) == engine::device_of_op(p.orders, op))
    return t.format("figure.pipeline.waited.input", {name, number});
  return t.format("figure.pipeline.waited.transfer", {name, number, std::string(t.text(row_word(p.shape))), stage});
}

}  // namespace roofscape::widgets::gantt
