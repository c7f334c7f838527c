#include "widgets/figures/training/figure_pipeline_blocks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include "engine/pipeline/timeline_analysis.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/training/figure_pipeline_tools.h"

namespace roofscape::widgets::gantt {

using engine::Op;
using engine::Q;
using engine::Tick;

namespace {

constexpr float kGap = 0.8f;          // between blocks
constexpr float kLeastBlock = 3;      // under this blocks join
constexpr float kLeastRun = 1;        // under this runs become shares
constexpr float kLeastRecompute = 2;  // narrower recomputation shares the height of its backward
constexpr float kLeastEdged = 6;      // lower and narrower bars would be all edge: then none has one
constexpr float kLeastHatched = 9;    // of a row: lower ones have no hatch, as Canvas draws them
constexpr float kOutside = 24;        // how far outside the plot coordinates reach
// Of the longest of its kind: what takes less, as an embedding alone on its stage, does not decide how all are drawn.
constexpr double kSlight = 0.125;

std::size_t kind_index(Op op) { return static_cast<std::size_t>(op.kind()); }

// First operation of a device that is not over before `tick`; its starts ascend.
std::uint32_t first_visible(const engine::PipelineReport& p, std::uint32_t begin, std::uint32_t end, double tick) {
  const auto& start = p.timeline.start;
  const auto it = std::upper_bound(start.begin() + begin, start.begin() + end, static_cast<Tick>(tick));
  auto i = static_cast<std::uint32_t>(it - start.begin());
  if (i > begin) --i;
  // Both halves of an overlapped pair start together.
  while (i > begin && start[i - 1] == start[i]) --i;
  return i;
}

class RowPainter {
 public:
  RowPainter(Canvas& canvas, const FigureInput& input, const Gantt& gantt, int device)
      : canvas_(canvas), input_(input), g_(gantt), p_(gantt.pipeline), device_(device), bar_(gantt.rows.bar(device)) {
    const auto d = static_cast<std::size_t>(device);
    begin_ = p_.orders.first[d];
    end_ = p_.orders.first[d + 1];
    number_.em = kSmallText * canvas.em();
    number_.halign = HAlign::centre;
    number_.valign = VAlign::middle;
  }

  void paint() {
    if (g_.detail == Detail::shares && g_.levels != nullptr)
      draw_share_row(canvas_, input_, g_, device_);
    else
      paint_ops();
    paint_step_end();
  }

  // Whether a bar in sight is split by height.
  bool mixes() const {
    for (std::uint32_t i = first_visible(p_, begin_, end_, g_.from); i < end_;) {
      if (static_cast<double>(p_.timeline.start[i]) >= g_.to) break;
      if (p_.orders.ops[i].joined_with_next()) {
        i += 2;
        continue;
      }
      const Run run = run_from(i);
      if (narrow(run.stop - static_cast<double>(p_.timeline.start[i]))) return true;
      i = run.next;
    }
    return false;
  }

 private:
  // With the row it is on.
  std::string titled(const std::string& what) const {
    const TextTable& t = input_.texts;
    return t.format("figure.pipeline.readout.op", {what, std::string(t.text(g_.rows.word)), format_count(device_)});
  }

  double duration(std::uint32_t i) const {
    if (g_.overlaps) return static_cast<double>(engine::op_duration(p_.orders, p_.times, i));
    return g_.durations[p_.orders.ops[i].stage_and_kind()];
  }

