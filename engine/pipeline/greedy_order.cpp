#include "engine/pipeline/greedy_order.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <vector>

namespace roofscape::engine {
namespace {

constexpr double kRounding = 1e-9;  // of sums of shares of microbatches
constexpr Tick kNever = std::numeric_limits<Tick>::max();

// How a device chooses where there is a choice.
struct Rule {
  enum class First : std::uint8_t { backward, forward, alternate };
  First first = First::backward;  // of a forward and an input gradient that are both ready
  bool whole_gaps = false;        // a weight gradient goes into gaps that it fits into; else into every gap
  double late = 0;                // share of a forward by which it may delay the first input gradient
};

struct Choice {
  Tick start = kNever;
  OpKind kind = OpKind::forward;
  std::size_t stage = 0;
};

class GreedyRun {
 public:
  // `shape` says which stages a device has; of its chunks each counts alike.
  GreedyRun(const ScheduleShape& shape, const PipelineTimes& times, const GreedyLimit& limit, const Rule& rule)
      : times_(times),
        limit_(limit),
        rule_(rule),
        microbatches_(static_cast<std::size_t>(shape.microbatches)),
        chunks_(static_cast<std::size_t>(shape.virtual_stages)),
        devices_(static_cast<std::size_t>(shape.stages)) {
    place_stages(shape, device_of_);
    stages_.resize(device_of_.size());
    // The first microbatch all the way forth and back, without waiting for anything.
    Tick at = 0;
    for (std::size_t s = 0; s < stages_.size(); ++s) at += hop_to(s) + times.forward[s];
    for (Device& device : devices_) device.first_back = kNever;
    for (std::size_t s = stages_.size(); s-- > 0;) {
      Device& device = devices_[device_of_[s]];
      device.first_back = std::min(device.first_back, at);
      at += times.backward_input[s] + hop_to(s);
    }
  }

  // Whether every operation found its place.
  bool run() {
    std::vector<Choice> choices(devices_.size());
    for (std::size_t d = 0; d < devices_.size(); ++d) choices[d] = choose(d);
    const std::size_t all = 3 * stages_.size() * microbatches_;
    for (std::size_t done = 0; done < all; ++done) {
      const auto next = std::min_element(choices.begin(), choices.end(),
                                         [](const Choice& a, const Choice& b) { return a.start < b.start; });
      if (next->start == kNever) return false;
      const auto d = static_cast<std::size_t>(next - choices.begin());
      const Choice placed = *next;
      place(d, placed);
      choices[d] = choose(d);
      const auto call = [&](std::size_t stage) {
        if (device_of_[stage] != d) choices[device_of_[stage]] = choose(device_of_[stage]);
      };
      if (placed.kind == OpKind::forward && placed.stage + 1 < stages_.size()) call(placed.stage + 1);
      if (placed.kind == OpKind::backward_input && placed.stage > 0) call(placed.stage - 1);
    }
    return true;
  }

  void write(Orders& out) const {
    out = {};
    out.first.push_back(0);
    for (const Device& device : devices_) {
      out.ops.insert(out.ops.end(), device.ops.begin(), device.ops.end());
      out.first.push_back(static_cast<std::uint32_t>(out.ops.size()));
    }
    out.device_of = device_of_;
    out.microbatches = static_cast<std::uint32_t>(microbatches_);
    out.route_length = static_cast<std::uint32_t>(stages_.size());
    out.passes_per_device = static_cast<std::uint32_t>(chunks_);
  }

 private:
  struct Stage {
    std::vector<Tick> forward_end, backward_end;  // of what is placed
    std::size_t weights = 0;                      // weight gradients that are placed
  };
  struct Device {
    std::vector<Op> ops;
    std::deque<std::size_t> weights;  // stages whose weight gradients wait
    Tick first_back = 0;              // when its first input gradient can begin at the earliest
    Tick free = 0;
    // Microbatches held, and those of them still to come to a later chunk of the device counted whole: room for what
    // has been begun is not given away.
    double promised = 0;
    bool forwards = false, backwards = false;  // whether one is placed
    OpKind last = OpKind::backward_weight;
  };

