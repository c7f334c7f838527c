// The pipeline figure: when each device computes what in one training step, as it was simulated. One row a
// stage, or a device where it holds several, at the heights of the memory figure's rows. Where blocks would be
// under 3 scale-1 pixels runs of them become one bar, and where even these are, bars say by their
// parts what share of the time goes where.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_options.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/figures/common/measured_ghost.h"
#include "widgets/figures/common/stage_rows.h"
#include "widgets/figures/training/figure_memory_parts.h"
#include "widgets/figures/training/figure_pipeline_blocks.h"
#include "widgets/figures/training/figure_pipeline_measured.h"
#include "widgets/figures/training/figure_pipeline_parts.h"
#include "widgets/figures/training/figure_pipeline_tools.h"
#include "widgets/figures/training/time_bars.h"

namespace roofscape::widgets {

using engine::Q;

namespace {

// The tools as options of a file.
enum class CriticalPath : std::uint8_t { off, on };
enum class MemoryTrace : std::uint8_t { off, on };
enum class CursorAt : std::uint8_t { none, start, quarter, half, three_quarters, end };
constexpr std::array<std::string_view, 2> kOffOn{"off", "on"};
constexpr std::array<std::string_view, 6> kCursorPlaces{"none", "start", "quarter", "half", "three-quarters", "end"};
constexpr FigureOptions kPipelineOptions{OptionOf<CriticalPath>{"critical-path", kOffOn},
                                         OptionOf<MemoryTrace>{"memory-trace", kOffOn},
                                         OptionOf<CursorAt>{"cursor", kCursorPlaces}};

using gantt::kTicksPerSecond;

// In drawing order; what does not fit is left out from the end.
std::vector<KeyEntry> kinds_of(const Canvas& canvas, const FigureInput& input, const FigureView& view,
                               const gantt::Gantt& g) {
  const TextTable& t = input.texts;
  const bool split = engine::splits_backward(g.pipeline.shape.kind);
  const auto entry = [&](std::string_view key, Fill fill) {
    const std::string brief = std::string(key) + ".brief";
    return KeyEntry{std::string(t.text(key)), fill, t.has(brief) ? std::string(t.text(brief)) : std::string()};
  };
  std::vector<KeyEntry> entries{entry("figure.pipeline.forward", g.fills[0][0])};
  // Pairs that overlap hold a whole backward, the others its two halves.
  entries.push_back(entry(!split       ? "figure.pipeline.backward"
                          : g.overlaps ? "figure.schedules.backward_or_input"
                                       : "figure.pipeline.backward_input",
                          g.fills[1][0]));
  if (split)
    entries.push_back(
        entry(g.overlaps ? "figure.schedules.weight" : "figure.pipeline.backward_weight", g.fills[3][0]));
  if (g.recomputes) entries.push_back(entry("figure.pipeline.recompute", g.again[0]));
  if (view.memory_trace && gantt::has_traces(canvas, g))
    entries.push_back(entry("figure.pipeline.held", gantt::trace_fill(input.theme, canvas.em())));
  entries.push_back(entry("figure.pipeline.idle", gantt::idle_swatch(input.theme, g, canvas.em())));
  if (g.shows_step_end(canvas)) entries.push_back(entry("figure.pipeline.step_end", g.end));
  return entries;
}

void draw_kinds_key(Canvas& canvas, const FigureInput& input, const FigureView& view, const gantt::Gantt& g) {
  const TextTable& t = input.texts;
  const Point at{g.rows.plot.x, g.rows.header.centre().y};
  const bool shares = g.detail == gantt::Detail::shares;  // which have no shades
  const bool splits = gantt::splits_bars(canvas, input, g);
  const bool both_ways = engine::directions(g.pipeline.shape.kind) == 2 && !shares;
  const int chunks = shares || both_ways ? 1 : g.chunks;
  const std::string note = view.critical_path ? std::string(t.text("figure.pipeline.critical"))
                                              : gantt::key_note(t, chunks, splits, both_ways);
  draw_fitting_key(canvas, input.theme, at, g.rows.area.right() - g.rows.plot.x, kinds_of(canvas, input, view, g),
                   note, view.critical_path ? std::string() : gantt::key_note(t, chunks, false, both_ways),
                   g.rows.header.h / 2);
}

}  // namespace

namespace {

// In the window the view has the tools; a file has no buttons to press and takes them as options.
FigureView with_options(FigureView view) {
  view.critical_path = view.critical_path || kPipelineOptions.chosen<CriticalPath>(view) == CriticalPath::on;
  view.memory_trace = view.memory_trace || kPipelineOptions.chosen<MemoryTrace>(view) == MemoryTrace::on;
  const auto cursor = kPipelineOptions.chosen<CursorAt>(view);
  if (cursor != CursorAt::none && !view.cursor)
    view.cursor = 0.25 * (static_cast<int>(cursor) - static_cast<int>(CursorAt::start));
  return view;
}

FigureHead plain_pipeline_head(const FigureInput& input) {
  const TextTable& t = input.texts;
  const engine::PipelineReport& p = input.report.pipeline;
  FigureHead head;
  head.title = t.text("figure.pipeline.title");
  if (!p.status.legal()) {
    head.takeaway = t.format("figure.pipeline.cannot_run", {say(head, name_claim(schedule_name(input, p.shape)))});
  } else if (p.drawn()) {
    const std::string name = say(head, name_claim(schedule_name(input, p.shape))),
                      idle = say(head, claim_of(input, Q::pipeline_bubble_fraction));
    head.brief = t.format("figure.pipeline.takeaway.brief", {name, idle});
    const auto step = input.report.quantities[Q::step_time];
    const auto base = input.baseline ? input.baseline->report.quantities[Q::step_time] : std::nullopt;
    if (step && base) {
      head.takeaway = t.format("figure.pipeline.with_baseline", {head.brief, say(head, claim_of(input, Q::step_time)),
                                                                 say(head, baseline_claim(input, Q::step_time))});
      head.context = compared_context(input);
      return head;
    }
    head.takeaway = t.format(
        "figure.pipeline.takeaway",
        {name, idle, say(head, beside_claim("pipeline.stages", p.shape.stages, format_count(p.shape.stages))),
         say(head, claim_of(input, Q::microbatches, t.count("ui.pipeline.microbatches", p.shape.microbatches)))});
  }
  return head;
}

FigureHead pipeline_head(const FigureInput& input, const FigureView&) {
  FigureHead head = plain_pipeline_head(input);
  if (input.report.pipeline.drawn()) say_measured_step(input, head);
  return head;
}

constexpr double kMostGhost = 1.5;  // of the own step: a baseline whose order is not known leaves the picture beyond
constexpr float kGhostRow = 1.9f;   // em of small text
constexpr float kLeastRow = 2.2f;   // scale-1 pixels a device, below which the baseline's schedule is an outline
constexpr float kBetween = 10;      // scale-1 pixels between the two schedules
constexpr float kLeastRowsHeight =
    2.5f;  // lines of the key that the rows are high, where a second line takes its height

// Seconds of the baseline's step; 0: there is none to draw.
double ghost_seconds(const FigureInput& input) {
  return input.baseline ? input.baseline->report.quantities.value_or(Q::step_time, 0) : 0;
}

// The baseline's schedule, where it has one to draw.
const engine::PipelineReport* ghost_pipeline(const FigureInput& input) {
  if (input.baseline == nullptr || !input.baseline->report.pipeline.drawn()) return nullptr;
  return &input.baseline->report.pipeline;
}

double step_length(const engine::PipelineReport& p) {
  return static_cast<double>(p.timeline.makespan) + std::max(0.0, p.step_end_s) * kTicksPerSecond;
}

// The visible part of the time and the rows it is drawn in.
struct Laid {
  double total = 0, from = 0, to = 1;  // ticks; from is less than 0 where a measured lane begins before the plan
  double own = 0;                      // of the plan itself: less than the total beside a longer baseline
  float ghost = 0;                     // height of the baseline's row under the stages
  TimeUnit unit;
  Scale range;
  StageRows rows;
  const engine::PipelineReport* base = nullptr;  // drawn whole under the plan's, on the same axis
  StageRows base_rows;
  gantt::MeasuredPlace measured;
  float schedules_bottom() const { return base != nullptr ? base_rows.plot.bottom() : rows.plot.bottom() + ghost; }
  float bottom() const { return schedules_bottom() + measured.height; }
  // The visible part of the whole, from the earliest beginning to the latest end.
  void show(const FigureView& view, double latest) {
    const double first = measured.from_s * kTicksPerSecond;
    total = std::max(latest, measured.to_s * kTicksPerSecond);
    from = first + std::clamp(view.from, 0.0, 1.0) * (total - first);
    to = std::max(from + 1, first + std::clamp(view.to, 0.0, 1.0) * (total - first));
    unit = time_unit(std::max(to, -from) / kTicksPerSecond);
    const double per_tick = 1 / (kTicksPerSecond * unit.seconds);
    range = Scale(ScaleKind::linear, from * per_tick, to * per_tick, 0, 1);
  }
};

// Both schedules under each other: rows of one height, a line with a name over each.
std::optional<Laid> lay_out_both(const Canvas& canvas, const Rect& whole_area, const FigureInput& input,
                                 const FigureView& view, float more_header) {
  const engine::PipelineReport *base = ghost_pipeline(input), &p = input.report.pipeline;
  if (base == nullptr || view.memory_trace) return std::nullopt;
  Laid l;
  l.base = base;
  l.own = step_length(p);
  l.measured = gantt::place_measured(canvas, input, whole_area);
  l.show(view, std::max(l.own, step_length(*base)));
  Rect rest = whole_area;
  rest.cut_bottom(l.measured.height);
  const auto devices = [](const engine::PipelineReport& of) { return static_cast<int>(of.orders.devices()); };
  const int most = std::max(devices(p), devices(*base));
  l.rows = stage_rows(canvas, input.texts, rest, most, time_axis(canvas, input, l.range, l.unit, rest.w),
                      view.compact, row_word(p.shape), more_header);
  const float name = small_line(canvas) * 1.15f, gap = canvas.px(kBetween);
  const Frame axis{time_axis(canvas, input, l.range, l.unit, rest.w), {}};
  const Rect whole =
      rect_between(l.rows.plot.x, l.rows.plot.y, l.rows.plot.right(), plot_rect(canvas, rest, axis).bottom());
  const float pitch = (whole.h - 2 * name - gap) / static_cast<float>(devices(p) + devices(*base));
  if (pitch < canvas.px(kLeastRow)) return std::nullopt;
  const auto place = [&](StageRows rows, const engine::PipelineReport& of, float top) {
    rows.count = devices(of);
    rows.word = row_word(of.shape);
    rows.pitch = std::min(pitch, rows.pitch);
    rows.plot.y = top;
    rows.plot.h = rows.pitch * static_cast<float>(rows.count);
    rows.bar_height = rows.pitch < canvas.px(4) ? rows.pitch : rows.pitch * 0.8f;
    rows.label_every = 1;
    for (const int step : {1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000}) {
      rows.label_every = step;
      if (static_cast<float>(step) * rows.pitch >= number_line(canvas)) break;
    }
    return rows;
  };
  l.base_rows = l.rows;
  l.rows = place(l.rows, p, whole.y + name);
  const float under = l.rows.plot.bottom() + gap;
  l.base_rows.header = {l.rows.header.x, under, l.rows.header.w,
                        name};  // its word stands there, not in the key's line
  l.base_rows = place(l.base_rows, *base, under + name);
  if (l.base_rows.word == l.rows.word) l.base_rows.word = {};  // said once
  return l;
}

Laid lay_out_under(const Canvas& canvas, const Rect& rest, const FigureInput& input, const FigureView& view,
                   float more_header) {
  if (const auto both = lay_out_both(canvas, rest, input, view, more_header)) return *both;
  const engine::PipelineReport& p = input.report.pipeline;
  Laid l;
  l.own = step_length(p);
  l.measured = gantt::place_measured(canvas, input, rest);
  l.show(view, std::max(l.own, std::min(ghost_seconds(input) * kTicksPerSecond, kMostGhost * l.own)));
  const int stages = static_cast<int>(p.orders.devices());
  l.ghost = ghost_seconds(input) > 0 ? kGhostRow * kSmallText * canvas.em() : 0;
  Rect over = rest;
  over.cut_bottom(l.ghost + l.measured.height);
  l.rows = stage_rows(canvas, input.texts, over, stages, time_axis(canvas, input, l.range, l.unit, rest.w),
                      view.compact, row_word(p.shape), more_header);
  if (view.memory_trace) l.rows = gantt::rows_with_trace(canvas, l.rows);
  return l;
}

// The plan begins at 0, further right where a measured lane begins before it.
StageRows from_start(const Laid& laid, StageRows on) {
  if (laid.from >= 0) return on;
  const float shift = laid.range.with_range(on.plot.x, on.plot.right())(0) - on.plot.x;
  on.plot.x += shift;
  on.plot.w = std::max(1.0f, on.plot.w - shift);
  return on;
}

gantt::Gantt gantt_of(const Canvas& canvas, const FigureInput& input, const Laid& laid,
                      const engine::PipelineReport& p, const StageRows& rows) {
  return gantt::make_gantt(canvas, input.theme, p, from_start(laid, rows), std::max(0.0, laid.from), laid.to);
}

// What the key lists depends on the rows; a second line of it takes its height from them.
Laid lay_out(const Canvas& canvas, const Rect& rest, const FigureInput& input, const FigureView& view) {
  const Laid laid = lay_out_under(canvas, rest, input, view, 0);
  const gantt::Gantt g = gantt_of(canvas, input, laid, input.report.pipeline, laid.rows);
  if (key_rows(canvas, g.rows.area.right() - g.rows.plot.x, kinds_of(canvas, input, view, g)) < 2) return laid;
  if (laid.rows.plot.h < kLeastRowsHeight * key_row_height(canvas)) return laid;
  const Laid lower = lay_out_under(canvas, rest, input, view, key_row_height(canvas));
  return lower.base == laid.base ? lower : laid;
}

// The baseline's step as an outline on the same axis, in a row of its own: bars of another mesh would have other
// rows.
void draw_ghost(Canvas& canvas, const FigureInput& input, const Laid& laid, const Scale& x) {
  const TextTable& t = input.texts;
  const double seconds = ghost_seconds(input);
  const Rect& plot = laid.rows.plot;
  const float gap = laid.ghost * 0.15f;
  const double end_at = seconds / laid.unit.seconds;
  const bool whole = seconds * kTicksPerSecond <= laid.to * (1 + 1e-9);
  const float top = plot.bottom() + gap, bottom = plot.bottom() + laid.ghost - gap, start = std::max(plot.x, x(0)),
              end = whole ? std::max(start, x(end_at)) : plot.right();
  const std::vector<Point> outline{{end, top}, {start, top}, {start, bottom}, {end, bottom}};
  memory::draw_ghost_line(canvas, input.theme, outline, whole);  // open where it goes on
  TextStyle style = small_text(canvas, input.theme.ink2, HAlign::left);
  const std::string text =
      t.format("figure.step.readout", {std::string(t.text("figure.step.baseline")), format_duration(seconds)});
  const float width = canvas.text_width(text, style), room = canvas.px(6), middle = (top + bottom) / 2;
  if (end + room + width <= plot.right())
    canvas.text({end + room, middle}, text, style);
  else if (end - room - width > plot.x)
    canvas.text({end - room - width, middle}, text, style);
  canvas.tag_with("pipeline.baseline", -1, rect_between(start, top, end, bottom), [&] {
    Readout r{text, {}};
    add_baseline_time(r, t, input.report.quantities.value_or(Q::step_time, 0), seconds);
    return r;
  });
}

// Name, time and schedule over the rows of either plan.
void draw_plan_line(Canvas& canvas, const FigureInput& input, const StageRows& rows, std::string_view key,
                    const engine::PipelineReport& p, double seconds, bool own) {
  const float y = rows.plot.y - small_line(canvas) * 0.6f;
  const TextStyle name = small_text(canvas, own ? input.theme.ink : input.theme.ink2, HAlign::left,
                                    own ? Weight::bold : Weight::regular);
  const std::string text = input.texts.format(key, {schedule_name(input, p.shape), format_duration(seconds)});
  canvas.text({rows.plot.x, y}, ellipsize(canvas, text, name, rows.plot.w), name);
}

Rect pipeline_plot(const Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& asked) {
  const FigureView view = with_options(asked);
  if (view.print || area.empty() || !input.report.pipeline.drawn()) return {};
  return lay_out(canvas, area, input, view).rows.plot;
}

void draw_pipeline(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& asked) {
  const FigureView view = with_options(asked);
  const Rect rest = draw_figure_head(canvas, area, input, view, pipeline_head(input, view));
  const engine::PipelineReport& p = input.report.pipeline;
  if (rest.empty()) return;
  if (!p.status.legal()) return draw_schedule_reason(canvas, rest, input);
  if (!p.drawn())
    return p.shape.stages > 1 ? draw_schedule_reason(canvas, rest, input) : draw_one_stage(canvas, rest, input);

  const Laid laid = lay_out(canvas, rest, input, view);
  const StageRows& rows = laid.rows;
  const Scale x = laid.range.with_range(rows.plot.x, rows.plot.right());
  gantt::Gantt g = gantt_of(canvas, input, laid, p, rows);
  if (g.detail == gantt::Detail::shares || view.memory_trace) g.levels = &gantt::levels_of(input, p);
  if (view.critical_path && !gantt::has_room_for_path(canvas, g)) g.numbered.fill(false);

  draw_stage_tint(canvas, input.theme, rows, view.hovered_stage);
  Frame frame;
  frame.x = time_axis(canvas, input, x, laid.unit, rows.plot.w);
  frame.y.grid = frame.y.line = false;
  Rect framed = rows.plot;
  framed.h = laid.bottom() - framed.y;
  draw_frame(canvas, input.theme, framed, x, Scale(ScaleKind::linear, 0, 1, framed.bottom(), framed.y), frame);
  if (laid.ghost > 0) draw_ghost(canvas, input, laid, x);
  draw_stage_numbers(canvas, input.theme, input.texts, rows, view.hovered_stage);
  draw_kinds_key(canvas, input, view, g);
  gantt::draw_blocks(canvas, input, g);
  if (laid.base != nullptr) {
    gantt::Gantt before = gantt_of(canvas, input, laid, *laid.base, laid.base_rows);
    before.scope = "baseline/";
    if (before.detail == gantt::Detail::shares) before.levels = &gantt::levels_of(input, *laid.base);
    draw_stage_numbers(canvas, input.theme, input.texts, laid.base_rows, {});
    gantt::draw_blocks(canvas, input, before);
    draw_plan_line(canvas, input, rows, "figure.pipeline.line.now", p,
                   input.report.quantities.value_or(Q::step_time, 0), true);
    draw_plan_line(canvas, input, laid.base_rows, "figure.pipeline.line.baseline", *laid.base, ghost_seconds(input),
                   false);
  }
  if (laid.measured.height > 0)
    gantt::draw_measured(canvas, input, laid.measured,
                         rect_between(rows.plot.x, laid.schedules_bottom(), rows.plot.right(), laid.bottom()), x,
                         laid.unit);
  if (view.memory_trace) gantt::draw_memory_traces(canvas, input, g);
  if (view.critical_path) gantt::draw_critical_path(canvas, input, g);
  if (view.cursor) gantt::draw_time_cursor(canvas, input, g, std::clamp(*view.cursor, 0.0, 1.0) * laid.own);
  if (view.pointer) gantt::draw_links(canvas, input, g, *view.pointer);
}

std::string_view pass_name(engine::OpKind kind) {
  switch (kind) {
    case engine::OpKind::forward:
      return "forward";
    case engine::OpKind::backward:
      return "backward";
    case engine::OpKind::backward_input:
      return "backward_input";
    case engine::OpKind::backward_weight:
      return "backward_weight";
  }
  return "";
}

std::string pipeline_data(const FigureInput& input, const FigureView&) {
  std::string out = "device\tvirtual stage\tmicrobatch\tpass\tstart s\n";
  const engine::PipelineReport& p = input.report.pipeline;
  constexpr std::size_t kMost = 200000;  // a clipboard is no place for more
  for (std::size_t device = 0; device < p.orders.devices(); ++device)
    for (std::size_t i = p.orders.first[device];
         i < p.orders.first[device + 1] && i < p.timeline.start.size() && i < kMost; ++i) {
      const engine::Op op = p.orders.ops[i];
      out += fmt::format("{}\t{}\t{}\t{}\t{}\n", device, op.stage(), op.microbatch() + 1, pass_name(op.kind()),
                         static_cast<double>(p.timeline.start[i]) * 1e-12);
    }
  return out;
}

}  // namespace

extern constinit const FigureRow pipeline_figure{
    .name = "pipeline",
    .needs = Needs::stages,
    .measures = Measures::run,
    .height_pt = 269.3f,
    .options = kPipelineOptions.rows,
    .head = pipeline_head,
    .draw = draw_pipeline,
    .data = pipeline_data,
    .timeline = pipeline_plot,
};

}  // namespace roofscape::widgets
