#include "widgets/figure_pipeline_blocks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include "engine/pipeline/timeline_analysis.h"
#include "widgets/figure_pipeline_tools.h"
#include "widgets/number_format.h"

namespace roofscape::widgets::gantt {

using engine::Op;
using engine::Q;
using engine::Tick;

namespace {

constexpr float kGap = 0.8f;            // between blocks
constexpr float kLeastBlock = 3;        // under this blocks join
constexpr float kLeastRun = 1;          // under this runs become shares
constexpr double kMostRuns = 60000;     // operations looked at one by one
constexpr float kBin = 3;               // least width of a share bar
constexpr double kOpsPerBin = 6;        // fewer would show the phase of the repeat, not its shares
constexpr float kMostBins = 8000;       // of all rows
constexpr std::uint32_t kWindow = 12, kWindows = 3;
constexpr double kSameShare = 0.17, kLeastShare = 0.05;
constexpr float kLeastEdged = 6;        // lower bars would be all edge
constexpr float kOutside = 24;          // how far outside the plot coordinates reach

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

std::string kind_name(const FigureInput& input, Op op) {
  constexpr std::array kKeys{"figure.pipeline.forward", "figure.pipeline.backward", "figure.pipeline.backward_input",
                             "figure.pipeline.backward_weight"};
  return std::string(input.texts.text(kKeys[kind_index(op)]));
}

std::string time_text(double ticks) { return format_duration(ticks / kTicksPerSecond); }

std::string_view tag_id(Op op) {
  return engine::quantity(op.kind() == engine::OpKind::forward ? Q::stage_forward : Q::stage_backward).id;
}

void add_times(const FigureInput& input, Readout& r, int stage, double from, double to) {
  const TextTable& t = input.texts;
  r.rows.emplace_back(std::string(t.text("figure.stage")), format_count(stage));
  r.rows.emplace_back(std::string(t.text("figure.pipeline.start")), time_text(from));
  r.rows.emplace_back(std::string(t.text("figure.pipeline.end")), time_text(to));
  r.rows.emplace_back(std::string(t.text("figure.pipeline.duration")), time_text(to - from));
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
    if (g_.detail == Detail::shares) {
      paint_idle_row();
      paint_shares();
    } else {
      paint_ops();
    }
    paint_step_end();
  }

 private:
  double duration(std::uint32_t i) const {
    if (g_.overlaps) return static_cast<double>(engine::op_duration(p_.orders, p_.times, i));
    return g_.durations[p_.orders.ops[i].stage_and_kind()];
  }