  void paint_ops() {
    const auto makespan = static_cast<double>(p_.timeline.makespan);
    std::uint32_t i = first_visible(p_, begin_, end_, g_.from);
    double idle_from = i == begin_ ? 0 : static_cast<double>(p_.timeline.start[i - 1]) + duration(i - 1);
    while (i < end_) {
      const Op op = p_.orders.ops[i];
      const auto start = static_cast<double>(p_.timeline.start[i]);
      if (start >= g_.to) break;
      paint_idle(idle_from, start);
      if (op.joined_with_next()) {
        const double stop = start + duration(i);
        paint_block(i, 1, start, stop, bar_.y, bar_.h / 2);
        paint_block(i + 1, 1, start, stop, bar_.y + bar_.h / 2, bar_.h / 2);
        idle_from = stop;
        i += 2;
        continue;
      }
      if (g_.detail == Detail::blocks && !narrow(duration(i))) {
        const double stop = start + duration(i);
        paint_block(i, 1, start, stop, bar_.y, bar_.h);
        idle_from = stop;
        ++i;
        continue;
      }
      const Run run = run_from(i);
      if (narrow(run.stop - start)) {
        std::tie(i, idle_from) = paint_mixture(i);
        continue;
      }
      paint_block(i, run.next - i, start, run.stop, bar_.y, bar_.h, run.mixed);
      idle_from = run.stop;
      i = run.next;
    }
    if (i >= end_)
      paint_idle(idle_from, makespan);
    else
      paint_idle(idle_from, std::min(makespan, g_.to));
  }

  bool narrow(double ticks) const { return ticks * g_.px_per_tick < canvas_.px(kLeastRun); }
  bool follows(std::uint32_t i, double stop) const {  // without a gap one could see
    return (static_cast<double>(p_.timeline.start[i]) - stop) * g_.px_per_tick < canvas_.px(kGap);
  }

  // Operations of one kind that follow each other. Chunks of a device stay apart where one can see them.
  struct Run {
    std::uint32_t next;
    double stop;
    bool mixed;  // of several chunks: drawn in the full colour
  };
  Run run_from(std::uint32_t i) const {
    const Op first = p_.orders.ops[i];
    Run run{i + 1, static_cast<double>(p_.timeline.start[i]) + duration(i), false};
    for (; run.next < end_ && follows(run.next, run.stop); ++run.next) {
      const Op op = p_.orders.ops[run.next];
      if (op.kind() != first.kind() || op.joined_with_next()) break;
      const bool other = g_.chunk_of[op.stage()] != g_.chunk_of[first.stage()];
      if (other && !narrow(duration(run.next))) break;
      run.mixed = run.mixed || other;
      run.stop = static_cast<double>(p_.timeline.start[run.next]) + duration(run.next);
    }
    return run;
  }

  // Runs too narrow to draw become one bar with the share of each kind. Returns what comes after them and their end.
  std::pair<std::uint32_t, double> paint_mixture(std::uint32_t i) {
    const auto from = static_cast<double>(p_.timeline.start[i]);
    Times time{};
    double stop = from;
    while (i < end_ && follows(i, stop) && !p_.orders.ops[i].joined_with_next()) {
      const Run run = run_from(i);
      if (!narrow(run.stop - static_cast<double>(p_.timeline.start[i]))) break;
      for (; i < run.next; ++i) {
        const Op op = p_.orders.ops[i];
        const double again = g_.again_ticks(op);
        spent(time, op.kind() == engine::OpKind::forward           ? Spent::forward
                    : op.kind() == engine::OpKind::backward_weight ? Spent::weight
                                                                   : Spent::backward) += duration(i) - again;
        spent(time, Spent::recompute) += again;
      }
      stop = run.stop;
    }
    double busy = 0;
    for (const double t : time) busy += t;
    for (double& t : time) t *= busy > 0 ? (stop - from) / busy : 0;
    if (from < g_.to && stop > g_.from) draw_share_bar(canvas_, input_, g_, device_, time, from, stop);
    return {i, stop};
  }

