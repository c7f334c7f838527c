#include "engine/pipeline/greedy_order.h"

#include <algorithm>
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
};

class GreedyRun {
 public:
  GreedyRun(int stages, int microbatches, const PipelineTimes& times, const GreedyLimit& limit, const Rule& rule)
      : times_(times),
        limit_(limit),
        rule_(rule),
        microbatches_(static_cast<std::size_t>(microbatches)),
        devices_(static_cast<std::size_t>(stages)) {
    // The first microbatch all the way forth and back, without waiting for anything.
    Tick at = -times.transfer;
    for (const Tick forward : times.forward) at += times.transfer + forward;
    for (std::size_t d = devices_.size(); d-- > 0;) {
      devices_[d].first_back = at;
      at += times.backward_input[d] + times.transfer;
    }
  }

  // Whether every operation found its place.
  bool run() {
    std::vector<Choice> choices(devices_.size());
    for (std::size_t d = 0; d < devices_.size(); ++d) choices[d] = choose(d);
    const std::size_t all = 3 * devices_.size() * microbatches_;
    for (std::size_t done = 0; done < all; ++done) {
      const auto next = std::min_element(choices.begin(), choices.end(),
                                         [](const Choice& a, const Choice& b) { return a.start < b.start; });
      if (next->start == kNever) return false;
      const auto d = static_cast<std::size_t>(next - choices.begin());
      const OpKind kind = next->kind;
      place(d, *next);
      choices[d] = choose(d);
      if (kind == OpKind::forward && d + 1 < devices_.size()) choices[d + 1] = choose(d + 1);
      if (kind == OpKind::backward_input && d > 0) choices[d - 1] = choose(d - 1);
    }
    return true;
  }