  double each() const { return 1.0 / static_cast<double>(chunks_); }
  // Of the result of the stage before on its way to this one, and of the gradient back.
  Tick hop_to(std::size_t s) const { return s == 0 ? 0 : times_.hop(device_of_[s - 1], device_of_[s]); }
  // When the next forward of a stage could begin; kNever where that is not known yet.
  Tick forward_ready(std::size_t s) const {
    const std::size_t k = stages_[s].forward_end.size();
    if (k == microbatches_) return kNever;
    if (s == 0) return 0;
    const auto& before = stages_[s - 1].forward_end;
    return before.size() > k ? before[k] + hop_to(s) : kNever;
  }
  Tick backward_ready(std::size_t s) const {
    const Stage& stage = stages_[s];
    const std::size_t k = stage.backward_end.size();
    if (k >= stage.forward_end.size()) return kNever;
    if (s + 1 == stages_.size()) return stage.forward_end[k];
    const auto& after = stages_[s + 1].backward_end;
    return after.size() > k ? after[k] + hop_to(s + 1) : kNever;
  }
  // Whether a forward would still run when the device's first input gradient could begin.
  bool delays_the_first(const Device& device, std::size_t s, Tick start) const {
    if (device.backwards || !device.forwards || start >= device.first_back) return false;
    const Tick lasts = times_.forward[s];
    return start + lasts > device.first_back + static_cast<Tick>(rule_.late * static_cast<double>(lasts));
  }

  bool has_room(const Device& d, double more) const { return d.promised + more <= limit_.microbatches + kRounding; }

  Choice choose(std::size_t at) const {
    const Device& d = devices_[at];
    Choice forward{kNever, OpKind::forward, 0}, backward{kNever, OpKind::backward_input, 0};
    // Of several that are ready at once, what is further on its way goes first.
    for (std::size_t chunk = chunks_; chunk-- > 0;) {
      const std::size_t s = stage_of(at, chunk);
      // The first forward of a microbatch on a device takes room for all of them, and for an input gradient, without
      // which nothing that is held would ever be done.
      const double more = chunk == 0 ? 1 + std::max(0.0, limit_.postponed - 1) * each() : 0;
      if (const Tick t = forward_ready(s); t != kNever && has_room(d, more))
        if (const Tick start = std::max(t, d.free); start < forward.start && !delays_the_first(d, s, start))
          forward.start = start, forward.stage = s;
    }
    for (std::size_t chunk = 0; chunk < chunks_; ++chunk) {
      const std::size_t s = stage_of(at, chunk);
      if (const Tick t = backward_ready(s); t != kNever && has_room(d, (limit_.postponed - 1) * each()))
        if (const Tick start = std::max(t, d.free); start < backward.start)
          backward.start = start, backward.stage = s;
    }
    Choice next = backward.start < forward.start ? backward : forward;
    if (forward.start == backward.start && forward.start != kNever) {
      const bool backward_first = rule_.first == Rule::First::backward ||
                                  (rule_.first == Rule::First::alternate && d.last == OpKind::forward);
      next = backward_first ? backward : forward;
    }
    if (d.weights.empty()) return next;
    const std::size_t waits = d.weights.front();
    const bool fits =
        next.start == kNever ||
        next.start - d.free >= (rule_.whole_gaps ? std::max(times_.backward_weight[waits], Tick{1}) : 1);
    return fits ? Choice{d.free, OpKind::backward_weight, waits} : next;
  }

  void place(std::size_t at, const Choice& op) {
    Device& d = devices_[at];
    Stage& stage = stages_[op.stage];
    d.free = op.start + duration_of(times_, static_cast<std::uint32_t>(op.stage), op.kind);
    d.last = op.kind;
    const auto add = [&](std::size_t microbatch) {
      d.ops.emplace_back(op.kind, static_cast<std::uint32_t>(op.stage), static_cast<std::uint32_t>(microbatch));
    };
    if (op.kind == OpKind::forward) {
      add(stage.forward_end.size());
      stage.forward_end.push_back(d.free);
      if (op.stage == stage_of(at, 0)) d.promised += 1;
      d.forwards = true;
    } else if (op.kind == OpKind::backward_input) {
      add(stage.backward_end.size());
      stage.backward_end.push_back(d.free);
      d.weights.push_back(op.stage);
      d.promised += (limit_.postponed - 1) * each();
      d.backwards = true;
    } else {
      add(stage.weights++);
      d.weights.pop_front();
      d.promised -= limit_.postponed * each();
    }
  }