  void paint_block(std::uint32_t first, std::uint32_t count, double from, double to, float top, float height,
                   bool mixed = false) {
    if (to <= g_.from || to <= from) return;
    const Op op = p_.orders.ops[first];
    Rect r = rect_between(g_.at(from), top, g_.at(to), top + height);
    if (g_.detail == Detail::blocks && r.w > canvas_.px(2)) r.w -= canvas_.px(kGap);
    Fill fill = mixed ? g_.fills[kind_index(op)][0] : g_.fill(op);
    if (r.w < canvas_.px(kLeastEdged)) fill.edge_width = 0;
    canvas_.rect(r, fill);
    const double again = count == 1 ? g_.recompute(op) : 0;
    const Rect rest =
        rect_between(again > 0 ? std::min(g_.at(from + again), r.right()) : r.x, r.y, r.right(), r.bottom());
    const std::size_t kind = kind_index(op);
    if (g_.numbered[kind] && count == 1 && rest.w >= g_.number_width - canvas_.px(1) && rest.x >= g_.rows.plot.x &&
        r.right() <= g_.rows.plot.right()) {
      number_.colour = text_on(fill.colour);
      canvas_.text(rest.centre(), format_count(static_cast<double>(op.microbatch()) + 1), number_);
    }
    g_.tag(canvas_, tag_of(op.kind()), device_, r, [&] {
      Readout out;
      const TextTable& t = input_.texts;
      const std::string what = kind_name(input_, op.kind());
      out.title = count > 1 ? t.count("figure.pipeline.readout.run", static_cast<double>(count), {what})
                            : t.format("figure.pipeline.readout", {what, format_count(op.microbatch() + 1.0)});
      add_times(input_, g_, out, device_, from, to);
      if (count == 1) {  // four rows: the stage goes into the title
        out.title = titled(out.title);
        out.rows.erase(out.rows.begin());
        out.rows.emplace_back(std::string(input_.texts.text("figure.pipeline.waited")),
                              waited_text(input_, p_, first));
      }
      return out;
    });
    if (again > 0) {
      paint_recompute(op, rect_between(r.x, r.y, rest.x, r.bottom()), from, again, to - from);
      return;
    }
    double all = 0, hidden = 0;
    for (std::uint32_t i = first; i < first + count; ++i)
      all += duration(i), hidden += g_.again_ticks(p_.orders.ops[i]);
    if (!(hidden > 0)) return;
    // Too narrow to stand before it: the two share the height as they share the time.
    const float part = r.h * static_cast<float>(std::min(1.0, hidden / all));
    paint_recompute(op, rect_between(r.x, r.y, r.right(), r.y + part), from, hidden, all);
  }

  // The forwards a backward begins with, in one piece.
  void paint_recompute(Op op, const Rect& r, double from, double ticks, double whole) {
    const Fill& fill = g_.again[std::min<std::size_t>(g_.chunk_of[op.stage()], g_.again.size() - 1)];
    canvas_.rect(r, fill);
    g_.tag(canvas_, engine::quantity(Q::step_recompute).id, device_, r, [&] {
      const TextTable& t = input_.texts;
      Readout out;
      out.title = t.format("figure.pipeline.readout",
                           {std::string(t.text("figure.pipeline.recompute")), format_count(op.microbatch() + 1.0)});
      out.title = titled(out.title);
      add_times(input_, g_, out, device_, from, from + ticks);
      out.rows.erase(out.rows.begin());
      out.rows.emplace_back(std::string(t.text("figure.pipeline.recompute_share")), format_percent(ticks / whole));
      return out;
    });
  }

  void paint_idle(double from, double to) {
    from = std::max(from, 0.0);
    if (to <= from || to <= g_.from || from >= g_.to) return;
    const Rect r = rect_between(g_.at(from), bar_.y, g_.at(to), bar_.bottom());
    if (r.w < canvas_.px(1.5f)) return;
    // One pattern over the row: a gap in pieces, between operations that take no time, is hatched as a whole one is.
    Fill idle = g_.idle;
    idle.hatch_area = {g_.rows.plot.x, bar_.y, g_.rows.plot.w, bar_.h};
    canvas_.rect(r, idle);
    tag_idle(canvas_, input_, g_, device_, r, from, to);
  }

