#include "engine/pipeline/timeline_analysis.h"

#include <algorithm>

namespace roofscape::engine {
namespace {

bool is_input_gradient(OpKind kind) { return kind == OpKind::backward || kind == OpKind::backward_input; }

// Time of the result of `op` on its way to another device.
Tick send_time(const Orders& orders, const PipelineTimes& times, Op op) {
  const std::uint32_t s = op.stage(), position = s % orders.route_length;
  if (op.kind() == OpKind::forward)
    return position + 1 < orders.route_length ? times.hop(orders.device_of[s], orders.device_of[s + 1]) : 0;
  if (is_input_gradient(op.kind())) return position > 0 ? times.hop(orders.device_of[s], orders.device_of[s - 1]) : 0;
  return 0;
}

// What an op reads: the op before it on the way of its microbatch; kNoOp for the first forward and a weight gradient.
class Producers {
 public:
  explicit Producers(const Orders& orders) : orders_(orders) {}
  // Worth it when many ops are asked for: 4 bytes an op instead of a scan of a list each.
  void make_index() {
    index_.assign(2 * orders_.device_of.size() * orders_.microbatches, kNoOp);
    for (std::uint32_t i = 0; i < orders_.ops.size(); ++i) {
      const Op op = orders_.ops[i];
      if (op.kind() == OpKind::backward_weight) continue;
      index_[slot(op.kind() == OpKind::forward ? OpKind::forward : OpKind::backward, op.stage(), op.microbatch())] =
          i;
    }
  }
  std::uint32_t of(Op op) const {
    const std::uint32_t s = op.stage(), position = s % orders_.route_length;
    if (op.kind() == OpKind::backward_weight) return kNoOp;
    if (op.kind() == OpKind::forward) return position == 0 ? kNoOp : find(OpKind::forward, s - 1, op.microbatch());
    if (position + 1 == orders_.route_length) return find(OpKind::forward, s, op.microbatch());
    return find(OpKind::backward, s + 1, op.microbatch());
  }

 private:
  std::size_t slot(OpKind kind, std::uint32_t stage, std::uint32_t k) const {
    return (std::size_t{stage} * 2 + (kind == OpKind::forward ? 0 : 1)) * orders_.microbatches + k;
  }
  std::uint32_t find(OpKind kind, std::uint32_t stage, std::uint32_t k) const {
    return index_.empty() ? find_op(orders_, kind, stage, k) : index_[slot(kind, stage, k)];
  }
  const Orders& orders_;
  std::vector<std::uint32_t> index_;
};

WaitedFor waited_for_one(const Orders& orders, const PipelineTimes& times, const Timeline& timeline,
                         const Producers& producers, std::uint32_t op, std::uint32_t device) {
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
    const std::uint32_t producer = producers.of(orders.ops[half]);
    if (producer == kNoOp) continue;
    const Tick sending = send_time(orders, times, orders.ops[producer]);
    if (op_end(orders, times, timeline, producer) + sending == start)
      return {sending > 0 ? WaitKind::transfer : WaitKind::input, producer};
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
  return waited_for_one(orders, times, timeline, Producers(orders), op, device_of_op(orders, op));
}

void critical_path(const Orders& orders, const PipelineTimes& times, const Timeline& timeline,
                   std::vector<CriticalStep>& out) {
  out.clear();
  std::uint32_t op = kNoOp;
  for (std::size_t r = 0; r < orders.devices() && op == kNoOp; ++r)
    if (timeline.busy_until[r] == timeline.makespan && orders.first[r] < orders.first[r + 1])
      op = orders.first[r + 1] - 1;
  if (op == kNoOp) return;
  Producers producers(orders);
  producers.make_index();
  while (op != kNoOp) {
    const WaitedFor waited = waited_for_one(orders, times, timeline, producers, op, device_of_op(orders, op));
    out.push_back({op, waited.kind});
    op = waited.op;
  }
  std::reverse(out.begin(), out.end());
}

}  // namespace roofscape::engine