  void write(Orders& out) const {
    out = {};
    out.first.push_back(0);
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      out.ops.insert(out.ops.end(), devices_[d].ops.begin(), devices_[d].ops.end());
      out.first.push_back(static_cast<std::uint32_t>(out.ops.size()));
      out.device_of.push_back(static_cast<std::uint16_t>(d));
    }
    out.microbatches = static_cast<std::uint32_t>(microbatches_);
    out.route_length = static_cast<std::uint32_t>(devices_.size());
  }

 private:
  struct Device {
    std::vector<Op> ops;
    std::vector<Tick> forward_end, backward_end;  // of what is placed
    std::size_t weights = 0;                      // weight gradients that are placed
    Tick first_back = 0;                          // when its first input gradient can begin at the earliest
    Tick free = 0;
    double held = 0;
    OpKind last = OpKind::backward_weight;
  };

  // When the next forward of a device could begin; kNever where that is not known yet.
  Tick forward_ready(std::size_t d) const {
    const std::size_t k = devices_[d].forward_end.size();
    if (k == microbatches_) return kNever;
    if (d == 0) return 0;
    const auto& before = devices_[d - 1].forward_end;
    return before.size() > k ? before[k] + times_.transfer : kNever;
  }
  Tick backward_ready(std::size_t d) const {
    const std::size_t k = devices_[d].backward_end.size();
    if (k >= devices_[d].forward_end.size()) return kNever;
    if (d + 1 == devices_.size()) return devices_[d].forward_end[k];
    const auto& after = devices_[d + 1].backward_end;
    return after.size() > k ? after[k] + times_.transfer : kNever;
  }
  // Whether a forward would still run when the device's first input gradient could begin.
  bool delays_the_first(std::size_t d, Tick start) const {
    const Device& device = devices_[d];
    if (!device.backward_end.empty() || device.forward_end.empty() || start >= device.first_back) return false;
    const Tick lasts = times_.forward[d];
    return start + lasts > device.first_back + static_cast<Tick>(rule_.late * static_cast<double>(lasts));
  }

  bool has_room(const Device& d, double more) const { return d.held + more <= limit_.microbatches + kRounding; }

  Choice choose(std::size_t at) const {
    const Device& d = devices_[at];
    Choice forward{kNever, OpKind::forward}, backward{kNever, OpKind::backward_input};
    // A forward leaves room for an input gradient, without which nothing that is held would ever be done.
    if (const Tick t = forward_ready(at); t != kNever && has_room(d, std::max(1.0, limit_.postponed)))
      if (const Tick start = std::max(t, d.free); !delays_the_first(at, start)) forward.start = start;
    const bool weight_waits = d.backward_end.size() > d.weights;
    if (const Tick t = backward_ready(at); t != kNever && has_room(d, limit_.postponed - 1))
      backward.start = std::max(t, d.free);
    Choice next = backward.start < forward.start ? backward : forward;
    if (forward.start == backward.start && forward.start != kNever) {
      const bool backward_first = rule_.first == Rule::First::backward ||
                                  (rule_.first == Rule::First::alternate && d.last == OpKind::forward);
      next = backward_first ? backward : forward;
    }
    if (!weight_waits) return next;
    const bool fits = next.start == kNever ||
                      next.start - d.free >= (rule_.whole_gaps ? std::max(times_.backward_weight[at], Tick{1}) : 1);
    return fits ? Choice{d.free, OpKind::backward_weight} : next;
  }

  void place(std::size_t at, const Choice& op) {
    Device& d = devices_[at];
    const auto stage = static_cast<std::uint32_t>(at);
    d.free = op.start + duration_of(times_, stage, op.kind);
    d.last = op.kind;
    const auto add = [&](std::size_t microbatch) {
      d.ops.emplace_back(op.kind, stage, static_cast<std::uint32_t>(microbatch));
    };
    if (op.kind == OpKind::forward) {
      add(d.forward_end.size());
      d.forward_end.push_back(d.free);
      d.held += 1;
    } else if (op.kind == OpKind::backward_input) {
      add(d.backward_end.size());
      d.backward_end.push_back(d.free);
      d.held += limit_.postponed - 1;
    } else {
      add(d.weights++);
      d.held -= limit_.postponed;
    }
  }

  const PipelineTimes& times_;
  GreedyLimit limit_;
  Rule rule_;
  std::size_t microbatches_;
  std::vector<Device> devices_;
};

// Whether no device holds more than the limit, at any moment.
bool keeps_to(const Orders& orders, const GreedyLimit& limit) {
  for (std::size_t d = 0; d < orders.devices(); ++d) {
    double held = 0;
    for (std::uint32_t i = orders.first[d]; i < orders.first[d + 1]; ++i) {
      const OpKind kind = orders.ops[i].kind();
      held += kind == OpKind::forward ? 1 : kind == OpKind::backward_input ? limit.postponed - 1 : -limit.postponed;
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

std::optional<Orders> greedy_order(int stages, int microbatches, const PipelineTimes& times,
                                   const GreedyLimit& limit) {
  if (stages < 1 || microbatches < 1 || !(limit.microbatches >= 1) || !(limit.postponed >= 0)) return std::nullopt;
  if (3 * std::int64_t{stages} * microbatches > kMostGreedyOps) return std::nullopt;
  if (check_times(times, static_cast<std::size_t>(stages), static_cast<std::uint32_t>(microbatches)) !=
      SimulationOutcome::finished)
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
        GreedyRun run(stages, microbatches, times, limit, {first, whole_gaps, late});
        if (!run.run()) continue;
        run.write(orders);
        consider(orders);
      }
  // The schedules by rule are orders like others, where they keep to the limit.
  for (const ScheduleKind kind : {ScheduleKind::zb_h1, ScheduleKind::zb_h2}) {
    const ScheduleShape shape{kind, stages, microbatches, 1, 0};
    if (!check_schedule(shape).legal()) continue;
    make_orders(shape, orders);
    if (keeps_to(orders, limit)) consider(orders);
  }
  return best;
}

}  // namespace roofscape::engine