  void paint_step_end() {
    if (!g_.shows_step_end(canvas_)) return;
    const auto from = static_cast<double>(p_.timeline.makespan);
    const double to = from + g_.step_end;
    const Rect r = rect_between(g_.at(from), bar_.y, g_.at(to), bar_.bottom());
    canvas_.rect(r, g_.end);
    g_.tag(canvas_, engine::quantity(Q::step_optimizer).id, device_, r, [&] {
      Readout out;
      out.title = input_.texts.format("figure.pipeline.readout.step_end", {time_text(g_.step_end)});
      return out;
    });
  }

  Canvas& canvas_;
  const FigureInput& input_;
  const Gantt& g_;
  const engine::PipelineReport& p_;
  int device_;
  Rect bar_;
  std::uint32_t begin_ = 0, end_ = 0;
  TextStyle number_;
};

// The shortest time, slight stages aside, that operations of a kind take; infinite where there are none.
double shortest(const std::vector<Tick>& a, const std::vector<Tick>* b = nullptr) {
  const auto of = [&](std::size_t s) {
    return static_cast<double>(a[s]) + (b && s < b->size() ? static_cast<double>((*b)[s]) : 0.0);
  };
  double longest = 0, least = std::numeric_limits<double>::infinity();
  for (std::size_t s = 0; s < a.size(); ++s) longest = std::max(longest, of(s));
  for (std::size_t s = 0; s < a.size(); ++s)
    if (of(s) > 0 && of(s) >= kSlight * longest) least = std::min(least, of(s));
  return least;
}

// Of backwards without what they do again.
double shortest_rest(const engine::PipelineReport& p, bool with_weight) {
  std::vector<Tick> rest = p.times.backward_input;
  for (std::size_t s = 0; s < std::min(rest.size(), p.recompute.size()); ++s) rest[s] -= p.recompute[s];
  return shortest(rest, with_weight ? &p.times.backward_weight : nullptr);
}

}  // namespace

std::string kind_name(const FigureInput& input, engine::OpKind kind) {
  constexpr std::array kKeys{"figure.pipeline.forward", "figure.pipeline.backward", "figure.pipeline.backward_input",
                             "figure.pipeline.backward_weight"};
  return std::string(input.texts.text(kKeys[static_cast<std::size_t>(kind)]));
}

std::string_view tag_of(engine::OpKind kind) {
  return engine::quantity(kind == engine::OpKind::forward ? Q::stage_forward : Q::stage_backward).id;
}

std::string time_text(double ticks) { return format_duration(ticks / kTicksPerSecond); }

void add_times(const FigureInput& input, const Gantt& g, Readout& r, int row, double from, double to) {
  const TextTable& t = input.texts;
  r.rows.emplace_back(std::string(t.text(g.rows.word)), format_count(row));
  r.rows.emplace_back(std::string(t.text("figure.pipeline.start")), time_text(from));
  r.rows.emplace_back(std::string(t.text("figure.pipeline.end")), time_text(to));
  r.rows.emplace_back(std::string(t.text("figure.pipeline.duration")), time_text(to - from));
}

void tag_idle(Canvas& canvas, const FigureInput& input, const Gantt& g, int device, const Rect& r, double from,
              double to) {
  g.tag(canvas, engine::quantity(Q::pipeline_bubble_fraction).id, device, r, [&] {
    Readout out;
    out.title = input.texts.format("figure.pipeline.readout.idle", {time_text(to - from)});
    add_times(input, g, out, device, from, to);
    out.rows.pop_back();
    return out;
  });
}

bool Gantt::shows_step_end(const Canvas& canvas) const {
  const auto makespan = static_cast<double>(pipeline.timeline.makespan);
  return step_end > 0 && makespan + step_end > from && makespan < to &&
         static_cast<float>(step_end * px_per_tick) >= canvas.px(0.5f);
}

double Gantt::again_ticks(Op op) const {
  if (!recomputes || op.kind() == engine::OpKind::forward || op.kind() == engine::OpKind::backward_weight) return 0;
  return static_cast<double>(pipeline.recompute[op.stage()]);
}

double Gantt::recompute(Op op) const {
  const double ticks = leads ? again_ticks(op) : 0;
  return ticks >= least_recompute ? ticks : 0;
}

double Gantt::again_share(int device) const {
  if (!recomputes) return 0;
  const bool split = engine::splits_backward(pipeline.shape.kind) && !overlaps;
  double repeated = 0, backward = 0;
  for (std::size_t stage = 0; stage < pipeline.recompute.size(); ++stage) {
    if (pipeline.orders.device_of[stage] != device) continue;
    repeated += static_cast<double>(pipeline.recompute[stage]);
    backward += static_cast<double>(pipeline.times.backward_input[stage] +
                                    (split ? 0 : pipeline.times.backward_weight[stage]));
  }
  return backward > 0 ? std::min(1.0, repeated / backward) : 0;
}

float Gantt::at(double tick) const {
  const double x = rows.plot.x + (tick - from) * px_per_tick;
  return static_cast<float>(
      std::clamp(x, static_cast<double>(rows.plot.x) - kOutside, static_cast<double>(rows.plot.right()) + kOutside));
}

const Fill& Gantt::fill(Op op) const {
  return fills[kind_index(op)][std::min<std::size_t>(chunk_of[op.stage()], fills[0].size() - 1)];
}

Gantt make_gantt(const Canvas& canvas, const Theme& theme, const engine::PipelineReport& p, const StageRows& rows,
                 double from, double to) {
  Gantt g(p, rows, from, to);
  g.px_per_tick = rows.plot.w / std::max(to - from, 1.0);
  g.rows.word = row_word(p.shape);
  g.step_end = std::max(0.0, p.step_end_s) * kTicksPerSecond;

  std::vector<int> seen(p.orders.devices(), 0);
  for (const std::uint16_t device : p.orders.device_of) {
    const int chunk = device < seen.size() ? seen[device]++ : 0;
    g.chunk_of.push_back(static_cast<std::uint8_t>(std::min(chunk, 255)));
    g.chunks = std::max(g.chunks, chunk + 1);
  }
  g.overlaps = engine::overlaps_forward_backward(p.shape.kind);
  for (std::size_t stage = 0; stage < p.times.forward.size(); ++stage) {
    const auto f = static_cast<double>(p.times.forward[stage]),
               b = static_cast<double>(p.times.backward_input[stage]);
    const auto w = static_cast<double>(p.times.backward_weight[stage]);
    g.durations.insert(g.durations.end(), {f, b + w, b, w});
  }
  constexpr std::array kLooks{TimelinePart::forward, TimelinePart::backward, TimelinePart::backward,
                              TimelinePart::backward_weight};
  const int shades = std::min<int>(g.chunks, static_cast<int>(g.fills[0].size()));
  for (std::size_t k = 0; k < kLooks.size(); ++k)
    for (int c = 0; c < shades; ++c)
      g.fills[k][static_cast<std::size_t>(c)] = chunk_of(theme, fill_of(theme, kLooks[k], canvas.em()), c, shades);
  for (int c = 0; c < shades; ++c)
    g.again[static_cast<std::size_t>(c)] =
        chunk_of(theme, fill_of(theme, TimelinePart::recompute, canvas.em()), c, shades);
  g.idle = fill_of(theme, TimelinePart::idle, canvas.em());
  if (rows.bar_height < canvas.px(kLeastHatched)) g.idle.hatch = Hatch::none;
  g.end = fill_of(theme, TimelinePart::step_end, canvas.em());

  const bool split = engine::splits_backward(p.shape.kind);
  const std::array least{shortest(p.times.forward), shortest(p.times.backward_input, &p.times.backward_weight),
                         split ? shortest(p.times.backward_input) : std::numeric_limits<double>::infinity(),
                         split ? shortest(p.times.backward_weight) : std::numeric_limits<double>::infinity()};
  const double narrowest = *std::min_element(least.begin(), least.end()) * g.px_per_tick;
  for (const double ticks : g.durations)
    if (ticks > 0) g.narrowest = std::min(g.narrowest, ticks * g.px_per_tick);
  const double visible = static_cast<double>(p.orders.ops.size()) *
                         std::min(1.0, (to - from) / std::max<double>(1, static_cast<double>(p.timeline.makespan)));
  if (visible > kMostDrawnOps)
    g.detail = Detail::shares;
  else if (narrowest >= canvas.px(kLeastBlock))
    g.detail = Detail::blocks;
  else
    g.detail = Detail::runs;
  g.least_recompute = static_cast<double>(canvas.px(kLeastRecompute)) / g.px_per_tick;
  const auto any_as_long = [&](double least_ticks) {
    return p.recompute.size() == p.times.forward.size() &&
           std::any_of(p.recompute.begin(), p.recompute.end(),
                       [&](Tick t) { return t > 0 && static_cast<double>(t) >= least_ticks; });
  };
  g.recomputes = any_as_long(0);
  g.leads = g.detail == Detail::blocks && any_as_long(g.least_recompute);

  // One look for all: an edge on some blocks only would seem to mean something.
  double narrowest_edged = narrowest;
  for (std::size_t s = 0; g.leads && s < p.recompute.size(); ++s) {
    const auto again = static_cast<double>(p.recompute[s]);
    if (again >= g.least_recompute) narrowest_edged = std::min(narrowest_edged, again * g.px_per_tick);
  }
  if (std::min(rows.bar_height, static_cast<float>(narrowest_edged)) < canvas.px(kLeastEdged)) {
    for (Fill& fill : g.again) fill.edge_width = 0;
    for (auto& kind : g.fills)
      for (Fill& fill : kind) fill.edge_width = 0;
  }

  TextStyle number;
  number.em = kSmallText * canvas.em();
  g.number_width = canvas.text_width(format_count(p.orders.microbatches), number) + canvas.px(3);
  const float height = (g.overlaps ? 0.5f : 1.0f) * rows.bar_height;
  const bool tall = height >= number.em * 1.05f && rows.room_for(small_line(canvas));
  std::array room = least;
  if (g.leads) room[1] = shortest_rest(p, true), room[2] = std::min(room[2], shortest_rest(p, false));
  for (std::size_t k = 0; k < room.size(); ++k)
    g.numbered[k] = tall && g.detail == Detail::blocks && room[k] * g.px_per_tick - canvas.px(kGap) >= g.number_width;
  return g;
}

bool splits_bars(Canvas& canvas, const FigureInput& input, const Gantt& gantt) {
  if (gantt.detail == Detail::shares || (gantt.recomputes && !gantt.leads)) return true;
  if (gantt.narrowest >= canvas.px(kLeastRun)) return false;
  for (int device = 0; device < gantt.rows.count; ++device)
    if (RowPainter(canvas, input, gantt, device).mixes()) return true;
  return false;
}

Fill idle_swatch(const Theme& theme, const Gantt& gantt, float em) {
  Fill fill = gantt.idle;
  fill.edge = theme.edge;
  fill.edge_width = theme.edge_width * em;
  return fill;
}

std::string key_note(const TextTable& texts, int chunks, bool splits, bool both_ways) {
  std::string note;
  if (chunks == 2)
    note = texts.text(both_ways ? "figure.pipeline.lighter_or_direction" : "figure.pipeline.lighter");
  else if (chunks > 2)
    note = texts.text(both_ways ? "figure.pipeline.lighter_many_or_direction" : "figure.pipeline.lighter_many");
  else if (both_ways)
    note = texts.text("figure.pipeline.lighter_direction");
  if (!splits) return note;
  if (!note.empty()) note += texts.text("figure.clause_separator");
  return note + std::string(texts.text("figure.pipeline.split"));
}

void draw_blocks(Canvas& canvas, const FigureInput& input, const Gantt& gantt) {
  const auto clip = canvas.clip(gantt.rows.plot);
  for (int device = 0; device < gantt.rows.count; ++device) {
    const auto row = canvas.group("device", device);
    RowPainter(canvas, input, gantt, device).paint();
  }
}

}  // namespace roofscape::widgets::gantt