  // Share of time of forward, backward and weight gradient; what is missing to one is idle.
  using Shares = std::array<double, 3>;
  void add_time(std::uint32_t i, double seen, Shares& time) const {
    const Op op = p_.orders.ops[i];
    // The halves of an overlapped pair share their time.
    if (g_.overlaps && (op.joined_with_next() || engine::joined_with_previous(p_.orders, i))) seen /= 2;
    const std::size_t kind = op.kind() == engine::OpKind::forward ? 0 : op.kind() == engine::OpKind::backward_weight ? 2 : 1;
    time[kind] += std::max(0.0, seen);
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
      if (g_.detail == Detail::blocks) {
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
    if (i >= end_) paint_idle(idle_from, makespan);
    else paint_idle(idle_from, std::min(makespan, g_.to));
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
    Shares time{};
    double stop = from;
    while (i < end_ && follows(i, stop) && !p_.orders.ops[i].joined_with_next()) {
      const Run run = run_from(i);
      if (!narrow(run.stop - static_cast<double>(p_.timeline.start[i]))) break;
      for (; i < run.next; ++i) add_time(i, duration(i), time);
      stop = run.stop;
    }
    double busy = 0;
    for (const double t : time) busy += t;
    for (double& t : time) t *= busy > 0 ? (stop - from) / busy : 0;
    if (from < g_.to && stop > g_.from) paint_share_bar(time, from, stop);
    return {i, stop};
  }

  void paint_block(std::uint32_t first, std::uint32_t count, double from, double to, float top, float height,
                   bool mixed = false) {
    if (to <= g_.from || to <= from) return;
    const Op op = p_.orders.ops[first];
    Rect r = rect_between(g_.at(from), top, g_.at(to), top + height);
    if (g_.detail == Detail::blocks && r.w > canvas_.px(2)) r.w -= canvas_.px(kGap);
    const Fill& fill = mixed ? g_.fills[kind_index(op)][0] : g_.fill(op);
    canvas_.rect(r, fill);
    const std::size_t kind = kind_index(op);
    if (g_.numbered[kind] && count == 1 && r.x >= g_.rows.plot.x && r.right() <= g_.rows.plot.right()) {
      number_.colour = text_on(fill.colour);
      canvas_.text(r.centre(), format_count(static_cast<double>(op.microbatch()) + 1), number_);
    }
    canvas_.tag_with(tag_id(op), device_, r, [&] {
      Readout out;
      out.title = count == 1 ? input_.texts.format("figure.pipeline.readout",
                                                   {kind_name(input_, op), format_count(op.microbatch() + 1.0)})
                             : input_.texts.format("figure.pipeline.readout.run", {kind_name(input_, op), format_count(count)});
      add_times(input_, out, device_, from, to);
      if (count == 1) {  // four rows: the stage goes into the title
        out.title = input_.texts.format("figure.pipeline.readout.op", {out.title, format_count(device_)});
        out.rows.erase(out.rows.begin());
        out.rows.emplace_back(std::string(input_.texts.text("figure.pipeline.waited")), waited_text(input_, p_, first));
      }
      return out;
    });
  }

  void paint_idle(double from, double to) {
    from = std::max(from, 0.0);
    if (to <= from || to <= g_.from || from >= g_.to) return;
    const Rect r = rect_between(g_.at(from), bar_.y, g_.at(to), bar_.bottom());
    if (r.w < canvas_.px(1.5f)) return;
    canvas_.rect(r, g_.idle);
    tag_idle(r, from, to);
  }

  void tag_idle(const Rect& r, double from, double to) {
    canvas_.tag_with(engine::quantity(Q::pipeline_bubble_fraction).id, device_, r, [&] {
      Readout out;
      out.title = input_.texts.format("figure.pipeline.readout.idle", {time_text(to - from)});
      add_times(input_, out, device_, from, to);
      out.rows.pop_back();
      return out;
    });
  }

  void paint_idle_row() {
    const double to = std::min(static_cast<double>(p_.timeline.makespan), g_.to), from = std::max(0.0, g_.from);
    if (to <= from) return;
    const Rect r = rect_between(g_.at(from), bar_.y, g_.at(to), bar_.bottom());
    canvas_.rect(r, g_.idle);
    tag_idle(r, from, to);
  }

  // Of operations low .. high-1, which are those in [from, to). Where there are many, a few windows of consecutive ones
  // stand for all: a schedule repeats itself every two, three or four operations, and windows hold whole repeats.
  Shares shares_between(std::uint32_t low, std::uint32_t high, double from, double to) const {
    const auto& start = p_.timeline.start;
    Shares time{};
    double span = to - from;
    if (high - low <= kWindow * kWindows) {
      for (std::uint32_t i = low; i < high; ++i) {
        const auto begin = static_cast<double>(start[i]);
        add_time(i, std::min(begin + duration(i), to) - std::max(begin, from), time);
      }
    } else {
      for (std::uint32_t w = 0; w < kWindows; ++w) {
        const std::uint32_t first = low + (high - low - kWindow) / (kWindows - 1) * w;
        for (std::uint32_t i = first; i < first + kWindow; ++i) add_time(i, duration(i), time);
      }
      span *= static_cast<double>(kWindow * kWindows) / static_cast<double>(high - low);
    }
    double busy = 0;
    for (const double t : time) busy += t;
    span = std::max(span, busy);
    for (double& t : time) t = span > 0 ? t / span : 0;
    return time;
  }

  // Neighbouring bins with nearly the same shares are one bar, with their mean.
  void paint_shares() {
    const Rect& plot = g_.rows.plot;
    const double mean_op = static_cast<double>(p_.timeline.makespan) / std::max(1.0, static_cast<double>(end_ - begin_)) * g_.px_per_tick;
    const double bin = std::max({static_cast<double>(canvas_.px(kBin)), kOpsPerBin * mean_op,
                                 static_cast<double>(plot.w) * g_.rows.count / kMostBins});
    const double ticks = bin / g_.px_per_tick, stop = std::min(g_.to, static_cast<double>(p_.timeline.makespan));
    std::uint32_t low = first_visible(p_, begin_, end_, g_.from);
    Shares sum{};
    double at = std::max(0.0, g_.from), bar_from = at;
    while (at < stop) {
      const double next = std::min(at + ticks, stop);
      low = advance(low, at);
      const auto high = advance(low, next) + 1;
      const Shares shares = shares_between(low, high, at, next);
      for (std::size_t k = 0; k < 3 && at > bar_from; ++k)
        if (std::abs(shares[k] - sum[k] / (at - bar_from)) > kSameShare) {
          paint_share_bar(sum, bar_from, at);
          sum = {};
          bar_from = at;
        }
      for (std::size_t k = 0; k < 3; ++k) sum[k] += shares[k] * (next - at);
      at = next;
    }
    paint_share_bar(sum, bar_from, stop);
  }

  // The last operation that starts at or before `tick`, found in doubling steps from `low`; `low` if there is none.
  std::uint32_t advance(std::uint32_t low, double tick) const {
    const auto& start = p_.timeline.start;
    std::uint32_t step = 1;
    while (low + step < end_ && static_cast<double>(start[low + step]) <= tick) step *= 2;
    const auto from = start.begin() + low, to = start.begin() + std::min(end_, low + step);
    const auto it = std::upper_bound(from, to, static_cast<Tick>(tick));
    return it == from ? low : static_cast<std::uint32_t>(it - start.begin()) - 1;
  }

  void paint_share_bar(const Shares& sum, double from, double to) {
    if (to <= from) return;
    constexpr std::array kKinds{engine::OpKind::forward, engine::OpKind::backward, engine::OpKind::backward_weight};
    float y = bar_.y;
    for (std::size_t k = 0; k < 3; ++k) {
      const double share = std::min(1.0, sum[k] / (to - from));
      if (share < kLeastShare) continue;
      const float h = bar_.h * static_cast<float>(share);
      const Rect r = rect_between(g_.at(from), y, g_.at(to), std::min(bar_.bottom(), y + h));
      canvas_.rect(r, g_.fills[static_cast<std::size_t>(kKinds[k])][0]);
      canvas_.tag_with(tag_id(Op(kKinds[k], 0, 0)), device_, r, [&] {
        Readout out;
        out.title = input_.texts.format("figure.pipeline.readout.share",
                                        {kind_name(input_, Op(kKinds[k], 0, 0)), format_share(share)});
        add_times(input_, out, device_, from, to);
        return out;
      });
      y += h;
    }
  }

  void paint_step_end() {
    if (!(g_.step_end > 0)) return;
    const auto from = static_cast<double>(p_.timeline.makespan);
    const double to = from + g_.step_end;
    if (to <= g_.from || from >= g_.to) return;
    const Rect r = rect_between(g_.at(from), bar_.y, g_.at(to), bar_.bottom());
    if (r.w < canvas_.px(0.5f)) return;
    canvas_.rect(r, g_.end);
    canvas_.tag_with(engine::quantity(Q::step_optimizer).id, device_, r, [&] {
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

// The shortest time, over all stages, that operations of a kind take; infinite where there are none.
double shortest(const std::vector<Tick>& a, const std::vector<Tick>* b = nullptr) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t s = 0; s < a.size(); ++s) {
    const double t = static_cast<double>(a[s]) + (b && s < b->size() ? static_cast<double>((*b)[s]) : 0.0);
    if (t > 0) least = std::min(least, t);
  }
  return least;
}

}  // namespace

float Gantt::at(double tick) const {
  const double x = rows.plot.x + (tick - from) * px_per_tick;
  return static_cast<float>(std::clamp(x, static_cast<double>(rows.plot.x) - kOutside, static_cast<double>(rows.plot.right()) + kOutside));
}

const Fill& Gantt::fill(Op op) const {
  return fills[kind_index(op)][std::min<std::size_t>(chunk_of[op.stage()], fills[0].size() - 1)];
}

Gantt make_gantt(const Canvas& canvas, const Theme& theme, const engine::PipelineReport& p, const StageRows& rows, double from,
                 double to) {
  Gantt g{p, rows, from, to, 0, 0, Detail::blocks, 1, {}, false, {}, {}, {}, {}, {}};
  g.px_per_tick = rows.plot.w / std::max(to - from, 1.0);
  g.step_end = std::max(0.0, p.step_end_s) * kTicksPerSecond;

  std::vector<int> seen(p.orders.devices(), 0);
  for (const std::uint16_t device : p.orders.device_of) {
    const int chunk = device < seen.size() ? seen[device]++ : 0;
    g.chunk_of.push_back(static_cast<std::uint8_t>(std::min(chunk, 255)));
    g.chunks = std::max(g.chunks, chunk + 1);
  }
  g.overlaps = engine::overlaps_forward_backward(p.shape.kind);
  for (std::size_t stage = 0; stage < p.times.forward.size(); ++stage) {
    const auto f = static_cast<double>(p.times.forward[stage]), b = static_cast<double>(p.times.backward_input[stage]);
    const auto w = static_cast<double>(p.times.backward_weight[stage]);
    g.durations.insert(g.durations.end(), {f, b + w, b, w});
  }
  constexpr std::array kLooks{OpKind::forward, OpKind::backward, OpKind::backward, OpKind::backward_weight};
  const int shades = std::min<int>(g.chunks, static_cast<int>(g.fills[0].size()));
  for (std::size_t k = 0; k < kLooks.size(); ++k)
    for (int c = 0; c < shades; ++c)
      g.fills[k][static_cast<std::size_t>(c)] = chunk_of(theme, fill_of(theme, kLooks[k], canvas.em()), c, shades);
  g.idle = fill_of(theme, OpKind::idle, canvas.em());
  g.end = fill_of(theme, OpKind::step_end, canvas.em());

  if (rows.bar_height < canvas.px(kLeastEdged))
    for (auto& kind : g.fills)
      for (Fill& fill : kind) fill.edge_width = 0;
  const bool split = engine::splits_backward(p.shape.kind);
  const std::array least{shortest(p.times.forward), shortest(p.times.backward_input, &p.times.backward_weight),
                         split ? shortest(p.times.backward_input) : std::numeric_limits<double>::infinity(),
                         split ? shortest(p.times.backward_weight) : std::numeric_limits<double>::infinity()};
  const double narrowest = *std::min_element(least.begin(), least.end()) * g.px_per_tick;
  const double visible = static_cast<double>(p.orders.ops.size()) * std::min(1.0, (to - from) / std::max<double>(1, static_cast<double>(p.timeline.makespan)));
  if (narrowest >= canvas.px(kLeastBlock)) g.detail = Detail::blocks;
  else if (visible <= kMostRuns) g.detail = Detail::runs;
  else g.detail = Detail::shares;

  TextStyle number;
  number.em = kSmallText * canvas.em();
  const float width = canvas.text_width(format_count(p.orders.microbatches), number) + canvas.px(3);
  const float height = (g.overlaps ? 0.5f : 1.0f) * rows.bar_height;
  const bool tall = height >= number.em * 1.05f && rows.room_for(small_line(canvas));
  for (std::size_t k = 0; k < least.size(); ++k)
    g.numbered[k] = tall && g.detail == Detail::blocks && least[k] * g.px_per_tick - canvas.px(kGap) >= width;
  return g;
}

void draw_blocks(Canvas& canvas, const FigureInput& input, const Gantt& gantt) {
  const auto clip = canvas.clip(gantt.rows.plot);
  for (int device = 0; device < gantt.rows.count; ++device) RowPainter(canvas, input, gantt, device).paint();
}

}  // namespace roofscape::widgets::gantt
