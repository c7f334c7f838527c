// Rows of the pipeline figure where operations are too many to be drawn one by one: bars whose parts say by their
// height what share of the time goes where. Drawn from the levels of the timeline, so that their cost is that of the
// pixels.
#include <algorithm>
#include <cmath>

#include "engine/pipeline/timeline_analysis.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/training/figure_pipeline_blocks.h"

namespace roofscape::widgets::gantt {

using engine::Q;
using engine::TimelineBlock;
using engine::TimelineDetail;

namespace {

constexpr float kBin = 3;          // least width of a share bar
constexpr float kMostBins = 6000;  // of all rows
constexpr double kSameShare = 0.17, kLeastShare = 0.01;

struct Studied {
  engine::ScheduleShape shape;
  std::vector<engine::Tick> forward, backward_input, backward_weight, overlapped;
  engine::Tick transfer = 0, transfer_in_node = 0, makespan = 0;
  std::uint32_t node_devices = 1;
  bool blocking_send = false;
  friend bool operator==(const Studied&, const Studied&) = default;
};

// What decides a timeline: the order follows from the shape.
Studied studied(const engine::PipelineReport& p) {
  return {p.shape,
          p.times.forward,
          p.times.backward_input,
          p.times.backward_weight,
          p.times.overlapped,
          p.times.transfer,
          p.times.transfer_in_node,
          p.timeline.makespan,
          p.times.node_devices,
          p.times.blocking_send};
}

class SharePainter {
 public:
  SharePainter(Canvas& canvas, const FigureInput& input, const Gantt& gantt, int device)
      : canvas_(canvas),
        input_(input),
        g_(gantt),
        p_(gantt.pipeline),
        device_(device),
        d_(static_cast<std::size_t>(device)),
        again_(gantt.again_share(device)) {
    const auto rows = static_cast<float>(g_.rows.count);
    bin_ = static_cast<double>(std::max(canvas.px(kBin), g_.rows.plot.w * rows / kMostBins)) / g_.px_per_tick;
  }

  void paint() {
    visit(g_.levels->levels.size() - 1, 0);
    flush();
  }

 private:
  // Draws a block as one where it is narrow, else by its halves; the finest by its operations where it idles visibly.
  void visit(std::size_t level, std::uint32_t i) {
    const TimelineDetail::Level& all = g_.levels->levels[level];
    if (i >= all.count(d_)) return;
    const TimelineBlock& block = all.of(d_)[i];
    const auto start = static_cast<double>(block.start), next = static_cast<double>(all.of(d_)[i + 1].start);
    if (next <= g_.from || start >= g_.to) return;
    const double idle = next - start - static_cast<double>(block.busy_ticks());
    if (next - start <= bin_ || (level == 0 && idle <= bin_)) {
      add(times_of(static_cast<double>(block.busy[0]), static_cast<double>(block.busy[1]),
                   static_cast<double>(block.busy[2])),
          start, next);
    } else if (level > 0) {
      visit(level - 1, 2 * i);
      visit(level - 1, 2 * i + 1);
    } else {
      operations(i * TimelineDetail::kLeastOps);
    }
  }

  Times times_of(double forward, double backward, double weight) const {
    return {forward, backward * again_, backward * (1 - again_), weight};
  }

  void operations(std::uint32_t first) {
    const std::uint32_t begin = p_.orders.first[d_] + first;
    const std::uint32_t end = std::min(p_.orders.first[d_ + 1], begin + TimelineDetail::kLeastOps);
    std::array<double, 3> busy{};
    const auto flush_to = [&](double begin_at, double end_at) {
      add(times_of(busy[0], busy[1], busy[2]), begin_at, end_at);
      busy = {};
    };
    auto from = static_cast<double>(p_.timeline.start[begin]), stop = from;
    for (std::uint32_t i = begin; i < end; ++i) {
      const engine::Op op = p_.orders.ops[i];
      const auto start = static_cast<double>(p_.timeline.start[i]);
      double duration = static_cast<double>(engine::op_duration(p_.orders, p_.times, i));
      if (start - stop > bin_) {
        flush_to(from, stop);
        from = start;
      }
      stop = std::max(stop, start + duration);
      if (op.joined_with_next() || engine::joined_with_previous(p_.orders, i)) duration /= 2;
      busy[op.kind() == engine::OpKind::forward           ? 0
           : op.kind() == engine::OpKind::backward_weight ? 2
                                                          : 1] += duration;
    }
    flush_to(from, stop);
  }

