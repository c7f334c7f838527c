#include "engine/pipeline/timeline_analysis.h"

#include <algorithm>
#include <optional>

namespace roofscape::engine {
namespace {

bool is_input_gradient(OpKind kind) { return kind == OpKind::backward || kind == OpKind::backward_input; }

// Whether an op is the forward, or else the backward or input gradient, of a stage for a microbatch.
struct Wanted {
  bool forward = true;
  std::uint32_t stage = 0, microbatch = 0;
  bool is(Op op) const {
    return op.stage() == stage && op.microbatch() == microbatch &&
           (forward ? op.kind() == OpKind::forward : is_input_gradient(op.kind()));
  }
};

// What an op reads: the op before it on the way of its microbatch. None for the first forward and a weight gradient,
// whose input is its own device's.
std::optional<Wanted> what_is_read_by(const Orders& orders, Op op) {
  const std::uint32_t s = op.stage(), position = s % orders.route_length;
  if (op.kind() == OpKind::backward_weight) return std::nullopt;
  if (op.kind() == OpKind::forward)
    return position == 0 ? std::nullopt : std::optional(Wanted{true, s - 1, op.microbatch()});
  if (position + 1 == orders.route_length) return Wanted{true, s, op.microbatch()};
  return Wanted{false, s + 1, op.microbatch()};
}

// The op that is wanted if its result reaches the other device, or its own, at `there`. It ends when that is sent, and
// in the list of its device only what takes no time starts then or later; so it is looked for by time.
std::uint32_t sent_in_time(const Orders& orders, const PipelineTimes& times, const Timeline& timeline, Wanted wanted,
                           Tick there) {
  const Tick end =
      there - send_time(orders, times,
                        Op(wanted.forward ? OpKind::forward : OpKind::backward, wanted.stage, wanted.microbatch));
  const std::uint32_t device = orders.device_of[wanted.stage];
  const auto starts = timeline.start.begin();
  const auto first = starts + orders.first[device];
  for (auto at = std::upper_bound(first, starts + orders.first[device + 1], end); at > first;) {
    --at;
    const auto i = static_cast<std::uint32_t>(at - starts);
    if (wanted.is(orders.ops[i])) return op_end(orders, times, timeline, i) == end ? i : kNoOp;
    // What stands before an op that starts earlier is over by then, but for the first half of its pair.
    if (*at < end && !joined_with_previous(orders, i)) break;
  }
  return kNoOp;
}

WaitedFor waited_for_on(const Orders& orders, const PipelineTimes& times, const Timeline& timeline, std::uint32_t op,
                        std::uint32_t device) {
  const std::uint32_t first = joined_with_previous(orders, op) ? op - 1 : op;
  const bool pair = orders.ops[first].joined_with_next();
  const Tick start = timeline.start[op];
  if (first > orders.first[device]) {
    const std::uint32_t before = first - 1;
    const Tick end = op_end(orders, times, timeline, before);
    if (end == start) return {WaitKind::device_order, before};
    if (times.blocking_send) {
      const bool after_pair = joined_with_previous(orders, before);
      for (const std::uint32_t sender : {before, after_pair ? before - 1 : before}) {
        const Tick sending = send_time(orders, times, orders.ops[sender]);
        if (sending > 0 && end + sending == start) return {WaitKind::sending, sender};
      }
    }
  }
  for (const std::uint32_t half : {op, pair ? (op == first ? first + 1 : first) : op}) {
    const std::optional<Wanted> wanted = what_is_read_by(orders, orders.ops[half]);
    if (!wanted) continue;
    const std::uint32_t producer = sent_in_time(orders, times, timeline, *wanted, start);
    if (producer == kNoOp) continue;
    return {send_time(orders, times, orders.ops[producer]) > 0 ? WaitKind::transfer : WaitKind::input, producer};
  }
  return {};
}

}  // namespace

bool joined_with_previous(const Orders& orders, std::uint32_t op) {
  return op > 0 && orders.ops[op - 1].joined_with_next();
}

Tick op_duration(const Orders& orders, const PipelineTimes& times, std::uint32_t op) {
  const Op it = orders.ops[op];
  if (it.joined_with_next()) return duration_of_pair(times, it.stage(), orders.ops[op + 1].stage());
  if (joined_with_previous(orders, op)) return duration_of_pair(times, orders.ops[op - 1].stage(), it.stage());
  return duration_of(times, it.stage(), it.kind());
}

std::uint32_t device_of_op(const Orders& orders, std::uint32_t op) {
  return orders.device_of[orders.ops[op].stage()];
}

std::uint32_t receiver_of(const Orders& orders, Op op) {
  if (op.kind() == OpKind::forward) return orders.device_behind(op.stage());
  return is_input_gradient(op.kind()) ? orders.device_before(op.stage()) : orders.device_of[op.stage()];
}

Tick send_time(const Orders& orders, const PipelineTimes& times, Op op) {
  return times.hop(orders.device_of[op.stage()], receiver_of(orders, op));
}

std::uint32_t find_op(const Orders& orders, OpKind kind, std::uint32_t stage, std::uint32_t microbatch) {
  if (stage >= orders.device_of.size()) return kNoOp;
  const std::uint32_t device = orders.device_of[stage];
  for (std::uint32_t i = orders.first[device]; i < orders.first[device + 1]; ++i) {
    const Op op = orders.ops[i];
    if (op.stage() != stage || op.microbatch() != microbatch) continue;
    if (op.kind() == kind || (is_input_gradient(op.kind()) && is_input_gradient(kind))) return i;
  }
  return kNoOp;
}

void idle_per_device(const Timeline& timeline, std::vector<Tick>& out) {
  out.assign(timeline.busy.begin(), timeline.busy.end());
  for (Tick& t : out) t = timeline.makespan - t;
}

Bubbles bubbles(const Orders& orders, const PipelineTimes& times, const Timeline& timeline) {
  std::vector<Tick> idle;
  idle_per_device(timeline, idle);
  return bubbles(orders, times, timeline, idle);
}
Bubbles bubbles(const Orders& orders, const PipelineTimes& times, const Timeline& timeline,
                const std::vector<Tick>& idle_of_device) {
  Bubbles out;
  if (idle_of_device.empty()) return out;
  // The sum of idle ticks is exact; only the mean is rounded.
  double work = 0, idle = 0;
  for (std::size_t r = 0; r < idle_of_device.size(); ++r) {
    const Tick busy = timeline.makespan - idle_of_device[r];
    work += static_cast<double>(busy);
    idle += static_cast<double>(idle_of_device[r]);
    const std::uint32_t first = orders.first[r], end = orders.first[r + 1];
    if (first == end) continue;
    const Tick span = op_end(orders, times, timeline, end - 1) - timeline.start[first];
    out.span_bubble = std::max(out.span_bubble, span - busy);
  }
  const double devices = static_cast<double>(idle_of_device.size());
  out.bubble_time = idle / devices;
  if (work > 0) out.ratio_to_work = idle / work;
  if (timeline.makespan > 0) out.idle_fraction = out.bubble_time / static_cast<double>(timeline.makespan);
  return out;
}

WaitedFor waited_for(const Orders& orders, const PipelineTimes& times, const Timeline& timeline, std::uint32_t op) {
  return waited_for_on(orders, times, timeline, op, device_of_op(orders, op));
}

void critical_path(const Orders& orders, const PipelineTimes& times, const Timeline& timeline,
                   std::vector<CriticalStep>& out) {
  out.clear();
  std::uint32_t op = kNoOp;
  for (std::size_t r = 0; r < orders.devices() && op == kNoOp; ++r)
    if (timeline.busy_until[r] == timeline.makespan && orders.first[r] < orders.first[r + 1])
      op = orders.first[r + 1] - 1;
  if (op == kNoOp) return;
  while (op != kNoOp) {
    const WaitedFor waited = waited_for_on(orders, times, timeline, op, device_of_op(orders, op));
    out.push_back({op, waited.kind});
    op = waited.op;
  }
  std::reverse(out.begin(), out.end());
}

}  // namespace roofscape::engine