  // The stages of a device along the way of a microbatch, one or a V's two.
  std::size_t stage_of(std::size_t device, std::size_t chunk) const {
    return chunk == 0 ? device : stages_.size() - 1 - device;
  }

  const PipelineTimes& times_;
  GreedyLimit limit_;
  Rule rule_;
  std::size_t microbatches_, chunks_;
  std::vector<std::uint16_t> device_of_;
  std::vector<Stage> stages_;
  std::vector<Device> devices_;
};

// Whether no device holds more than the limit, at any moment.
bool keeps_to(const Orders& orders, const GreedyLimit& limit) {
  const double each = 1.0 / orders.passes_per_device;
  for (std::size_t d = 0; d < orders.devices(); ++d) {
    double held = 0;
    for (std::uint32_t i = orders.first[d]; i < orders.first[d + 1]; ++i) {
      const OpKind kind = orders.ops[i].kind();
      held += each * (kind == OpKind::forward          ? 1
                      : kind == OpKind::backward_input ? limit.postponed - 1
                                                       : -limit.postponed);
      if (held > limit.microbatches + kRounding) return false;
    }
  }
  return true;
}

// Of the device that takes longest from its first operation to its last.
Tick longest_span(const Orders& orders, const Timeline& timeline) {
  Tick longest = 0;
  for (std::size_t d = 0; d < orders.devices(); ++d)
    if (orders.first[d] < orders.first[d + 1])
      longest = std::max(longest, timeline.busy_until[d] - timeline.start[orders.first[d]]);
  return longest;
}

}  // namespace

std::optional<Orders> greedy_order(const GreedyStages& stages, int microbatches, const PipelineTimes& times,
                                   const GreedyLimit& limit) {
  const ScheduleKind kind = stages.on_v ? ScheduleKind::zb_v : ScheduleKind::zb_h1;
  const ScheduleShape shape{kind, stages.devices, microbatches, stages.on_v ? 2 : 1, 0};
  if (stages.devices < 1 || microbatches < 1 || !(limit.microbatches >= 1) || !(limit.postponed >= 0))
    return std::nullopt;
  if (3 * std::int64_t{virtual_stage_count(shape)} * microbatches > kMostGreedyOps) return std::nullopt;
  if (check_times(times, static_cast<std::size_t>(virtual_stage_count(shape)),
                  static_cast<std::uint32_t>(microbatches)) != SimulationOutcome::finished)
    return std::nullopt;
  std::optional<Orders> best;
  Tick best_span = 0, best_makespan = 0;
  SimulationScratch scratch;
  Timeline timeline;
  const auto consider = [&](const Orders& orders) {
    if (!simulate(orders, times, scratch, timeline).finished()) return;
    const Tick span = longest_span(orders, timeline), makespan = timeline.makespan;
    if (best && (span > best_span || (span == best_span && makespan >= best_makespan))) return;
    best_span = span, best_makespan = makespan;
    best = orders;
  };
  Orders orders;
  for (const Rule::First first : {Rule::First::backward, Rule::First::alternate, Rule::First::forward})
    for (const bool whole_gaps : {false, true})
      for (const double late : {0.0, 0.5, 1.0}) {
        GreedyRun run(shape, times, limit, {first, whole_gaps, late});
        if (!run.run()) continue;
        run.write(orders);
        consider(orders);
      }
  // The schedules by rule are orders like others, where they keep to the limit.
  for (const ScheduleKind by_rule : {ScheduleKind::zb_h1, ScheduleKind::zb_h2, ScheduleKind::zb_v}) {
    ScheduleShape same = shape;
    same.kind = by_rule;
    if ((by_rule == ScheduleKind::zb_v) != stages.on_v || !check_schedule(same).legal()) continue;
    make_orders(same, orders);
    if (keeps_to(orders, limit)) consider(orders);
  }
  return best;
}

}  // namespace roofscape::engine