  // Neighbours with nearly the same shares become one bar, with their mean.
  void add(const Times& times, double from, double to) {
    if (to <= from) return;
    const double width = to_ - from_;
    bool apart = from - to_ > bin_;
    for (std::size_t k = 0; k < times.size() && !apart && width > 0; ++k)
      apart = std::abs(times[k] / (to - from) - sum_[k] / width) > kSameShare;
    if (apart || !(width > 0)) {
      flush();
      from_ = from;
    }
    for (std::size_t k = 0; k < times.size(); ++k) sum_[k] += times[k];
    to_ = to;
  }

  void flush() {
    if (to_ > from_) draw_share_bar(canvas_, input_, g_, device_, sum_, from_, to_);
    sum_ = {};
    from_ = to_;
  }

  Canvas& canvas_;
  const FigureInput& input_;
  const Gantt& g_;
  const engine::PipelineReport& p_;
  int device_;
  std::size_t d_;
  double again_;    // of its backwards
  double bin_ = 0;  // ticks
  Times sum_{};
  double from_ = 0, to_ = 0;
};

}  // namespace

const engine::TimelineDetail& levels_of(const FigureInput& input, const engine::PipelineReport& p) {
  // As the memory of a stage over time counts it.
  const double kept = input.report.quantities.value_or(Q::layer_checkpoint_bytes, 0),
               needed = input.report.quantities.value_or(Q::layer_postponed_bytes, 0);
  const double put_off = kept > 0 && !input.scenario.offload.activations ? std::max(0.0, needed / kept - 1) : 0;
  return input.studies.get<engine::TimelineDetail>(std::pair(studied(p), put_off), [&] {
    engine::TimelineDetail detail;
    engine::make_detail(p.orders, p.times, p.timeline, detail, put_off);
    return detail;
  });
}

const std::vector<engine::TimedStep>& path_of(const FigureInput& input, const engine::PipelineReport& p) {
  return input.studies.get<std::vector<engine::TimedStep>>(studied(p), [&] {
    std::vector<engine::TimedStep> path;
    engine::timed_critical_path(p.orders, p.times, p.timeline, path);
    return path;
  });
}

void draw_share_bar(Canvas& canvas, const FigureInput& input, const Gantt& g, int device, const Times& times,
                    double from, double to) {
  if (to <= from) return;
  struct Part {
    std::string name;
    std::string_view tag;
    const Fill* fill;
  };
  const auto of_kind = [&](engine::OpKind kind) {
    return Part{kind_name(input, kind), tag_of(kind), &g.fills[static_cast<std::size_t>(kind)][0]};
  };
  const std::array<Part, std::tuple_size_v<Times>> parts{
      of_kind(engine::OpKind::forward),
      Part{std::string(input.texts.text("figure.pipeline.recompute")), engine::quantity(Q::step_recompute).id,
           &g.again[0]},
      of_kind(engine::OpKind::backward), of_kind(engine::OpKind::backward_weight)};
  const Rect bar = g.rows.bar(device);
  float y = bar.y;
  for (std::size_t k = 0; k < times.size(); ++k) {
    const double share = std::min(1.0, times[k] / (to - from));
    if (share < kLeastShare) continue;
    const float h = bar.h * static_cast<float>(share);
    const Rect r = rect_between(g.at(from), y, g.at(to), std::min(bar.bottom(), y + h));
    canvas.rect(r, *parts[k].fill);
    g.tag(canvas, parts[k].tag, device, r, [&] {
      Readout out;
      out.title = input.texts.format("figure.pipeline.readout.share", {parts[k].name, format_share(share)});
      add_times(input, g, out, device, from, to);
      return out;
    });
    y += h;
  }
}

void draw_share_row(Canvas& canvas, const FigureInput& input, const Gantt& g, int device) {
  const double from = std::max(0.0, g.from), to = std::min(static_cast<double>(g.pipeline.timeline.makespan), g.to);
  if (to > from) {
    const Rect bar = g.rows.bar(device);
    const Rect r = rect_between(g.at(from), bar.y, g.at(to), bar.bottom());
    canvas.rect(r, g.idle);
    // Of the whole step: what idles in sight is in pieces too small to point at.
    g.tag(canvas, engine::quantity(Q::pipeline_bubble_fraction).id, device, r, [&] {
      const auto whole = static_cast<double>(g.pipeline.timeline.makespan);
      const double idle = whole - static_cast<double>(g.levels->whole(static_cast<std::size_t>(device)).busy_ticks());
      Readout out;
      out.title = input.texts.format("figure.pipeline.readout.idle_step", {time_text(idle)});
      out.rows.emplace_back(std::string(input.texts.text(g.rows.word)), format_count(device));
      out.rows.emplace_back(std::string(input.texts.text("figure.pipeline.idle_share")),
                            format_percent(whole > 0 ? idle / whole : 0));
      return out;
    });
  }
  SharePainter(canvas, input, g, device).paint();
}

}  // namespace roofscape::widgets::gantt
